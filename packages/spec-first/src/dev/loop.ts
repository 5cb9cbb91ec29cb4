import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { styleText } from 'node:util';
import { banner, type Started } from 'spec-first-server';
import { type CheckedFile, checkFile } from '../check.ts';
import { lintDocument, withLintMessages } from '../lint.ts';
import { remarks } from '../remarks.ts';
import { generateTypes, TYPES } from '../types.ts';
import { describeMissing } from './missing.ts';
import { watchSaves } from './saves.ts';
import { killServer, prepareServers, type Server, servers, startOf, startServer, stopServer } from './server.ts';
import { typeChecker } from './type-check.ts';

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
}

/** Serves the document, and each newer version of it and of `src`, until a signal ends the process. */
export async function follow({ file, env, token, all }: LoopOptions): Promise<void> {
  let serving: Server | undefined;
  let starting: Server | undefined;
  let savedAt: number | undefined = performance.now();
  let following = false;
  let stopping = false;
  let announced = false;
  const sayOnce = lastSaid();
  prepareServers();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop);
  const saves = watchSaves(resolve(file), () => {
    savedAt ??= performance.now();
    void serveNewest();
  });
  const types = typeChecker(say);
  await serveNewest();

  /** Serves what is on disk, until nothing newer was saved. */
  async function serveNewest(): Promise<void> {
    if (starting !== undefined) giveUpOn(starting);
    if (following) return;
    following = true;
    while (savedAt !== undefined && !stopping) {
      const since = savedAt;
      savedAt = undefined;
      await serve(since).catch((error: unknown) => notServed(error instanceof Error ? error.message : String(error)));
    }
    following = false;
    types.check();
  }

  async function serve(since: number): Promise<void> {
    saves.renew();
    // The server starts while this process checks the document. Both find the same errors.
    const next = startServer(env);
    starting = next;
    let failure: string | undefined;
    const starts = startOf(next, (text) => {
      failure = text;
    });
    const checked = await checkFile(file);
    const { problems, files } = checked;
    saves.renew(files);
    const started = problems.length > 0 ? undefined : await starts;
    starting = undefined;
    if (stopping || problems.length > 0) killServer(next);
    if (stopping) return;
    if (problems.length > 0) return notServed(withLintMessages(problems, await lintDocument(file)).join('\n'));
    if (started === undefined) return notServed(failure);
    if (next.isDead()) return notServed(ENDED_AT_ONCE);
    await replaceServer(next);
    if (serving === next) await announce(started, checked, since);
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

  async function announce(started: Started, { notices, examples }: CheckedFile, since: number): Promise<void> {
    const first = !announced;
    announced = true;
    if (first) say(banner({ ...started, missing: [] }, token));
    sayOnce('missing', describeMissing(started.missing, env.MISSING_OPERATIONS === 'mock'));
    const after = first ? 'Each save is followed.' : `${Math.round(performance.now() - since)} ms after the save.`;
    say(styleText('green', `Served. ${after}`));
    await writeTypes(file);
    const lint = await lintDocument(file);
    sayOnce('remarks', remarks(file, [...notices, ...examples()], all ? lint.describe() : lint.count, all).join('\n'));
  }

  /** Ends a server that a newer save replaces, unless it serves soon: it may have accepted requests. */
  function giveUpOn(server: Server): void {
    setTimeout(() => {
      if (server === starting) killServer(server);
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
    await Promise.all(ended);
    process.exit();
  }
}

async function writeTypes(file: string): Promise<void> {
  try {
    const types = await generateTypes(file);
    if (existsSync(TYPES) && readFileSync(TYPES, 'utf8') === types) return;
    mkdirSync(dirname(TYPES), { recursive: true });
    writeFileSync(TYPES, types);
  } catch (error) {
    say(`${TYPES} is unchanged: ${error instanceof Error ? error.message : error}`);
  }
}

/** Says a text about a subject, unless it was the last one about it. */
function lastSaid(): (subject: string, text: string) => void {
  const last = new Map<string, string>();
  return (subject, text) => {
    if (text !== last.get(subject)) say(text);
    last.set(subject, text);
  };
}

function say(text: string): void {
  if (text !== '') process.stdout.write(`${text}\n`);
}
