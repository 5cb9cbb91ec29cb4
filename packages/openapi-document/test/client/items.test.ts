import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { itemsOf as readItems } from '../../src/client/items.ts';
import type { BodyFormat } from '../../src/codecs/codec.ts';
import { Codecs } from '../../src/codecs/codecs.ts';

const EVENTS: BodyFormat = { type: 'text/event-stream', items: { data: 'text' } };

const codecs = new Codecs();
await codecs.load([EVENTS]);

function itemsOf(
  first: Response,
  format: BodyFormat,
  signal: AbortSignal | null | undefined,
  reopen: Parameters<typeof readItems>[4],
) {
  const coder = codecs.of(format);
  if (coder.unit !== 'items') throw new Error('the format has no items');
  return readItems(first, coder, format, signal, reopen);
}

/** A body that sends these chunks, and never ends. */
function openBody(...chunks: readonly string[]) {
  const cancel = jest.fn<() => void>();
  const start = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk));
  };
  return { body: new ReadableStream({ start, cancel }), cancel };
}

const lostBody = (chunk: string) =>
  new ReadableStream({
    pull(controller) {
      if (chunk === '') controller.error(new TypeError('connection lost'));
      else controller.enqueue(new TextEncoder().encode(chunk));
      chunk = '';
    },
  });

const eventsOf = (body: ReadableStream | string | null, status = 200) =>
  new Response(body, { status, headers: { 'Content-Type': 'text/event-stream' } });

function reopener(...responses: readonly (Response | Error)[]) {
  const ids: (string | undefined)[] = [];
  const reopen = async (headers: Record<string, string>) => {
    ids.push(headers['Last-Event-ID']);
    const response = responses[ids.length - 1] ?? new Response(null, { status: 204 });
    return response instanceof Error ? undefined : response;
  };
  return { reopen, ids };
}

beforeEach(() => {
  jest.useFakeTimers();
});

afterEach(() => {
  jest.useRealTimers();
});

test('a stream releases its connection if the reader leaves it', async () => {
  const { body, cancel } = openBody('data: a\n\n');
  for await (const _ of itemsOf(eventsOf(body), EVENTS, undefined, undefined)) break;
  expect(cancel).toHaveBeenCalledTimes(1);
});

describe('a stream of events', () => {
  test('is opened again after its end, an error or a 5xx response, but not a 404', async () => {
    const { signal } = new AbortController();
    const failed = openBody();
    const gone = openBody();
    const { reopen, ids } = reopener(
      new Error('lost'),
      new Response(failed.body, { status: 500 }),
      eventsOf('data: b\n\nid: 2\ndata: c\n\n'),
      eventsOf('data: d\n\n'),
      new Response(gone.body, { status: 404 }),
    );
    const first = eventsOf('retry: 10\nid: 1\ndata: a\n\n');
    const events = Array.fromAsync(itemsOf(first, EVENTS, signal, reopen));
    await jest.advanceTimersByTimeAsync(49);
    expect(ids).toEqual(['1', '1', '1', '2']);
    await jest.advanceTimersByTimeAsync(1);
    expect((await events).map((event) => Object(event).data)).toEqual(['a', 'b', 'c', 'd']);
    expect(ids).toEqual(['1', '1', '1', '2', '2']);
    expect(failed.cancel).toHaveBeenCalledTimes(1);
    expect(gone.cancel).toHaveBeenCalledTimes(1);
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  test.each<
    [title: string, text: string, isReopened: boolean, data: 'text' | 'json', error: string]
  >([
    ['without an id', 'data: a\n\n', true, 'text', 'connection lost'],
    ['that cannot be opened again', 'id: 1\ndata: a\n\n', false, 'text', 'connection lost'],
    ['with an invalid item', 'id: 1\ndata: {}\n\nid: 2\ndata: {\n\n', true, 'json', 'must be JSON'],
  ])('%s ends with its error', async (_title, text, isReopened, data, error) => {
    const { reopen, ids } = reopener();
    const stream: BodyFormat = { type: 'text/event-stream', items: { data } };
    const items = itemsOf(
      eventsOf(lostBody(text)),
      stream,
      undefined,
      isReopened ? reopen : undefined,
    );
    expect(await items.next()).toMatchObject({ done: false });
    await expect(items.next()).rejects.toThrow(error);
    expect(ids).toEqual([]);
  });

  test.each([
    ['without an id', 'data: a\n\n', true],
    ['that cannot be opened again', 'id: 1\ndata: a\n\n', false],
  ])('%s ends with its body', async (_title, text, isReopened) => {
    const { reopen, ids } = reopener();
    const items = itemsOf(eventsOf(text), EVENTS, undefined, isReopened ? reopen : undefined);
    expect(await Array.fromAsync(items)).toHaveLength(1);
    expect(ids).toEqual([]);
  });

  test('ends if the signal is aborted while it is read or before it is opened again', async () => {
    for (const body of [lostBody('id: 1\ndata: a\n\n'), 'id: 1\ndata: a\n\n']) {
      const controller = new AbortController();
      const { reopen, ids } = reopener();
      const items = itemsOf(eventsOf(body), EVENTS, controller.signal, reopen);
      await items.next();
      controller.abort(new Error('not needed'));
      await expect(items.next()).rejects.toThrow(
        typeof body === 'string' ? 'not needed' : 'connection lost',
      );
      expect(ids).toEqual([]);
      expect(jest.getTimerCount()).toBe(0);
    }
  });
});
