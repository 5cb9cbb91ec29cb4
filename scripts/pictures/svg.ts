import { stripVTControlCharacters } from 'node:util';

/** What a terminal showed, and when. */
export interface Output {
  /** Seconds since the start of the recording. */
  readonly at: number;
  readonly text: string;
}

const ESCAPE = '\u001b';
export const COLUMNS = 60;
const ROWS = 26;
const LINE = 20;
const [WIDTH, HEIGHT] = [COLUMNS * 8.5 + 40, ROWS * LINE + 40];
/** Seconds that the last screen stays before the animation begins again. */
const REST = 6;

/** The colours of SGR parameters 30 to 37. All have a contrast of at least 4.5 on the background. */
const COLOURS = ['#8b949e', '#ff7b72', '#56d364', '#e3b341', '#79c0ff', '#d2a8ff', '#56d4dd', '#e6edf3'];

/** An SVG animation of a terminal. Where a reader wants less motion, it shows the last screen. */
export function animate(outputs: readonly Output[]): string {
  const shown = outputs.map(({ at, text }) => ({ at, lines: linesOf(text) }));
  const seconds = (shown.at(-1)?.at ?? 0) + REST;
  const percent = (at: number) => ((at / seconds) * 100).toFixed(2);
  const total = shown.reduce((sum, { lines }) => sum + lines.length, 0);
  const shift = (lines: number) => `transform: translateY(${-Math.max(0, lines - ROWS) * LINE}px)`;
  let row = 0;
  const texts: string[] = [];
  const appear: string[] = [];
  const scroll: string[] = [];
  for (const [index, { at, lines }] of shown.entries()) {
    const tops = lines.map((line, i) => `<text x="20" y="${20 + (row + i + 0.75) * LINE}">${line}</text>`);
    texts.push(`<g class="o${index}">${tops.join('\n')}</g>`);
    appear.push(`@keyframes o${index} { 0% { visibility: hidden } ${percent(at)}%, 100% { visibility: visible } }
.o${index} { animation: o${index} ${seconds}s step-end infinite }`);
    row += lines.length;
    scroll.push(`${percent(at)}% { ${shift(row)} }`);
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img">
<title>npm run dev: types, server and mocks follow each save of openapi.yaml</title>
<style>
text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; fill: #e6edf3; white-space: pre }
.screen { ${shift(total)} }
@media (prefers-reduced-motion: no-preference) {
.screen { animation: scroll ${seconds}s step-end infinite }
@keyframes scroll { 0% { ${shift(0)} } ${scroll.join(' ')} 100% { ${shift(total)} } }
${appear.join('\n')}
}
</style>
<clipPath id="window"><rect y="20" width="${WIDTH}" height="${HEIGHT - 40}"/></clipPath>
<rect width="${WIDTH}" height="${HEIGHT}" rx="10" fill="#0d1117" stroke="#30363d"/>
<g clip-path="url(#window)"><g class="screen">
${texts.join('\n')}
</g></g>
</svg>
`;
}

/** An SGR sequence, or the end of a line. */
const SEQUENCE = new RegExp(`(${ESCAPE}\\[[\\d;]*m|\\n)`);

/** The lines of a text with SGR sequences (ECMA-48 §8.3.117), wrapped as a terminal wraps them. */
function linesOf(text: string): string[] {
  const lines = [''];
  let column = 0;
  let style = '';
  for (const part of text.replaceAll('\r', '').split(SEQUENCE)) {
    if (part.startsWith(`${ESCAPE}[`)) style = styleAfter(style, Number.parseInt(part.slice(2), 10));
    else if (part === '\n') {
      lines.push('');
      column = 0;
    } else {
      let rest = stripVTControlCharacters(part);
      while (rest !== '') {
        if (column === COLUMNS) {
          lines.push('');
          column = 0;
        }
        const piece = rest.slice(0, COLUMNS - column);
        const escaped = piece.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
        lines.push(`${lines.pop()}${style === '' ? escaped : `<tspan style="${style}">${escaped}</tspan>`}`);
        column += piece.length;
        rest = rest.slice(piece.length);
      }
    }
  }
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

function styleAfter(style: string, sgr: number): string {
  if (sgr === 1) return `${style};font-weight: bold`;
  if (sgr === 2 || sgr === 90) return 'fill: #8b949e';
  if (sgr >= 30 && sgr <= 37) return `fill: ${COLOURS[sgr - 30]}`;
  return '';
}
