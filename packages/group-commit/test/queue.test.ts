import assert from 'node:assert/strict';
import { setImmediate as immediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { DatabaseOptions } from '../src/database.ts';
import { Unavailable } from '../src/errors.ts';
import { createQueue, type Engine, type Outcome } from '../src/queue.ts';

// The order of calls, failures and checks is tested by queue-model.test.ts.

beforeEach(() => {
  jest.useFakeTimers({
    doNotFake: ['setImmediate', 'clearImmediate', 'nextTick', 'queueMicrotask'],
  });
});
afterEach(() => {
  jest.useRealTimers();
});

function create(options: DatabaseOptions = {}, engine: Partial<Engine<string>> = {}) {
  const commits: { calls: readonly string[]; milliseconds: number }[] = [];
  const ends: (() => void)[] = [];
  const queue = createQueue<string>(
    {
      location: 'notes.db',
      maxCommits: 1,
      commit(calls, milliseconds) {
        commits.push({ calls, milliseconds });
        const { promise, resolve } = Promise.withResolvers<readonly Outcome[]>();
        ends.push(() => resolve([]));
        return promise;
      },
      check: async () => {},
      stats: () => ({ connections: 7 }),
      close: async () => {},
      ...engine,
    },
    options,
  );
  async function endAll(): Promise<void> {
    for (let turn = 0; turn < 10; turn += 1) {
      for (const end of ends.splice(0)) end();
      await immediate();
    }
  }
  return { ...queue, commits, endAll };
}

describe('add', () => {
  test('reports the seconds of a commit', async () => {
    const batches: [number, number][] = [];
    const onBatch = (calls: number, seconds: number) => batches.push([calls, seconds]);
    const { add, commits, endAll } = create({ onBatch });
    void add('a');
    while (commits.length === 0) await immediate();
    jest.advanceTimersByTime(50);
    await endAll();
    expect(batches).toEqual([[1, 0.05]]);
  });

  test.each([
    ['throws', () => assert.fail(new Error('no metrics'))],
    ['rejects', () => Promise.reject(new Error('no metrics'))],
  ])('settles a call whose callback %s, and warns', async (_how, callback) => {
    const warnings: string[] = [];
    const warn = (message: string) => void warnings.push(message);
    const options = { onBatch: callback, onUnavailable: callback, warn, maxWaiting: 1 };
    const { add, commits, endAll } = create(options);
    for (const count of [1, 2]) {
      const added = add('a');
      await expect(add('b')).rejects.toMatchObject({ code: 'BUSY' });
      while (commits.length < count) await immediate();
      await endAll();
      await added;
    }
    expect(warnings).toEqual(Array(4).fill('a callback failed: Error: no metrics'));
  });

  test('shares a commit with calls of the next turns of the event loop, for at most 2 ms', async () => {
    for (const [milliseconds, calls] of [
      [0, 6],
      [1, 3],
    ] as const) {
      const { add, commits, endAll } = create();
      for (let turns = 0; turns < 6; turns += 1) {
        // Scheduled before the call, so that the queue still gathers when the next call arrives.
        const turn = immediate();
        void add('a');
        await turn;
        jest.advanceTimersByTime(milliseconds);
      }
      await immediate();
      await immediate();
      expect(commits[0]?.calls).toHaveLength(calls);
      await endAll();
    }
  });

  test('starts a commit in the next turn of the event loop if no other call arrives', async () => {
    const { add, commits, endAll } = create();
    void add('a');
    await immediate();
    await immediate();
    expect(commits).toHaveLength(1);
    await endAll();
  });

  test.each<[string, number, number, number[]]>([
    ['at most 1,000 calls', 2_500, 1, [1_000, 1_000, 500]],
    ['at most a million characters', 25, 100_000, [10, 10, 5]],
    ['one call of any size', 2, 3_000_000, [1, 1]],
  ])('commits %s together', async (_limit, count, size, expected) => {
    const { add, commits, endAll } = create({ maxWaiting: 10_000 });
    const results = Array.from({ length: count }, () => add('a'.repeat(size)));
    await endAll();
    await Promise.all(results);
    expect(commits.map(({ calls }) => calls.length)).toEqual(expected);
  });

  test('rejects the 1,001st call by default', async () => {
    const { add, stats, endAll } = create();
    const results = Array.from({ length: 1_000 }, () => add('a'));
    await expect(add('b')).rejects.toHaveProperty('code', 'BUSY');
    expect(stats()).toEqual({ waiting: 1_000, connections: 7 });
    await endAll();
    await Promise.all(results);
  });

  test('rejects a call if the calls are too large together, but a single call has no limit', async () => {
    const { add, endAll } = create();
    const text = 'a'.repeat(8_000_000);
    for (let round = 0; round < 2; round += 1) {
      const results = [add(text), add(text)];
      await expect(add('b')).rejects.toThrow('waiting: 2, with 16000000 characters and bytes.');
      await endAll();
      await Promise.all(results);
    }
    const single = add(text.repeat(3));
    await endAll();
    await single;
  });

  test.each([
    [{}, 4_500, 'notes.db did not respond within 5000 ms.'],

    [{ timeout: 400 }, 200, 'notes.db did not respond within 400 ms.'],
  ])('with the options %j gives the engine %d ms', async (options, milliseconds, message) => {
    const { add, commits, endAll } = create(options);
    const result = add('a');
    while (commits.length === 0) await immediate();
    expect(commits[0]?.milliseconds).toBe(milliseconds);
    jest.advanceTimersByTime(60_000);
    await expect(result).rejects.toThrow(message);
    await endAll();
  });
});

test('ready gives a check 400 ms, and rejects after 800 ms', async () => {
  const limits: number[] = [];
  const check = (_calls: readonly string[], milliseconds: number) => {
    limits.push(milliseconds);
    return new Promise(() => {});
  };
  const { ready } = create({}, { check });
  const checked = expect(ready()).rejects.toThrow('notes.db did not respond within 800 ms.');
  jest.advanceTimersByTime(800);
  await checked;
  expect(limits).toEqual([400]);
});

test('a check that succeeds does not forget the calls of a commit that failed meanwhile', async () => {
  const checks: { calls: readonly string[]; end: () => void }[] = [];
  const check = (calls: readonly string[]) =>
    new Promise<void>((resolve) => checks.push({ calls, end: resolve }));
  const commit = () => Promise.reject(new Unavailable('the disk is full', 'SQLITE_FULL'));
  const { add, ready } = create({}, { check, commit });
  const first = ready();
  await expect(add('a')).rejects.toThrow('the disk is full');
  checks[0]?.end();
  await first;
  const second = ready();
  checks[1]?.end();
  await second;
  expect(checks.map(({ calls }) => calls)).toEqual([[], ['a']]);
});
