import { Readable } from 'node:stream';
import { setImmediate as immediate } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { Resources } from '../../../src/core/account.ts';
import { recorder } from '../../../src/core/record.ts';
import {
  type CheckedReply,
  createAnswer,
  streamedAnswer,
} from '../../../src/core/response/answer.ts';
import type { ItemStream } from '../../../src/core/response/item-body.ts';

const resources = new Resources();
const record = recorder(resources)({
  method: 'GET',
  path: '/',
  headers: { 'x-request-id': 'request-1' },
});
const DEFAULTS = record.headers;

function linesOf(list: readonly string[]): string[] {
  return list.flatMap((name, index) => (index % 2 === 0 ? `${name}: ${list[index + 1]}` : []));
}

function addedBy(reply: CheckedReply, method = 'GET'): string[] {
  const { status, headers } = createAnswer(reply, record, method);
  expect(status).toBe(reply.status);
  expect(headers.slice(0, DEFAULTS.length)).toEqual(DEFAULTS);
  return linesOf(headers.slice(DEFAULTS.length));
}

const streamOf = (items: Iterable<unknown>, others: Partial<ItemStream> = {}): ItemStream => ({
  items: Readable.from(items),
  write: String,
  end: '',
  comment: undefined,
  ...others,
});

test('a reply replaces the headers of the record, and adds to Vary', () => {
  const headers = [...DEFAULTS, 'Vary', 'Origin'];
  const reply = { status: 204, headers: { vary: 'Accept', 'x-frame-options': 'DENY' } };
  const lines = linesOf(createAnswer(reply, { ...record, headers }, 'GET').headers);
  expect(lines.filter((line) => /^(vary|x-frame-options):/i.test(line)).sort()).toEqual([
    'Vary: Origin',
    'vary: Accept',
    'x-frame-options: DENY',
  ]);
});

test.each<[title: string, reply: CheckedReply, added: string[]]>([
  [
    'text, counted in bytes',
    { status: 200, type: 'text/plain', body: 'für' },
    ['Content-Type: text/plain', 'Content-Length: 4'],
  ],
  ['bytes', { status: 200, body: Buffer.from([0, 1, 2]) }, ['Content-Length: 3']],
  ['an empty text', { status: 200, body: '' }, ['Content-Length: 0']],
  ['no body', { status: 200 }, ['Content-Length: 0']],
  ['status 205', { status: 205 }, ['Content-Length: 0']],
  ['status 204', { status: 204 }, []],
  ['status 304', { status: 304, headers: { ETag: '"1"' } }, ['ETag: "1"']],
  [
    'a number and a list as headers',
    { status: 204, headers: { 'X-Left': 3, 'Set-Cookie': ['a=1', 'b=2'] } },
    ['X-Left: 3', 'Set-Cookie: a=1', 'Set-Cookie: b=2'],
  ],
  [
    'headers that are derived from the body',
    {
      status: 200,
      type: 'text/csv',
      headers: { 'content-length': 9, 'Content-Type': 'text/html', 'transfer-encoding': 'chunked' },
      body: 'a',
    },
    ['Content-Type: text/csv', 'Content-Length: 1'],
  ],
])('the headers of a reply with %s', (_title, reply, added) => {
  expect(addedBy(reply)).toEqual(added);
});

test.each<[title: string, others: Partial<ItemStream>, added: string[]]>([
  [
    'items, which no proxy may buffer',
    {},
    ['Cache-Control: no-cache, no-transform', 'X-Accel-Buffering: no'],
  ],
  ['pieces of one body, which a proxy may buffer', { areChunks: true }, []],
])('the headers of a stream of %s', async (_title, others, added) => {
  const reply = { status: 200, type: 'application/jsonl' };
  const { headers } = await streamedAnswer(reply, streamOf(['a'], others), record, 'GET', {});
  expect(linesOf(headers.slice(DEFAULTS.length))).toEqual([
    ...added,
    'Content-Type: application/jsonl',
  ]);
});

describe('an answer to HEAD', () => {
  test('has the headers of GET, without the body', () => {
    const reply = { status: 201, type: 'text/plain', body: 'abc' };
    const get = createAnswer(reply, record, 'GET');
    expect(get.body).toBe('abc');
    expect(createAnswer(reply, record, 'HEAD')).toEqual({ ...get, body: undefined });
  });

  test('closes the stream that it does not send, and calls onEnd once', async () => {
    const items = new Readable({ read() {} });
    let ends = 0;
    const onEnd = () => {
      ends += 1;
    };
    const stream = streamOf([], { items });
    expect(await streamedAnswer({ status: 200 }, stream, record, 'HEAD', { onEnd })).toMatchObject({
      status: 200,
      headers: expect.arrayContaining(['Cache-Control', 'no-cache, no-transform']),
      body: undefined,
    });
    expect([items.destroyed, ends]).toEqual([true, 1]);
  });
});

test('a stream starts after its first item', async () => {
  let hasArrived = false;
  async function* items() {
    await immediate();
    hasArrived = true;
    yield 'a';
  }
  await streamedAnswer({ status: 200 }, streamOf([], { items: items() }), record, 'GET', {});
  expect(hasArrived).toBe(true);
});
