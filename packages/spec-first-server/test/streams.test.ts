import { EventEmitter, once } from 'node:events';
import { createServer, get, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { setImmediate as immediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { AnyRequest } from 'spec-first-server';
import { scripted, serve, withFiles } from 'test-support/documents';
import { eventually } from 'test-support/eventually';

const ITEM =
  '{ type: object, required: [name], properties: { name: { type: string }, n: { type: integer, format: int64, default: 7 } } }';
const EVENTS = `
      oneOf:
        - type: object
          required: [event, data]
          properties:
            event: { const: plant }
            id: { type: string }
            retry: { type: integer }
            data:
              type: string
              contentMediaType: application/json
              contentSchema: { $ref: '#/components/schemas/Item' }
        - { type: object, required: [data], properties: { event: false, data: { const: '[DONE]' } } }`;
const content = (schema: string) => `
            application/jsonl: { itemSchema: ${schema} }
            application/x-ndjson: { itemSchema: ${schema} }
            application/json-seq: { itemSchema: ${schema} }
            multipart/mixed: { itemSchema: ${schema} }
            text/event-stream: { itemSchema: { $ref: '#/components/schemas/Event' } }`;
const send = (method: string, id: string) => `    ${method}:
      operationId: ${id}
      responses:
        '200':
          description: items
          content: ${content("{ $ref: '#/components/schemas/Item' }")}
        default: { description: failure, content: { application/json: { schema: { type: object, required: [error] } } } }
`;
const DOCUMENT = `openapi: 3.2.0
info: { title: Streams, version: 1.0.0 }
paths:
  /stream:
${send('get', 'send')}${send('head', 'head')}    post:
      operationId: receive
      requestBody:
        required: true
        content: ${content("{ $ref: '#/components/schemas/Item' }")}
      responses: { '200': { description: the received items, content: { application/json: {} } } }
  /texts:
    get:
      operationId: sendTexts
      responses: { '200': { description: texts, content: { text/event-stream: { itemSchema: { type: object } } } } }
components:
  schemas:
    Item: ${ITEM}
    Event: ${EVENTS}
`;

const { script, handler } = scripted();
let request: AnyRequest;
let received: (request: AnyRequest) => unknown = () => undefined;
const stopping = new AbortController();
let server: Server;
let url: string;
let lines: Record<string, unknown>[];

beforeAll(async () => {
  const send = (sent: AnyRequest) => {
    request = sent;
    return handler(request);
  };
  const receive = async (request: AnyRequest) => ({ status: 200, body: await received(request) });
  const handlers = { send, head: send, sendTexts: send, receive };
  const served = await withFiles({ 'openapi.yaml': DOCUMENT }, (folder) =>
    serve(join(folder, 'openapi.yaml'), handlers, { bodyLimit: 100, stopping: stopping.signal }),
  );
  lines = served.lines;
  server = createServer(served.app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

async function* from<T>(...items: T[]): AsyncGenerator<T> {
  yield* items;
}
const answer = (contentType: string, ...items: unknown[]): void => {
  script.next = () => ({ status: 200, contentType, body: from(...items) });
};
const PLANT = { name: 'Fern', n: 9007199254740993n };

test('items in another charset than UTF-8 are rejected', async () => {
  const headers = { 'Content-Type': 'application/jsonl; charset=iso-8859-1' };
  const response = await fetch(`${url}/stream`, { method: 'POST', headers, body: '{}\n' });
  expect(response.status).toBe(415);
});

describe('a handler that returns an AsyncIterable', () => {
  test('sends the data of events as JSON, or as text if the document declares text', async () => {
    answer(
      'text/event-stream',
      { event: 'plant', id: '1', retry: 500, data: PLANT },
      { data: '[DONE]' },
    );
    const response = await fetch(`${url}/stream`);
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(response.headers.get('cache-control')).toBe('no-cache, no-transform');
    expect(response.headers.get('x-accel-buffering')).toBe('no');
    const first = 'event: plant\nid: 1\nretry: 500\ndata: {"name":"Fern","n":9007199254740993}\n\n';
    expect(await response.text()).toBe(`${first}data: [DONE]\n\n`);
  });

  test.each([
    [
      'an id of two lines',
      { id: 'a\nb' },
      'the id of an event must not contain a line break or U+0000',
    ],

    [
      'an unknown member',
      { text: 'a' },
      'an event must only have data, event, id and retry, got text',
    ],
  ])('cannot send %s in an event', async (_title, event, message) => {
    answer('text/event-stream', event);
    expect((await fetch(`${url}/texts`)).status).toBe(500);
    expect(JSON.stringify(lines.at(-1))).toContain(message);
  });

  test('answers with the error that its iterator throws before the first item', async () => {
    script.next = () => ({
      status: 200,
      contentType: 'application/jsonl',
      body: (async function* () {
        yield await Promise.reject(
          Object.assign(new Error('too many'), { status: 429, expose: true }),
        );
      })(),
    });
    expect((await fetch(`${url}/stream`)).status).toBe(429);
  });

  test('is called for HEAD, but its items are not read', async () => {
    let isIterated = false;
    script.next = () => ({
      status: 200,
      contentType: 'text/event-stream',
      body: (async function* () {
        isIterated = true;
        yield {};
      })(),
    });
    const response = await fetch(`${url}/stream`, { method: 'HEAD' });
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(isIterated).toBe(false);
  });

  test('does not block the event loop when many streams have items at once', async () => {
    const go = Promise.withResolvers<void>();
    let count = 0;
    let isOver = false;
    script.next = () => ({
      status: 200,
      contentType: 'application/jsonl',
      body: (async function* () {
        yield { name: 'Fern' };
        await go.promise;
        for (; !isOver; count += 1) yield { name: 'Fern' };
      })(),
    });
    const responses = await Promise.all(Array.from({ length: 50 }, () => fetch(`${url}/stream`)));
    go.resolve();
    // Together they send at most about 1,000 of these items in one round.
    while (count === 0) await immediate();
    expect(count).toBeLessThan(5_000);
    isOver = true;
    await Promise.all(responses.map((response) => response.text()));
  });

  test('waits for a slow client, and ends when the client disconnects', async () => {
    let sent = 0;
    let isCleaned = false;
    script.next = () => ({
      status: 200,
      contentType: 'application/jsonl',
      body: (async function* () {
        try {
          for (;;) {
            sent += 1;
            yield { name: 'x'.repeat(10_000) };
          }
        } finally {
          isCleaned = true;
        }
      })(),
    });
    const [response] = (await once(get(`${url}/stream`), 'response')) as [IncomingMessage];
    let before = -1;
    await eventually(() => {
      const isSteady = sent === before;
      before = sent;
      return isSteady && sent > 0;
    });
    // The socket buffers of both sides hold some megabytes.
    expect(sent * 10_000).toBeLessThan(20_000_000);
    response.destroy();
    await eventually(() => isCleaned && request.signal.aborted);
  });
});

describe('an open stream', () => {
  test('is logged as answered if its handler throws because the client has disconnected', async () => {
    script.next = () => ({
      status: 200,
      contentType: 'application/jsonl',
      body: (async function* () {
        yield { name: 'Fern' };
        await once(new EventEmitter(), 'news', { signal: request.signal });
      })(),
    });
    lines.length = 0;
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.write('GET /stream HTTP/1.1\r\nHost: a\r\n\r\n');
    await once(socket, 'data');
    // A FIN, as sent by curl; a reset would close the response before the signal is aborted.
    socket.end();
    await eventually(() => lines.length > 0);
    expect(lines).toMatchObject([{ level: 30, msg: 'responded', status: 200, cutOff: true }]);
    expect(lines[0]).not.toHaveProperty('err');
  });
});

describe('a request of items', () => {
  const collect = async ({ body }: AnyRequest) => {
    const items: unknown[] = [];
    for await (const item of body as AsyncIterable<unknown>) items.push(item);
    return items;
  };
  const post = async (type: string, body: RequestInit['body']) => {
    received = collect;
    const response = await fetch(`${url}/stream`, {
      method: 'POST',
      headers: { 'Content-Type': type },
      body,
    });
    return [response.status, await response.text()];
  };
  const boundary = (...parts: string[]) =>
    `${parts.map((part) => `--x\r\n${part}\r\n`).join('')}--x--`;

  const long = JSON.stringify({ name: 'x'.repeat(100) });
  test.each([
    ['application/jsonl', '{"name":"a"}\n{"name":1}', 400, '/body/1/name must be string'],

    ['text/event-stream', 'event: plant\ndata: {}\n\n', 400, '/body/0/data/name is required'],
    [
      'multipart/mixed; boundary=x',
      boundary(`Content-Type: application/json\r\n\r\n${long}`),
      413,
      '/body/0 must be at',
    ],
  ])('is validated: %s %j is answered with %i', async (type, body, status, message) => {
    const answered = await post(type, body);
    expect(answered).toEqual([status, expect.stringContaining(message)]);
  });
});

test('a stop ends event streams, but not other streams', async () => {
  let isCleaned = false;
  const streamOf = (contentType: string, item: unknown) => () => ({
    status: 200,
    contentType,
    body: (async function* () {
      const { signal } = request;
      try {
        yield item;
        if (!signal.aborted) await once(signal, 'abort');
      } finally {
        isCleaned = true;
      }
    })(),
  });
  script.next = streamOf('application/jsonl', { name: 'Fern' });
  const other = await fetch(`${url}/stream`);
  script.next = streamOf('text/event-stream', { data: '[DONE]' });
  const events = await fetch(`${url}/stream`);
  stopping.abort();
  expect(await events.text()).toBe('data: [DONE]\n\n');
  await eventually(() => isCleaned);
  expect(Buffer.from((await other.body?.getReader().read())?.value ?? []).toString()).toBe(
    '{"name":"Fern"}\n',
  );
});
