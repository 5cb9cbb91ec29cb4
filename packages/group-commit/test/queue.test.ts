import { setTimeout as delay, setImmediate as immediate } from 'node:timers/promises';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { eventually } from 'test-support/eventually';
import type { DatabaseOptions } from '../src/database.ts';
import { Unavailable } from '../src/errors.ts';
import { createQueue, type Engine, NotStarted, type Outcome } from '../src/queue.ts';

/** A commit that the queue has started. The test ends it. */
interface StartedCommit extends PromiseWithResolvers<readonly Outcome[]> {
  readonly calls: readonly string[];
  readonly milliseconds: number;
}

/** Ends the commits of each queue, so that no call times out after its test. */
const endings: (() => void)[] = [];
afterEach(() => {
  jest.useRealTimers();
  for (const end of endings.splice(0)) end();
});

/** Replaces the clock and the timers of calls, so that a call times out only when a test says so. */
function useFakeTime(): void {
  jest.useFakeTimers({
    doNotFake: ['setImmediate', 'clearImmediate', 'nextTick', 'queueMicrotask'],
  });
}

function create(options: DatabaseOptions = {}, engine: Partial<Engine<string>> = {}) {
  const commits: StartedCommit[] = [];
  const checks: { failedCalls: readonly string[]; milliseconds: number }[] = [];
  const codes: string[] = [];
  const batches: [calls: number, seconds: number][] = [];
  let closes = 0;
  let isOver = false;
  endings.push(() => {
    isOver = true;
    for (const commit of commits) commit.resolve([]);
  });
  const queue = createQueue<string>(
    {
      location: 'notes.db',
      maxCommits: 1,
      commit(calls, milliseconds) {
        const commit = { calls, milliseconds, ...Promise.withResolvers<readonly Outcome[]>() };
        commits.push(commit);
        if (isOver) commit.resolve([]);
        return commit.promise;
      },
      async check(failedCalls, milliseconds) {
        checks.push({ failedCalls, milliseconds });
      },
      stats: () => ({ connections: 7 }),
      async close() {
        closes += 1;
      },
      ...engine,
    },
    {
      onBatch: (calls, seconds) => batches.push([calls, seconds]),
      onUnavailable: (code) => codes.push(code),
      ...options,
    },
  );
  async function commitAt(index: number): Promise<StartedCommit> {
    await eventually(() => commits.length > index);
    const commit = commits[index];
    if (commit === undefined) throw new Error(`no commit ${index}`);
    return commit;
  }
  return { ...queue, commits, commitAt, checks, codes, batches, closes: () => closes };
}

const failure = (code: string) => new Unavailable(`a failure with the code ${code}`, code);

