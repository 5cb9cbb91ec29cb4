import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import type { Database, DatabaseOptions } from './database.ts';
import { Unavailable } from './errors.ts';
import { sizeOf } from './size.ts';

/** The result or the error of a call. `undefined` if it returned nothing. */
export type Outcome = { readonly result?: unknown; readonly error?: unknown } | undefined;

/** The operations that differ between SQLite and PostgreSQL. */
export interface Engine<Call> {
  readonly location: string;
  /** The maximum number of concurrent commits. */
  readonly maxCommits: number;
  /** The maximum number of calls in one commit. 1,000 by default. */
  readonly maxBatch?: number;
  /**
   * Commits calls in one transaction. Resolves to the outcome of each call, or to an empty array if
   * no call returned anything.
   *
   * @param milliseconds the time until the deadline of the oldest call.
   * @throws {Unavailable} if the transaction is not known to be committed.
   */
  commit(calls: readonly Call[], milliseconds: number): Promise<readonly Outcome[]>;
  /**
   * Resolves if a commit would succeed now.
   *
   * @param failedCalls the calls of the last commit if it failed, to run again and roll back.
   * @throws {Unavailable} if it would fail.
   */
  check(failedCalls: readonly Call[], milliseconds: number): Promise<void>;
  stats(): Readonly<Record<string, number>>;
  close(): Promise<void>;
}

interface WaitingCall<Call> extends PromiseWithResolvers<unknown> {
  readonly call: Call;
  readonly size: number;
  /** The time by `performance.now()` at which the call is rejected. */
  readonly deadline: number;
  isSettled: boolean;
}

