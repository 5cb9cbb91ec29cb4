/**
 * The loop of a contract-first day: `npm run dev`. Saving the document, a file that it references or a source file
 * regenerates the types and serves the new version; until that is up, and whenever it is broken, the last good one
 * answers. Operations without a handler are mocked.
 */
import cluster, { type Worker as Server } from 'node:cluster';
import { existsSync, type FSWatcher, mkdirSync, readdirSync, readFileSync, watch, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { parseArgs, styleText } from 'node:util';
import { Worker as Thread } from 'node:worker_threads';
import { randomToken } from '../src/auth.ts';
import { banner, explain, startError } from '../src/banner.ts';
import { readConfig } from '../src/config.ts';
import type { Started } from '../src/service.ts';
import type { Order, Report } from '../src/workers.ts';
import { describeFinding, lintDocument } from './contract/lint.ts';
import { generateTypes } from './contract/types.ts';

const USAGE = `Usage: npm run dev

Serves the document and follows each save: types, server and what is left to write.
Its variables are those of npm start; operations without a handler are mocked, unless MISSING_OPERATIONS says otherwise.`;

const TYPES = 'generated/openapi.ts';

/** A save is often more than one event. Milliseconds. */
const SETTLE = 30;

try {
  const { values } = parseArgs({ options: { help: { type: 'boolean' } } });
  if (values.help) say(USAGE);
  else await loop();
} catch (error) {
  process.stderr.write(startError(explain(error, false)));
  process.exit(1);
}

async function loop(): Promise<void> {
  if (existsSync('.env')) process.loadEnvFile('.env');
  const { makeToken, openapiFile: file } = readConfig({ ...process.env, NODE_ENV: undefined });
  const token = makeToken ? randomToken() : undefined;
  const env = {
    ...(token !== undefined && { ACCESS_TOKENS: token }),
    MISSING_OPERATIONS: process.env.MISSING_OPERATIONS || 'mock',
    WORKERS: '1',
    DRAIN_SECONDS: '0',
  };
  cluster.setupPrimary({ exec: 'src/main.ts', args: [] });

  let serving: Server | undefined;
  let starting: Server | undefined;
  let savedAt: number | undefined = performance.now();
  let following = false;
  let stopping = false;
  let shown = false;
  let saidLast = '';
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop);
  const saves = watchSaves(resolve(file), () => {
    savedAt ??= performance.now();
    void follow();
  });
  await follow();
  checkTypes();

  /** Serves what is on disk, until nothing was saved meanwhile. */
  async function follow(): Promise<void> {
    starting?.process.kill('SIGKILL');
    if (following) return;
    following = true;
    while (savedAt !== undefined && !stopping) {
      const since = savedAt;
      savedAt = undefined;
      await serve(since).catch((error: unknown) => stays(error instanceof Error ? error.message : String(error)));
    }
    following = false;
  }

  async function serve(since: number): Promise<void> {
    saves.renew();
    const { findings, files } = await lintDocument(file);
    saves.renew(files);
    const found = findings.map(describeFinding).join('\n');
    if (findings.some(({ severity }) => severity === 'error')) return stays(found);

    const next = cluster.fork(env);
    starting = next;
    const [started] = await Promise.all([startOf(next), writeTypes(file)]);
    starting = undefined;
    // A newer save has already ended this one, or is about to.
    if (savedAt !== undefined || stopping) return void next.process.kill('SIGKILL');
    if (started === undefined) return stays(found);

    const former = serving;
    serving = next;
    former?.send('stop' satisfies Order, () => undefined);
    const born = performance.now();
    next.once('exit', () => {
      if (serving !== next) return;
      serving = undefined;
      if (stopping) return;
      if (performance.now() - born < 1000) return stays('The server ended soon after its start.');
      say(styleText('red', 'The server ended and is started again.'));
      savedAt ??= performance.now();
      void follow();
    });

    if (!shown) say(banner(started, token));
    shown = true;
    const left = started.missing.map((place) => `${place}: it is mocked`);
    const report = [found, ...left].filter(Boolean).join('\n');
    if (report !== saidLast && report !== '') say(report);
    saidLast = report;
    say(styleText('green', `Served, ${Math.round(performance.now() - since)} ms after the save.`));
  }

  function stays(why: string): void {
    if (stopping) return;
    saidLast = '';
    if (why !== '') say(why);
    say(styleText('red', serving ? 'Not served: the last good version answers on.' : 'Not served: mend it and save.'));
  }

  /** Ends every server, and then the loop; at the second call at once. */
  async function stop(): Promise<void> {
    const servers = Object.values(cluster.workers ?? {}).filter((server) => server !== undefined);
    const ended = servers.map((server) => new Promise((done) => server.once('exit', done)));
    for (const server of servers) {
      if (stopping || server === starting) server.process.kill('SIGKILL');
      else server.send('stop' satisfies Order, () => undefined);
    }
    stopping = true;
    await Promise.all(ended);
    process.exit();
  }
}

