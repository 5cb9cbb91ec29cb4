import { type EventEmitter, once } from 'node:events';
import type { RequestListener, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { runInThisContext } from 'node:vm';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { serve, withFiles } from 'test-support/documents';
import { eventually } from 'test-support/eventually';
import { connected, exchange, request } from 'test-support/raw-http';
import { Resources } from '../../src/core/account.ts';
import type { AnyHandler, AnyRequest } from '../../src/core/handlers/types.ts';
import type { Listening } from '../../src/listener/listen.ts';
import { listenLocally } from './support.ts';

const DOCUMENT = `openapi: 3.1.0
info: { title: A, version: 1.0.0 }
paths:
  /a:
    get:
      operationId: a
      responses: { '204': { description: done } }
    post:
      operationId: b
      requestBody: { required: true, content: { text/plain: { schema: { type: string } } } }
      responses: { '200': { description: done, content: { text/plain: { schema: { type: string } } } } }
`;
const GET = request('GET /a');

let pending: AnyRequest[] = [];
let release = Promise.withResolvers<void>();
const hold: AnyHandler = async (received) => {
  pending.push(received);
  await release.promise;
  return { status: 204 };
};

const resources = new Resources();
let app: RequestListener;
let listening: Listening;
let port: number;

beforeAll(async () => {
  ({ app } = await withFiles({ 'openapi.yaml': DOCUMENT }, (folder) =>
    serve(join(folder, 'openapi.yaml'), {
      a: hold,
      b: ({ body }) => ({ status: 200, body: String(body) }),
    }),
  ));
  listening = await listenLocally(app, { resources });
  port = Number(new URL(listening.url).port);
});
beforeEach(() => {
  pending = [];
  release = Promise.withResolvers();
});
afterAll(() => listening.stop());

const connections = (): Promise<number> =>
  new Promise((resolve) => listening.server.getConnections((_error, count) => resolve(count)));

describe('a client that closes its side', () => {
  test.each(['before', 'after'])(
    'leaves no connection behind if it disconnects %s the response',
    async (moment) => {
      const socket = await connected(port);
      socket.end(GET);
      await eventually(() => pending.length === 1 && pending.every(({ signal }) => signal.aborted));
      if (moment === 'before') socket.destroy();
      release.resolve();
      await eventually(async () => (await connections()) === 0);
      socket.destroy();
    },
  );

  test('that disconnects before the responses frees the memory of its requests', async () => {
    const before = resources.memory.bytesLeft;
    const socket = await connected(port);
    socket.write(GET.repeat(20));
    await eventually(() => pending.length === 1 && resources.memory.bytesLeft < before);
    socket.resetAndDestroy();
    await eventually(() => resources.memory.bytesLeft === before);
    release.resolve();
  });

  test('gets late responses to all its requests', async () => {
    const answer = exchange(port, GET.repeat(3), { responses: 4, end: true });
    await eventually(() => pending.length === 1 && pending.every(({ signal }) => signal.aborted));
    release.resolve();
    const { responses, closed } = await answer;
    expect(responses.map(({ status }) => status)).toEqual([204, 204, 204]);
    expect(closed).toBe(true);
  });

  test('leaves no connection behind if it sent no request', async () => {
    const socket = await connected(port);
    await eventually(async () => (await connections()) === 1);
    socket.end();
    await eventually(async () => (await connections()) === 0);
  });
});

describe('the signal of a request', () => {
  test.each(['closes', 'resets'])(
    'is aborted when the client %s its connection',
    async (action) => {
      const socket = await connected(port);
      socket.write(GET);
      await eventually(() => pending.length === 1);
      expect(pending[0]?.signal.aborted).toBe(false);
      if (action === 'closes') socket.destroy();
      else socket.resetAndDestroy();
      await eventually(() => pending.every(({ signal }) => signal.aborted));
      release.resolve();
    },
  );

  test('of many pipelined requests causes no warning', async () => {
    // Jest gives its tests a copy of the process object, which emits no warnings.
    const emitter: EventEmitter = runInThisContext('process');
    const warnings: unknown[] = [];
    const onWarning = (warning: unknown) => warnings.push(warning);
    emitter.on('warning', onWarning);
    const answer = exchange(port, GET.repeat(20), { responses: 20 });
    await eventually(() => pending.length === 1);
    expect(pending[0]?.signal.aborted).toBe(false);
    release.resolve();
    await answer;
    for (const { signal } of pending) expect(signal.aborted).toBe(false);
    emitter.off('warning', onWarning);
    expect(warnings).toEqual([]);
  });
});

test('a stop does not wait for a connection whose response was sent before the body arrived', async () => {
  const stopping = await listenLocally(app, { limits: { stopTimeout: 600_000 } });
  const socket = await connected(Number(new URL(stopping.url).port));
  socket.write(request('PUT /a', { 'Content-Length': '1' }));
  const [answer] = await once(socket, 'data');
  expect(String(answer)).toMatch(/^HTTP\/1\.1 405 /);
  socket.write('x');
  const closed = once(socket, 'close');
  await eventually(
    async () =>
      (await exchange(Number(new URL(stopping.url).port), GET.replace('/a', '/b'))).responses
        .length,
  );
  await stopping.stop();
  await closed;
});

test('while the server drains, responses close the connection', async () => {
  const draining = await listenLocally(app);
  draining.drain();
  const body = { 'Content-Type': 'text/plain', 'Content-Length': '4' };
  const { responses, closed } = await exchange(
    Number(new URL(draining.url).port),
    request('POST /a', body, 'abcd'),
    {
      responses: 2,
    },
  );
  expect(responses).toMatchObject([{ status: 200, headers: { connection: 'close' } }]);
  expect(closed).toBe(true);
  await draining.stop();
});

test('a stop closes used connections, and answers the first request of the others', async () => {
  const limits = { idleStopTimeout: 0, quietTimeout: 0, arrivalStopTimeout: 600_000 };
  const stopping = await listenLocally(app, { limits });
  const serverPort = Number(new URL(stopping.url).port);
  const unused = await connected(serverPort);
  const used = await connected(serverPort);
  used.write(request('GET /b'));
  await once(used, 'data');
  const closed = once(used, 'close');
  const stopped = stopping.stop();
  await closed;
  unused.write(request('GET /b'));
  const [answer] = await Promise.race([once(unused, 'data'), once(unused, 'close')]);
  expect(String(answer)).toMatch(/^HTTP\/1\.1 404 /);
  await stopped;
});

test('a stop gives each connection its own timeout, but ends at its total limit', async () => {
  const limits = { quietTimeout: 0, arrivalStopTimeout: 900, maxArrivalStop: 2_700 };
  const stopping = await listenLocally(app, { limits });
  const serverPort = Number(new URL(stopping.url).port);
  const start = performance.now();
  /** The ages of connections that were closed at their own timeout, in milliseconds. */
  const ages: number[] = [];
  let watched = 0;
  const open = async () => {
    const opened = performance.now();
    const socket = await connected(serverPort);
    if (opened - start > limits.maxArrivalStop - limits.arrivalStopTimeout) return;
    watched += 1;
    socket.on('close', () => ages.push(performance.now() - opened));
  };
  await open();
  let isStopped = false;
  const stopped = stopping.stop().then(() => {
    isStopped = true;
  });
  // Each connection opens before the previous one is closed, so only the total limit ends the stop.
  while (!isStopped) {
    await delay(100);
    // Fails after the port is closed.
    await open().catch(() => undefined);
  }
  await stopped;
  expect(performance.now() - start).toBeGreaterThanOrEqual(limits.maxArrivalStop);
  await eventually(() => ages.length === watched);
  expect(Math.min(...ages)).toBeGreaterThanOrEqual(limits.arrivalStopTimeout - 10);
});

test('a stop answers a request that arrived while the process was busy', async () => {
  const limits = { quietTimeout: 5, idleStopTimeout: 50 };
  const other = await listenLocally((_request, response) => void response.end('answered'), {
    limits,
  });
  const accepted = once(other.server, 'connection');
  const client = await connected(Number(new URL(other.url).port));
  const received: string[] = [];
  client
    .on('data', (chunk) => received.push(String(chunk)))
    .on('error', (error) => received.push(error.message));
  await accepted;
  const stopped = other.stop();
  // The event loop runs timers next, and reads sockets after them.
  await new Promise(setImmediate);
  client.write(GET);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
  await stopped;
  await eventually(() => received.length > 0);
  expect(received.join('')).toMatch(/^HTTP\/1\.1 200 OK\r\n.*answered/s);
});

test('a request with Upgrade gets a response that closes the connection', async () => {
  release.resolve();
  const upgrade = request('GET /a', { Connection: 'Upgrade', Upgrade: 'websocket' });
  for (const bytes of [upgrade + GET, GET + upgrade + GET]) {
    const { responses, closed } = await exchange(port, bytes, { responses: 9 });
    expect(closed).toBe(true);
    expect(responses.at(-1)?.headers.connection).toBe('close');
    expect(responses.map(({ status }) => status)).toEqual(
      bytes === upgrade + GET ? [204] : [204, 204],
    );
  }
});

test.each(['//a@[', '//a@:', '//a@b', 'http://h/b'])(
  'the target %s gets a response of the app',
  async (target) => {
    const { responses } = await exchange(port, request(`GET ${target}`));
    expect(responses).toMatchObject([
      { status: 404, headers: { 'content-type': 'application/json' } },
    ]);
    expect(responses[0]?.headers).toHaveProperty('x-request-id');
  },
);

test('a client that does not read is disconnected like a silent one', async () => {
  const responses: ServerResponse[] = [];
  const keepApp: RequestListener = (_request, response) => void responses.push(response);
  const impatient = await listenLocally(keepApp, { limits: { idleTimeout: 1_000 } });
  const serverPort = Number(new URL(impatient.url).port);
  const serverEnds: string[] = [];
  const clientEnds: string[] = [];
  const open = async (name: string, bytes: string) => {
    const accepted = once(impatient.server, 'connection');
    const socket = await connected(serverPort);
    (await accepted)[0].on('close', () => serverEnds.push(name));
    socket.on('close', () => clientEnds.push(name)).write(bytes);
    return socket;
  };
  const unread = (await open('unread', request('GET /'))).pause();
  await eventually(() => responses.length === 1);
  // More than the socket buffers of both sides hold.
  responses[0]?.end(Buffer.alloc(64 * 1024 ** 2));
  await delay(700);
  const quiet = (await open('quiet', request('GET /'))).resume();
  await eventually(() => clientEnds.length === 1);
  expect(serverEnds).toEqual(['unread', 'quiet']);
  // A client that does not read does not notice the end.
  expect(clientEnds).toEqual(['quiet']);
  unread.destroy();
  quiet.destroy();
  await impatient.stop();
});

test('the limits have the documented defaults', () => {
  const { headersTimeout, keepAliveTimeout, maxHeadersCount, requestTimeout, timeout } =
    listening.server;
  expect({ headersTimeout, keepAliveTimeout, maxHeadersCount, requestTimeout, timeout }).toEqual({
    headersTimeout: 10_000,
    keepAliveTimeout: 65_000,
    maxHeadersCount: 200,
    requestTimeout: 30_000,
    // Half of the idle timeout.
    timeout: 30_000,
  });
});

test('a connection stays open after a response, until the server drains', async () => {
  const draining = await listenLocally(app);
  const socket = await connected(Number(new URL(draining.url).port));
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk;
  });
  socket.write(request('GET /b'));
  await eventually(() => /^HTTP\/1\.1 404 .*Connection: keep-alive\r\n/s.test(received));
  received = '';
  socket.write(GET);
  await eventually(() => pending.length === 1);
  // The response to a request in progress closes the connection, too.
  draining.drain();
  const closed = once(socket, 'close');
  release.resolve();
  await closed;
  expect(received).toMatch(/^HTTP\/1\.1 204 .*Connection: close\r\n/s);
  await draining.stop();
});

