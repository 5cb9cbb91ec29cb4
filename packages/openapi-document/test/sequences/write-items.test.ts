import { expect, test } from '@jest/globals';
import { withText } from 'test-support/titles';
import { sequenceOf } from '../../src/document/media-types.ts';
import type { Items } from '../../src/schema/event.ts';
import { readItems } from '../../src/sequences/read-items.ts';
import { itemWriter } from '../../src/sequences/write-items.ts';

const streamOf = (type: string, data: Items['data'] = 'text') => ({
  sequence: sequenceOf(type),
  items: { data },
});
const writerOf = (type: string, data?: Items['data'], source: object = {}) =>
  itemWriter({ ...streamOf(type, data), source: { ...source } }, type);

test.each(
  withText<unknown, [type: string, data: Items['data'], text: string]>([
    [{ a: [2n ** 60n, '\n'] }, 'application/jsonl', 'text', '{"a":[1152921504606846976,"\\n"]}\n'],
    ['a', 'application/json-seq', 'text', '\x1e"a"\n'],
    [{ data: 'a' }, 'text/event-stream', 'text', 'data: a\n\n'],
    [
      { data: 'a\nb\r\nc\rd' },
      'text/event-stream',
      'text',
      'data: a\ndata: b\ndata: c\ndata: d\n\n',
    ],
    [{ data: '' }, 'text/event-stream', 'text', 'data: \n\n'],
    [{ data: 5 }, 'text/event-stream', 'text', 'data: 5\n\n'],
    [
      { retry: 10, id: 1, event: 'e', data: 'a' },
      'text/event-stream',
      'text',
      'event: e\nid: 1\nretry: 10\ndata: a\n\n',
    ],
    [{ id: '' }, 'text/event-stream', 'text', 'id: \n\n'],
    [{}, 'text/event-stream', 'text', '\n'],
    [{ data: 'a\nb' }, 'text/event-stream', 'json', 'data: "a\\nb"\n\n'],
    [
      { data: { n: 2n ** 60n } },
      'text/event-stream',
      'json',
      'data: {"n":1152921504606846976}\n\n',
    ],
    [{ data: null }, 'text/event-stream', 'json', 'data: null\n\n'],
    [{ data: 'a' }, 'text/event-stream', 'mixed', 'data: a\n\n'],
    [{ data: ['a'] }, 'text/event-stream', 'mixed', 'data: ["a"]\n\n'],
  ]),
)('the item %s of %s with %s data is written', (_text, type, data, text, item) => {
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

test('a stream of events may have comments', () => {
  expect(writerOf('text/event-stream').comment).toBe(':\n\n');
});

test.each(['application/jsonl', 'application/json-seq', 'multipart/mixed'])(
  'a stream of %s has no comments',
  (type) => {
    expect(writerOf(type).comment).toBeUndefined();
  },
);

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

test.each(
  withText<unknown, [index: number, source: object, type: string, body: string]>([
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
  ]),
)('the part %s at %i with %j has the media type %s', (_text, index, source, type, body, item) => {
  const part = String(writerOf('multipart/mixed', 'text', source).write(item, index));
  expect(part.slice(part.indexOf('\r\n'))).toBe(`\r\nContent-Type: ${type}\r\n\r\n${body}\r\n`);
});
