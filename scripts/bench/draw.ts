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
  readonly bars: readonly Bar[];
}

export interface Bar {
  readonly median: number;
  /** The lowest and the highest round. */
  readonly range: readonly [low: number, high: number];
}

/** Narrow, so that the words are readable on a phone. */
const width = 480;
const margin = 16;
const headingHeight = 40;
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
  const [above, below] = [lines(subtitle), notes.flatMap(lines)];
  let top = 48 + above.length * lineHeight;
  const panels = groups.map((group, index) => {
    const drawn = panel(group, index, top, highest(oneScale ? groups : [group]));
    top += headingHeight + group.rows.length * rowHeight;
    return drawn;
  });
  const height = top + 24 + below.length * lineHeight;
  const chart = init(null, null, { renderer: 'svg', ssr: true, width, height });
  chart.setOption({
    animation: false,
    backgroundColor: card,
    textStyle: { fontFamily: 'system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif' },
    title: [words(16, title, 19, above), ...panels.map(({ heading }) => heading), words(top + 4, '', 13, below)],
    grid: panels.map(({ grid }) => grid),
    xAxis: panels.map(({ xAxis }) => xAxis),
    yAxis: panels.flatMap(({ yAxes }) => yAxes),
    series: panels.flatMap(({ series }) => series),
  });
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

/** A heading and rows. The left axis shows the names, the right axis the figures. */
function panel({ heading, rows }: Group, index: number, top: number, max: number) {
  const axis = (position: 'left' | 'right', cell: (row: Row) => string) => ({
    type: 'category' as const,
    gridIndex: index,
    position,
    inverse: true,
    // echarts reads the vertical alignment from the text style of each label only.
    data: rows.map((row) => ({
      value: cell(row),
      textStyle: { verticalAlign: 'bottom', padding: [0, 0, 11, 0], fontWeight: row.ours ? 'bold' : 'normal' },
    })),
    axisLine: { show: false },
    axisTick: { show: false },
    axisLabel: { inside: true, margin: 0, interval: 0, color: text, fontSize: 14 },
  });
  const place = { xAxisIndex: index, yAxisIndex: 2 * index, silent: true };
  const bars = (bar: number, opacity: number) => ({
    ...place,
    type: 'bar',
    barWidth: 14,
    barGap: '-100%',
    data: rows.map((row) => ({
      value: row.bars[bar]?.median,
      itemStyle: { color: row.ours ? ours : other, opacity },
    })),
  });
  const ranges = rows.flatMap((row, line) => row.bars.map(({ range }) => [line, ...range]));
  return {
    heading: words(top + 12, heading, 15, []),
    grid: { left: margin, right: margin, top: top + headingHeight, height: rows.length * rowHeight },
    xAxis: { show: false, gridIndex: index, min: 0, max },
    yAxes: [axis('left', (row) => row.name), axis('right', (row) => row.figures)],
    series: [bars(1, 0.4), bars(0, 1), { ...place, type: 'custom', z: 3, renderItem: drawRange, data: ranges }],
  };
}

/** A line from the lowest to the highest round, with a stroke at each end. */
const drawRange: CustomSeriesRenderItem = (_parameters, api) => {
  const [left = 0, y = 0] = api.coord([api.value(1), api.value(0)]);
  const [right = 0] = api.coord([api.value(2), api.value(0)]);
  const pathData = `M${left} ${y - 5}V${y + 5}M${left} ${y}H${right}M${right} ${y - 5}V${y + 5}`;
  return { type: 'path', shape: { pathData }, style: { stroke: text, fill: 'none', lineWidth: 1.5 } };
};

function words(top: number, title: string, fontSize: number, below: readonly string[]) {
  return {
    padding: 0,
    left: margin,
    top,
    text: title,
    textStyle: { color: text, fontSize },
    subtext: below.join('\n'),
    subtextStyle: { color: muted, fontSize: 13, lineHeight },
  };
}

/** Breaks a sentence into lines that fit the width. */
function lines(sentence: string): string[] {
  return sentence.match(/\S.{0,64}(?!\S)/g) ?? [];
}

function highest(groups: readonly Group[]): number {
  return Math.max(...groups.flatMap(({ rows }) => rows.flatMap(({ bars }) => bars.map(({ range }) => range[1]))));
}