describe('add', () => {
  test('resolves or rejects with the outcome of its call', async () => {
    const { add, commitAt, batches, codes } = create();
    const results = Promise.allSettled([add('a'), add('b'), add('c')]);
    const bug = new RangeError('no b');
    const { calls, resolve } = await commitAt(0);
    expect(calls).toEqual(['a', 'b', 'c']);
    resolve([{ result: 1 }, { error: bug }, undefined]);
    expect(await results).toEqual([
      { status: 'fulfilled', value: 1 },
      { status: 'rejected', reason: bug },
      { status: 'fulfilled', value: undefined },
    ]);
    expect(batches).toEqual([[3, expect.any(Number)]]);
    expect(codes).toEqual([]);
  });

  test('resolves to undefined if no call of the commit returned anything', async () => {
    const { add, commitAt } = create();
    const results = Promise.all([add('a'), add('b')]);
    (await commitAt(0)).resolve([]);
    expect(await results).toEqual([undefined, undefined]);
  });

  test('reports the seconds of a commit', async () => {
    const { add, commitAt, batches } = create();
    const result = add('a');
    const { resolve } = await commitAt(0);
    await delay(50);
    resolve([]);
    await result;
    expect(batches[0]?.[1]).toBeGreaterThan(0.045);
    expect(batches[0]?.[1]).toBeLessThan(10);
  });

  test('shares a commit with calls of the next turns of the event loop', async () => {
    // On a busy machine, three turns may take longer than the queue gathers calls.
    await eventually(async () => {
      const { add, commitAt } = create();
      for (const call of ['a', 'b', 'c']) {
        // Scheduled before the call, so that the queue still gathers when the next call arrives.
        const turn = immediate();
        void add(call);
        await turn;
      }
      const { calls } = await commitAt(0);
      expect(calls).toEqual(['a', 'b', 'c']);
    });
  });

  test('starts a commit in the next turn of the event loop if no other call arrives', async () => {
    // On a busy machine, a turn may take longer than the queue gathers calls.
    await eventually(async () => {
      const { add, commits } = create();
      const start = performance.now();
      void add('a');
      while (commits.length === 0) await immediate();
      expect(performance.now() - start).toBeLessThan(1.5);
    });
  });

  test('starts a commit even if calls arrive in each turn of the event loop', async () => {
    const { add, commits } = create();
    const start = performance.now();
    for (let turns = 0; commits.length === 0 && turns < 900; turns += 1) {
      const turn = immediate();
      add('a').catch(() => {});
      const end = performance.now() + 0.01;
      while (performance.now() < end);
      await turn;
    }
    expect(commits).toHaveLength(1);
    expect(performance.now() - start).toBeGreaterThan(1.9);
  });

  test.each<[string, number, number, number[]]>([
    ['at most 1,000 calls', 2_500, 1, [1_000, 1_000, 500]],
    ['at most a million characters', 25, 100_000, [10, 10, 5]],
    ['one call of any size', 2, 3_000_000, [1, 1]],
  ])('commits %s together', async (_limit, count, size, expected) => {
    const sizes: number[] = [];
    const engine = {
      async commit(calls: readonly string[]) {
        sizes.push(calls.length);
        return [];
      },
    };
    const { add } = create({ maxWaiting: 10_000 }, engine);
    await Promise.all(Array.from({ length: count }, () => add('a'.repeat(size))));
    expect(sizes).toEqual(expected);
  });

  test('commits each call that needs its own commit alone, in order, and reports no batch', async () => {
    const batches: (readonly string[])[] = [];
    const { add, batches: reported } = create(
      {},
      {
        shares: (call) => call !== 'alone',
        async commit(calls) {
          batches.push(calls);
          return [];
        },
      },
    );
    await Promise.all(['a', 'b', 'alone', 'alone', 'c'].map(add));
    expect(batches).toEqual([['a', 'b'], ['alone'], ['alone'], ['c']]);
    expect(reported.map(([calls]) => calls)).toEqual([2, 1]);
  });

  test('starts a call that needs its own commit in the same turn of the event loop', async () => {
    const { add, commits } = create({}, { shares: () => false, maxCommits: 2 });
    for (const call of ['a', 'b', 'c']) add(call).catch(() => {});
    const turn = immediate();
    await turn;
    expect(commits.map(({ calls }) => calls)).toEqual([['a'], ['b']]);
  });

  test('retries a commit that did not start, after another commit', async () => {
    const { add, codes, commits, commitAt } = create({}, { maxCommits: 3, shares: () => false });
    const results = Promise.all(['a', 'b', 'c'].map(add));
    await commitAt(2);
    commits[1]?.reject(new NotStarted());
    commits[2]?.reject(new NotStarted());
    const later = add('d');
    await delay(20);
    expect(commits).toHaveLength(3);
    commits[0]?.resolve([]);
    // The limit is now two commits: the one that was in progress, and one more.
    await commitAt(4);
    await delay(20);
    expect(commits.slice(3).flatMap(({ calls }) => calls)).toEqual(['c', 'b']);
    commits[3]?.resolve([]);
    commits[4]?.resolve([]);
    (await commitAt(5)).resolve([]);
    await Promise.all([results, later]);
    expect(codes).toEqual([]);
  });

  test('immediately retries a commit that did not start if no commit is in progress', async () => {
    const { add, commitAt } = create();
    const result = add('a');
    (await commitAt(0)).reject(new NotStarted());
    (await commitAt(1)).resolve([{ result: 1 }]);
    expect(await result).toBe(1);
  });

  test('retries a commit that did not start, after the check in progress', async () => {
    const checked = Promise.withResolvers<void>();
    const { add, commits, commitAt, ready } = create({}, { check: () => checked.promise });
    const isReady = ready();
    const result = add('a');
    (await commitAt(0)).reject(new NotStarted());
    await delay(20);
    expect(commits).toHaveLength(1);
    checked.resolve();
    await isReady;
    (await commitAt(1)).resolve([]);
    await result;
  });

  test('starts the next commit when the maximum number of commits is in progress and one ends', async () => {
    const { add, commits, commitAt } = create({}, { maxCommits: 2, shares: () => false });
    const results = ['a', 'b', 'c', 'd'].map((call) => add(call));
    const { resolve } = await commitAt(1);
    await delay(10);
    expect(commits.map(({ calls }) => calls)).toEqual([['a'], ['b']]);
    resolve([{ result: 'from b' }]);
    expect(await results[1]).toBe('from b');
    await commitAt(2);
    await delay(10);
    expect(commits.map(({ calls }) => calls)).toEqual([['a'], ['b'], ['c']]);
    commits[0]?.resolve([]);
    commits[2]?.resolve([]);
    (await commitAt(3)).resolve([]);
    await Promise.all(results);
  });

  test('rejects a call if too many wait, until one of them has ended', async () => {
    const { add, commitAt, codes, stats } = create({ maxWaiting: 2 });
    const results = [add('a'), add('b')];
    await expect(add('c')).rejects.toMatchObject({
      code: 'BUSY',
      message: 'Too many calls are waiting: 2, with 2 characters and bytes.',
    });
    expect(codes).toEqual(['BUSY']);
    expect(stats()).toEqual({ waiting: 2, connections: 7 });
    (await commitAt(0)).resolve([]);
    await Promise.all(results);
    expect(stats()).toEqual({ waiting: 0, connections: 7 });
    const later = [add('d'), add('e')];
    (await commitAt(1)).resolve([]);
    await Promise.all(later);
  });

  test('rejects the 1,001st call by default', async () => {
    const { add, commitAt } = create();
    const results = Array.from({ length: 1_000 }, () => add('a'));
    await expect(add('b')).rejects.toHaveProperty('code', 'BUSY');
    (await commitAt(0)).resolve([]);
    await Promise.all(results);
  });

  test('rejects a call if the calls are too large together, but a single call has no limit', async () => {
    const { add, commitAt } = create();
    const text = 'a'.repeat(8_000_000);
    for (const round of [0, 1]) {
      const results = [add(text), add(text)];
      await expect(add('b')).rejects.toThrow('waiting: 2, with 16000000 characters');
      (await commitAt(2 * round)).resolve([]);
      (await commitAt(2 * round + 1)).resolve([]);
      await Promise.all(results);
    }
    const single = add(text.repeat(3));
    (await commitAt(4)).resolve([]);
    await single;
  });

  test('rejects a call at its time limit, and drops the result of its commit', async () => {
    useFakeTime();
    const { add, commits, commitAt, codes, stats } = create({ timeout: 50 });
    const first = add('a');
    const { resolve } = await commitAt(0);
    const outcomes = Promise.allSettled([first, add('b')]);
    jest.advanceTimersByTime(49);
    expect(codes).toEqual([]);
    jest.advanceTimersByTime(1);
    expect(codes).toEqual(['TIMEOUT', 'TIMEOUT']);
    for (const outcome of await outcomes) {
      expect(outcome).toMatchObject({
        reason: { code: 'TIMEOUT', message: 'notes.db did not respond within 50 ms.' },
      });
    }
    expect(stats().waiting).toBe(0);
    resolve([{ result: 1 }]);
    await immediate();
    expect(stats().waiting).toBe(0);
    const third = add('c');
    // A call that has timed out in the queue is not committed later.
    const commit = await commitAt(1);
    expect(commit.calls).toEqual(['c']);
    commit.resolve([{ result: 3 }]);
    expect(await third).toBe(3);
    expect(commits).toHaveLength(2);
  });

  test('gives each call its own time limit', async () => {
    useFakeTime();
    const { add, commitAt, codes } = create({ timeout: 200 });
    const first = add('a').catch(() => {});
    await commitAt(0);
    jest.advanceTimersByTime(100);
    const second = add('b').catch(() => {});
    jest.advanceTimersByTime(199);
    await first;
    expect(codes).toEqual(['TIMEOUT']);
    jest.advanceTimersByTime(1);
    await second;
    expect(codes).toEqual(['TIMEOUT', 'TIMEOUT']);
  });

  test('drops calls that time out while they wait', async () => {
    useFakeTime();
    const { add, commits, commitAt, stats } = create({ timeout: 50 });
    const results = [add('a').catch(() => 'late')];
    await commitAt(0);
    results.push(...['b', 'c'].map((call) => add(call).catch(() => 'late')));
    jest.advanceTimersByTime(50);
    expect(await Promise.all(results)).toEqual(['late', 'late', 'late']);
    expect(stats().waiting).toBe(0);
    const result = add('d');
    commits[0]?.resolve([]);
    const { calls, resolve } = await commitAt(1);
    expect(calls).toEqual(['d']);
    resolve([]);
    await result;
  });

  test.each([
    [{}, 4_500],
    [{ timeout: 60_000 }, 59_500],
    [{ timeout: 400 }, 200],
  ])('with the options %j gives the engine %d ms', async (options, milliseconds) => {
    useFakeTime();
    const { add, commitAt } = create(options);
    const result = add('a');
    const commit = await commitAt(0);
    expect(commit.milliseconds).toBe(milliseconds);
    commit.resolve([]);
    await result;
  });

  test('gives the engine less time if the oldest call of a commit has waited', async () => {
    useFakeTime();
    const { add, commitAt } = create({ timeout: 3_000 });
    const results = [add('a')];
    const { resolve } = await commitAt(0);
    results.push(add('b'));
    jest.advanceTimersByTime(100);
    results.push(add('c'));
    resolve([]);
    const commit = await commitAt(1);
    expect(commit.calls).toEqual(['b', 'c']);
    expect(commit.milliseconds).toBe(2_400);
    commit.resolve([]);
    await Promise.all(results);
  });
});

