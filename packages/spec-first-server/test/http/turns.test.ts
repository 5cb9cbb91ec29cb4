import { setImmediate as immediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { Turns } from '../../src/http/turns.ts';

const turns = new Turns();
const ANN = { caller: 'ann' };
const inTurn = <T>(work: () => T, isContinued?: boolean) => turns.run(ANN, work, isContinued);
const nextRound = () => turns.nextRound(ANN);

/** The time that work has taken, in milliseconds. */
let clock = 0;
beforeEach(() => {
  jest.spyOn(performance, 'now').mockImplementation(() => clock);
});
afterEach(() => {
  jest.restoreAllMocks();
});

function work(milliseconds: number): void {
  clock += milliseconds;
}

async function roundsUntil(isDone: () => boolean): Promise<number> {
  let rounds = 0;
  for (; !isDone(); rounds += 1) await immediate();
  return rounds;
}

test('work runs immediately, without a promise, until it has used two milliseconds', async () => {
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

test('work of many requests uses about two milliseconds of each round', async () => {
  let left = 100;
  const unit = () => {
    work(1);
    left -= 1;
  };
  for (let count = left; count > 0; count -= 1) void inTurn(unit);
  const rounds = await roundsUntil(() => left === 0);
  expect(Math.abs(rounds - 50)).toBeLessThan(2);
});

test('continued work runs by arrival, before work that has not started', async () => {
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
    inTurn(unit('continued later'), true),
  ]);
  expect(done).toEqual(['first', 'continued', 'continued later', 'second', 'third']);
});

test('work of one round does not delay work of a later round', async () => {
  for (const busy of [() => inTurn(() => work(3)), nextRound]) {
    await busy();
    await immediate();
    expect(inTurn(() => 'at once')).toBe('at once');
  }
});

test('each call of nextRound gets its own round of the event loop', async () => {
  let left = 10;
  for (let count = left; count > 0; count -= 1) {
    void nextRound().then(() => {
      left -= 1;
    });
  }
  expect(await roundsUntil(() => left === 0)).toBeGreaterThanOrEqual(10);
});

test('callers take turns, however much work one of them has', async () => {
  await nextRound();
  const order: string[] = [];
  const add = (caller: string, name = caller) =>
    turns.run({ caller }, () => {
      work(3);
      order.push(name);
    });
  const flood = Array.from({ length: 6 }, (_, index) => add('ann', `ann ${index}`));
  await Promise.all([...flood, add('bob'), add('cy')]);
  expect(order).toEqual(['ann 0', 'bob', 'cy', 'ann 1', 'ann 2', 'ann 3', 'ann 4', 'ann 5']);
});

test('a call continues in its turn until its time is used up', async () => {
  await nextRound();
  const order: string[] = [];
  const call = async (caller: string, milliseconds: number) => {
    for (const isContinued of [false, true, true]) {
      const unit = () => {
        work(milliseconds);
        order.push(caller);
      };
      await turns.run({ caller }, unit, isContinued);
    }
  };
  await Promise.all([call('ann', 3), call('bob', 0), call('cy', 3)]);
  expect(order).toEqual(['ann', 'bob', 'bob', 'bob', 'cy', 'ann', 'cy', 'ann', 'cy']);
});

test('rounds of waiting are turns, too', async () => {
  const order: string[] = [];
  const wait = (caller: string) => turns.nextRound({ caller }).then(() => order.push(caller));
  await Promise.all([wait('ann'), wait('ann'), wait('ann'), wait('bob')]);
  expect(order).toEqual(['ann', 'bob', 'ann', 'ann']);
});

test('a stream that has sent 16 KiB uses up its round', async () => {
  await nextRound();
  await inTurn(() => 'a new round');
  turns.sent(12_000);
  expect(inTurn(() => 'at once')).toBe('at once');
  turns.sent(5_000);
  expect(inTurn(() => 'later')).toBeInstanceOf(Promise);
});
