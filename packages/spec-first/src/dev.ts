/**
 * The loop of a contract-first day: `npm run dev`. Saving the document, a file that it references or a source file
 * regenerates the types and serves the new version; until that is up, and whenever it is broken, the last good one
 * answers. Operations without a handler are mocked.
 */
import cluster, { type Worker as Server } from 'node:cluster';
import { once } from 'node:events';
import { existsSync, type FSWatcher, mkdirSync, readdirSync, readFileSync, watch, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs, styleText } from 'node:util';
import { Worker as Thread } from 'node:worker_threads';
import {
  banner,
  explain,
  hasCredentials,
  loadEnvFile,
  type Order,
  type Report,
  randomToken,
  readConfig,
  type Started,
  startError,
} from 'spec-first-server';
import { describeFinding, lintDocument } from './lint.ts';
import { generateTypes } from './types.ts';

const USAGE = `Usage: npm run dev

Serves the document and follows each save: types, server and what is left to write.
Its variables are those of npm start; operations without a handler are mocked, unless MISSING_OPERATIONS says otherwise.`;

const TYPES = 'generated/openapi.ts';

const ENDED_AT_ONCE = 'The server ended soon after its start.';

/** A save is often more than one event. Milliseconds. */
const SETTLE = 30;

/** How long a server may take to start when something newer waits for it. Milliseconds. */
const LONGEST_START = 2000;

/** How long the former server's last answers are waited for before the new one is announced. Milliseconds. */
const LAST_ANSWERS = 500;

/** Runs until a signal ends it. */
export async function run(args: readonly string[]): Promise<number> {
  try {
    const { values } = parseArgs({ args: [...args], options: { help: { type: 'boolean' } } });
    if (values.help) say(USAGE);
    else await loop();
    return 0;
  } catch (error) {
    process.stderr.write(startError(explain(error, false)));
    return 1;
  }
}

async function loop(): Promise<void> {
  loadEnvFile();
  const config = readConfig({ ...process.env, NODE_ENV: undefined });
  const { OPENAPI_FILE: file } = config;
  const token = hasCredentials(config) ? undefined : randomToken();
  const env = {
    ...(token !== undefined && { ACCESS_TOKENS: token }),
    MISSING_OPERATIONS: process.env.MISSING_OPERATIONS || 'mock',
    WORKERS: '1',
    DRAIN_SECONDS: '0',
  };
  // Servers accept for themselves: what this process had passed on would be lost with a server that ends.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  cluster.setupPrimary({ exec: 'src/main.ts', args: [] });

  let serving: Server | undefined;
  let starting: Server | undefined;
  let savedAt: number | undefined = performance.now();
  let following = false;
  let stopping = false;
  let saidLast: string | undefined;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop);
  const saves = watchSaves(resolve(file), () => {
    savedAt ??= performance.now();
    void follow();
  });
  const types = typeChecker();
  await follow();

  /** Serves what is on disk, until nothing was saved meanwhile. */
  async function follow(): Promise<void> {
    if (starting !== undefined) giveUpOn(starting);
    if (following) return;
    following = true;
    while (savedAt !== undefined && !stopping) {
      const since = savedAt;
      savedAt = undefined;
      await serve(since).catch((error: unknown) => stays(error instanceof Error ? error.message : String(error)));
    }
    following = false;
    types.check();
  }

  async function serve(since: number): Promise<void> {
    saves.renew();
    const { findings, files } = await lintDocument(file);
    saves.renew(files);
    const found = findings.map(describeFinding).join('\n');
    if (savedAt !== undefined || stopping) return;
    if (findings.some(({ severity }) => severity === 'error')) return stays(found);

    const next = cluster.fork(env);
    starting = next;
    const [started] = await Promise.all([startOf(next), writeTypes(file)]);
    starting = undefined;
    if (stopping) return void next.process.kill('SIGKILL');
    if (started === undefined) return stays(found);
    if (next.isDead()) return stays(ENDED_AT_ONCE);

    const former = serving;
    serving = next;
    const born = performance.now();
    next.once('exit', () => {
      if (serving !== next) return;
      serving = undefined;
      if (stopping) return;
      if (performance.now() - born < 1000) return stays(ENDED_AT_ONCE);
      say(styleText('red', 'The server ended and is started again.'));
      savedAt ??= performance.now();
      void follow();
    });
    if (former !== undefined) {
      former.send('stop' satisfies Order, () => undefined);
      await Promise.race([once(former, 'exit'), pause(LAST_ANSWERS)]);
      if (serving !== next) return;
    }

    const first = saidLast === undefined;
    if (first) say(banner(started, token));
    const until = env.MISSING_OPERATIONS === 'mock' ? 'mocked until then' : 'answered with 501 until then';
    const left = started.missing.length === 0 ? [] : [`Left to write, ${until}:`, ...started.missing];
    const report = [found, ...left].filter(Boolean).join('\n');
    if (report !== saidLast && report !== '') say(report);
    saidLast = report;
    const after = first ? 'Each save is followed.' : `${Math.round(performance.now() - since)} ms after the save.`;
    say(styleText('green', `Served. ${after}`));
  }

  /** Ends a server that a newer save makes pointless, unless it is about to serve: it may have taken requests. */
  function giveUpOn(server: Server): void {
    setTimeout(() => server === starting && server.process.kill('SIGKILL'), LONGEST_START);
  }

  function stays(why: string): void {
    if (stopping) return;
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

/** Says what the compiler finds, each time that `check` is called. Its thread takes no time of the loop. */
function typeChecker() {
  const compiler = new Thread(new URL('compiler.ts', import.meta.url));
  let asked = 0;
  compiler.on('message', (findings: readonly string[] | undefined) => {
    // What a newer save has made old is not said.
    if (--asked > 0 || findings === undefined) return;
    say(findings.length === 0 ? 'The types fit.' : `The types do not fit:\n${findings.join('\n')}`);
  });
  compiler.on('error', (error) => say(`The types are no longer checked: ${error}`));
  return {
    check() {
      asked++;
      compiler.postMessage('check');
    },
  };
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
