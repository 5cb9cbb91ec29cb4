import { init } from 'echarts';

/** Draws a bar chart as SVG, with a bar for each row. @param notes lines below the bars */
export function drawChart(
  title: string,
  rows: Readonly<Record<string, number>>,
  notes: readonly string[],
): string {
  const names = Object.keys(rows);
  const data = names.map((name) => ({
    value: rows[name],
    itemStyle: { color: name.startsWith('This service') ? '#1a7f37' : '#818b98' },
  }));
  const height = 30 * names.length;
  const chart = init(null, null, { renderer: 'svg', ssr: true, width: 800, height: height + 120 });
  chart.setOption({
    animation: false,
    backgroundColor: '#ffffff',
    title: [
      { text: title, left: 16, top: 16 },
      { subtext: notes.join('\n'), left: 16, bottom: 10 },
    ],
    grid: { left: 300, right: 80, top: 50, height },
    xAxis: { type: 'value', show: false },
    yAxis: { type: 'category', inverse: true, data: names },
    series: [{ type: 'bar', data, label: { show: true, position: 'right' } }],
  });
  const svg = chart.renderToSVGString();
  // The timers of the chart would keep the process alive.
  chart.dispose();
  return svg;
}
