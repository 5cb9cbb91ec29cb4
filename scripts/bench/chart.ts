import { figure, integer, milliseconds } from './report.ts';
import { median, type Results, type Run } from './results.ts';

/** Draws what the results hold. @returns SVG texts by file name. */
export function charts(results: Results): Record<string, string> {
  switch (results.kind) {
    case 'contest':
      return { 'throughput.svg': throughputChart(results), 'latency.svg': latencyChart(results) };
    case 'paths':
      return { 'paths.svg': pathsChart(results) };
    case 'workers':
      return { 'workers.svg': workersChart(results) };
  }
}

const width = 760;
const margin = 24;
const row = 32;

/** Bars of answers a second: what is kept in memory above, what is on disk below. */
function throughputChart(results: Results): string {
  const first = results.runs[0]?.connections;
  const runs = results.runs.filter((run) => run.connections === first);
  const bare = runs.find((run) => run.name === 'Express' && run.kept === 'memory');
  const groups = [
    { heading: 'Kept in memory, gone with the process', runs: runs.filter((run) => run.kept === 'memory') },
    { heading: 'On disk before the answer, safe from a power cut', runs: runs.filter((run) => run.kept === 'disk') },
  ];
  return barChart({
    title: 'Plants stored per second',
    subtitle: `Answers a second to POST /plants over ${first} connections, and × Express in memory; more is better`,
    results,
    groups: groups.map(({ heading, runs }) => ({
      heading,
      bars: runs.map((run) => {
        const value = figure(run, 'throughput');
        const note = bare === undefined ? '' : `× ${(value / figure(bare, 'throughput')).toFixed(2)}`;
        return { name: run.name, value, note, ours: ours(run) };
      }),
    })),
  });
}

function workersChart(results: Results): string {
  const names = [...new Set(results.runs.map((run) => run.name))];
  return barChart({
    title: 'Plants stored per second, by number of processes',
    subtitle: `Answers a second over ${results.runs[0]?.connections} connections, on ${results.machine.cores} cores that the load shares; more is better`,
    results,
    groups: names.map((heading) => ({
      heading,
      bars: results.runs
        .filter((run) => run.name === heading)
        .map((run) => ({
          name: run.workers === 1 ? '1 process' : `${run.workers} processes`,
          value: figure(run, 'throughput'),
          note: '',
          ours: run.workers > 1,
        })),
    })),
  });
}

interface BarChart {
  readonly title: string;
  readonly subtitle: string;
  readonly results: Results;
  readonly groups: readonly {
    readonly heading: string;
    readonly bars: readonly {
      readonly name: string;
      readonly value: number;
      readonly note: string;
      readonly ours: boolean;
    }[];
  }[];
}

function barChart({ title, subtitle, results, groups }: BarChart): string {
  const left = 168;
  const right = width - 130;
  const bars = groups.flatMap((group) => group.bars);
  const ticks = scale(Math.max(...bars.map((bar) => bar.value)));
  const x = linear(ticks, left, right);
  const body: string[] = [];
  let y = 84;
  for (const { heading, bars } of groups) {
    body.push(text(margin, y + 14, 'heading', heading));
    y += 26;
    body.push(...verticals(ticks, x, y, y + bars.length * row));
    for (const { name, value, note, ours } of bars) {
      body.push(
        text(left - 12, y + 22, ours ? 'strong end' : 'end', name),
        bar(left, y + 7, x(value), ours ? 'ours' : 'other'),
        text(x(value) + 8, y + 22, 'strong', integer(value), note),
      );
      y += row;
    }
    y += 16;
  }
  body.push(...tickLabels(ticks, x, y, integer));
  const words = groups.flatMap((group) =>
    group.bars.map((bar) => `${group.heading}: ${bar.name} ${integer(bar.value)}`),
  );
  return card({ title, subtitle, results, height: y + 20, description: `${words.join('; ')}.`, body });
}

