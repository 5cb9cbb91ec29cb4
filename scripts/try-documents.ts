/**
 * Makes a project from each OpenAPI document in a folder, compiles it, starts it and runs its
 * tests, as a team does on its first day. Prints a table, and writes the output of each step to
 * `FOLDER/results`.
 *
 * Usage: node scripts/try-documents.ts FOLDER [NAME …]
 */
import { spawn } from 'node:child_process';
import {
  createWriteStream,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { join, parse, resolve } from 'node:path';
import { finished } from 'node:stream/promises';

/** The time for one step, on a machine that other work slows down. */
const LIMIT_MS = 240_000;

const [folder = '', ...names] = process.argv.slice(2);
const root = join(import.meta.dirname, '..');
const results = resolve(folder, 'results');
const files = readdirSync(folder)
  .filter((file) => /\.(ya?ml|json)$/.test(file))
  .filter((file) => names.length === 0 || names.includes(parse(file).name));

/** Runs a program of the repository. Resolves to its output if it succeeds. */
async function run(step: string, cwd: string, args: readonly string[]) {
  const log = createWriteStream(`${cwd}.${step}.txt`);
  const started = performance.now();
  const child = spawn(process.execPath, args, { cwd, timeout: LIMIT_MS });
  for (const stream of [child.stdout, child.stderr]) stream.pipe(log, { end: false });
  const code = await new Promise((done) => child.on('close', done));
  await finished(log.end());
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  return { isGreen: code === 0, seconds, output: readFileSync(`${cwd}.${step}.txt`, 'utf8') };
}

const textIn = (pattern: RegExp, text: string): string => pattern.exec(text)?.[1] ?? '0';

/** Makes a project. Returns a row of the table. */
async function tryDocument(file: string): Promise<readonly string[]> {
  const { name } = parse(file);
  const project = join(results, name);
  rmSync(project, { recursive: true, force: true });
  const tools = join(root, 'packages/spec-first/src/main.ts');
  const made = await run('new', results, [tools, 'new', project, resolve(folder, file)]);
  const isWhole = !made.output.includes('Operations with an error');
  if (!made.isGreen)
    return [name, 'no', '', '', '', '', made.output.trim().split('\n').at(-1) ?? ''];
  symlinkSync(join(root, 'node_modules'), join(project, 'node_modules'));
  const compiled = await run('tsc', project, [join(root, 'node_modules/typescript/bin/tsc')]);
  const tested = await run('test', project, ['--test', '--test-reporter=tap']);
  const isStarted = /^\s*ok \d+ - responds to an unknown path/m.test(tested.output);
  const mocked = textIn(/Mocked: (\d+)/, tested.output);
  const count = textIn(/\d+ of (\d+) operations succeeded/, tested.output);
  const [passed, failed] = ['pass', 'fail'].map((what) =>
    textIn(new RegExp(`^# ${what} (\\d+)`, 'm'), tested.output),
  );
  return [
    name,
    isWhole ? 'yes' : 'in part',
    compiled.isGreen ? 'yes' : `${compiled.output.split('\n').length} errors`,
    isStarted ? 'yes' : 'no',
    `${mocked} of ${count}`,
    `${passed} / ${failed}`,
    `${made.seconds} ${compiled.seconds} ${tested.seconds} s`,
  ];
}

mkdirSync(results, { recursive: true });
console.log(
  '| document | generated | compiles | starts | mocks respond | tests passed / failed | time |',
);
console.log('|---|---|---|---|---|---|---|');
for (const file of files) console.log(`| ${(await tryDocument(file)).join(' | ')} |`);