/** What a server tells of its start, or `undefined` if it ends instead, having said why. */
function startOf(server: Server): Promise<Started | undefined> {
  return new Promise((done) => {
    server.on('message', (report: Report) => {
      if ('started' in report) done(report.started);
      if ('failed' in report) say(report.failed);
    });
    server.once('exit', () => done(undefined));
  });
}

async function writeTypes(file: string): Promise<void> {
  try {
    const types = await generateTypes(file);
    if (existsSync(TYPES) && readFileSync(TYPES, 'utf8') === types) return;
    mkdirSync(dirname(TYPES), { recursive: true });
    writeFileSync(TYPES, types);
  } catch (error) {
    say(`${TYPES} stays as it is: ${error instanceof Error ? error.message : error}`);
  }
}

/** Says after each save what the compiler finds, in a thread: it ends with the loop and takes none of its time. */
function checkTypes(): void {
  const options = ['--watch', '--preserveWatchOutput', '--pretty', 'false'];
  const compiler = new Thread(resolve('node_modules/typescript/bin/tsc'), { argv: options, stdout: true });
  let report = '';
  compiler.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    report += chunk;
    const [, errors, count] = /Starting [^\n]*\n([\s\S]*)\n[^\n]*Found (\d+) errors?\./.exec(report) ?? [];
    if (errors === undefined) return;
    report = '';
    say(count === '0' ? 'The types fit.' : `The types do not fit:\n${errors.trim()}`);
  });
}

/** Watches the sources, and the files of a document. */
function watchSaves(document: string, saved: () => void) {
  const source = resolve('src');
  let watchers: FSWatcher[] = [];
  let documents = [document];
  let timer: NodeJS.Timeout | undefined;

  function renew(files: readonly string[] = documents): void {
    documents = [...new Set([document, ...files])];
    const folders = new Set([...foldersIn(source), ...documents.map(existingFolder)]);
    const former = watchers;
    // Folders are watched, not files: a save may put a new file in the place of the old one.
    watchers = [...folders].map((folder) =>
      watch(folder, (_event, name) => {
        if (name === null || !concerns(join(folder, name))) return;
        clearTimeout(timer);
        timer = setTimeout(saved, SETTLE);
      }).on('error', () => undefined),
    );
    for (const watcher of former) watcher.close();
  }

  function concerns(path: string): boolean {
    if (documents.some((file) => file === path || file.startsWith(path + sep))) return true;
    return path.startsWith(source + sep) && (/\.(ts|js|css|json)$/.test(path) || !relative(source, path).includes('.'));
  }

  renew();
  return { renew };
}

function foldersIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const inside = readdirSync(folder, { recursive: true, withFileTypes: true });
  return [
    folder,
    ...inside.filter((entry) => entry.isDirectory()).map(({ parentPath, name }) => join(parentPath, name)),
  ];
}

/** The folder of a file, or the nearest one around it that is there. */
function existingFolder(file: string): string {
  const folder = dirname(file);
  return existsSync(folder) ? folder : existingFolder(folder);
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