test('a stop aborts requests that take too long', async () => {
  const received = Promise.withResolvers<ServerResponse>();
  const hang: RequestListener = (_request, response) => received.resolve(response);
  const limits = { idleStopTimeout: 0, quietTimeout: 0, arrivalStopTimeout: 0, stopTimeout: 50 };
  const stopping = await listenLocally(hang, { limits });
  const answer = exchange(Number(new URL(stopping.url).port), GET);
  const response = await received.promise;
  await stopping.stop();
  expect(await answer).toMatchObject({ responses: [], closed: true });
  expect(response).toHaveProperty('failure.status', 503);
});

test('at most 256 rejected connections linger', async () => {
  const lingering = await listenLocally(app, { limits: { lingerTimeout: 600_000 } });
  const serverPort = Number(new URL(lingering.url).port);
  let ended = 0;
  const sockets = Array.from({ length: 260 }, () => {
    const socket = connect({ port: serverPort, host: '127.0.0.1', allowHalfOpen: true });
    socket
      .on('error', () => undefined)
      .on('end', () => {
        ended += 1;
      });
    socket.resume().write('no request\r\n\r\n');
    return socket;
  });
  await eventually(() => ended === 260);
  await eventually(async () => {
    const count = await new Promise((resolve) =>
      lingering.server.getConnections((_error, value) => resolve(value)),
    );
    expect(count).toBe(256);
  });
  for (const socket of sockets) socket.destroy();
  await lingering.stop();
});

const hasIpv6 = Object.values(networkInterfaces()).some((addresses) =>
  addresses?.some(({ address }) => address === '::1'),
);

(hasIpv6 ? test : test.skip)('the URL of an IPv6 address has brackets (needs IPv6)', async () => {
  const server = await listenLocally(app, { host: '::1' });
  expect(server.url).toMatch(/^http:\/\/\[::1\]:\d+$/);
  await server.stop();
});

test('listen rejects if the port is in use', async () => {
  await expect(listenLocally(app, { port })).rejects.toHaveProperty('code', 'EADDRINUSE');
});
