import { type ChildProcess, fork } from 'node:child_process';
import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { extname, join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { styleText } from 'node:util';
import { banner, type Started, type SupervisorMessage, type WorkerMessage } from 'spec-first-server';
import type { News, Saved } from './follow-up.ts';
import { watchSaves } from './watch.ts';

/** How long a start may take when a newer save waits. Milliseconds. */
const LONGEST_START = 2000;

/** How long the former server may finish its requests before the new one is announced. Milliseconds. */
const LAST_REQUESTS = 500;

/** How many operations without a handler are named. */
const FEW = 10;

/** Flags of Node for a process that keeps compiled code and what was checked for the next one. */
const CACHED = ['--import', 'spec-first-server/compile-cache'];

export interface LoopOptions {
  /** The document. */
  readonly file: string;
  /** Variables of the servers, besides those of this process. */
  readonly env: Readonly<Record<string, string>>;
  /** The access token that was made for this run. */
  readonly token: string | undefined;
  /** Whether the document may reference files outside its folder. */
  readonly allowOutside: boolean;
}

/**
 * Serves the document, and each newer version of it and of `src`, until a signal ends the process. Each server is a cluster
 * worker, since two of them can share the port.
 */
export function watchAndServe({ file, env, token, allowOutside }: LoopOptions): void {
  let serving: Worker | undefined;
  let starting: Worker | undefined;
  let followUp: ChildProcess | undefined;
  let stopping = false;
  let announced = false;
  const said = new Map<string, string>();
  /** Why the newest server did not start. */
  let failure = '';
  // Each server accepts its own connections. Connections that this process passed on would be lost with a server.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  cluster.setupPrimary({ exec: 'src/main.ts', args: allowOutside ? ['--allow-outside'] : [], execArgv: CACHED });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop);
  const watchDocument = watchSaves((ofDocument) => void serveNewest(ofDocument));
  watchDocument([resolve(file)]);
  void serveNewest(true);

  /** Serves what is on disk. The last good server goes on until the new one serves. */
  async function serveNewest(ofDocument: boolean): Promise<void> {
    const since = performance.now();
    if (starting !== undefined) giveUpOn(starting);
    const next = cluster.fork(env);
    starting = next;
    followUp ??= startFollowUp();
    followUp.send({ file, ofDocument, allowOutside } satisfies Saved, () => undefined);
    const started = await startOf(next);
    // A newer one has been started since.
    if (starting !== next || stopping) return;
    starting = undefined;
    failure = '';
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
      await Promise.race([once(former, 'exit'), pause(LAST_REQUESTS)]);
    }
    announce(started, since);
  }

  function announce(started: Started, since: number): void {
    if (!announced) say(banner({ ...started, missing: [] }, token));
    const after = announced ? `${Math.round(performance.now() - since)} ms after the save.` : 'Each save is followed.';
    announced = true;
    say(styleText('green', `Served. ${after}`));
    sayOnce('missing', describeMissing(started.missing, env.MISSING_OPERATIONS === 'mock'));
  }

  function startFollowUp(): ChildProcess {
    const module = join(import.meta.dirname, `follow-up${extname(import.meta.filename)}`);
    const child = fork(module, [], { execArgv: CACHED });
    child.on('message', (news: News) => {
      if ('files' in news) watchDocument([resolve(file), ...news.files]);
      else sayOnce(news.subject, news.text);
    });
    child.once('exit', (code, signal) => {
      followUp = undefined;
      if (!stopping) say(`${file} is not followed until the next save: a process ended with ${signal ?? code}`);
    });
    return child;
  }

  /** Says a text about a subject, unless it was the last one about it. */
  function sayOnce(subject: string, text: string): void {
    if (text !== said.get(subject) && text !== failure) say(text);
    said.set(subject, text);
  }

  function notServed(why: string): void {
    failure = why;
    if (why !== said.get('problems')) say(why);
    const what = serving ? 'Not served: the last good version still answers.' : 'Not served: fix the error and save.';
    say(styleText('red', what));
  }

  /** Ends all servers, and then the loop. Kills them at the second call. */
  async function stop(): Promise<void> {
    const running = Object.values(cluster.workers ?? {}).filter((server) => server !== undefined);
    const ended = [...running, ...(followUp ? [followUp] : [])].map((child) => once(child, 'exit'));
    for (const server of running) {
      if (stopping || server === starting) server.process.kill('SIGKILL');
      else retire(server);
    }
    stopping = true;
    followUp?.kill('SIGKILL');
    await Promise.all(ended);
    process.exit();
  }
}

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

/** Ends a server that a newer save replaces. It is killed unless it ends or listens soon: its program may hang. */
function giveUpOn(server: Worker): void {
  const timer = setTimeout(() => server.process.kill('SIGKILL'), LONGEST_START);
  retire(server);
  server.once('exit', () => clearTimeout(timer));
  server.once('listening', () => {
    clearTimeout(timer);
    retire(server);
  });
}

/** The operations without a handler, and the command that writes stubs for them. */
function describeMissing(missing: readonly string[], mocked: boolean): string {
  if (missing.length === 0) return '';
  const few = missing.slice(0, FEW).map((id) => (/^[\w.-]+$/.test(id) ? id : JSON.stringify(id)));
  const rest = missing.length - few.length;
  const names = rest > 0 ? `${few.join(', ')} and ${rest} more` : few.join(', ');
  return `Left to write, ${mocked ? 'mocked' : 'answered with 501'} until then: ${names}
To write stubs: npm run stub -- ${rest > 0 ? '--all' : few.join(' ')}`;
}

function say(text: string): void {
  if (text !== '') process.stdout.write(`${text}\n`);
}