describe('a failed commit', () => {
  test.each([
    ['SQLITE_BUSY', 'all waiting calls', ['SQLITE_BUSY', 'SQLITE_BUSY']],
    ['SQLITE_FULL', 'only its own calls', ['SQLITE_FULL']],
  ])('with the code %s rejects %s', async (code, _calls, codes) => {
    const queue = create();
    const first = queue.add('a');
    const { reject } = await queue.commitAt(0);
    const second = queue.add('b');
    second.catch(() => {});
    const error = failure(code);
    reject(error);
    await expect(first).rejects.toBe(error);
    expect(queue.codes).toEqual(codes);
    expect(queue.batches).toEqual([]);
    if (codes.length === 2) await expect(second).rejects.toBe(error);
    else {
      (await queue.commitAt(1)).resolve([{ result: 2 }]);
      expect(await second).toBe(2);
    }
    expect(queue.stats().waiting).toBe(0);
  });

  test('with an unknown error does not call onUnavailable', async () => {
    const { add, commitAt, codes } = create();
    const result = add('a');
    const bug = new TypeError('a bug');
    (await commitAt(0)).reject(bug);
    await expect(result).rejects.toBe(bug);
    expect(codes).toEqual([]);
  });
});

describe('ready', () => {
  test.each<[string, string[], unknown]>([
    ['SQLITE_FULL', ['a', 'b'], failure('SQLITE_FULL')],
    ['SQLITE_BUSY', [], failure('SQLITE_BUSY')],
    ['TIMEOUT', [], failure('TIMEOUT')],
    ['a bug', [], new TypeError('a bug')],
  ])('after a commit failed with %s, checks the calls %j', async (_code, failedCalls, error) => {
    const { add, commitAt, checks, ready } = create();
    const results = [add('a'), add('b')];
    (await commitAt(0)).reject(error);
    await Promise.allSettled(results);
    await ready();
    await ready();
    // The second check gets no calls: the first one succeeded.
    expect(checks.map((check) => check.failedCalls)).toEqual([failedCalls, []]);
  });

  test('checks no calls after a later commit succeeded', async () => {
    const { add, commitAt, checks, ready } = create();
    const first = add('a');
    (await commitAt(0)).reject(failure('SQLITE_FULL'));
    await first.catch(() => {});
    const second = add('b');
    (await commitAt(1)).resolve([]);
    await second;
    await ready();
    expect(checks[0]?.failedCalls).toEqual([]);
  });

  test('checks the calls of a commit that failed during another check', async () => {
    const checked = Promise.withResolvers<void>();
    const checks: (readonly string[])[] = [];
    const check = (calls: readonly string[]) => {
      checks.push(calls);
      return checked.promise;
    };
    const { add, commitAt, ready } = create({}, { check, checksConcurrently: true });
    const isReady = ready();
    const result = add('a').catch(() => {});
    (await commitAt(0)).reject(failure('42P01'));
    await result;
    checked.resolve();
    await isReady;
    await ready();
    expect(checks).toEqual([[], ['a']]);
  });

  test('checks the calls of a failed commit, even if a call committed alone succeeds', async () => {
    const { add, checks, commitAt, ready } = create({}, { shares: (call) => call !== 'alone' });
    const failing = add('a').catch(() => {});
    (await commitAt(0)).reject(failure('42P01'));
    await failing;
    const alone = add('alone');
    (await commitAt(1)).resolve([]);
    await alone;
    await ready();
    expect(checks[0]?.failedCalls).toEqual(['a']);
  });

  test('checks while the maximum number of commits is in progress if the engine checks concurrently', async () => {
    const { add, checks, commitAt, ready } = create({}, { checksConcurrently: true });
    const result = add('a');
    const { resolve } = await commitAt(0);
    await ready();
    expect(checks).toHaveLength(1);
    resolve([]);
    await result;
  });

  test('checks again after a commit if the check did not start', async () => {
    let attempts = 0;
    const check = async () => {
      attempts += 1;
      if (attempts === 1) throw new NotStarted();
    };
    const { add, commitAt, ready } = create({}, { check, checksConcurrently: true });
    const result = add('a').catch(() => {});
    const { reject } = await commitAt(0);
    const isReady = ready();
    await delay(20);
    expect(attempts).toBe(1);
    reject(failure('57014'));
    await isReady;
    expect(attempts).toBe(2);
    await result;
  });

  test('gives the engine 400 ms, and shares a check that is in progress', async () => {
    const checking = Promise.withResolvers<void>();
    const limits: number[] = [];
    const check = (_calls: readonly string[], milliseconds: number) => {
      limits.push(milliseconds);
      return checking.promise;
    };
    const { ready } = create({}, { check });
    const both = Promise.all([ready(), ready()]);
    checking.resolve();
    await both;
    expect(limits).toEqual([400]);
    await ready();
    expect(limits).toEqual([400, 400]);
  });

  test('rejects with the error of the check, and checks again', async () => {
    let error: Error | undefined = failure('08006');
    const check = async () => {
      if (error) throw error;
    };
    const { ready } = create({}, { check });
    await expect(ready()).rejects.toBe(error);
    error = undefined;
    await ready();
  });

  test('uses the outcome of a commit while the maximum number of commits is in progress', async () => {
    const { add, checks, commitAt, ready } = create({}, { maxCommits: 2, shares: () => false });
    const results = [add('a'), add('b')].map((result) => result.catch(() => {}));
    const { reject } = await commitAt(1);
    const isReady = ready();
    reject(failure('57P01'));
    await expect(isReady).rejects.toHaveProperty('code', '57P01');
    expect(checks).toEqual([]);
    await ready();
    expect(checks).toHaveLength(1);
    (await commitAt(0)).resolve([]);
    await Promise.all(results);
  });

  test('rejects after 800 ms', async () => {
    const { ready } = create({}, { check: () => new Promise(() => {}) });
    const start = performance.now();
    await expect(ready()).rejects.toMatchObject({
      code: 'TIMEOUT',
      message: 'notes.db did not respond within 800 ms.',
    });
    expect(performance.now() - start).toBeGreaterThan(795);
  });
});

