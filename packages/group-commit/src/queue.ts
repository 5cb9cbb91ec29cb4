import { setImmediate as immediate } from 'node:timers/promises';
import { type Database, type DatabaseOptions, notifier } from './database.ts';
import { Unavailable } from './errors.ts';
import { limit } from './limit.ts';
import { sizeOf } from './size.ts';

/** The result or the error of a call. `undefined` if it returned nothing. */
export type Outcome = { readonly result: unknown } | { readonly error: unknown } | undefined;

/** The operations that differ between SQLite and PostgreSQL. */
export interface Engine<Call> {
  readonly location: string;
  /** The maximum number of concurrent commits. */
  readonly maxCommits: number;
  /** Returns false for a call that needs a commit of its own. By default, calls share commits. */
  shares?(call: Call): boolean;
  /** True if a check does not wait for commits in progress. */
  readonly checksConcurrently?: boolean;
  /**
   * Commits calls in one transaction. Resolves to the outcome of each call, or to an empty array if
   * no call returned anything.
   *
   * @param milliseconds a time limit that ends before the deadline of the oldest call.
   * @throws {NotStarted} if the calls must wait for another commit to end.
   * @throws {Unavailable} if the transaction is not known to be committed.
   */
  commit(calls: readonly Call[], milliseconds: number): Promise<readonly Outcome[]>;
  /**
   * Resolves if a commit would succeed now.
   *
   * @param failedCalls the calls of the last commit if it failed, to run again and roll back.
   * @throws {NotStarted} if the check must wait for a commit to end.
   * @throws {Unavailable} if it would fail.
   */
  check(failedCalls: readonly Call[], milliseconds: number): Promise<unknown>;
  stats(): Readonly<Record<string, number>>;
  close(): Promise<void>;
}

/** An operation cannot start until another one has ended. */
export class NotStarted extends Error {}

interface WaitingCall<Call> extends PromiseWithResolvers<unknown> {
  readonly call: Call;
  readonly size: number;
  /** The time by `performance.now()` at which the call is rejected. */
  readonly deadline: number;
  isSettled: boolean;
}

/** The maximum number of calls in one commit. */
const MAX_BATCH = 1_000;

/** A commit gets no further call when its calls have this size in characters and bytes. */
const MAX_BATCH_SIZE = 1_000_000;

/** The maximum size of all waiting calls in characters and bytes. */
const MAX_WAITING_SIZE = 16_000_000;

/** The maximum time to gather calls for a commit, in milliseconds. */
const MAX_GATHER_MS = 2;

/** The time limit of a call, in milliseconds. */
const CALL_MS = 5_000;

/** The time limit of `ready`, in milliseconds. Probes often time out after a second. */
const READY_MS = 800;

/** Returns a shorter limit for the engine, so that its error arrives before the call times out. */
const withMargin = (milliseconds: number): number => milliseconds - Math.min(500, milliseconds / 2);

/** The error code if another process has locked the database. All waiting calls fail with it. */
const LOCKED = 'SQLITE_BUSY';

