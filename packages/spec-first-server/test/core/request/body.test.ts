import { PassThrough, Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from '@jest/globals';
import { loadDocument, Schemas } from 'openapi-document';
import { codecsOf } from 'test-support/codecs';
import { Account } from '../../../src/core/account.ts';
import type { Call } from '../../../src/core/call.ts';
import { bodyReader } from '../../../src/core/request/body.ts';
import { createValidators } from '../../../src/core/validation/validator.ts';
import { Resources } from '../../../src/http/resources.ts';

const LIMIT = 100;
const note = { schema: { properties: { n: { type: 'integer', format: 'int64' } } } };
const content = {
  'application/json': note,
  'application/x-www-form-urlencoded': note,
  'text/plain': { schema: { type: 'string' } },
  'text/csv': { schema: { type: ['integer', 'string'] } },
  'multipart/form-data': note,
  'application/octet-stream': {},
  'application/x-ndjson': { itemSchema: {} },
  'image/*': {},
  'application/vnd.note+json;version=2': note,
};
const paths = {
  '/required': { post: { requestBody: { required: true, content } } },
  '/optional': { post: { requestBody: { content } } },
  '/any': { post: { requestBody: { content: { '*/*': note } } } },
  '/undeclared': { post: { requestBody: { required: true, content: {} } } },
  '/none': { post: {} },
};
const document = { openapi: '3.2.0', info: { title: 'A', version: '1' }, paths };

const { root, operations } = await loadDocument(document);
const codecs = await codecsOf(operations);
const readers = new Map(
  operations.map((operation) => [
    operation.path,
    bodyReader(operation, LIMIT, createValidators(new Schemas(root), { codecs })(operation)),
  ]),
);

async function read(
  path: keyof typeof paths,
  contentType: string | undefined,
  body: Call['body'] | string,
  headers: Call['headers'] = {},
) {
  const reader = readers.get(path);
  if (reader === undefined) throw new Error(`no operation at ${path}`);
  const call = {
    method: 'POST',
    path,
    headers: { 'content-type': contentType, ...headers },
    body: typeof body === 'string' ? Buffer.from(body) : body,
  };
  const account = openAccount();
  const received = await reader(call, account);
  return { ...received, account };
}

const resources = new Resources();
const { memory } = resources;

/** The accounts of a test. They are settled at its end, as the service does. */
const accounts: Account[] = [];
function openAccount(): Account {
  const account = new Account(resources, undefined);
  accounts.push(account);
  return account;
}
afterEach(() => {
  for (const account of accounts.splice(0)) account.settle();
  expect(memory.bytesLeft).toBe(64 * MIB);
});

const MIB = 1024 ** 2;

async function* pieces(...texts: string[]) {
  for (const text of texts) yield Buffer.from(text);
}

function counted(...texts: string[]) {
  const state = { reads: 0, isClosed: false };
  const iterator = pieces(...texts);
  const body: AsyncIterable<Buffer> = {
    [Symbol.asyncIterator]: () => ({
      next() {
        state.reads += 1;
        return iterator.next();
      },
      async return() {
        state.isClosed = true;
        return { done: true, value: undefined };
      },
    }),
  };
  return { state, body };
}

test('a body is not read if the operation declares none', async () => {
  const { body, state } = counted('abc');
  expect(await read('/none', 'text/plain', body)).toMatchObject({ body: undefined });
  expect(state.reads).toBe(0);
});

describe('a missing body', () => {
  test('has neither a media type nor bytes', async () => {
    await expect(read('/required', undefined, pieces())).rejects.toMatchObject({
      violations: [{ path: '/body', keyword: 'required' }],
    });
    expect((await read('/optional', undefined, pieces('', ''))).contentType).toBeUndefined();
    await expect(read('/required', undefined, pieces('', 'a'))).rejects.toHaveProperty(
      'status',
      415,
    );
    const { body } = await read('/any', undefined, pieces('a', 'b'));
    expect(await (body as Readable).toArray()).toEqual([Buffer.from('a'), Buffer.from('b')]);
  });
});

test.each([
  'charset=utf-16',
  'charset=utf-16; charset=utf-8',
  'charset="utf-16',
  'charset=utf-8 x',
])('a body with %s is rejected', async (parameters) => {
  const reading = read('/required', `application/json; ${parameters}`, '1');
  await expect(async () => reading).rejects.toMatchObject({ status: 415 });
});

test.each(['application/json', 'application/octet-stream', 'multipart/form-data; boundary=b'])(
  'a body of type %s whose declared length exceeds the limit is not read',
  async (type) => {
    const { body, state } = counted('abc');
    const headers = { 'content-length': String(LIMIT + 1) };
    await expect(read('/required', type, body, headers)).rejects.toMatchObject({ status: 413 });
    expect(state.reads).toBe(0);
  },
);

describe('a compressed body', () => {
  const gzip = { 'content-encoding': 'gzip' };

  test.each([
    [
      'is larger than the limit',
      gzipSync(' '.repeat(LIMIT + 1)),
      413,
      'the body must be at most 100 bytes',
    ],
    [
      'is not compressed',
      Buffer.from('{}'),
      400,
      'the body does not have the declared Content-Encoding',
    ],
    [
      'is cut',
      gzipSync('{"n":1}').subarray(0, 15),
      400,
      'the body does not have the declared Content-Encoding',
    ],
  ])('is rejected if it %s', async (_title, bytes, status, message) => {
    await expect(read('/required', 'application/json', bytes, gzip)).rejects.toMatchObject({
      status,
      message: expect.stringContaining(message),
    });
  });

  test('may be as large as the limit when decompressed, and may be empty', async () => {
    const bytes = gzipSync(`"${'x'.repeat(LIMIT - 2)}"`);
    expect((await read('/required', 'application/json', bytes, gzip)).body).toHaveLength(98);
    expect((await read('/optional', 'application/json', '', gzip)).body).toBeUndefined();
  });

  test.each([
    ['application/json', 'br', 'gzip, identity', 'gzip or identity'],

    ['application/x-ndjson', 'gzip', 'identity', 'identity'],
  ])(
    'of type %s with the encoding %s is rejected: accepted is %s',
    async (type, encoding, accepted, names) => {
      const headers = { 'content-encoding': encoding };
      await expect(read('/required', type, '', headers)).rejects.toMatchObject({
        status: 415,
        message: `the content encoding must be ${names}`,
        headers: { 'Accept-Encoding': accepted },
      });
    },
  );

  test.each(['Identity', '', 'identity, identity'])('may have the encoding "%s"', async (text) => {
    const headers = { 'content-encoding': text };
    expect((await read('/required', 'application/json', '1', headers)).body).toBe(1);
  });
});

describe('the memory of a body', () => {
  const held = (): number => 64 * MIB - memory.bytesLeft;

  test('is its declared length while it is received, or else the limit', async () => {
    for (const [length, size] of [
      ['7', 7],
      [undefined, LIMIT],
    ] as const) {
      const source = new PassThrough();
      const headers = { 'content-length': length };
      const reading = read('/required', 'application/json', source, headers);
      expect(held()).toBe(size);
      source.end('{"n":1}');
      const { account } = await reading;
      account.settle();
    }
  });

  test('is that of its values once it is parsed, until the call is settled', async () => {
    for (const send of [Buffer.from, (text: string) => pieces(text.slice(0, 9), text.slice(9))]) {
      const { account } = await read('/required', 'application/json', send('[{},{},{},{}]'));
      expect(held()).toBe(5 * 64 + 3 * 16 + 5);
      account.settle();
      expect(held()).toBe(0);
    }
  });

  test.each([
    ['has arrived', (bytes: Buffer) => bytes],
    ['is being received', (bytes: Buffer) => Readable.from([bytes])],
  ])('that is compressed and %s is that of its values', async (_title, send) => {
    const text = '"1234567890"'.padEnd(50);
    const bytes = gzipSync(text);
    const headers = { 'content-encoding': 'gzip', 'content-length': String(bytes.length) };
    await read('/required', 'application/json', send(bytes), headers);
    expect(held()).toBe(text.length);
  });

  test('of many items is that of the last ones', async () => {
    const lines = Array.from({ length: 100 }, () => `"${'x'.repeat(60)}"\n`);
    const { body } = await read('/required', 'application/x-ndjson', pieces(...lines));
    let largest = 0;
    for await (const _item of body as AsyncIterable<unknown>) largest = Math.max(largest, held());
    expect(largest).toBeLessThan(5 * 63);
  });

  test('must suffice for its values, or else the answer is 503', async () => {
    const others = memory.bytesLeft - 200;
    expect(memory.reserve(others)).toBe(true);
    const send = (text: string) => read('/required', 'application/json', Buffer.from(text));
    await expect(send('[{},{},{},{}]')).rejects.toMatchObject({ status: 503 });
    await expect(send('"{}"')).resolves.toMatchObject({ body: '{}' });
    memory.reserve(-others);
  });
});

describe('a settled account', () => {
  test('destroys a stream that was not read to its end', async () => {
    const { body: source, state } = counted('a', 'b');
    const { body, account } = await read('/required', 'application/octet-stream', source);
    const stream = body as Readable;
    account.settle();
    await expect(stream.toArray()).rejects.toMatchObject({ message: 'the request was cut off' });
    expect([stream.destroyed, state.isClosed]).toEqual([true, true]);
  });
});
