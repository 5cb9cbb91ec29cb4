/** What follows a save beside the start of a server, in a thread of its own. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { parentPort, workerData } from 'node:worker_threads';
import { checkFile } from '../check.ts';
import { messageOf } from '../command.ts';
import { firstOf, writeChanged } from '../generate.ts';
import { generateTypes, TYPES } from '../types.ts';

/** What the loop is told: the document's files, or a text about a subject. */
export type News = { readonly files: readonly string[] } | { readonly subject: string; readonly text: string };

const { file, allowOutside }: { readonly file: string; readonly allowOutside: boolean } = workerData;
const tell = (news: News) => parentPort?.postMessage(news);
let saves = 0;
let isStale = false;
let typeCheck = new AbortController();
let last = Promise.resolve();

parentPort?.on('message', (ofDocument: boolean) => {
  const turn = ++saves;
  isStale ||= ofDocument;
  typeCheck.abort();
  last = last
    .then(() => (turn === saves ? follow() : undefined))
    .catch((error) => tell({ subject: 'types', text: `The types are not checked: ${messageOf(error)}` }));
});

/** Writes the document's types, checks the types of the project, and the document. A newer save goes on with what is left. */
async function follow(): Promise<void> {
  if (!isStale) return checkTypes();
  isStale = false;
  let typesChecked: Promise<void> | undefined;
  const { document, files, notices } = await checkFile(file, allowOutside, async (read) => {
    tell({ files: read.files });
    writeChanged(TYPES, await generateTypes(read));
    // The compiler runs beside the check of the document.
    typesChecked = checkTypes();
  });
  tell({ files });
  await typesChecked;
  // The server says itself why it cannot start.
  if (document !== undefined) tell({ subject: 'notices', text: firstOf(file, notices()).join('\n') });
}

/** Checks the types of the project with its own `tsc`, if it has a tsconfig.json. */
async function checkTypes(): Promise<void> {
  if (!existsSync('tsconfig.json')) return;
  const compiler = dirname(createRequire(resolve('package.json')).resolve('typescript/package.json'));
  typeCheck = new AbortController();
  const { signal } = typeCheck;
  const args = [join(compiler, 'bin/tsc'), '--noEmit', '--pretty', 'false'];
  const errors = await promisify(execFile)(process.execPath, args, {
    maxBuffer: 2 ** 28,
    windowsHide: true,
    signal,
  }).then(
    () => [],
    ({ stdout, stderr, message }) => (`${stdout}${stderr}`.trim() || String(message)).split(/\r?\n(?=\S)/),
  );
  if (signal.aborted) return;
  const rest = errors.length > 10 ? [`… and ${errors.length - 10} more errors`] : [];
  const text = ['The types do not fit:', ...errors.slice(0, 10).map(shortened), ...rest].join('\n');
  tell({ subject: 'types', text: errors.length === 0 ? 'The types fit.' : text });
}

/** An error with its most exact message alone: tsc indents it most, below those of the types around it. */
function shortened(error: string): string {
  const [first = '', ...others] = error.split(/\r?\n/);
  const depth = (line: string) => line.search(/\S/);
  const end = others.findIndex((line, index) => depth(line) <= depth(others[index - 1] ?? ''));
  const innermost = (end < 0 ? others : others.slice(0, end)).at(-1);
  return innermost === undefined ? first : first.replace(/(error TS\d+: ).*/, (_, code) => code + innermost.trim());
}
