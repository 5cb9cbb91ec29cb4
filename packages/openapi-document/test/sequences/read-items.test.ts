import { describe, expect, test } from '@jest/globals';
import { documentOf, only } from '../support/operations.ts';

const LIMIT = 1_000;

/** The media type of a sequence of texts. */
async function sequenceOf(type: string) {
  const content = { [type]: { itemSchema: {} } };
  const { operations } = await documentOf({ '/things': { post: { requestBody: { content } } } });
  const [media] = only(operations).requestBody?.media ?? [];
  if (media === undefined) throw new Error('the operation has no body');
  return media;
}

async function* chunksOf(text: string | Uint8Array): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

/** The items of chunks, or the message of the error. */
async function itemsOf(type: string, chunks: readonly Uint8Array[]): Promise<unknown> {
  const media = await sequenceOf(type);
  async function* each() {
    yield* chunks;
  }
  return Array.fromAsync(media.readItems(type, each(), LIMIT)).catch(({ message }) => message);
}

const EVENTS = await sequenceOf('text/event-stream');

describe('an item without an end', () => {
  test.each([
    ['application/jsonl', '', 'x'],
    ['application/jsonl', '{}\n', 'x'],
    ['application/json-seq', '\x1e', 'x'],
    ['text/event-stream', 'data: ', 'x'],
    ['text/event-stream', 'id: ', 'x'],
    ['text/event-stream', 'data: a\n\n', 'data: x\n'],
    ['multipart/mixed; boundary=x', '--x\r\nA: b\r\n\r\n', 'x'],
    ['multipart/mixed; boundary=x', '--x\r\nContent-Type: ', 'x'],
  ])('of %s is rejected after the limit: %j and then %j', async (type, start, more) => {
    const media = await sequenceOf(type);
    const chunk = Buffer.from(more.repeat(100));
    let size = 0;
    async function* chunks() {
      yield Buffer.from(start);
      for (;;) {
        size += chunk.length;
        // The parser of multipart bodies has its own limit of headers.
        if (size > 100 * LIMIT) throw new Error('read to the end');
        yield chunk;
      }
    }
    const items = Array.fromAsync(media.readItems(type, chunks(), LIMIT));
    await expect(items).rejects.toMatchObject({ name: 'UnreadableItem' });
  });
});

describe('an event', () => {
  test.each(['event', 'id', 'retry'])('cannot have a %s of several lines', (name) => {
    const { write } = EVENTS.itemWriter('text/event-stream');
    for (const text of ['a\nb', 'a\rb', 'a\r\nb', '\0']) {
      const message = `the ${name} of an event must be a single line`;
      expect(() => write({ [name]: text }, 0)).toThrow(message);
    }
  });

  test.each(['a\nb', 'a\rb', 'a\r\nb', '\rdata: b'])(
    'has the same lines in its data: %j',
    async (data) => {
      const { write } = EVENTS.itemWriter('text/event-stream');
      const text = write({ data }, 0);
      const items = EVENTS.readItems('text/event-stream', chunksOf(text), LIMIT);
      expect(await Array.fromAsync(items)).toEqual([{ data: data.replace(/\r\n?/g, '\n') }]);
    },
  );
});

describe('text of several bytes', () => {
  const types: readonly (readonly [type: string, text: string, item: unknown])[] = [
    ['application/jsonl', '"é🌵"\n', 'é🌵'],
    ['application/json-seq', '\x1e"é🌵"\n', 'é🌵'],
    ['text/event-stream', 'data: é🌵\n\n', { data: 'é🌵' }],
    ['multipart/mixed; boundary=x', '--x\r\nA: b\r\n\r\né🌵\r\n--x--\r\nafter', 'é🌵'],
  ];

  test.each(types)('of %s may be split anywhere', async (type, text, item) => {
    const bytes = [...Buffer.from(text)].map((byte) => Uint8Array.of(byte));
    expect(await itemsOf(type, bytes)).toEqual([item]);
  });

  test.each(types)('of %s must be UTF-8', async (type, text) => {
    const [start = '', end = ''] = text.split('é');
    const bytes = Buffer.concat([Buffer.from(start), Buffer.of(0xff), Buffer.from(end)]);
    expect(await itemsOf(type, [bytes])).toBe('must be UTF-8');
  });

  test.each(types.slice(0, 3))('of %s must not end inside a character', async (type, text) => {
    expect(await itemsOf(type, [Buffer.from(text), Uint8Array.of(0xc3)])).toBe('must be UTF-8');
  });
});

