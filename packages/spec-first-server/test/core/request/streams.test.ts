import type { Readable } from 'node:stream';
import { setImmediate as immediate } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { createSchemas, loadDocument } from 'openapi-document';
import { codecsOf } from 'test-support/codecs';
import { withFiles } from 'test-support/documents';
import { Account, Resources } from '../../../src/core/account.ts';
import {
  checkedItems,
  cutOff,
  limitedStream,
  tooLarge,
} from '../../../src/core/request/streams.ts';
import { createValidators } from '../../../src/core/validation/validator.ts';

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

test('tooLarge and cutOff are errors of the client', () => {
  expect([tooLarge(5).status, cutOff().status]).toEqual([413, 400]);
});

describe('checkedItems', () => {
  const schema = {
    type: 'object',
    required: ['name'],
    properties: {
      name: { type: 'string' },
      count: { type: 'integer', default: 1 },
      body: { type: 'string' },
    },
  };
  const content = { 'application/x-ndjson': { itemSchema: schema } };
  const document = {
    openapi: '3.2.0',
    info: { title: 'A', version: '1' },
    paths: { '/a': { post: { requestBody: { content } } } },
  };

  let account = new Account(new Resources(), undefined);
  afterEach(() => {
    account.settle();
    account = new Account(new Resources(), undefined);
  });

  const prepared = withFiles({ 'openapi.json': JSON.stringify(document) }, async (folder) => {
    const { root, operations } = await loadDocument(`${folder}/openapi.json`);
    const [operation] = operations;
    const media = operation?.requestBody?.media[0];
    if (operation === undefined || media === undefined) throw new Error('no operation');
    const codecs = await codecsOf(operations);
    const coder = codecs.of(media);
    if (coder.unit !== 'items') throw new Error('no items');
    const read = (bytes: Readable, limit: number) =>
      checkedItems(
        bytes,
        coder,
        media,
        { format: media, contentType: media.type },
        limit,
        createValidators(createSchemas(root))(operation),
        account,
      );
    return read;
  });

  async function items(limit: number, ...texts: string[]): Promise<unknown[]> {
    const checked = await prepared;
    const bytes = limitedStream(chunks(...texts), Infinity);
    const read: unknown[] = [];
    try {
      for await (const item of checked(bytes, limit)) read.push(item);
    } catch (error) {
      read.push(error);
    }
    return read;
  }

  test('yields each item with its defaults; together they may exceed the limit of an item', async () => {
    expect(await items(30, '{"name":"Fern"}\n{"name"', ':"Moss","count":2}\n')).toEqual([
      { name: 'Fern', count: 1 },
      { name: 'Moss', count: 2 },
    ]);
  });

  test.each<[string, string, object]>([
    [
      'of another type',
      '{"name":5}',
      { violations: [{ path: '/body/1/name', message: 'must be string', keyword: 'type' }] },
    ],
    [
      'with a member named body of another type',
      '{"name":"a","body":5}',
      { violations: [{ path: '/body/1/body', message: 'must be string', keyword: 'type' }] },
    ],
    [
      'that is not an object',
      '[]',
      { violations: [{ path: '/body/1', message: 'must be object', keyword: 'type' }] },
    ],
    ['that is not JSON', '{"name":', { violations: [{ path: '/body/1', keyword: 'type' }] }],
    [
      'that is too large',
      `{"name":"${'x'.repeat(30)}"}`,
      { status: 413, message: expect.stringMatching(/^\/body\/1 /) },
    ],
  ])('throws at an item %s; the error has the index of the item', async (_title, line, error) => {
    expect(await items(30, `{"name":"a"}\n${line}\n{"name":"b"}\n`)).toMatchObject([
      { name: 'a', count: 1 },
      error,
    ]);
  });

  test('throws the error of the stream', async () => {
    const checked = await prepared;
    const stream = limitedStream(chunks('{"name":"a"}\n', '{"name":"b"}\n'), 15);
    const items = checked(stream, 30);
    expect(await items.next()).toMatchObject({ value: { name: 'a' } });
    await expect(items.next()).rejects.toMatchObject({ status: 413 });
  });
});
