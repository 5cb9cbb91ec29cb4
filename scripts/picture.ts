/**
 * Draws docs/pictures/first-hour.svg from a real run: a project is made, its document is edited,
 * its mock is called, and a wrong handler is tested.
 *
 * Usage: npm run picture
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempDisposableSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';

const ROOT = resolve(import.meta.dirname, '..');
const FILE = 'docs/pictures/first-hour.svg';
const TOKEN = 'secret';
const BOOK = '9780141439600';

/** The width of the picture in characters, and the sizes of a character in pixels. */
const COLUMNS = 92;
const CHARACTER = 8.43;
const LINE = 20;

/** Text of a terminal. Lines that start with `$ ` are commands, with `+ ` and `- ` edits. */
interface Frame {
  readonly title: string;
  readonly lines: readonly string[];
}

const TYPES = '../generated/openapi.ts';
const HANDLERS = `import { HttpError } from 'spec-first-server';
import type { Book, Handlers, ReplyTo, RequestTo } from '${TYPES}';

const books = new Map<string, Book>();

export const handlers: Handlers = {
  listBooks({ query: { after = '', limit } }) {
    const isbns = [...books.keys()].filter((isbn) => isbn > after).sort();
    const page = isbns.slice(0, limit);
    const next = isbns.length > limit ? page.at(-1) : undefined;
    return { status: 200, body: { books: page.flatMap((isbn) => books.get(isbn) ?? []), next } };
  },
  addBook({ body }) {
    if (books.has(body.isbn)) throw new HttpError(409, 'the book exists');
    books.set(body.isbn, body);
    return { status: 201, body };
  },
  getBook({ path: { isbn } }: RequestTo<'getBook'>): ReplyTo<'getBook'> {
    const book = books.get(isbn);
    if (book === undefined) throw new HttpError(404, 'there is no such book');
    return { status: 200, body: { isbn, title: book.title, author: book.author } };
  },
  deleteBook({ path: { isbn } }) {
    if (!books.has(isbn)) throw new HttpError(404, 'there is no such book');
    return { status: 204 };
  },
};
`;

using temporary = mkdtempDisposableSync(join(tmpdir(), 'picture-'));
const folder = join(temporary.path, 'library');
const path = `${join(ROOT, 'node_modules/.bin')}:${process.env.PATH}`;
const env = { PATH: path, NO_COLOR: '1', CONTRACT_SEED: '1', CI: '1' };

/** Runs a command in the project. Returns the lines of its output. */
function run(command: string, ...args: readonly string[]): string[] {
  const { stdout } = spawnSync(command, args, { cwd: folder, env, encoding: 'utf8' });
  return stdout.trimEnd().split('\n');
}

function edit(file: string, from: string, to: string): void {
  const text = readFileSync(join(folder, file), 'utf8');
  if (!text.includes(from)) throw new Error(`${file} does not have ${from}`);
  writeFileSync(join(folder, file), text.replace(from, to));
}

