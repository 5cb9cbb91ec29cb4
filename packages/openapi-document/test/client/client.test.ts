import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { type ClientOptions, clientOf, writeParameters } from '../../src/client/client.ts';
import type { ParameterInput } from '../../src/client/parameters.ts';
import type { Route } from '../../src/client/routes.ts';
import type { Styled } from '../../src/parameters/write-value.ts';

const GET: Route = { method: 'GET', path: '/a', parameters: [], media: [], responses: [] };
const EVENTS: Route = {
  ...GET,
  responses: [{ key: '200', media: [{ type: 'text/event-stream', items: { data: 'text' } }] }],
};
const mediaOf = (...types: string[]) => types.map((type) => ({ type, encoding: {} }));
const BYTES = mediaOf('application/octet-stream');

const callWith = (route: Route, options: Partial<ClientOptions>) =>
  Object(clientOf({ call: route }, { baseUrl: 'http://localhost', ...options })).call;

function fetchOf(...responses: readonly (Response | Error)[]) {
  const urls: string[] = [];
  const requests: RequestInit[] = [];
  const fetch = async (url: unknown, init: RequestInit = {}): Promise<Response> => {
    urls.push(String(url));
    requests.push(init);
    const response = responses[requests.length - 1] ?? new Error('unexpected request');
    if (response instanceof Error) throw response;
    return response;
  };
  return { urls, requests, fetch };
}

const eventsOf = (body: ReadableStream | string) =>
  new Response(body, { headers: { 'Content-Type': 'text/event-stream' } });
const busy = () => new Response(null, { status: 503, headers: { 'Retry-After': '0' } });

beforeEach(() => {
  jest.useFakeTimers();
});

afterEach(() => {
  jest.useRealTimers();
});

const parameter = (where: Styled['in'], name: string, style = 'form'): Styled => ({
  in: where,
  name,
  style: where === 'path' || where === 'header' ? 'simple' : style,
  explode: style === 'form',
  json: false,
});

test.each(['', '.', '..'])('a call cannot have the path parameter "%s"', (id) => {
  const parameters = [parameter('path', 'id')];
  expect(() => writeParameters({ path: '/a/{id}', parameters }, { path: { id } })).toThrow(
    'the path parameter id (style simple) cannot be sent: a path cannot have the segments',
  );
});

describe('a value that would arrive as another one is rejected', () => {
  const query = (name: string, others: object = {}) => ({ ...parameter('query', name), ...others });

  test.each<
    [title: string, path: string, parameters: Styled[], input: ParameterInput, place: string]
  >([
    [
      'beside another parameter',
      '/a',
      [query('f'), query('q')],
      { query: { f: { q: 1 } } },
      'query parameter f',
    ],
    [
      'in a shared segment',
      '/{a}-{b}',
      [parameter('path', 'a'), parameter('path', 'b')],
      { path: { a: 'x', b: 'y-z' } },
      'path parameter a',
    ],
    [
      'with a default',
      '/a',
      [query('q', { mustBeSent: true })],
      { query: { q: [] } },
      'query parameter q',
    ],
    [
      'that is null',
      '/a',
      [query('q', { mustBeSent: true })],
      { query: { q: null } },
      'query parameter q',
    ],
    ['with NaN', '/a', [query('q')], { query: { q: Number.NaN } }, 'query parameter q'],
    ['with a date', '/a', [query('q')], { query: { q: new Date(0) } }, 'query parameter q'],
    [
      'as a name',
      '/a',
      [parameter('cookie', 'a;b')],
      { cookie: { 'a;b': 1 } },
      'cookie parameter a;b',
    ],
  ])('%s', (_title, path, parameters, input, place) => {
    const write = () => writeParameters({ path, parameters }, input);
    expect(write).toThrow(TypeError);
    expect(write).toThrow(place);
    expect(write).toThrow('cannot be sent');
  });
});

describe('a call', () => {
  test.each([
    ['http://localhost', '/a', 'http://localhost/a'],
    ['http://localhost/v1/', '/a', 'http://localhost/v1/a'],
    ['http://localhost/v1/', '', 'http://localhost/v1/'],
  ])('with the baseUrl %s and the path "%s" has the URL %s', async (baseUrl, path, url) => {
    const { fetch, urls } = fetchOf(new Response());
    await callWith({ ...GET, path }, { fetch, baseUrl })();
    expect(urls).toEqual([url]);
  });

  test.each([
    ['http://localhost/v1/', 'http://localhost/v2/a'],
    ['http://localhost/gateway/v1', 'http://localhost/gateway/v2/a'],
    ['http://localhost/mounted', 'http://localhost/mounted/a'],
  ])('to a server of its own, with the baseUrl %s, has the URL %s', async (baseUrl, url) => {
    const { fetch, urls } = fetchOf(new Response());
    const serverPath = { document: '/v1', operation: '/v2' };
    await callWith({ ...GET, serverPath }, { fetch, baseUrl })();
    expect(urls).toEqual([url]);
  });

  test.each<
    [types: readonly string[], input: { contentType?: string }, headers: object, body: unknown]
  >([
    [['application/json', 'text/plain'], {}, { 'Content-Type': 'application/json' }, '"b"'],
    [
      ['application/json', 'text/plain'],
      { contentType: 'text/plain' },
      { 'Content-Type': 'text/plain' },
      'b',
    ],
    [
      ['multipart/mixed'],
      { contentType: 'multipart/mixed; boundary=x' },
      { 'Content-Type': 'multipart/mixed; boundary=x' },
      'b',
    ],
    [
      ['multipart/form-data'],
      {},
      { 'Content-Type': expect.stringMatching(/^multipart\/form-data; boundary=/) },
      expect.any(Blob),
    ],
    [[], {}, {}, undefined],
  ])(
    'with the media types %j and the input %j sends the headers %j',
    async (types, input, headers, body) => {
      const { fetch, requests } = fetchOf(new Response());
      const route = { ...GET, method: 'POST', media: mediaOf(...types) };
      await callWith(route, { fetch })({ body: 'b', ...input });
      expect(requests).toMatchObject([{ method: 'POST', headers }]);
      expect(requests[0]?.headers).toEqual(headers);
      expect(requests[0]?.body).toEqual(body);
    },
  );

  test('has the headers of the client, the media type, the parameters, and other options', async () => {
    const { fetch, requests } = fetchOf(new Response(), new Response());
    const parameters = [parameter('header', 'X-A')];
    const route = { ...GET, method: 'POST', media: BYTES, parameters };
    const input = { header: { 'X-A': 'input' }, body: 'b' };
    const common = { Authorization: 'Bearer a', 'X-A': 'client', 'Content-Type': 'none' };
    await callWith(route, { fetch, headers: common })(input, { redirect: 'error', method: 'PUT' });
    const headers = async (id: string, { body }: { body?: unknown }) => ({
      id,
      body: String(body),
    });
    await callWith(route, { fetch, headers })(input);
    const sent = { 'X-A': 'input', 'Content-Type': 'application/octet-stream' };
    expect(requests).toEqual([
      {
        method: 'POST',
        redirect: 'error',
        headers: { Authorization: 'Bearer a', ...sent },
        body: 'b',
        duplex: 'half',
      },
      { method: 'POST', headers: { id: 'call', body: 'b', ...sent }, body: 'b', duplex: 'half' },
    ]);
  });
});

