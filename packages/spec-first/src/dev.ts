import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { extname, join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { styleText } from 'node:util';
import { Worker as Thread } from 'node:worker_threads';
import {
  banner,
  hasCredentials,
  loadEnvFile,
  randomToken,
  readConfig,
  type Started,
  type SupervisorMessage,
  type WorkerMessage,
} from 'spec-first-server';
import { command, messageOf, OUTSIDE } from './command.ts';
import type { News } from './dev/follow-up.ts';
import { watchSaves } from './dev/watch.ts';

const USAGE = `Usage: spec-first dev [--allow-outside]

Serves the document, and follows each save of the document or of a file in src: types, server, what is left to write.
The last good version answers until a new one serves, and while the new one has an error.

  --allow-outside   read files outside the document's folder that it references
  --help            show this

The variables are those of npm start. Operations without a handler are mocked, unless MISSING_OPERATIONS is set.
Exit codes: 0 ended by a signal, 1 a wrong variable, 2 a wrong command line.`;

/** Flags of Node for code that keeps what it has compiled for the next start. */
const CACHED = ['--import', 'spec-first-server/compile-cache'];

/**
 * Serves the document, and each newer version of it and of `src`, until a signal ends the process. Each server is a cluster
 * worker, since two of them can share the port.
 */
export const run = command(USAGE, OUTSIDE, 0, async ({ 'allow-outside': allowOutside = false }) => {
  loadEnvFile();
  const config = readConfig({ ...process.env, NODE_ENV: undefined });
  const { OPENAPI_FILE: file } = config;
  const token = hasCredentials(config) ? undefined : randomToken();
  const missingOperations = process.env.MISSING_OPERATIONS || 'mock';
  const env = {
    ...(token !== undefined && { ACCESS_TOKENS: token }),
    MISSING_OPERATIONS: missingOperations,
    NODE_ENV: 'development',
    WORKERS: '1',
    DRAIN_SECONDS: '0',
  };
  let serving: Worker | undefined;
  let starting: Worker | undefined;
  let stopping = false;
  let announced = false;
  const said = new Map<string, string>();

  // Each server accepts its own connections. Connections that this process passed on would be lost with a server.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  cluster.setupPrimary({ exec: 'src/main.ts', args: allowOutside ? ['--allow-outside'] : [], execArgv: CACHED });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop);
  const watchDocument = watchSaves((ofDocument) => void serveNewest(ofDocument));
  watchDocument([resolve(file)]);
  // It takes seconds where the document is large.
  const module = join(import.meta.dirname, `dev/follow-up${extname(import.meta.filename)}`);
  const followUp = new Thread(module, { execArgv: CACHED, workerData: { file, allowOutside } });
  followUp.on('message', (news: News) => {
    if ('files' in news) watchDocument([resolve(file), ...news.files]);
    else sayOnce(news.subject, news.text);
  });
  followUp.on('error', (error) => say(`The types are not written and checked any more: ${messageOf(error)}`));
  void serveNewest(true);
  return 0;

  /** Serves what is on disk. The last good server goes on until the new one serves. */
  async function serveNewest(ofDocument: boolean): Promise<void> {
    const since = performance.now();
    if (starting !== undefined) limitStart(starting);
    const next = cluster.fork(env);
    starting = next;
    followUp.postMessage(ofDocument);
    const started = await startOf(next);
    if (starting !== next || stopping) return retire(next);
    starting = undefined;
    if (typeof started === 'string') return notServed(started);
    next.once('exit', () => {
      if (serving !== next || stopping) return;
      serving = undefined;
      notServed('The server has ended.');
    });
    const former = serving;
    serving = next;
    if (former !== undefined) {
      retire(former);
      // It finishes its requests; the new one is announced after half a second at the latest.
      await Promise.race([once(former, 'exit'), pause(500)]);
    }
    if (!announced) say(banner({ ...started, missing: [] }, token));
    const after = announced ? `${Math.round(performance.now() - since)} ms after the save.` : 'Each save is followed.';
    announced = true;
    say(styleText('green', `Served. ${after}`));
    sayOnce('missing', describeMissing(started.missing, missingOperations === 'mock'));
  }

  /** Says a text about a subject, unless it was the last one about it. */
  function sayOnce(subject: string, text: string): void {
    if (text !== said.get(subject)) say(text);
    said.set(subject, text);
  }

  function notServed(why: string): void {
    say(why);
    const what = serving ? 'Not served: the last good version still answers.' : 'Not served: fix the error and save.';
    say(styleText('red', what));
  }

  async function stop(): Promise<void> {
    stopping = true;
    const servers = Object.values(cluster.workers ?? {}).filter((server) => server !== undefined);
    for (const server of servers) {
      if (server === starting) server.process.kill('SIGKILL');
      else retire(server);
    }
    await Promise.all(servers.map((server) => once(server, 'exit')));
    process.exit();
  }
});

/** Resolves once the server serves, or to why it cannot start, as far as it says so. */
function startOf(server: Worker): Promise<Started | string> {
  return new Promise((done) => {
    let failure = '';
    server.on('message', (message: WorkerMessage) => {
      if ('started' in message) done(message.started);
      if ('failed' in message) failure = message.failed;
      if ('ping' in message) server.send('pong' satisfies SupervisorMessage, () => undefined);
    });
    server.once('exit', () => done(failure));
  });
}

/** Lets a server finish its requests and end. Idle connections are closed at once: they are the next server's. */
function retire(server: Worker): void {
  server.send('replace' satisfies SupervisorMessage, () => undefined);
}

/** Kills a server that does not listen within two seconds: its program may hang. */
function limitStart(server: Worker): void {
  const timer = setTimeout(() => server.process.kill('SIGKILL'), 2000);
  server.once('listening', () => clearTimeout(timer));
}

/** The operations without a handler, and the command that writes stubs for them. */
function describeMissing(missing: readonly string[], mocked: boolean): string {
  if (missing.length === 0) return '';
  const named = missing.slice(0, 10);
  const rest = missing.length - named.length;
  const names = named.join(', ') + (rest > 0 ? ` and ${rest} more` : '');
  return `Left to write, ${mocked ? 'mocked' : 'answered with 501'} until then: ${names}
To write stubs: npm run stub -- ${rest > 0 ? '--all' : missing.join(' ')}`;
}

function say(text: string): void {
  if (text !== '') process.stdout.write(`${text}\n`);
}
