import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { Account } from '../../../src/core/account.ts';
import {
  ItemBody,
  type ItemBodyOptions,
  type ItemStream,
} from '../../../src/core/response/item-body.ts';
import { Resources } from '../../../src/http/resources.ts';

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask', 'performance'] });
});
afterEach(() => {
  expect(jest.getTimerCount()).toBe(0);
  jest.useRealTimers();
});

const never = new Promise<never>(() => {});

const resources = new Resources();

function bodyOf(
  items: AsyncIterable<unknown>,
  stream: Partial<ItemStream> = {},
  options: ItemBodyOptions = {},
) {
  const events: unknown[] = [];
  const write = (item: unknown, index: number) => {
    if (item instanceof Error) throw item;
    return `${index}${item}`;
  };
  const body = new ItemBody(
    { items, write, end: '', comment: undefined, ...stream },
    new Account(resources, undefined),
    {
      ...options,
      onStop: () => void events.push('stop'),
      onEnd: () => void events.push('end'),
      onFailure: (error) => void events.push(error),
    },
  );
  return { body, events };
}

async function* from(items: readonly unknown[], log: unknown[] = []) {
  try {
    for (const item of items) yield await item;
  } finally {
    log.push('closed');
  }
}

const DONE = { done: true, value: undefined };

test('a body is opened after 500 ms without its first item, which comes later', async () => {
  const first = Promise.withResolvers<string>();
  const { body } = bodyOf(from([first.promise]));
  let isOpen = false;
  const opening = body.open().then(() => {
    isOpen = true;
  });
  await jest.advanceTimersByTimeAsync(499);
  expect(isOpen).toBe(false);
  await jest.advanceTimersByTimeAsync(1);
  await opening;
  first.resolve('a');
  expect(await Array.fromAsync(body)).toEqual(['0a']);
});

describe('an event stream', () => {
  const EVENTS = { comment: ':' };

  test('gets a comment after each 15 s of silence, and the late item once', async () => {
    const late = Promise.withResolvers<string>();
    const { body } = bodyOf(from(['a', late.promise]), EVENTS);
    const chunks: unknown[] = [];
    const reading = (async () => {
      for await (const chunk of body) chunks.push(chunk);
    })();
    await jest.advanceTimersByTimeAsync(14_999);
    expect(chunks).toEqual(['0a']);
    await jest.advanceTimersByTimeAsync(15_002);
    expect(chunks).toEqual(['0a', ':', ':']);
    late.resolve('b');
    await reading;
    expect(chunks).toEqual(['0a', ':', ':', '1b']);
  });

  test('does not add a listener to the pending item with each comment', async () => {
    const { body } = bodyOf(from([never]), EVENTS);
    const then = jest.spyOn(Promise.prototype, 'then');
    const comments = 50;
    const reading = (async () => {
      for (let index = 0; index < comments; index += 1) await body.next();
    })();
    await jest.advanceTimersByTimeAsync(comments * 15_000);
    await reading;
    const counts = Map.groupBy(then.mock.contexts, (promise) => promise);
    then.mockRestore();
    expect(Math.max(0, ...[...counts.values()].map(({ length }) => length))).toBeLessThan(5);
    await body.return();
  });

  test.each([
    ['its last item', ['a'], ({ body }: { body: ItemBody }) => body.next()],
    ['a wrong item', ['a', new Error('wrong')], ({ body }) => body.next().catch(() => DONE)],
    ['the client', ['a', 'b'], ({ body }) => body.return()],
    [
      'the client, which waits for an item',
      ['a', never],
      async ({ body }) => {
        const pending = body.next();
        await body.return();
        return pending;
      },
    ],
  ] satisfies [string, unknown[], (stream: { body: ItemBody }) => Promise<unknown>][])(
    'that is ended by %s leaves neither a listener nor a timer',
    async (_title, items, end) => {
      const stopping = new AbortController();
      const stream = bodyOf(from(items), EVENTS, { stopping: stopping.signal });
      await stream.body.next();
      expect(getEventListeners(stopping.signal, 'abort')).toHaveLength(1);
      expect(await end(stream)).toEqual(DONE);
      expect(getEventListeners(stopping.signal, 'abort')).toEqual([]);
      stopping.abort();
      expect(stream.events.filter((event) => event === 'stop' || event === 'end')).toEqual(['end']);
    },
  );
});
