import { expect, test } from '@jest/globals';
import { withinBudget } from '../../../src/core/validation/budget.ts';

/** Blocks the thread without CPU time, as if it were descheduled. */
const sleep = () => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);

test('a task that ends in time runs once', () => {
  let runs = 0;
  const task = () => {
    runs += 1;
  };
  expect([withinBudget(task, 1000), withinBudget(task, 1000.5), runs]).toEqual([true, true, 2]);
});

test('a task that takes too long is stopped', () => {
  const endless = () => {
    for (;;);
  };
  expect(withinBudget(endless, 5)).toBe(false);
});

test.each([
  ['an error', new Error('a')],
  ['an error with a code', Object.assign(new Error('a'), { code: 'ENOENT' })],
  ['null', null],
  ['undefined', undefined],
  ['a string', 'ERR_SCRIPT_EXECUTION_TIMEOUT'],
])('%s of the task is thrown', (_title, error) => {
  let thrown: unknown = 'nothing';
  try {
    withinBudget(() => {
      throw error;
    }, 1000);
  } catch (caught) {
    thrown = caught;
  }
  expect(thrown).toBe(error);
});

test('a task runs again if it was stopped before it had used its CPU time', () => {
  let runs = 0;
  const task = () => {
    runs += 1;
    if (runs > 1) return;
    const { user, system } = process.threadCpuUsage();
    const end = user + system + 30_000;
    for (let used = 0; used < end; ) {
      const now = process.threadCpuUsage();
      used = now.user + now.system;
    }
    sleep();
  };
  expect(withinBudget(task, 50)).toBe(true);
  expect(runs).toBeGreaterThan(1);
});

test('a task runs again if the thread used no CPU time, at most four times', () => {
  let runs = 0;
  const sleepUntilRun = (last: number) => () => {
    runs += 1;
    if (runs < last) sleep();
  };
  // A busy machine may need further runs.
  expect(withinBudget(sleepUntilRun(2), 30)).toBe(true);
  runs = 0;
  expect([withinBudget(sleepUntilRun(9), 30), runs]).toEqual([false, 4]);
});
