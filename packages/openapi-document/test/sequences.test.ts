import { describe, expect, test } from '@jest/globals';
import { documentOf, only } from './support/operations.ts';

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

const EVENTS = await sequenceOf('text/event-stream');

describe('an item without an end', () => {
  test.each([
    ['application/jsonl', '', 'x'],
    ['application/jsonl', '{}\n', 'x'],
    ['application/json-seq', '\x1e', 'x'],
    ['text/event-stream', 'data: ', 'x'],
    ['text/event-stream', 'id: ', 'x'],
    ['text/event-stream', 'data: a\n\n', 'data: x\n'],
    ['multipart/mixed; boundary=x', '--x\r\n\r\n', 'x'],
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