test('a stream is read as the response of its status declares it', async () => {
  const events = (key: string, data: 'json' | 'text') => ({
    key,
    media: [{ type: 'text/event-stream', items: { data } }],
  });
  const plain = { key: '409', media: [{ type: 'text/event-stream' }] };
  const responses = [events('200', 'text'), plain, events('4XX', 'json')];
  const bodyOf = async (status: number) => {
    const headers = { 'Content-Type': 'text/event-stream' };
    const { fetch } = fetchOf(new Response('data: 1\n\n', { status, headers }));
    const { body } = await callWith({ ...GET, responses }, { fetch })({}, { reconnect: false });
    return Array.fromAsync(body);
  };
  expect(await bodyOf(200)).toEqual([{ data: '1' }]);
  expect(await bodyOf(404)).toEqual([{ data: 1 }]);
  expect(await bodyOf(409)).toEqual([new TextEncoder().encode('data: 1\n\n')]);
});

test('a stream ends with the error of a function that makes headers', async () => {
  const { fetch } = fetchOf(eventsOf('id: 1\ndata: a\n\n'));
  let count = 0;
  const headers = async (): Promise<Record<string, string>> => {
    count += 1;
    if (count > 1) throw new Error('no token');
    return {};
  };
  const { body } = await callWith(EVENTS, { fetch, headers })({});
  const items = Array.fromAsync(body);
  await Promise.all([
    expect(items).rejects.toThrow('no token'),
    jest.advanceTimersByTimeAsync(1_000),
  ]);
});

describe('a call with a timeout', () => {
  test.each<[title: string, responses: readonly (Response | Error)[], outcome: string]>([
    ['that succeeds', [new Response('done')], '200'],
    ['that has an error response', [busy(), busy()], '503'],
    ['that has no response', [new Error('lost'), new Error('lost')], 'lost'],
    ['that succeeds after a retry', [new Error('lost'), new Response()], '200'],
    ['that opens a stream', [eventsOf(new ReadableStream())], '200'],
  ])('%s leaves no timer and no listener', async (_title, responses, outcome) => {
    const { signal } = new AbortController();
    const { fetch } = fetchOf(...responses);
    const call = callWith(EVENTS, { fetch, timeout: 60_000, retries: 1 });
    const result = call({}, { signal }).then(
      ({ status }: { status: number }) => String(status),
      ({ message }: Error) => message,
    );
    await jest.advanceTimersByTimeAsync(1_000);
    expect(await result).toBe(outcome);
    expect(jest.getTimerCount()).toBe(0);
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  test('is aborted while the body is read', async () => {
    const fetch = async (_url: unknown, { signal }: RequestInit = {}) =>
      new Response(
        new ReadableStream({
          start: (controller) =>
            signal?.addEventListener('abort', () => controller.error(signal.reason)),
        }),
        { headers: { 'Content-Type': 'application/json' } },
      );
    const rejected = expect(callWith(GET, { fetch })({}, { timeout: 100 })).rejects.toMatchObject({
      name: 'TimeoutError',
    });
    await jest.advanceTimersByTimeAsync(100);
    await rejected;
  });
});

test('a number of a response is a bigint only if it may be an int64', async () => {
  const text = '{"ns":1700000000000000001,"ids":[9007199254740993,1]}';
  const respond = () => new Response(text, { headers: { 'Content-Type': 'application/json' } });
  const { fetch } = fetchOf(respond(), respond());
  const { body: doubles } = await callWith(GET, { fetch })();
  expect(doubles).toEqual({ ns: 1.7e18, ids: [2 ** 53, 1] });
  const { body: integers } = await callWith({ ...GET, int64: true }, { fetch })();
  expect(integers).toEqual({ ns: 1700000000000000001n, ids: [9007199254740993n, 1] });
});

test('a stream ends with an error if its last id cannot be sent', async () => {
  const { fetch } = fetchOf(eventsOf('retry: 1\nid: \u65e5\ndata: a\n\n'));
  const { body } = await callWith(EVENTS, { fetch })();
  const events = expect(Array.fromAsync(body)).rejects.toThrow('ByteString');
  await jest.advanceTimersByTimeAsync(1);
  await events;
});