/** Gathers waiting calls into commits. */
export function createQueue<Call>(
  engine: Engine<Call>,
  { maxWaiting = 1_000, timeout = CALL_MS, onBatch, onUnavailable, warn }: DatabaseOptions,
): Database & { add(call: Call): Promise<unknown> } {
  const { location } = engine;
  const notify = notifier(warn);

  /** Calls that are not in a commit yet, oldest first. */
  let queue: WaitingCall<Call>[] = [];
  /**
   * The commits in progress, with their calls. An array, since V8 may keep deleted entries of a
   * Set in memory until the next major garbage collection.
   */
  const commits: { readonly ended: Promise<unknown>; readonly batch: WaitingCall<Call>[] }[] = [];
  /** Ends at the deadline of the oldest call, or of one that was older. */
  let expiry: NodeJS.Timeout | undefined;
  let commitLimit = engine.maxCommits;
  let unsettledCount = 0;
  let unsettledSize = 0;
  let gathering = false;
  /** The calls of the last commit if it may fail again. Empty after a lock or a timeout. */
  let failedCalls: readonly Call[] = [];
  let checking: Promise<void> | undefined;
  let closing: Promise<void> | undefined;

  function settle(waiting: WaitingCall<Call>, outcome: Outcome): void {
    // The call may have timed out already.
    if (waiting.isSettled) return;
    waiting.isSettled = true;
    unsettledCount -= 1;
    unsettledSize -= waiting.size;
    if (unsettledCount === 0) {
      clearTimeout(expiry);
      expiry = undefined;
    }
    if (outcome === undefined || 'result' in outcome) {
      waiting.resolve(outcome?.result);
    } else {
      if (outcome.error instanceof Unavailable) notify(onUnavailable, outcome.error.code);
      waiting.reject(outcome.error);
    }
  }

  const timeoutAfter = (milliseconds: number): Unavailable =>
    new Unavailable(`${location} did not respond within ${milliseconds} ms.`, 'TIMEOUT');

  /** Rejects the calls whose time is over. A timer for each call would cost more. */
  function expire(): void {
    const now = performance.now();
    let next = Infinity;
    expiry = undefined;
    for (const waiting of [...commits.flatMap(({ batch }) => batch), ...queue]) {
      if (waiting.deadline <= now) settle(waiting, { error: timeoutAfter(timeout) });
      else if (!waiting.isSettled) next = Math.min(next, waiting.deadline);
    }
    queue = queue.filter(({ isSettled }) => !isSettled);
    if (next !== Infinity) expiry = setTimeout(expire, next - now).unref();
  }

  const shares = ({ call }: WaitingCall<Call>): boolean => engine.shares?.(call) ?? true;

  /** Returns true if the next commit can take further calls. */
  const canGrow = (): boolean =>
    queue.length < MAX_BATCH && queue[0] !== undefined && shares(queue[0]);

  /** Waits while each round of the event loop adds calls. A commit takes longer than a round. */
  async function gather(): Promise<void> {
    const deadline = performance.now() + MAX_GATHER_MS;
    let length = 0;
    while (length < queue.length && canGrow() && performance.now() < deadline) {
      length = queue.length;
      await immediate();
    }
  }

  function takeBatch(): WaitingCall<Call>[] {
    let count = 0;
    let size = 0;
    for (const waiting of queue) {
      const isAlone = !shares(waiting);
      if (isAlone && count > 0) break;
      count += 1;
      size += waiting.size;
      if (isAlone || count === MAX_BATCH || size >= MAX_BATCH_SIZE) break;
    }
    return queue.splice(0, count);
  }

  async function commitNext(): Promise<void> {
    if (gathering || queue.length === 0 || commits.length >= commitLimit) return;
    gathering = true;
    await gather();
    gathering = false;
    const batch = takeBatch();
    if (batch.length > 0) void commitBatch(batch);
    void commitNext();
  }

  async function commitBatch(batch: WaitingCall<Call>[]): Promise<void> {
    const calls = batch.map(({ call }) => call);
    const start = performance.now();
    const timeLeft = (batch[0]?.deadline ?? start) - start;
    const ended = engine.commit(calls, Math.max(1, withMargin(timeLeft)));
    const commit = { ended, batch };
    commits.push(commit);
    const [outcome] = await Promise.allSettled([ended]);
    commits.splice(commits.indexOf(commit), 1);

    if (outcome.status === 'fulfilled') {
      commitLimit = Math.min(commitLimit + 1, engine.maxCommits);
      if (batch.every(shares)) {
        failedCalls = [];
        notify(onBatch, batch.length, (performance.now() - start) / 1000);
      }
      for (const [index, waiting] of batch.entries()) settle(waiting, outcome.value[index]);
    } else if (outcome.reason instanceof NotStarted) {
      queue.unshift(...batch.filter(({ isSettled }) => !isSettled));
      // Prevents further attempts until another operation has ended.
      commitLimit = Math.max(1, commits.length);
      if (commits.length === 0) await checking?.catch(() => {});
    } else {
      failAll(batch, outcome.reason);
    }
    void commitNext();
  }

  function failAll(batch: readonly WaitingCall<Call>[], error: unknown): void {
    const code = error instanceof Unavailable ? error.code : undefined;
    const mayRecur = code !== undefined && code !== LOCKED && code !== 'TIMEOUT';
    const shared = batch.filter(shares).map(({ call }) => call);
    if (shared.length > 0) failedCalls = mayRecur ? shared : [];
    const queued = code === LOCKED ? queue.splice(0) : [];
    for (const waiting of [...batch, ...queued]) settle(waiting, { error });
  }

  async function check(): Promise<void> {
    const calls = failedCalls;
    try {
      await engine.check(calls, withMargin(READY_MS));
      // A commit may have failed during the check.
      if (failedCalls === calls) failedCalls = [];
    } catch (error) {
      if (!(error instanceof NotStarted)) throw error;
      if (commits.length > 0) await Promise.race(commits.map(({ ended }) => ended.catch(() => {})));
      await check();
    }
  }

  function sharedCheck(): Promise<void> {
    checking ??= check().finally(() => {
      checking = undefined;
    });
    return checking;
  }

  async function drain(): Promise<void> {
    while (gathering || queue.length > 0 || commits.length > 0 || checking) {
      await Promise.allSettled([...commits.map(({ ended }) => ended), checking]);
      await immediate();
    }
  }

  return {
    location,

    add(call) {
      if (closing) return Promise.reject(new Unavailable('The database is closed.', 'CLOSED'));
      const size = sizeOf(call);
      const isTooLarge = unsettledCount > 0 && unsettledSize + size > MAX_WAITING_SIZE;
      if (unsettledCount >= maxWaiting || isTooLarge) {
        notify(onUnavailable, 'BUSY');
        const load = `${unsettledCount}, with ${unsettledSize} characters and bytes`;
        const message = `Too many calls are waiting: ${load}.`;
        return Promise.reject(new Unavailable(message, 'BUSY'));
      }
      const waiting: WaitingCall<Call> = {
        ...Promise.withResolvers<unknown>(),
        call,
        size,
        deadline: performance.now() + timeout,
        isSettled: false,
      };
      unsettledCount += 1;
      unsettledSize += size;
      queue.push(waiting);
      expiry ??= setTimeout(expire, timeout).unref();
      void commitNext();
      return waiting.promise;
    },

    async ready() {
      if (closing) throw new Unavailable('The database is closed.', 'CLOSED');
      const isFull = commits.length >= engine.maxCommits && !engine.checksConcurrently;
      // A check would have to wait for a commit. The outcome of that commit is used instead.
      const outcome = isFull ? Promise.race(commits.map(({ ended }) => ended)) : sharedCheck();
      await limit<unknown>(outcome, READY_MS, timeoutAfter(READY_MS));
    },

    stats: () => ({ waiting: unsettledCount, ...engine.stats() }),

    close() {
      closing ??= drain().then(() => engine.close());
      return closing;
    },
  };
}