test.each([
  ['application/jsonl', '1\n[2]', [1, [2]]],
  ['application/jsonl', '1\n\r\n[2', 'must be JSON'],
  ['application/json-seq', '\x1e1\n\x1e[2]', [1, [2]]],
  ['application/json-seq', '\x1e1\n\x1e2', 'must end with a line feed (RFC 7464 §2.4)'],
  ['text/event-stream', 'data: 1\n\ndata: 2', [{ data: '1' }]],
  ['multipart/mixed; boundary="x y"', '--x y\r\nA: b\r\n\r\n1\r\n--x y--', ['1']],
  [
    'multipart/mixed; boundary=x',
    '--x\r\nA: b\r\n\r\n1\r\n',
    expect.stringMatching(/^must be a part/),
  ],
])('a sequence of %s may end with %j: %j', async (type, text, expected) => {
  expect(await itemsOf(type, [Buffer.from(text)])).toEqual(expected);
});

test.each([1, 1_000])('a part without headers is rejected in chunks of %d bytes', async (size) => {
  const headed = '--x\r\nContent-Type: text/plain\r\n\r\nb\r\n';
  const bytes = Buffer.from(`${headed}--x\r\n\r\na\r\n${headed}--x--\r\n`);
  const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size),
  );
  expect(await itemsOf('multipart/mixed; boundary=x', chunks)).toBe(
    'must have headers, such as Content-Type',
  );
});

describe('a part of multipart/mixed', () => {
  const partOf = async (item: unknown, index: number, media: object) => {
    const content = { 'multipart/mixed': { itemSchema: {}, ...media } };
    const { operations } = await documentOf({ '/a': { post: { requestBody: { content } } } });
    const [declared] = only(operations).requestBody?.media ?? [];
    const { write } = declared?.itemWriter('multipart/mixed') ?? {};
    const [, type, body] =
      /\r\nContent-Type: (.*)\r\n\r\n([\s\S]*)\r\n$/u.exec(String(write?.(item, index))) ?? [];
    return [type, body];
  };
  const [png, csv] = ['image/png', 'text/csv'].map((contentType) => ({ contentType }));

  test.each<[item: unknown, index: number, media: object, type: string, body: string]>([
    ['a', 0, {}, 'text/plain; charset=utf-8', 'a'],
    [{ n: 1 }, 0, {}, 'application/json', '{"n":1}'],
    [2n ** 60n, 0, {}, 'application/json', '1152921504606846976'],
    [Buffer.from('a'), 0, {}, 'application/octet-stream', 'a'],
    ['a', 0, { itemEncoding: csv }, 'text/csv', 'a'],
    ['a', 0, { itemEncoding: { contentType: 'text/csv, text/plain' } }, 'text/csv', 'a'],
    ['a', 0, { itemEncoding: { contentType: 'text/*' } }, 'text/plain; charset=utf-8', 'a'],
    ['a', 0, { itemEncoding: { contentType: 'application/json' } }, 'application/json', '"a"'],
    [Buffer.from('a'), 0, { prefixEncoding: [png], itemEncoding: csv }, 'image/png', 'a'],
    [Buffer.from('a'), 1, { prefixEncoding: [png], itemEncoding: csv }, 'text/csv', 'a'],
  ])('%p at %i with %j has the media type %s', async (item, index, media, type, body) => {
    expect(await partOf(item, index, media)).toEqual([type, body]);
  });
});