/** Starts the service, calls it with curl, and stops it. Returns the responses. */
async function callMock(...requests: readonly (readonly string[])[]): Promise<string[]> {
  const child = spawn('spec-first-server', [], {
    cwd: folder,
    env: { ...env, DEVELOPMENT_TOKEN: TOKEN, MISSING_OPERATIONS: 'mock', PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exit = once(child, 'exit');
  try {
    for await (const line of createInterface(child.stdout)) {
      const { msg, url } = JSON.parse(line);
      if (msg !== 'listening') continue;
      return requests.map(([target, ...args]) =>
        run('curl', '-s', `${url}${target}`, ...args).join(''),
      );
    }
    throw new Error('the service did not start');
  } finally {
    child.kill();
    await exit;
  }
}

spawnSync(process.execPath, [join(ROOT, 'packages/spec-first/src/main.ts'), 'new', folder], {
  stdio: 'inherit',
});
symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));

const bearer = ['-H', `Authorization: Bearer ${TOKEN}`];
const [mocked = '', rejected = ''] = await callMock(
  [`/books/${BOOK}`, ...bearer],
  ['/books/9', ...bearer],
);
const mocks: Frame = {
  title: '1. The document is served before you write code',
  lines: [
    `$ DEVELOPMENT_TOKEN=${TOKEN} npm start`,
    `$ curl -H 'Authorization: Bearer ${TOKEN}' http://127.0.0.1:3000/books/${BOOK}`,
    mocked,
    `$ curl -H 'Authorization: Bearer ${TOKEN}' http://127.0.0.1:3000/books/9`,
    rejected,
  ],
};

writeFileSync(join(folder, 'src/handlers.ts'), HANDLERS);
edit('openapi.yaml', 'required: [isbn, title, author]', 'required: [isbn, title, author, year]');
edit(
  'openapi.yaml',
  '        isbn: {',
  '        year: { type: integer, minimum: 1450 }\n        isbn: {',
);
run('spec-first', 'generate');
const types: Frame = {
  title: '2. An edit of the document becomes an error of the compiler',
  lines: [
    '- required: [isbn, title, author]',
    '+ required: [isbn, title, author, year]',
    '+ year: { type: integer, minimum: 1450 }',
    '$ npm run generate && npx tsc',
    ...run('tsc').filter((line) => line.startsWith('src/')),
  ],
};

edit('src/handlers.ts', 'author: book.author }', 'author: book.author, year: book.year }');
const output = run(process.execPath, '--test', '--test-reporter=spec');
const failed = output.findIndex((line) => line.trimStart() === '✖ failing tests:');
const check = output.findIndex((line, index) => index > failed && line.includes('check: '));
const end = output.findIndex((line, index) => index > check && line.includes('repeat:'));
if (check < 0 || end < 0) throw new Error(`no contract test failed:\n${output.join('\n')}`);
const tests: Frame = {
  title: '3. A handler that forgets to delete fails the contract tests',
  lines: [
    '$ npm test',
    ...output
      .slice(check - 2, end)
      .map((line) => line.trim())
      .filter(Boolean),
  ],
};

const file = join(ROOT, FILE);
mkdirSync(dirname(file), { recursive: true });
writeFileSync(file, draw([mocks, types, tests]));
console.log(`${FILE} written`);

/** Breaks a line at spaces, if there are any, and indents the rest. */
function wrap(line: string): string[] {
  if (line.length <= COLUMNS) return [line];
  const space = line.lastIndexOf(' ', COLUMNS);
  const at = space > COLUMNS / 2 ? space : COLUMNS;
  return [line.slice(0, at), ...wrap(`    ${line.slice(at).trimStart()}`)];
}

function draw(frames: readonly Frame[]): string {
  const width = Math.ceil(COLUMNS * CHARACTER) + 24;
  let top = 0;
  const parts = frames.map(({ title, lines }) => {
    const wrapped = lines.flatMap((line) =>
      wrap(line).map((text) => ({ text, kind: kindOf(line) })),
    );
    const height = wrapped.length * LINE + 24;
    const texts = wrapped.map(
      ({ text, kind }, index) =>
        `<text class="${kind}" x="12" y="${top + 56 + index * LINE}">${escapeXml(text)}</text>`,
    );
    const part = [
      `<text class="title" x="0" y="${top + 20}">${escapeXml(title)}</text>`,
      `<rect y="${top + 32}" width="${width}" height="${height}" rx="6"/>`,
      ...texts,
    ];
    top += height + 52;
    return part.join('\n');
  });
  const size = `viewBox="0 0 ${width} ${top}" width="${width}" height="${top}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img">
<title>${escapeXml(frames.map(({ title }) => title).join('. '))}</title>
<style>
rect { fill: #0d1117; stroke: #30363d }
text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace }
text { fill: #e6edf3; white-space: pre }
.title { font: 600 15px system-ui, sans-serif; fill: #59636e }
.command, .added { fill: #7ee787 }
.removed, .error { fill: #ff9790 }
</style>
${parts.join('\n')}
</svg>
`;
}

function kindOf(line: string): string {
  if (line.startsWith('$ ')) return 'command';
  if (line.startsWith('+ ')) return 'added';
  return line.startsWith('- ') || /error TS|^reason:|^✖/.test(line) ? 'error' : 'output';
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
