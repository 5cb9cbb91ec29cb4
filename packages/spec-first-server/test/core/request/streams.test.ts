import { setImmediate as immediate } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { cutOff, limitedStream } from '../../../src/core/request/streams.ts';

async function* chunks(...texts: string[]) {
  for (const text of texts) yield Buffer.from(text);
}

describe('limitedStream', () => {
  test.each([
    ['bytes', Buffer.from('abcdef')],
    ['a stream of bytes', chunks('abc', 'def')],
  ])('reads %s up to the limit', async (_title, body) => {
    expect(Buffer.concat(await limitedStream(body, 6).toArray()).toString()).toBe('abcdef');
  });

  test.each([
    ['bytes', () => Buffer.from('abcdef')],
    ['a stream of bytes', () => chunks('abc', 'def')],
  ])('fails with 413 if there are more bytes: %s', async (_title, body) => {
    await expect(limitedStream(body(), 5).toArray()).rejects.toMatchObject({
      status: 413,
      message: 'the body must be at most 5 bytes (BODY_LIMIT, or the limit in the document)',
    });
  });

  test('fails with 400 if the client disconnects', async () => {
    async function* broken() {
      yield Buffer.from('abc');
      throw new Error('ECONNRESET');
    }
    const stream = limitedStream(broken(), 10);
    await expect(stream.toArray()).rejects.toMatchObject({
      status: 400,
      message: 'the request was cut off',
    });
  });

  test('closes its source when it is destroyed, even if closing fails', async () => {
    for (const close of [() => undefined, () => Promise.reject(new Error('x')), thrower]) {
      let isClosed = false;
      const source = {
        [Symbol.asyncIterator]: () => ({
          next: async () => ({ done: false as const, value: Buffer.from('a') }),
          return: async () => {
            isClosed = true;
            await close();
            return { done: true as const, value: undefined };
          },
        }),
      };
      limitedStream(source, 10).destroy(cutOff());
      await immediate();
      expect(isClosed).toBe(true);
    }
  });

  test('causes no uncaught error if it fails and nothing reads it', async () => {
    limitedStream(chunks('too long'), 1).resume();
    await immediate();
    await immediate();
  });
});

function thrower(): never {
  throw new Error('cannot be closed');
}
