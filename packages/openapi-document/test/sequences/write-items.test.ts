import { expect, test } from '@jest/globals';
import type { Items } from '../../src/document/event-schema.ts';
import { sequenceOf } from '../../src/document/media-types.ts';
import { readItems } from '../../src/sequences/read-items.ts';
import { itemWriter } from '../../src/sequences/write-items.ts';

const streamOf = (type: string, data: Items['data'] = 'text') => ({
  sequence: sequenceOf(type),
  items: { data },
});
const writerOf = (type: string, data?: Items['data'], source: object = {}) =>
  itemWriter({ ...streamOf(type, data), source: { ...source } }, type);

test.each<[type: string, data: Items['data'], item: unknown, text: string]>([
  ['application/jsonl', 'text', { a: [2n ** 60n, '\n'] }, '{"a":[1152921504606846976,"\\n"]}\n'],
  ['application/json-seq', 'text', 'a', '\x1e"a"\n'],
  ['text/event-stream', 'text', { data: 'a' }, 'data: a\n\n'],
  ['text/event-stream', 'text', { data: 'a\nb\r\nc\rd' }, 'data: a\ndata: b\ndata: c\ndata: d\n\n'],
  ['text/event-stream', 'text', { data: '' }, 'data: \n\n'],
  ['text/event-stream', 'text', { data: 5 }, 'data: 5\n\n'],
  [
    'text/event-stream',
    'text',
    { retry: 10, id: 1, event: 'e', data: 'a' },
    'event: e\nid: 1\nretry: 10\ndata: a\n\n',
  ],
  ['text/event-stream', 'text', { id: '' }, 'id: \n\n'],
  ['text/event-stream', 'text', {}, '\n'],
  ['text/event-stream', 'json', { data: 'a\nb' }, 'data: "a\\nb"\n\n'],
  ['text/event-stream', 'json', { data: { n: 2n ** 60n } }, 'data: {"n":1152921504606846976}\n\n'],
  ['text/event-stream', 'json', { data: null }, 'data: null\n\n'],
  ['text/event-stream', 'mixed', { data: 'a' }, 'data: a\n\n'],
  ['text/event-stream', 'mixed', { data: ['a'] }, 'data: ["a"]\n\n'],
])('an item of %s with %s data is written: %p', (type, data, item, text) => {
  expect(writerOf(type, data).write(item, 0)).toBe(text);
});

test('a member that events do not have is rejected', () => {
  expect(() => writerOf('text/event-stream').write({ data: 'a', name: 'b' }, 0)).toThrow(
    new TypeError('an event must only have data, event, id and retry, got name'),
  );
});

test.each(['event', 'id', 'retry'])(
  'the member %s of an event must not contain a line break or U+0000',
  (name) => {
    const { write } = writerOf('text/event-stream');
    for (const text of ['a\nb', 'a\rb', 'a\r\nb', '\0']) {
      expect(() => write({ [name]: text }, 0)).toThrow(
        new TypeError(`the ${name} of an event must not contain a line break or U+0000`),
      );
    }
  },
);

test.each(['a\nb', 'a\rb', 'a\r\nb', '\rdata: b', ' a', '', '{"a":1}'])(
  'the data of an event is read with the same lines: %j',
  async (data) => {
    for (const mode of ['text', 'json'] as const) {
      const text = writerOf('text/event-stream', mode).write({ data }, 0);
      async function* chunks() {
        yield Buffer.from(text);
      }
      const stream = streamOf('text/event-stream', mode);
      const items = await Array.fromAsync(readItems(stream, 'text/event-stream', chunks(), 1_000));
      expect(items).toEqual([{ data: mode === 'json' ? data : data.replace(/\r\n?/g, '\n') }]);
    }
  },
);

test.each([
  ['application/jsonl', undefined],
  ['application/json-seq', undefined],
  ['text/event-stream', ':\n\n'],
  ['multipart/mixed', undefined],
])('a stream of %s has the comment %j', (type, comment) => {
  expect(writerOf(type).comment).toBe(comment);
});

test('only a multipart body has a boundary and an end', () => {
  expect(writerOf('application/jsonl')).toMatchObject({
    contentType: 'application/jsonl',
    end: '',
  });
  const { contentType, write, end } = writerOf('multipart/mixed');
  const [, boundary = ''] = /^multipart\/mixed; boundary=([\w-]+)$/.exec(contentType) ?? [];
  expect(boundary).not.toBe('');
  expect(writerOf('multipart/mixed').contentType).not.toBe(contentType);
  expect(end).toBe(`--${boundary}--\r\n`);
  expect(String(write('é', 0))).toBe(
    `--${boundary}\r\nContent-Type: text/plain; charset=utf-8\r\n\r\né\r\n`,
  );
});

const png = { contentType: 'image/png' };
const csv = { contentType: 'text/csv' };
const types = (contentType: unknown) => ({ itemEncoding: { contentType } });

test.each<[item: unknown, index: number, source: object, type: string, body: string]>([
  ['a', 0, {}, 'text/plain; charset=utf-8', 'a'],
  [{ n: 1 }, 0, {}, 'application/json', '{"n":1}'],
  [2n ** 60n, 0, {}, 'application/json', '1152921504606846976'],
  [undefined, 0, {}, 'application/json', ''],
  [Buffer.from('a'), 0, {}, 'application/octet-stream', 'a'],
  ['a', 0, { itemEncoding: csv }, 'text/csv', 'a'],
  ['a', 0, types('text/csv, text/plain'), 'text/csv', 'a'],
  ['a', 0, types(' text/csv'), 'text/csv', 'a'],
  ['a', 0, types('text/*'), 'text/plain; charset=utf-8', 'a'],
  ['a', 0, types(5), 'text/plain; charset=utf-8', 'a'],
  ['a', 0, types('application/json'), 'application/json', '"a"'],
  [{ n: 1 }, 0, types('text/csv'), 'text/csv', '{"n":1}'],
  [Buffer.from('{}'), 0, types('application/json'), 'application/json', '{}'],
  [Buffer.from('a'), 0, { prefixEncoding: [png], itemEncoding: csv }, 'image/png', 'a'],
  [Buffer.from('a'), 1, { prefixEncoding: [png], itemEncoding: csv }, 'text/csv', 'a'],
  [Buffer.from('a'), 1, { prefixEncoding: [png] }, 'application/octet-stream', 'a'],
])('the part %p at %i with %j has the media type %s', (item, index, source, type, body) => {
  const part = String(writerOf('multipart/mixed', 'text', source).write(item, index));
  expect(part.slice(part.indexOf('\r\n'))).toBe(`\r\nContent-Type: ${type}\r\n\r\n${body}\r\n`);
});
