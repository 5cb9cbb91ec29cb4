import { once } from 'node:events';
import { resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { styleText } from 'node:util';
import { banner, type Started } from 'spec-first-server';
import { background, endBackground } from './background.ts';
import type { DocumentWork } from './document.ts';
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
  /** What does not follow the last save of the document yet. */
  const stale = new Set<'check' | 'types' | 'notices'>(['check', 'types', 'notices']);
  const sayOnce = lastSaid();
  const inBackground = background<DocumentWork>('document');
  const checkTypes = typeChecker((text) => sayOnce('types', text));
  prepareServers();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop);
  const saves = watchSaves(resolve(file), (ofDocument) => {
    if (ofDocument) for (const part of ['check', 'types', 'notices'] as const) stale.add(part);
    savedAt ??= performance.now();
    void serveNewest();
  });
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
  }

  async function serve(since: number): Promise<void> {
    saves.renew();
    const next = startServer(env);
    starting = next;
    let failure: string | undefined;
    const starts = startOf(next, (text) => {
      failure = text;
    });
    // The server finds the same errors. The linter says more about some of them.
    const checking = stale.has('check') ? check(next).catch((): readonly string[] => []) : [];
    const started = await starts;
    starting = undefined;
    if (stopping) return killServer(next);
    if (started === undefined) {
      const problems = await checking;
      // A newer save is followed next.
      if (savedAt !== undefined) return;
      if (problems.length > 0) void checkTypes();
      else describeTypes(serving).catch(notFollowed);
      return notServed(problems.length > 0 ? problems.join('\n') : failure);
    }
    if (next.isDead()) return notServed(ENDED_AT_ONCE);
    await replaceServer(next);
    if (serving === next) announce(started, since);
  }

  /** Checks the document, and ends a server that is about to serve one with errors. */
  async function check(server: Server): Promise<readonly string[]> {
    stale.delete('check');
    const { problems, files } = await inBackground('check', file);
    saves.renew(files);
    if (problems.length === 0) return problems;
    stale.add('check');
    if (starting === server) killServer(server);
    return problems;
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
    describe(started).catch(notFollowed);
  }

  /** What can wait until the server serves. A newer save goes on with what is left. */
  async function describe({ missing }: Started): Promise<void> {
    const described = serving;
    const isMocked = env.MISSING_OPERATIONS === 'mock';
    sayOnce('missing', await describeMissing(missing, isMocked, (ids) => inBackground('places', file, ids)));
    await describeTypes(described);
    if (described === serving && stale.delete('notices')) sayOnce('notices', await inBackground('notices', file, all));
  }

  async function describeTypes(described: Server | undefined): Promise<void> {
    if (described === serving && stale.delete('types')) say(await inBackground('writeTypes', file));
    if (described === serving) void checkTypes();
  }

  function notFollowed(error: unknown): void {
    say(`${file} is not followed further: ${error}`);
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
    await Promise.all([...ended, endBackground()]);
    process.exit();
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