describe('close', () => {
  test('closes an idle engine once, and rejects calls and checks', async () => {
    const { add, checks, close, closes, codes, ready } = create();
    await Promise.all([close(), close()]);
    expect(closes()).toBe(1);
    const error = { code: 'CLOSED', message: 'The database is closed.' };
    await expect(add('a')).rejects.toMatchObject(error);
    await expect(ready()).rejects.toMatchObject(error);
    expect([checks, codes]).toEqual([[], []]);
  });

  test.each(['a commit', 'the calls of this turn'])('waits for %s', async (waitedFor) => {
    const { add, close, closes, commitAt } = create();
    const results = [add('a')];
    if (waitedFor === 'a commit') await commitAt(0);
    results.push(add('b'));
    const closed = close();
    (await commitAt(0)).resolve([]);
    if (waitedFor === 'a commit') {
      await results[0];
      await delay(10);
      expect(closes()).toBe(0);
      (await commitAt(1)).resolve([]);
    }
    await Promise.all(results);
    await closed;
    expect(closes()).toBe(1);
  });

  test('waits for a check', async () => {
    const checked = Promise.withResolvers<void>();
    const { close, closes, ready } = create({}, { check: () => checked.promise });
    const isReady = ready();
    const closed = close();
    await delay(10);
    expect(closes()).toBe(0);
    checked.resolve();
    await Promise.all([isReady, closed]);
    expect(closes()).toBe(1);
  });

  test('waits for a commit whose calls have timed out', async () => {
    useFakeTime();
    const { add, close, closes, commitAt } = create({ timeout: 20 });
    const result = add('a');
    const { resolve } = await commitAt(0);
    const closed = close();
    jest.advanceTimersByTime(20);
    await expect(result).rejects.toHaveProperty('code', 'TIMEOUT');
    await delay(10);
    expect(closes()).toBe(0);
    resolve([]);
    await closed;
    expect(closes()).toBe(1);
  });
});
