import { type CustomSeriesRenderItem, format, init } from 'echarts';

export interface Chart {
  readonly title: string;
  /** What the bars mean and which direction is better. */
  readonly subtitle: string;
  readonly groups: readonly Group[];
  /** True if the bars of all groups have one scale. */
  readonly oneScale: boolean;
  readonly notes: readonly string[];
}

export interface Group {
  readonly heading: string;
  readonly rows: readonly Row[];
}

/** A line of text with a bar below it. */
export interface Row {
  readonly name: string;
  readonly figures: string;
  readonly ours: boolean;
  /** One bar, or a solid bar and a longer pale bar. */
  readonly bars: readonly { readonly median: number; readonly range: readonly [low: number, high: number] }[];
}

/** Narrow, so that the words are readable on a phone. */
const width = 480;
const margin = 16;
const inner = width - 2 * margin;
const rowHeight = 44;
const lineHeight = 18;

const card = '#ffffff';
const text = '#1f2328';
const muted = '#59636e';
const ours = '#1a7f37';
const other = '#818b98';
/** What each colour becomes in the dark scheme. */
const dark = { [card]: '#0d1117', [text]: '#f0f6fc', [muted]: '#9198a1', [ours]: '#2ea043', [other]: '#7d8590' };

/** Draws a chart as SVG that follows the reader's colour scheme and has a background of its own. */
export function draw({ title, subtitle, groups, oneScale, notes }: Chart): string {
  const lines = (content: string) => content.match(/\S.{0,64}(?!\S)/g) ?? [];
  const small = { padding: 0, left: margin, subtextStyle: { color: muted, fontSize: 13, lineHeight } };
  const subtitles = lines(subtitle);
  const titles: object[] = [
    { ...small, top: 16, text: title, subtext: subtitles.join('\n'), textStyle: { color: text, fontSize: 19 } },
  ];
  const grid: object[] = [];
  const xAxis: object[] = [];
  const yAxis: object[] = [];
  const series: object[] = [];
  const most = (shown: readonly Group[]) =>
    Math.max(...shown.flatMap(({ rows }) => rows.flatMap(({ bars }) => bars.map(({ range }) => range[1]))));

  let top = 48 + subtitles.length * lineHeight;
  for (const [index, group] of groups.entries()) {
    const { heading, rows } = group;
    top += 12;
    titles.push({ ...small, top, text: heading, textStyle: { color: text, fontSize: 15 } });
    top += 28;
    const height = rows.length * rowHeight;
    grid.push({ left: margin, width: inner, top, height, containLabel: false });
    top += height;
    xAxis.push({ show: false, gridIndex: index, min: 0, max: most(oneScale ? groups : [group]) });
    const column = (position: 'left' | 'right', cell: (row: Row) => string) => ({
      type: 'category',
      gridIndex: index,
      position,
      inverse: true,
      // echarts reads the alignment from the text style of each label only.
      data: rows.map((row) => ({
        value: cell(row),
        textStyle: { verticalAlign: 'bottom', padding: [0, 0, 11, 0], fontWeight: row.ours ? 'bold' : 'normal' },
      })),
      axisLine: { show: false },
      axisTick: { show: false },
      axisLabel: { inside: true, margin: 0, interval: 0, color: text, fontSize: 14 },
    });
    yAxis.push(
      column('left', (row) => row.name),
      column('right', (row) => row.figures),
    );
    const place = { xAxisIndex: index, yAxisIndex: 2 * index, silent: true };
    for (const bar of [1, 0]) {
      series.push({
        ...place,
        type: 'bar',
        barWidth: 14,
        barGap: '-100%',
        data: rows.map((row) => ({
          value: row.bars[bar]?.median,
          itemStyle: { color: row.ours ? ours : other, opacity: bar === 1 ? 0.4 : 1 },
        })),
      });
    }
    const ranges = rows.flatMap(({ bars }, row) => bars.map(({ range }) => [row, ...range]));
    series.push({ ...place, type: 'custom', z: 3, renderItem: drawRange, data: ranges });
  }
  const words = notes.flatMap(lines);
  titles.push({ ...small, top: top + 4, text: '', subtext: words.join('\n') });

  const height = top + 24 + words.length * lineHeight;
  const chart = init(null, null, { renderer: 'svg', ssr: true, width, height });
  const textStyle = { fontFamily: 'system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif' };
  chart.setOption({ animation: false, backgroundColor: card, textStyle, title: titles, grid, xAxis, yAxis, series });
  const svg = chart.renderToSVGString();
  chart.dispose();

  const figures = groups.flatMap(({ heading, rows }) => rows.map((row) => `${heading}: ${row.name} ${row.figures}`));
  const rules = Object.entries(dark).map(
    ([light, dark]) => `[fill="${light}"] { fill: ${dark} } [stroke="${light}"] { stroke: ${dark} }`,
  );
  const head = `<title id="title">${format.encodeHTML(title)}</title>
<desc id="description">${format.encodeHTML(`${subtitle} ${figures.join('; ')}.`)}</desc>
<style>@media (prefers-color-scheme: dark) { ${rules.join('\n')} }</style>`;
  return svg.replace(/^<svg([^>]*)>/, (_tag, attributes) => {
    return `<svg${attributes} role="img" aria-labelledby="title description">\n${head}`;
  });
}

/** A line from the lowest to the highest round, with a stroke at each end. */
const drawRange: CustomSeriesRenderItem = (_parameters, api) => {
  const [left = 0, y = 0] = api.coord([api.value(1), api.value(0)]);
  const [right = 0] = api.coord([api.value(2), api.value(0)]);
  const d = `M${left} ${y - 5}V${y + 5}M${left} ${y}H${right}M${right} ${y - 5}V${y + 5}`;
  return { type: 'path', shape: { pathData: d }, style: { stroke: text, fill: 'none', lineWidth: 1.5 } };
};
