import { describe, expect, test } from '@jest/globals';
import { Codecs } from '../../src/codecs/codecs.ts';
import { readEventData } from '../../src/codecs/events.ts';
import type { Items } from '../../src/schema/event.ts';

const LIMIT = 1_000;

type Chunk = string | Uint8Array;

async function* streamOf(chunks: readonly Chunk[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield Buffer.from(chunk);
}

const types = ['application/jsonl', 'application/json-seq', 'text/event-stream', 'multipart/mixed'];
const codecs = new Codecs();
await codecs.load(types.map((type) => ({ type, items: { data: 'text' } })));

function itemsCoder(type: string, items: Partial<Items> = {}) {
  const format = { type, items: { data: 'text', ...items } } as const;
  const coder = codecs.of(format);
  if (coder.unit !== 'items') throw new Error(`${type} has no items`);
  return { coder, format };
}

function read(
  contentType: string,
  chunks: AsyncIterable<Uint8Array>,
  limit: number,
  data: Items['data'] = 'text',
) {
  const { coder, format } = itemsCoder(contentType, { data });
  return coder.read(chunks, { format, contentType }, limit);
}

/** Returns the items, or the requirement that they violate. */
const itemsOf = (type: string, chunks: readonly Chunk[], data?: Items['data']) =>
  Array.fromAsync(read(type, streamOf(chunks), LIMIT, data)).catch(
    (error) => error.requirement ?? error,
  );

test.each([
  ['application/jsonl', '1\n[2]', [1, [2]]],
  ['application/jsonl', '{"a":1}\r\n\n \n9007199254740993\n', [{ a: 1 }, 9007199254740993n]],
  ['application/jsonl', '1\n\r\n[2', 'must be JSON (invalid at line 1, column 3)'],
  ['application/json-seq', '\x1e1\n\x1e[2]', [1, [2]]],
  ['application/json-seq', '\x1e{"a":"\\n"}\n\x1e\x1e"b"\n', [{ a: '\n' }, 'b']],
  ['application/json-seq', '\x1e1\n\x1e2', 'must end with a line feed (RFC 7464 §2.4)'],
  ['application/json-seq', '\x1etrue', 'must end with a line feed (RFC 7464 §2.4)'],
  ['text/event-stream', 'data: 1\n\ndata: 2', [{ data: '1' }]],
  [
    'text/event-stream',
    ':\n\nevent: a\nid: 1\nretry: 5\ndata: b\ndata:c\n\ndata: d\nid\n\n',
    [
      { event: 'a', id: '1', retry: 5, data: 'b\nc' },
      { id: '', data: 'd' },
    ],
  ],
  ['text/event-stream', 'retry: 5\n\nid: 1\n\ndata: a\n\n', [{ retry: 5, data: 'a' }]],
  ['multipart/mixed; boundary="x y"', '--x y\r\nA: b\r\n\r\n1\r\n--x y--', ['1']],
  ['multipart/mixed; charset=a; BOUNDARY=x;a=b', '--x\r\nA: b\r\n\r\n1\r\n--x--', ['1']],
  ['multipart/mixed; boundary=x', '--x--\r\n', []],
  [
    'multipart/mixed; boundary=x',
    '--x\r\nA: b\r\n\r\n1\r\n',
    expect.stringMatching(/^must be a part of multipart\/mixed/),
  ],
  [
    'multipart/mixed; boundary=y',
    '--x\r\nA: b\r\n\r\n1\r\n--x--',
    expect.stringMatching(/^must be a part of multipart\/mixed/),
  ],
])('the items of %s are read: %j', async (type, text, expected) => {
  expect(await itemsOf(type, [text])).toEqual(expected);
});

test('a part is JSON, text or bytes, by its media type', async () => {
  const parts = [
    'Content-Type: application/json\r\n\r\n{"n":9007199254740993}',
    'content-type: text/html; charset=utf-8\r\n\r\n<é>',
    'Content-Type: image/png\r\n\r\né',
    'A: b\r\n\r\n',
    'Content-Type: text/plain; charset=utf-16le\r\n\r\nH\0i\0',
  ];
  const text = `${parts.map((part) => `--x\r\n${part}\r\n`).join('')}--x--\r\nafter`;
  expect(await itemsOf('multipart/mixed; boundary=x', [text])).toEqual([
    { n: 9007199254740993n },
    '<é>',
    new Uint8Array(Buffer.from('é')),
    '',
    'Hi',
  ]);
  const encoded = '--x\r\nContent-Transfer-Encoding: base64\r\n\r\nYQ==\r\n--x--';
  expect(await itemsOf('multipart/mixed; boundary=x', [encoded])).toBe(
    'must be binary, 8bit or 7bit',
  );
  const invalid = '--x\r\nContent-Type: application/json\r\n\r\n{\r\n--x--';
  expect(await itemsOf('multipart/mixed; boundary=x', [invalid])).toBe(
    'must be JSON (invalid at line 1, column 2)',
  );
});

test.each<[data: Items['data'], text: string, value: unknown]>([
  ['text', '{"a":1}', '{"a":1}'],
  ['json', '{"a":1}', { a: 1 }],
  ['json', 'null', null],
  ['mixed', '{"a":1}', { a: 1 }],
  ['mixed', '1', '1'],
  ['mixed', '{', '{'],
])('%s data of an event is decoded: %s', async (data, text, value) => {
  expect(readEventData(data, text)).toEqual(value);
  expect(await itemsOf('text/event-stream', [`id: 1\ndata: ${text}\n\n`], data)).toEqual([
    { id: '1', data: value },
  ]);
});

test('items are read before the next chunk arrives', async () => {
  const bodies: readonly (readonly [type: string, chunks: readonly string[]])[] = [
    ['application/jsonl', ['"a"\n"', 'b"']],
    ['application/json-seq', ['\x1e"a"\n\x1e', '"b"\n']],
    ['text/event-stream', ['data: a\n\ndata:', ' b\n\n']],
    ['multipart/mixed; boundary=x', ['--x\r\nA: b\r\n\r\na\r\n--x', '\r\nA: b\r\n\r\nb\r\n--x--']],
  ];
  for (const [type, chunks] of bodies) {
    const order: unknown[] = [];
    async function* logged() {
      for (const chunk of chunks) {
        order.push('chunk');
        yield Buffer.from(chunk);
      }
    }
    for await (const item of read(type, logged(), LIMIT)) order.push(Object(item).data ?? item);
    expect([type, order]).toEqual([type, ['chunk', 'a', 'chunk', 'b']]);
  }
});

test.each<[type: string, itemOf: (text: string) => string, extra: number]>([
  ['application/jsonl', (text) => `"${text}"\n`, '""'.length],
  ['application/json-seq', (text) => `\x1e"${text}"\n`, '""\n'.length],
  ['text/event-stream', (text) => `data: ${text}\n\n`, 0],
])('an item of %s may have as many characters as the limit', async (type, itemOf, extra) => {
  const itemsWith = (length: number) => itemsOf(type, [itemOf('ä'.repeat(length))]);
  expect(await itemsWith(LIMIT - extra)).toHaveLength(1);
  expect(await itemsWith(LIMIT - extra + 1)).toBe('must be at most 1000 characters');
});

test('a part may have as many bytes as the limit', async () => {
  const itemsWith = (text: string) =>
    itemsOf('multipart/mixed; boundary=x', [`--x\r\nA: b\r\n\r\n${text}\r\n--x--`]);
  expect(await itemsWith('x'.repeat(LIMIT))).toHaveLength(1);
  expect(await itemsWith('x'.repeat(LIMIT + 1))).toBe('must be at most 1000 bytes');
});

describe('an item without an end', () => {
  test.each([
    ['application/jsonl', '{}\n', 'x'],
    ['application/json-seq', '\x1e', 'x'],
    ['text/event-stream', 'data: ', 'x'],
    ['text/event-stream', 'data: a\n\n', 'data: x\n'],
    ['multipart/mixed; boundary=x', '--x\r\nA: b\r\n\r\n', 'x'],
    ['multipart/mixed; boundary=x', '--x\r\nContent-Type: ', 'x'],
  ])('of %s is rejected after the limit: %j and then %j', async (type, start, repeated) => {
    const chunk = Buffer.from(repeated.repeat(100));
    let size = 0;
    async function* chunks() {
      yield Buffer.from(start);
      for (;;) {
        size += chunk.length;
        if (size > 100 * LIMIT) throw new Error('read to the end');
        yield chunk;
      }
    }
    const items = Array.fromAsync(read(type, chunks(), LIMIT));
    // The headers of a part have a fixed limit, below 100,000 bytes.
    const isTooLarge = !start.endsWith('Type: ');
    await expect(items).rejects.toMatchObject({
      name: 'UnreadableBody',
      status: isTooLarge ? 413 : 400,
    });
  });
});

describe('text of several bytes', () => {
  const bodies: readonly (readonly [type: string, text: string])[] = [
    ['application/jsonl', '"é🌵"\n'],
    ['application/json-seq', '\x1e"é🌵"\n'],
    ['text/event-stream', 'data: é🌵\n\n'],
    ['multipart/mixed; boundary=x', '--x\r\nA: b\r\n\r\né🌵\r\n--x--\r\nafter'],
  ];

  test.each(bodies)('of %s must be UTF-8', async (type, text) => {
    const [start = '', end = ''] = text.split('é');
    const bytes = Buffer.concat([Buffer.from(start), Buffer.of(0xff), Buffer.from(end)]);
    expect(await itemsOf(type, [bytes])).toBe('must be UTF-8');
  });
});

test.each([
  ['application/jsonl', '1\n'],
  ['text/event-stream', 'data: 1\n\n'],
  ['multipart/mixed; boundary=x', '--x\r\n'],
])('a lost connection of %s is not an invalid item', async (type, text) => {
  async function* lost(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(text);
    throw new TypeError('connection lost');
  }
  await expect(Array.fromAsync(read(type, lost(), LIMIT))).rejects.toThrow(
    new TypeError('connection lost'),
  );
});

function write(type: string, item: unknown, items?: Partial<Items>) {
  const { coder, format } = itemsCoder(type, items);
  const contentType = coder.contentType?.(type) ?? type;
  return coder.write(item, { format, contentType });
}

test.each<[data: Items['data'], item: object, text: string]>([
  ['text', { data: 'a\nb\n' }, 'data: a\ndata: b\ndata: \n\n'],
  ['text', {}, '\n'],
  ['mixed', { data: 'a' }, 'data: a\n\n'],
])('an event with %s data is written: %j', (data, item, text) => {
  expect(write('text/event-stream', item, { data })).toBe(text);
});

test.each<[data: Items['data'], text: string]>([
  ['text', 'a\rb'],
  ['mixed', 'a\r\nb'],
  ['mixed', '{"a":1}'],
])('%s data that readers would read as another value is rejected: %j', (data, text) => {
  expect(() => write('text/event-stream', { data: text }, { data })).toThrow(
    'the data of an event must not contain a carriage return, or be the JSON of an object',
  );
});

test('an object is no text of an event', () => {
  expect(() => write('text/event-stream', { data: {} }, { data: 'text' })).toThrow(TypeError);
});

test('a member that events do not have is rejected', () => {
  expect(() => write('text/event-stream', { data: 'a', name: 'b' })).toThrow(
    new TypeError('an event must only have data, event, id and retry, got name'),
  );
});

test.each(['event', 'id', 'retry'])(
  'the member %s of an event must not contain a line break or U+0000',
  (name) => {
    for (const text of ['a\nb', 'a\rb', 'a\r\nb', '\0']) {
      expect(() => write('text/event-stream', { [name]: text })).toThrow(
        new TypeError(`the ${name} of an event must not contain a line break or U+0000`),
      );
    }
  },
);