/** For each number of connections, bars that reach to p99, stronger up to p97.5 and solid up to p50. */
function latencyChart(results: Results): string {
  const left = 192;
  const right = width - 176;
  const body: string[] = [];
  const words: string[] = [];
  let y = 84;
  for (const connections of new Set(results.runs.map((run) => run.connections))) {
    const runs = results.runs.filter((run) => run.connections === connections);
    const ticks = scale(Math.max(...runs.map((run) => figure(run, 'p99'))));
    const x = linear(ticks, left, right);
    body.push(
      text(margin, y + 14, 'heading', `${connections} connections`),
      text(width - margin, y + 14, 'muted end', 'p50 · p97.5 · p99'),
    );
    y += 26;
    body.push(...verticals(ticks, x, y, y + runs.length * row));
    for (const run of runs) {
      const [p50, p975, p99] = [figure(run, 'p50'), figure(run, 'p975'), figure(run, 'p99')];
      const figures = [p50, p975, p99].map(milliseconds);
      const [style, weight] = ours(run) ? ['ours', 'strong end'] : ['other', 'end'];
      const name = ours(run) ? run.name : `${run.name}, ${run.kept === 'disk' ? 'on disk' : 'in memory'}`;
      body.push(
        text(left - 12, y + 22, weight, name),
        bar(left, y + 7, x(p99), `${style} rare`),
        bar(left, y + 7, x(p975), `${style} most`),
        bar(left, y + 7, x(p50), style),
        text(width - margin, y + 22, weight, figures.join(' · ')),
      );
      words.push(`${name}, ${connections} connections: ${figures.join(', ')}`);
      y += row;
    }
    y += 16;
    body.push(...tickLabels(ticks, x, y, String));
    y += 28;
  }
  return card({
    title: 'How long an answer takes',
    subtitle: 'Milliseconds: half of the answers came within the solid part, 99 of 100 within the bar; less is better',
    results,
    height: y - 4,
    description: `Milliseconds at p50, p97.5 and p99. ${words.join('; ')}.`,
    body,
  });
}

/** Lines of what a request costs over the number of paths in the document, and the figures below them. */
function pathsChart(results: Results): string {
  const left = 176;
  const right = width - 64;
  const top = 92;
  const bottom = 300;
  const cost = (run: Run) => 1e6 / figure(run, 'throughput');
  const ticks = scale(Math.max(...results.runs.map(cost)));
  const height = linear(ticks, bottom, top);
  const counts = [...new Set(results.runs.map((run) => run.paths))];
  const decades = Math.log10(Math.max(10, ...counts));
  const x = (paths: number) => left + (Math.log10(paths) / decades) * (right - left);
  const body = ticks.flatMap((tick) => [
    line(left, height(tick), right, height(tick), tick === 0 ? 'axis' : 'grid'),
    text(left - 12, height(tick) + 5, 'muted end', integer(tick)),
  ]);
  const names = [...new Set(results.runs.map((run) => run.name))];
  const series = names.map((name) => results.runs.filter((run) => run.name === name));
  for (const runs of series) {
    const style = runs.some(ours) ? 'ours' : 'other';
    const points = runs.map((run) => ({ x: round(x(run.paths)), y: round(height(cost(run))) }));
    body.push(
      `<polyline class="curve ${style}" points="${points.map((point) => `${point.x},${point.y}`).join(' ')}"/>`,
    );
    for (const point of points) body.push(`<circle class="${style}" cx="${point.x}" cy="${point.y}" r="4.5"/>`);
  }

  let y = bottom + 24;
  for (const count of counts) {
    body.push(text(x(count), y, 'muted middle', count === 1 ? '1 path' : `${integer(count)} paths`));
  }
  const blocks = [
    { heading: 'Microseconds', value: (run: Run) => integer(cost(run)) },
    { heading: 'Seconds to start', value: (run: Run) => (median(run.started) / 1000).toFixed(2) },
  ];
  for (const { heading, value } of blocks) {
    y += 32;
    body.push(text(margin, y, 'heading', heading));
    for (const runs of series) {
      y += 22;
      for (const run of runs) {
        const weight = ours(run) ? 'strong' : '';
        if (run === runs[0]) {
          body.push(`<circle class="${ours(run) ? 'ours' : 'other'}" cx="${margin + 5}" cy="${y - 5}" r="4.5"/>`);
          body.push(text(margin + 18, y, weight, run.name));
        }
        body.push(text(x(run.paths), y, `${weight} middle`, value(run)));
      }
    }
  }
  const words = results.runs.map((run) => {
    const [microseconds, start] = blocks.map(({ value }) => value(run));
    return `${run.name}, ${run.paths} paths: ${microseconds}, started in ${start} s`;
  });
  return card({
    title: 'What a request costs as the document grows',
    subtitle: 'Microseconds for POST /plants among that many paths, plants kept in memory; less is better',
    results,
    height: y + 20,
    description: `Microseconds a request. ${words.join('; ')}.`,
    body,
  });
}

function ours(run: Run): boolean {
  return run.name === 'This service';
}

