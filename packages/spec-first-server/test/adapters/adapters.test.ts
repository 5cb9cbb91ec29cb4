import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { createRequire } from 'node:module';
import { type AddressInfo, connect } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import express from 'express';
import { pino } from 'pino';
import { withFiles } from 'test-support/documents';
import { eventually } from 'test-support/eventually';
import {
  type AnyRequest,
  createService,
  expressHandler,
  fetchHandler,
  loadDocument,
  nodeListener,
  type Service,
} from '../../src/index.ts';

const JSON_BODY = '{ content: { application/json: {} } }';
const DOCUMENT = `openapi: 3.2.0
info: { title: All adapters, version: 1.0.0 }
servers: [{ url: /v1 }]
paths:
  /texts/{name}:
    post:
      operationId: echo
      parameters:
        - { name: name, in: path, required: true, schema: { type: string } }
        - { name: count, in: query, schema: { type: integer } }
      requestBody: { required: true, content: { application/json: { schema: { type: object, required: [text] } } } }
      responses: { '200': { description: ok, content: { application/json: {} } } }
    get:
      operationId: read
      parameters: [{ name: name, in: path, required: true, schema: { type: string } }]
      responses:
        '200':
          description: ok
          headers: { Set-Cookie: { schema: { type: array, items: { type: string } } } }
          content: { text/plain: { schema: { type: string } } }
    delete:
      operationId: remove
      parameters: [{ name: name, in: path, required: true, schema: { type: string } }]
      responses: { '204': { description: gone } }
  /bytes:
    post:
      operationId: bytes
      requestBody: { required: true, content: { application/octet-stream: {} } }
      responses: { '200': { description: the same bytes, content: { application/octet-stream: {} } } }
  /forms:
    post:
      operationId: form
      requestBody:
        content:
          multipart/form-data:
            schema: { type: object, properties: { file: { type: string, format: binary }, note: { type: string } } }
      responses: { '200': ${JSON_BODY.replace('{ ', '{ description: ok, ')} }
  /items:
    get:
      operationId: items
      responses: { '200': { description: items, content: { application/jsonl: { itemSchema: { type: object } } } } }
  /events:
    get:
      operationId: events
      responses: { '200': { description: events, content: { text/event-stream: { itemSchema: { type: object } } } } }
  /waiting:
    get: { operationId: wait, responses: { '204': { description: never } } }
`;

/** Connects a handler of the Fetch standard to Node's server, as platforms do. */
function fetchListener(handle: (request: Request) => Promise<Response>): RequestListener {
  return async (request, response) => {
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const { method = '', headers, url } = request;
    const hasBody = headers['content-length'] !== undefined || 'transfer-encoding' in headers;
    const answer = await handle(
      new Request(`http://localhost${url}`, {
        method,
        headers: Object.entries(headers).map(([name, value]) => [name, String(value)]),
        body: hasBody ? (Readable.toWeb(request) as ReadableStream) : null,
        duplex: 'half',
        signal: gone.signal,
      }),
    );
    response.writeHead(answer.status, [...answer.headers].flat());
    // Discards the rest of a body that the service did not read.
    response.once('finish', () => request.removeAllListeners('data').resume());
    if (answer.body === null) return void response.end();
    response.flushHeaders();
    const body = Readable.fromWeb(answer.body);
    response.once('close', () => body.destroy());
    body.on('error', () => response.destroy()).pipe(response);
  };
}

// It has no types of its own.
const express4: typeof express = createRequire(import.meta.url)('express-4');

const ADAPTERS: Readonly<Record<string, (service: Service) => RequestListener>> = {
  nodeListener: (service) => nodeListener(service),
  expressHandler: (service) => express().use(expressHandler(service)),
  'expressHandler in Express 4': (service) => express4().use(expressHandler(service)),
  fetchHandler: (service) => fetchListener(fetchHandler(service)),
};

