import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { waitForTurn } from '../../src/http-server/index.ts';

/** How many times the event loop turns until all is done. */
async function turnsUntil(isDone: () => boolean): Promise<number> {
  let turns = 0;
  for (; !isDone(); turns += 1) await turn();
  return turns;
}

test('what waits again in its turn gets about two milliseconds of each round of the event loop', async () => {
  let left = 100;
  const task = {
    takeTurn() {
      const end = performance.now() + 1;
      while (performance.now() < end);
      left -= 1;
      if (left > 0) waitForTurn(task);
    },
  };
  waitForTurn(task);
  expect(await turnsUntil(() => left === 0)).toBeGreaterThan(30);
});

test('what goes on after its turn has a round of its own', async () => {
  let left = 10;
  for (let count = left; count > 0; count -= 1) {
    waitForTurn({
      goesOn: true,
      takeTurn() {
        left -= 1;
      },
    });
  }
  expect(await turnsUntil(() => left === 0)).toBeGreaterThanOrEqual(10);
});
