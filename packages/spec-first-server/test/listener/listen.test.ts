import { once } from 'node:events';
import type { RequestListener, ServerResponse } from 'node:http';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { serve, withFiles } from 'test-support/documents';
import { eventually } from 'test-support/eventually';
import { connected, exchange, request } from 'test-support/raw-http';
import type { AnyHandler, AnyRequest } from '../../src/core/handlers/types.ts';
import { Resources } from '../../src/http/resources.ts';
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

test('a stop waits for another request after a response that ends during the stop', async () => {
  const { now } = performance;
  let passed = 0;
  const clock = jest
    .spyOn(performance, 'now')
    .mockImplementation(() => now.call(performance) + passed);
  const responses: ServerResponse[] = [];
  const begin: RequestListener = (_request, response) => {
    response.write('begun');
    responses.push(response);
  };
  const limits = { idleStopTimeout: 60_000, maxArrivalStop: 600_000, quietTimeout: 0 };
  const other = await listenLocally(begin, { limits });
  const client = await connected(other.port);
  let received = '';
  client.on('data', (chunk) => {
    received += chunk;
  });
  client.write(request('GET /'));
  await eventually(() => received.includes('begun'));
  const stopped = other.stop();
  passed = 61_000;
  responses.pop()?.end('ended');
  await eventually(() => received.includes('ended'));
  // The server checks its connections every 10 ms.
  await delay(50);
  client.write(request('GET /'));
  await eventually(() => responses.length === 1);
  responses.pop()?.end();
  await stopped;
  clock.mockRestore();
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

test('a stop aborts requests that take too long, and releases their memory', async () => {
  const received = Promise.withResolvers<ServerResponse>();
  const hang: RequestListener = (_request, response) => received.resolve(response);
  const limits = { idleStopTimeout: 0, quietTimeout: 0, arrivalStopTimeout: 0, stopTimeout: 50 };
  const resources = new Resources();
  const { bytesLeft } = resources.memory;
  const stopping = await listenLocally(hang, { limits, resources });
  const answer = exchange(Number(new URL(stopping.url).port), GET);
  const response = await received.promise;
  await stopping.stop();
  expect(resources.memory.bytesLeft).toBe(bytesLeft);
  expect(await answer).toMatchObject({ responses: [], closed: true });
  expect(response).toHaveProperty('failure.status', 503);
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