/** A picture with a background of its own, since the page around it need not follow the reader's colour scheme. */
function card(picture: {
  readonly title: string;
  readonly subtitle: string;
  readonly description: string;
  readonly results: Results;
  /** Of the body; the source follows below. */
  readonly height: number;
  readonly body: readonly string[];
}): string {
  const { title, subtitle, description, results, height, body } = picture;
  const { machine, versions, command } = results;
  const total = height + 42;
  const source = [
    `EOV is express-openapi-validator ${versions['express-openapi-validator']}, on Express ${versions.express} and Node ${versions.node}`,
    `${command}, on ${machine.cpu}, ${machine.cores} cores`,
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${total}" width="${width}" height="${total}" role="img" aria-labelledby="title description">
<title id="title">${escapeXml(title)}</title>
<desc id="description">${escapeXml(description)}</desc>
<style>
${style}
</style>
<rect class="card" x="0.5" y="0.5" width="${width - 1}" height="${total - 1}" rx="8"/>
${text(margin, 36, 'title', title)}
${text(margin, 58, 'muted', subtitle)}
${body.join('\n')}
${source.map((line, index) => text(margin, height + 12 + index * 16, 'source', line)).join('\n')}
</svg>
`;
}

const style = `text { font: 13px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2328 }
text { paint-order: stroke; stroke: #fff; stroke-width: 4px; stroke-linejoin: round }
.title { font-size: 18px; font-weight: 600 }
.heading, .strong { font-weight: 600 }
.muted, .source, .note { fill: #59636e; font-weight: 400 }
.source { font-size: 11px }
.end { text-anchor: end }
.middle { text-anchor: middle }
.card { fill: #fff; stroke: #d1d9e0 }
.grid { stroke: #e4e8ec }
.axis { stroke: #818b98 }
.ours { fill: #1a7f37 }
.other { fill: #8c959f }
.curve { stroke-width: 2.5 }
.curve.ours { fill: none; stroke: #1a7f37 }
.curve.other { fill: none; stroke: #8c959f }
.rare { fill-opacity: 0.3 }
.most { fill-opacity: 0.4 }
@media (prefers-color-scheme: dark) {
text { fill: #f0f6fc; stroke: #0d1117 }
.muted, .source, .note { fill: #9198a1 }
.card { fill: #0d1117; stroke: #3d444d }
.grid { stroke: #2a313a }
.axis { stroke: #656c76 }
.ours { fill: #3fb950 }
.other { fill: #7d8590 }
.curve.ours { stroke: #3fb950 }
.curve.other { stroke: #7d8590 }
}`;

/** Round steps from zero to at least `most`, four to six of them. */
function scale(most: number): number[] {
  const rough = Math.max(most, Number.MIN_VALUE) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= rough) ?? rough;
  return Array.from({ length: Math.ceil(most / step) + 1 }, (_, index) => Number((index * step).toPrecision(6)));
}

function linear(ticks: readonly number[], from: number, to: number): (value: number) => number {
  const most = ticks.at(-1) || 1;
  return (value) => from + (value / most) * (to - from);
}

function verticals(ticks: readonly number[], x: (value: number) => number, top: number, bottom: number): string[] {
  return ticks.map((tick) => line(x(tick), top, x(tick), bottom, tick === 0 ? 'axis' : 'grid'));
}

function tickLabels(
  ticks: readonly number[],
  x: (value: number) => number,
  y: number,
  format: (value: number) => string,
): string[] {
  return ticks.map((tick) => text(x(tick), y, 'muted middle', format(tick)));
}

function line(x1: number, y1: number, x2: number, y2: number, style: string): string {
  return `<line class="${style}" x1="${round(x1)}" y1="${round(y1)}" x2="${round(x2)}" y2="${round(y2)}"/>`;
}

function bar(left: number, y: number, right: number, style: string): string {
  return `<rect class="${style}" x="${round(left)}" y="${round(y)}" width="${round(right - left)}" height="20" rx="2"/>`;
}

/** @param note what follows in a lighter hand */
function text(x: number, y: number, style: string, content: string, note = ''): string {
  const after = note === '' ? '' : `<tspan class="note" dx="8">${escapeXml(note)}</tspan>`;
  return `<text class="${style.trim()}" x="${round(x)}" y="${round(y)}">${escapeXml(content)}${after}</text>`;
}

/** To a tenth of a pixel. */
function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function escapeXml(content: string): string {
  return content.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
