import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import {
  bodyOf,
  type ClientOptions,
  clientOf,
  type Route,
  routesOf,
} from 'openapi-document/client';
import { documentOf } from '../support/operations.ts';

const GET: Route = { method: 'GET', path: '/a', media: [], parameters: [] };
const EVENTS: Route = {
  ...GET,
  streams: { 'text/event-stream': { sequence: 'events', items: { data: 'text' } } },
};

/** A client of one operation. */
const callWith = (route: Route, options: Partial<ClientOptions>) =>
  Object(clientOf({ call: route }, { baseUrl: 'http://localhost', ...options })).call;

/** A `fetch` with these responses. An error is thrown. */
function fetchOf(...responses: readonly (Response | Error)[]) {
  const requests: RequestInit[] = [];
  const fetch = async (_url: unknown, init: RequestInit = {}): Promise<Response> => {
    requests.push(init);
    const response = responses[requests.length - 1] ?? new Error('unexpected request');
    if (response instanceof Error) throw response;
    return response;
  };
  return { requests, fetch };
}

/** A body that has these chunks and no end, and counts how often it is cancelled. */
function openBody(...chunks: readonly string[]) {
  const cancel = jest.fn<() => void>();
  const start = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk));
  };
  return { body: new ReadableStream({ start, cancel }), cancel };
}

const eventsOf = (body: ReadableStream | string) =>
  new Response(body, { headers: { 'Content-Type': 'text/event-stream' } });

const busy = (headers: Record<string, string> = {}, body?: ReadableStream) =>
  new Response(body, { status: 503, headers });

beforeEach(() => {
  jest.useFakeTimers();
});

afterEach(() => {
  jest.useRealTimers();
});