describe.each(Object.entries(ADAPTERS))('%s', (name, listenerOf) => {
  const server = createServer();
  const lines: Record<string, unknown>[] = [];
  let url: string;
  let last: AnyRequest;
  let items: (request: AnyRequest) => AsyncGenerator<unknown>;
  let isCleaned = false;
  let waiting = Promise.withResolvers<AnyRequest>();

  beforeAll(async () => {
    const document = await withFiles({ 'openapi.yaml': DOCUMENT }, (folder) =>
      loadDocument(`${folder}/openapi.yaml`),
    );
    const stream = (request: AnyRequest) => {
      last = request;
      return { status: 200, body: items(request) };
    };
    const write = (line: string) => void lines.push(JSON.parse(line));
    const service = await createService(document, {
      bodyLimit: 1_000_000,
      log: pino({ level: 'info' }, { write }),
      handlers: {
        echo: ({ path, query, body }) => ({ status: 200, body: { path, query, body } }),
        read: ({ path }) => ({
          status: 200,
          headers: { 'Set-Cookie': ['a=1', 'b=2'] },
          body: `${path.name} äöü`,
        }),
        remove: () => ({ status: 204 }),
        bytes: ({ body }) => ({ status: 200, body }),
        async form({ body }) {
          const { file, note } = body as { file: File; note: string };
          return { status: 200, body: { name: file.name, size: (await file.text()).length, note } };
        },
        items: stream,
        events: stream,
        wait(request) {
          waiting.resolve(request);
          return new Promise(() => undefined);
        },
      },
    });
    server.on('request', listenerOf(service)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  });
  beforeEach(() => {
    lines.length = 0;
    isCleaned = false;
    waiting = Promise.withResolvers();
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  const post = (path: string, type: string, body: RequestInit['body']) =>
    fetch(url + path, { method: 'POST', headers: { 'Content-Type': type }, body });

  test('passes parameters and the body to the handler', async () => {
    const response = await post('/texts/a%20b?count=3', 'application/json', '{"text":"ä"}');
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(await response.json()).toEqual({
      path: { name: 'a b' },
      query: { count: 3 },
      body: { text: 'ä' },
    });
  });

  test('a length of 0 means an empty body if the request has a media type', async () => {
    const response = await post('/bytes', 'application/octet-stream', '');
    expect([response.status, await response.text()]).toEqual([200, '']);
    const { status } = await fetch(`${url}/bytes`, { method: 'POST' });
    expect(status).toBe(400);
  });

  test('logs each request with its id after the response', async () => {
    const response = await post('/texts/a', 'application/json', '{}');
    expect(response.status).toBe(400);
    await eventually(() => lines.length === 1);
    expect(lines[0]).toMatchObject({
      requestId: response.headers.get('x-request-id'),
      operationId: 'echo',
      method: 'POST',
      status: 400,
    });
    expect(lines[0]).not.toHaveProperty('cutOff');
  });

  test('sends several cookies, and text that is not ASCII', async () => {
    const response = await fetch(`${url}/texts/a`);
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
    expect(await response.text()).toBe('a äöü');
  });

  test('answers HEAD as GET, without the body', async () => {
    const response = await fetch(`${url}/texts/a`, { method: 'HEAD' });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-length')).toBe('8');
    expect(await response.text()).toBe('');
  });

  test('rejects a method that the path does not have', async () => {
    const response = await fetch(`${url}/bytes`, { method: 'PUT' });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
  });

  test('streams bytes in both directions', async () => {
    const bytes = Buffer.alloc(500_000, 'bytes');
    const response = await post('/bytes', 'application/octet-stream', bytes);
    expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true);
  });

  test('rejects a body beyond the limit, also one without a length', async () => {
    const large = 'x'.repeat(1_000_001);
    expect((await post('/texts/a', 'application/json', large)).status).toBe(413);
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.write('POST /v1/texts/a HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n');
    socket.write(`Transfer-Encoding: chunked\r\n\r\n${large.length.toString(16)}\r\n${large}`);
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toMatch(/^HTTP\/1\.1 413 /);
    socket.destroy();
  });

  test('sends items one by one', async () => {
    const go = Promise.withResolvers<void>();
    items = async function* () {
      yield { n: 1 };
      await go.promise;
      yield { n: 2 };
    };
    const response = await fetch(`${url}/items`);
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader?.read())?.value).toBe('{"n":1}\n');
    go.resolve();
    expect((await reader?.read())?.value).toBe('{"n":2}\n');
    expect((await reader?.read())?.done).toBe(true);
    await eventually(() => lines.length === 1);
    expect(lines[0]).toMatchObject({ operationId: 'items', status: 200 });
  });

  test('cuts a stream at a later item that fails, and logs the item', async () => {
    const received = Promise.withResolvers<void>();
    items = async function* () {
      yield { n: 1 };
      await received.promise;
      yield 'not an object';
    };
    const response = await fetch(`${url}/items`);
    received.resolve();
    await expect(response.text()).rejects.toThrow('terminated');
    await eventually(() => JSON.stringify(lines).includes('item 1 of the body'));
  });

  test('ends a stream when the client disconnects', async () => {
    items = async function* () {
      try {
        for (;;) {
          yield { data: 'a' };
          await delay(5);
        }
      } finally {
        isCleaned = true;
      }
    };
    const gone = new AbortController();
    const response = await fetch(`${url}/events`, { signal: gone.signal });
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    await response.body?.getReader().read();
    const { signal } = last;
    expect(signal.aborted).toBe(false);
    gone.abort();
    await eventually(() => isCleaned && signal.aborted);
    await eventually(() => lines.some(({ cutOff }) => cutOff === true));
  });

  test('aborts the signal of a handler when the client disconnects', async () => {
    const gone = new AbortController();
    const answer = fetch(`${url}/waiting`, { signal: gone.signal });
    answer.catch(() => undefined);
    const { signal } = await waiting.promise;
    expect(signal.aborted).toBe(false);
    gone.abort();
    await eventually(() => signal.aborted);
  });

  test('does not answer other paths in Express, and rejects them elsewhere', async () => {
    const response = await fetch(new URL('/elsewhere', url));
    expect(response.status).toBe(404);
    // The handler has called `next`, so Express sends its own response.
    const type = name.startsWith('expressHandler') ? 'text/html' : 'application/problem+json';
    expect(response.headers.get('content-type')).toContain(type);
  });
});
