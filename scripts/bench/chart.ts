import { init } from 'echarts';
import { median, type Run } from './measure.ts';

const ROW = 44;

/** Draws the answers per second over the first number of connections as SVG. @param notes shown below the bars */
export function drawChart(runs: readonly Run[], notes: readonly string[]): string {
  const shown = runs.filter(({ connections }) => connections === runs[0]?.connections);
  const bars = shown.map(({ name, rounds }) => ({
    value: Math.round(median(rounds.map(({ throughput }) => throughput))),
    itemStyle: { color: name.startsWith('This service') ? '#1a7f37' : '#818b98' },
  }));
  const height = 80 + ROW * shown.length + 20 * notes.length;
  const chart = init(null, null, { renderer: 'svg', ssr: true, width: 640, height });
  const names = {
    inside: true,
    margin: 0,
    verticalAlign: 'bottom',
    padding: [0, 0, 10, 0],
    color: '#1f2328',
    fontSize: 14,
  };
  chart.setOption({
    animation: false,
    backgroundColor: '#ffffff',
    title: [
      { text: `POST /plants, answers per second over ${shown[0]?.connections} connections`, left: 16, top: 16 },
      { subtext: notes.join('\n'), left: 16, top: 50 + ROW * shown.length, subtextStyle: { lineHeight: 18 } },
    ],
    grid: { left: 16, right: 80, top: 56, height: ROW * shown.length },
    xAxis: { type: 'value', show: false },
    yAxis: {
      type: 'category',
      inverse: true,
      data: shown.map(({ name }) => name),
      axisLabel: names,
      axisLine: { show: false },
      axisTick: { show: false },
    },
    series: [{ type: 'bar', data: bars, barWidth: 14, label: { show: true, position: 'right' } }],
  });
  const svg = chart.renderToSVGString();
  chart.dispose();
  return svg;
}
