import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { extname, join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { styleText } from 'node:util';
import { banner, type Started } from 'spec-first-server';
import { messageOf } from '../command.ts';
import type { News, Outcome, Saved } from './follow-up.ts';
import { watchSaves } from './saves.ts';
import {
  CACHED,
  killServer,
  prepareServers,
  type Server,
  servers,
  startOf,
  startServer,
  stopServer,
} from './server.ts';
import { describeTypeErrors } from './type-check.ts';

const ENDED_AT_ONCE = 'The server ended soon after its start.';

/** A server that lived shorter than this is not started again before the next save. Milliseconds. */
const SHORT_LIFE = 1000;

/** How long a start may take when a newer save waits. Milliseconds. */
const LONGEST_START = 2000;

/** How long the former server may finish its requests before the new one is announced. Milliseconds. */
const LAST_REQUESTS = 500;

export interface LoopOptions {
  /** The document. */
  readonly file: string;
  /** Variables of the servers, besides those of this process. */
  readonly env: Readonly<Record<string, string>>;
  /** The access token that was made for this run. */
  readonly token: string | undefined;
  /** Whether all notices and warnings are shown. */
  readonly all: boolean;
  /** Whether the document may reference files outside its folder. */
  readonly allowOutside: boolean;
}

/** Serves the document, and each newer version of it and of `src`, until a signal ends the process. */
export async function watchAndServe({ file, env, token, all, allowOutside }: LoopOptions): Promise<void> {
  let serving: Server | undefined;
  let starting: Server | undefined;
  let savedAt: number | undefined = performance.now();
  let serveRuns = false;
  let stopping = false;
  let announced = false;
  let fileSaved = true;
  let followUp: ChildProcess | undefined;
  let typeCheck = new AbortController();
  let saidOfTypes = '';
  let typesChecked: Promise<void> | undefined;
  prepareServers(allowOutside ? ['--allow-outside'] : []);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop);
  const saves = watchSaves(resolve(file), (ofDocument) => {
    fileSaved ||= ofDocument;
    savedAt ??= performance.now();
    void serveNewest();
  });
  await serveNewest();

  /** Serves what is on disk, until nothing newer was saved. */
  async function serveNewest(): Promise<void> {
    if (starting !== undefined) giveUpOn(starting);
    if (serveRuns) return;
    serveRuns = true;
    while (savedAt !== undefined && !stopping) {
      const since = savedAt;
      savedAt = undefined;
      await serve(since).catch((error: unknown) => notServed(messageOf(error)));
    }
    serveRuns = false;
  }

  async function serve(since: number): Promise<void> {
    saves.renew();
    const next = startServer(env);
    followSave();
    starting = next;
    // From now on it may have accepted requests.
    next.once('listening', () => {
      starting = undefined;
    });
    const started = await startOf(next);
    starting = undefined;
    if (stopping) return killServer(next);
    if (typeof started === 'string') return followOutcome([], started);
    if (next.isDead()) return notServed(ENDED_AT_ONCE);
    await replaceServer(next);
    if (serving === next) announce(started, since);
  }

  async function replaceServer(next: Server): Promise<void> {
    const former = serving;
    serving = next;
    const born = performance.now();
    next.once('exit', () => {
      if (serving !== next) return;
      serving = undefined;
      if (stopping) return;
      if (performance.now() - born < SHORT_LIFE) return notServed(ENDED_AT_ONCE);
      say(styleText('red', 'The server ended and is started again.'));
      savedAt ??= performance.now();
      void serveNewest();
    });
    if (former === undefined) return;
    stopServer(former);
    await Promise.race([once(former, 'exit'), pause(LAST_REQUESTS)]);
  }

  function announce(started: Started, since: number): void {
    if (!announced) say(banner({ ...started, missing: [] }, token));
    const after = announced ? `${Math.round(performance.now() - since)} ms after the save.` : 'Each save is followed.';
    announced = true;
    say(styleText('green', `Served. ${after}`));
    followOutcome(started.missing);
  }

  function followSave(): void {
    followUp ??= startFollowUp();
    typeCheck.abort();
    followUp.send({ file, fileSaved, allowOutside } satisfies Saved, () => undefined);
    fileSaved = false;
  }

  /** Says what is left to do. After a newer save, only the next outcome counts. */
  function followOutcome(missing: readonly string[], failure?: string): void {
    if (savedAt !== undefined) return;
    const mocked = env.MISSING_OPERATIONS === 'mock';
    followUp?.send({ file, all, mocked, missing, failure } satisfies Outcome, () => undefined);
  }

  async function checkTypes(): Promise<void> {
    typeCheck.abort();
    typeCheck = new AbortController();
    const { signal } = typeCheck;
    const text = await describeTypeErrors(signal);
    if (signal.aborted || text === saidOfTypes) return;
    saidOfTypes = text;
    say(text);
  }

  function startFollowUp(): ChildProcess {
    const module = join(import.meta.dirname, `follow-up${extname(import.meta.filename)}`);
    const child = fork(module, [], { execArgv: CACHED });
    child.on('message', (news: News) => {
      if ('files' in news) saves.renew(news.files);
      else if ('text' in news) say(news.text);
      else if ('typesWritten' in news) typesChecked = checkTypes();
      else if (!serveRuns) notServed(news.failure);
    });
    child.once('exit', (code, signal) => {
      followUp = undefined;
      fileSaved = true;
      if (!stopping) say(`${file} is not followed further: a process ended with ${signal ?? code}`);
    });
    return child;
  }

  /** Ends a server that a newer save replaces, unless it listens soon. */
  function giveUpOn(server: Server): void {
    setTimeout(() => {
      // After the events that this process has yet to read: it may listen since.
      setImmediate(() => {
        if (server === starting) killServer(server);
      });
    }, LONGEST_START);
  }

  function notServed(why = ''): void {
    if (stopping) return;
    if (why !== '') say(why);
    const what = serving ? 'Not served: the last good version still answers.' : 'Not served: fix the error and save.';
    say(styleText('red', what));
  }

  /** Ends all servers, and then the loop. Kills them at the second call. */
  async function stop(): Promise<void> {
    const running = servers();
    const ended = running.map((server) => new Promise((done) => server.once('exit', done)));
    for (const server of running) {
      if (stopping || server === starting) killServer(server);
      else stopServer(server);
    }
    stopping = true;
    typeCheck.abort();
    followUp?.kill('SIGKILL');
    await Promise.all([...ended, followUp && once(followUp, 'exit'), typesChecked]);
    process.exit();
  }
}

function say(text: string): void {
  if (text !== '') process.stdout.write(`${text}\n`);
}