describe('a call with a timeout and a signal', () => {
  test.each<[title: string, responses: readonly (Response | Error)[], outcome: string]>([
    ['that succeeds', [new Response('done')], '200'],
    ['that is answered with an error', [busy(), busy()], '503'],
    ['that is never answered', [new Error('lost'), new Error('lost')], 'lost'],
    ['that succeeds after a retry', [new Error('lost'), new Response()], '200'],
    ['that opens a stream', [eventsOf(openBody().body)], '200'],
  ])('%s leaves no timer and no listener', async (_title, responses, outcome) => {
    const { signal } = new AbortController();
    const call = callWith(GET, { fetch: fetchOf(...responses).fetch, timeout: 60_000, retries: 1 });
    const result = call({}, { signal }).then(
      ({ status, body }: { status: number; body?: ReadableStream }) => {
        body?.cancel?.();
        return String(status);
      },
      ({ message }: Error) => message,
    );
    await jest.advanceTimersByTimeAsync(1_000);
    expect(await result).toBe(outcome);
    expect(jest.getTimerCount()).toBe(0);
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  test('ends at once if the signal is aborted between two requests', async () => {
    const controller = new AbortController();
    const { fetch, requests } = fetchOf(busy({ 'Retry-After': '3600' }));
    const call = callWith(GET, { fetch, timeout: 7_200_000, retries: 5 });
    const rejected = expect(call({}, { signal: controller.signal })).rejects.toThrow('not needed');
    await jest.advanceTimersByTimeAsync(1_000);
    controller.abort(new Error('not needed'));
    await rejected;
    expect(requests).toHaveLength(1);
    expect(jest.getTimerCount()).toBe(0);
  });
});

describe('a retry', () => {
  test.each<[title: string, headers: Record<string, string>, least: number, most: number]>([
    ['the seconds of Retry-After', { 'Retry-After': '3' }, 3_000, 3_000],
    ['until the date of Retry-After', { 'Retry-After': 'Mon, 01 Jan 2035 00:00:05 GMT' }, 5e3, 5e3],
    ['about a quarter of a second', {}, 125, 250],
    ['no longer for a date in the past', { 'Retry-After': new Date(0).toUTCString() }, 125, 250],
  ])('waits %s', async (_title, headers, least, most) => {
    jest.setSystemTime(new Date('2035-01-01T00:00:00Z'));
    const { body, cancel } = openBody();
    const { fetch, requests } = fetchOf(busy(headers, body), new Response());
    const call = callWith(GET, { fetch, retries: 1 })();
    await jest.advanceTimersByTimeAsync(least - 1);
    expect(requests).toHaveLength(1);
    expect(cancel).toHaveBeenCalledTimes(1);
    await jest.advanceTimersByTimeAsync(most - least + 1);
    expect(requests).toHaveLength(2);
    expect(await call).toMatchObject({ status: 200 });
  });

  test.each<[title: string, method: string, body: unknown, count: number]>([
    ['repeats a request with a body that can be read again', 'PUT', new Blob(['a']), 2],
    ['does not repeat a body that is a stream', 'PUT', new Blob(['a']).stream(), 1],
    ['does not repeat a method that is not idempotent', 'PATCH', new Blob(['a']), 1],
  ])('%s', async (_title, method, body, count) => {
    const { fetch, requests } = fetchOf(busy({ 'Retry-After': '0' }), new Response());
    const route = { ...GET, method, media: ['application/octet-stream'] };
    const call = callWith(route, { fetch, retries: 1 })({ body });
    await jest.advanceTimersByTimeAsync(0);
    await call;
    expect(requests).toHaveLength(count);
  });
});

describe('a stream of events', () => {
  test('releases its connection if the reader leaves it', async () => {
    const { body, cancel } = openBody('data: a\n\n');
    const reply = await callWith(EVENTS, { fetch: fetchOf(eventsOf(body)).fetch })();
    for await (const event of reply.body) {
      expect(event).toEqual({ data: 'a' });
      break;
    }
    expect(cancel).toHaveBeenCalledTimes(1);
  });

  test('is opened again until a response has another status', async () => {
    const { signal } = new AbortController();
    const failed = openBody();
    const gone = openBody();
    const { fetch, requests } = fetchOf(
      eventsOf('retry: 10\nid: 1\ndata: a\n\n'),
      new Error('lost'),
      busy({}, failed.body),
      eventsOf('id: 2\ndata: b\n\n'),
      new Response(gone.body, { status: 404 }),
    );
    const { body } = await callWith(EVENTS, { fetch })({}, { signal });
    const events = Array.fromAsync<{ data: string }>(body);
    await jest.advanceTimersByTimeAsync(40);
    expect((await events).map(({ data }) => data)).toEqual(['a', 'b']);
    const resumed = requests.slice(1).map(({ headers }) => Object(headers)['Last-Event-ID']);
    expect(resumed).toEqual(['1', '1', '1', '2']);
    expect(failed.cancel).toHaveBeenCalledTimes(1);
    expect(gone.cancel).toHaveBeenCalledTimes(1);
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });
});

test('a file without a media type has the declared one, unless that is a range', async () => {
  const named = new File(['a'], 'a.txt');
  const typed = new File(['b'], 'b', { type: 'text/csv' });
  const typesWith = (contentType?: string) => {
    const body = { files: [named, new Blob(['c']), typed, 'd'] };
    const form = bodyOf('multipart/form-data', body, { files: { contentType } });
    return [...(form as FormData).values()].map((file) => [Object(file).name, Object(file).type]);
  };
  expect(typesWith('image/png')).toEqual([
    ['a.txt', 'image/png'],
    ['blob', 'image/png'],
    ['b', 'text/csv'],
    ['blob', 'image/png'],
  ]);
  for (const range of [undefined, 'image/*', 'image/png, image/jpeg'])
    expect(typesWith(range).slice(0, 3)).toEqual([
      ['a.txt', ''],
      ['blob', ''],
      ['b', 'text/csv'],
    ]);
});

test('has a route for each operation, as its types require', async () => {
  const responses = { 204: { description: 'Done.' } };
  const { operations } = await documentOf({
    '/a': { get: { operationId: 'a', responses } },
    '/a?b=c': { get: { operationId: 'unreachable', responses } },
  });
  expect(Object.keys(routesOf(operations))).toEqual(['a', 'unreachable']);
});
