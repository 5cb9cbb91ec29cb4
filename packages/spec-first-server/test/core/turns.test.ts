import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { inTurn, nextRound } from '../../src/core/turns.ts';

/** Keeps the event loop busy. */
function work(milliseconds: number): void {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
}

/** Counts the turns of the event loop until all is done. */
async function turnsUntil(isDone: () => boolean): Promise<number> {
  let turns = 0;
  for (; !isDone(); turns += 1) await turn();
  return turns;
}

test('work is done at once, without a promise, until it has taken two milliseconds', async () => {
  await nextRound();
  await inTurn(() => 'a new round');
  const first = inTurn(() => {
    work(3);
    return 'first';
  });
  expect(first).toBe('first');
  const second = inTurn(() => 'second');
  expect(second).toBeInstanceOf(Promise);
  expect(await second).toBe('second');
  expect(inTurn(() => 'third')).toBe('third');
});

test('work of many requests gets about two milliseconds of each round of the event loop', async () => {
  let left = 100;
  const unit = () => {
    work(1);
    left -= 1;
  };
  for (let count = left; count > 0; count -= 1) void inTurn(unit);
  const turns = await turnsUntil(() => left === 0);
  expect(turns).toBeGreaterThan(30);
  expect(turns).toBeLessThan(120);
});

test('work that waits begins in the order in which it came', async () => {
  const done: number[] = [];
  await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      inTurn(() => {
        work(1);
        done.push(index);
      }),
    ),
  );
  expect(done).toEqual([...done].sort((a, b) => a - b));
});

test('work that goes on comes before work that has not begun', async () => {
  await nextRound();
  await inTurn(() => 'a new round');
  const done: string[] = [];
  const unit = (name: string) => () => {
    work(3);
    done.push(name);
  };
  await Promise.all([
    inTurn(unit('first')),
    inTurn(unit('second')),
    inTurn(unit('third')),
    inTurn(unit('continued'), true),
  ]);
  expect(done).toEqual(['first', 'continued', 'second', 'third']);
});

test('work in one round delays no work of a later one', async () => {
  for (const busy of [() => inTurn(() => work(3)), nextRound]) {
    await busy();
    await turn();
    expect(inTurn(() => 'at once')).toBe('at once');
  }
});

test('work that fails rejects its own request only', async () => {
  const units = Array.from({ length: 6 }, async (_, index) =>
    inTurn(() => {
      work(1);
      if (index === 4) throw new Error('broken');
      return index;
    }),
  );
  const outcomes = await Promise.allSettled(units);
  expect(outcomes.map(({ status }) => status)).toEqual(
    [0, 1, 2, 3, 4, 5].map((index) => (index === 4 ? 'rejected' : 'fulfilled')),
  );
});

test('each call of nextRound has a round of the event loop of its own', async () => {
  let left = 10;
  for (let count = left; count > 0; count -= 1) {
    void nextRound().then(() => {
      left -= 1;
    });
  }
  expect(await turnsUntil(() => left === 0)).toBeGreaterThanOrEqual(10);
});
