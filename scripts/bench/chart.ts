import { init } from 'echarts';

const ROW = 44;

/** Draws a bar for each row as SVG. @param notes shown below the bars */
export function drawChart(title: string, rows: Readonly<Record<string, number>>, notes: readonly string[]): string {
  const names = Object.keys(rows);
  const data = names.map((name) => ({
    value: rows[name],
    itemStyle: { color: name.startsWith('This service') ? '#1a7f37' : '#818b98' },
  }));
  const below = 50 + ROW * names.length;
  const chart = init(null, null, { renderer: 'svg', ssr: true, width: 640, height: below + 30 + 20 * notes.length });
  const label = { inside: true, margin: 0, verticalAlign: 'bottom', padding: [0, 0, 10, 0] } as const;
  chart.setOption({
    animation: false,
    backgroundColor: '#ffffff',
    title: [
      { text: title, left: 16, top: 16 },
      { subtext: notes.join('\n'), left: 16, top: below, subtextStyle: { lineHeight: 18 } },
    ],
    grid: { left: 16, right: 80, top: 56, height: ROW * names.length },
    xAxis: { type: 'value', show: false },
    yAxis: {
      type: 'category',
      inverse: true,
      data: names,
      axisLabel: { ...label, color: '#1f2328', fontSize: 14 },
      axisLine: { show: false },
      axisTick: { show: false },
    },
    series: [{ type: 'bar', data, barWidth: 14, label: { show: true, position: 'right' } }],
  });
  const svg = chart.renderToSVGString();
  chart.dispose();
  return svg;
}
