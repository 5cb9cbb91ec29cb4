import { getEventListeners } from 'node:events';
import { Readable } from 'node:stream';
import { setImmediate as immediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { Account, Resources } from '../../../src/core/account.ts';
import {
  ItemBody,
  type ItemBodyOptions,
  type ItemStream,
} from '../../../src/core/response/item-body.ts';

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

describe('the chunks of a body', () => {
  test('are pulled one at a time', async () => {
    let pulled = 0;
    const items = (async function* () {
      for (;;) {
        pulled += 1;
        yield pulled;
      }
    })();
    const { body } = bodyOf(items);
    await body.open();
    await immediate();
    expect(pulled).toBe(1);
    await body.next();
    await immediate();
    expect(pulled).toBe(1);
    await body.next();
    expect(pulled).toBe(2);
  });
});

describe('an item that fails', () => {
  const error = new Error('a wrong item');

  test.each([
    ['open', error],
    ['next', new Error('the stream of the reply failed', { cause: error })],
  ] as const)('rejects %s(), is reported, and closes the items', async (method, rejection) => {
    const log: unknown[] = [];
    const { body, events } = bodyOf(from([error, 'b'], log));
    await expect(body[method]()).rejects.toEqual(rejection);
    expect(events).toEqual([error, 'end']);
    await immediate();
    expect(log).toEqual(['closed']);
  });

  test('leaves no rejection unhandled if its iterator cannot be closed', async () => {
    const items: AsyncIterable<unknown> = {
      [Symbol.asyncIterator]: () => ({
        next: () => Promise.reject(new Error('a wrong item')),
        return: () => {
          throw new Error('cannot be closed');
        },
      }),
    };
    await expect(bodyOf(items).body.next()).rejects.toThrow('the stream of the reply failed');
    await immediate();
  });
});

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

  test('that is opened while the service stops has no items', async () => {
    const { body, events } = bodyOf(from(['a']), EVENTS, { stopping: AbortSignal.abort() });
    await body.open();
    expect(await body.next()).toEqual(DONE);
    expect(events).toEqual(['stop', 'end']);
  });
});

describe('a client that disconnects', () => {
  test('destroys a Readable that waits for its next chunk', async () => {
    const items = new Readable({ read() {} });
    const { body, events } = bodyOf(items);
    const first = body.next();
    await immediate();
    await body.return();
    expect(items.destroyed).toBe(true);
    expect(await first).toEqual(DONE);
    expect(events).toEqual(['end']);
  });

  test.each([
    ['an item', (item: PromiseWithResolvers<string>) => item.resolve('a')],
    ['an error', (item: PromiseWithResolvers<string>) => item.reject(new Error('late'))],
  ])('does not get %s that comes later', async (_title, settle) => {
    const item = Promise.withResolvers<string>();
    const { body, events } = bodyOf(from([item.promise]));
    const pending = body.next();
    await body.return();
    settle(item);
    expect(await pending).toEqual(DONE);
    expect(events).toEqual(['end']);
  });
});

test('streams that are always ready send about 16 KiB together before other work runs', async () => {
  let chunks = 0;
  const read = async () => {
    const { body } = bodyOf(from(Array.from({ length: 100 }, () => 'x'.repeat(1023))));
    for await (const _chunk of body) chunks += 1;
  };
  const reading = Promise.all([read(), read()]);
  await immediate();
  expect(chunks).toBeGreaterThan(8);
  expect(chunks).toBeLessThan(20);
  await immediate();
  expect(chunks).toBeLessThan(40);
  await reading;
  expect(chunks).toBe(200);
});