/** A commit in progress. */
interface Commit<Call> {
  readonly batch: readonly WaitingCall<Call>[];
  readonly outcomes: Promise<readonly Outcome[]>;
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

/** The code of a database that another process has locked. All waiting calls fail with it. */
const LOCKED = 'SQLITE_BUSY';

/** Gathers waiting calls into commits. */
export function createQueue<Call>(
  engine: Engine<Call>,
  { maxWaiting = 1_000, timeout = CALL_MS, onBatch, onUnavailable }: DatabaseOptions,
): Database & { add(call: Call): Promise<unknown> } {
  const { location, maxBatch = MAX_BATCH } = engine;

  /** Calls that are not in a commit yet, oldest first. */
  let queue: WaitingCall<Call>[] = [];
  /**
   * The commits in progress, oldest first. An array, since a Set often replaces its internal table,
   * and the old tables keep calls in memory until the next major garbage collection.
   */
  const commits: Commit<Call>[] = [];
  /** The number of calls without an outcome, and their approximate size. */
  let unsettledCount = 0;
  let unsettledSize = 0;
  let gathering = false;
  /** The calls of the last commit, if it failed for another reason than a lock or a timeout. */
  let failedCalls: readonly Call[] = [];
  let timer: NodeJS.Timeout | undefined;
  let checking: Promise<void> | undefined;
  let closing: Promise<void> | undefined;
  const drained = Promise.withResolvers<void>();

  function settle(waiting: WaitingCall<Call>, outcome: Outcome): void {
    // The call may have timed out already.
    if (waiting.isSettled) return;
    waiting.isSettled = true;
    unsettledCount -= 1;
    unsettledSize -= waiting.size;
    const error = outcome?.error;
    if (error instanceof Unavailable) onUnavailable?.(error.code);
    if (error) waiting.reject(error);
    else waiting.resolve(outcome?.result);
  }

  /** Returns the calls without an outcome, oldest first. */
  function unsettledCalls(): WaitingCall<Call>[] {
    const calls = [...commits.flatMap(({ batch }) => batch), ...queue];
    return calls.filter(({ isSettled }) => !isSettled);
  }

  /** Rejects the calls that have timed out. */
  function expire(): void {
    const now = performance.now();
    const message = `${location} has not answered for ${timeout} ms.`;
    for (const waiting of unsettledCalls()) {
      if (waiting.deadline > now) break;
      settle(waiting, { error: new Unavailable(message, 'TIMEOUT') });
    }
    queue = queue.filter(({ isSettled }) => !isSettled);
    timer = undefined;
    watchDeadlines();
    finishDraining();
  }

  /** Sets a timer for the oldest call, which times out first: all have the same time limit. */
  function watchDeadlines(): void {
    if (timer) return;
    const [oldest] = unsettledCalls();
    if (!oldest) return;
    timer = setTimeout(expire, Math.max(1, oldest.deadline - performance.now()));
    timer.unref();
  }

  function finishDraining(): void {
    if (closing && queue.length === 0 && commits.length === 0 && !gathering) drained.resolve();
  }

  /** Waits while each turn of the event loop adds calls. A commit takes much longer than a turn. */
  async function gather(): Promise<void> {
    const deadline = performance.now() + MAX_GATHER_MS;
    let length = 0;
    while (length < queue.length && queue.length < maxBatch && performance.now() < deadline) {
      length = queue.length;
      await nextTurn();
    }
  }

  function takeBatch(): WaitingCall<Call>[] {
    let count = 0;
    let size = 0;
    while (count < Math.min(queue.length, maxBatch) && size < MAX_BATCH_SIZE) {
      size += queue[count]?.size ?? 0;
      count += 1;
    }
    return queue.splice(0, count);
  }

  /** Starts a commit, unless the maximum number of commits is in progress. */
  async function commitNext(): Promise<void> {
    if (gathering || queue.length === 0 || commits.length === engine.maxCommits) return;
    gathering = true;
    await gather();
    gathering = false;
    const batch = takeBatch();
    if (batch.length > 0) void commitBatch(batch);
    void commitNext();
    finishDraining();
  }

  async function commitBatch(batch: readonly WaitingCall<Call>[]): Promise<void> {
    const calls = batch.map(({ call }) => call);
    const start = performance.now();
    const timeLeft = withMargin((batch[0]?.deadline ?? start) - start);
    const commit = { batch, outcomes: engine.commit(calls, Math.max(1, timeLeft)) };
    commits.push(commit);
    try {
      const outcomes = await commit.outcomes;
      failedCalls = [];
      onBatch?.(batch.length, (performance.now() - start) / 1000);
      for (const [at, waiting] of batch.entries()) settle(waiting, outcomes[at]);
    } catch (error) {
      failAll(batch, error);
    }
    commits.splice(commits.indexOf(commit), 1);
    finishDraining();
    void commitNext();
  }

  function failAll(batch: readonly WaitingCall<Call>[], error: unknown): void {
    const code = error instanceof Unavailable ? error.code : undefined;
    const mayRecur = code !== undefined && code !== LOCKED && code !== 'TIMEOUT';
    failedCalls = mayRecur ? batch.map(({ call }) => call) : [];
    const queued = code === LOCKED ? queue.splice(0) : [];
    for (const waiting of [...batch, ...queued]) settle(waiting, { error });
  }

  function check(): Promise<void> {
    checking ??= engine
      .check(failedCalls, withMargin(READY_MS))
      .then(() => {
        failedCalls = [];
      })
      .finally(() => {
        checking = undefined;
      });
    return checking;
  }

  return {
    location,

    add(call) {
      if (closing) return Promise.reject(new Unavailable('The database is closed.', 'CLOSED'));
      const size = sizeOf(call);
      const isTooLarge = unsettledCount > 0 && unsettledSize + size > MAX_WAITING_SIZE;
      if (unsettledCount >= maxWaiting || isTooLarge) {
        onUnavailable?.('BUSY');
        const count = `${unsettledCount}, with ${unsettledSize} characters`;
        const message = `Too many calls are waiting: ${count}.`;
        return Promise.reject(new Unavailable(message, 'BUSY'));
      }
      const deadline = performance.now() + timeout;
      const added = { call, size, deadline, isSettled: false, ...Promise.withResolvers<unknown>() };
      unsettledCount += 1;
      unsettledSize += size;
      queue.push(added);
      watchDeadlines();
      void commitNext();
      return added.promise;
    },

    async ready() {
      if (closing) throw new Unavailable('The database is closed.', 'CLOSED');
      const isFull = commits.length === engine.maxCommits;
      // A check would have to wait for a commit. The outcome of that commit is used instead.
      const outcome = isFull ? Promise.race(commits.map(({ outcomes }) => outcomes)) : check();
      const late = delay(READY_MS, 'late', { ref: false });
      if ((await Promise.race([outcome, late])) === 'late') {
        throw new Unavailable(`${location} has not answered for ${READY_MS} ms.`, 'TIMEOUT');
      }
    },

    stats: () => ({ waiting: unsettledCount, ...engine.stats() }),

    close() {
      closing ??= drained.promise.then(() => engine.close());
      finishDraining();
      return closing;
    },
  };
}
