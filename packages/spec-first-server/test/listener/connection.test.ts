import { once } from 'node:events';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { eventually } from 'test-support/eventually';
import { connected, exchange, request } from 'test-support/raw-http';
import type { Listening } from '../../src/listener/listen.ts';
import { close, createConnection, listenLocally } from './support.ts';

const CHUNKED = { 'Transfer-Encoding': 'chunked' };

const GET = request('GET /a');

let pending: IncomingMessage[] = [];
let release = Promise.withResolvers<void>();
let held: [request: IncomingMessage, response: ServerResponse][] = [];
/**
 * Answers `GET /a` after `release`, `/b` immediately, and others after their body. Does not answer
 * `/held`.
 */
const app: RequestListener = async (received, response) => {
  if (received.url === '/held') return void held.push([received, response]);
  if (received.url === '/b') return void response.writeHead(404).end();
  if (received.url === '/a' && received.method === 'GET') {
    pending.push(received);
    await release.promise;
    return void response.writeHead(204).end();
  }
  if (received.headers.expect !== undefined) response.writeContinue();
  let size = 0;
  let chunks = 0;
  for await (const chunk of received) {
    size += chunk.length;
    chunks += 1;
  }
  response.end(JSON.stringify({ size, chunks }));
};

let listening: Listening;
let port: number;
beforeAll(async () => {
  listening = await listenLocally(app);
  port = Number(new URL(listening.url).port);
});
beforeEach(() => {
  held = [];
  pending = [];
  release = Promise.withResolvers();
});
afterAll(() => listening.stop());

const inBytes = (size: number): string => '1\r\nx\r\n'.repeat(size);

const connections = (): Promise<number> =>
  new Promise((resolve) => listening.server.getConnections((_error, count) => resolve(count)));

describe('a client that pipelines requests', () => {
  const statuses = (socket: Socket): (() => number[]) => {
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    return () => [...text.matchAll(/HTTP\/1\.1 ([2-5]\d\d) /g)].map(([, status]) => Number(status));
  };

  test('has one request in progress, and gets the responses in order', async () => {
    const socket = await connected(port);
    const received = statuses(socket);
    const kinds = [...Array(40).keys()].map((index) => (index % 3 === 2 ? 404 : 204));
    socket.write(kinds.map((status) => (status === 204 ? GET : request('GET /b'))).join(''));
    await eventually(() => pending.length === 1);
    for (let others = 0; others < 5; others += 1) await exchange(port, request('GET /b'));
    expect(pending.length).toBe(1);
    release.resolve();
    await eventually(() => received().length === kinds.length);
    expect(received()).toEqual(kinds);
    socket.destroy();
  });

  test('is disconnected if more than 64 requests wait, and its memory is freed', async () => {
    let requests = 0;
    const count = () => {
      requests += 1;
    };
    listening.server.on('request', count);
    const limits = new Set<number>();
    const onConnection = (socket: Socket) =>
      socket.on('close', () => limits.add(Error.stackTraceLimit));
    listening.server.on('connection', onConnection);
    const sockets = await Promise.all(Array.from({ length: 4 }, () => connected(port)));
    const closed = Promise.all(
      sockets.map((socket) => new Promise((resolve) => socket.resume().on('close', resolve))),
    );
    for (const socket of sockets) socket.write(GET.repeat(300));
    await closed;
    listening.server.off('request', count).off('connection', onConnection);
    expect(pending.length).toBeLessThanOrEqual(sockets.length);
    // Node would take long to create and to abort the other requests of the chunk.
    expect(requests).toBeLessThanOrEqual(sockets.length * 65);
    expect([...limits]).toEqual([Error.stackTraceLimit]);
    release.resolve();
    await eventually(async () => (await connections()) === 0);
  });

  test('gets the responses to 64 requests', async () => {
    const answers = exchange(port, GET.repeat(64), { responses: 64 });
    await eventually(() => pending.length === 1);
    release.resolve();
    const { responses } = await answers;
    expect(responses.map(({ status }) => status)).toEqual(Array(64).fill(204));
  });

  test('does not delay other clients', async () => {
    const busy = await listenLocally((_request, response) => {
      const end = performance.now() + 3;
      while (performance.now() < end);
      response.end();
    });
    const busyPort = Number(new URL(busy.url).port);
    const flood = await connected(busyPort);
    const other = await connected(busyPort);
    const received = statuses(flood);
    flood.write(GET.repeat(60));
    await eventually(() => received().length > 0);
    const before = received().length;
    other.write(GET);
    await once(other, 'data');
    expect(received().length - before).toBeLessThan(30);
    await eventually(() => received().length === 60);
    other.destroy();
    flood.destroy();
    await busy.stop();
  });

  test.each([
    ['bodies of a known length', { 'Content-Length': '8' }, 'a\r\n\r\nb\r\n'],
    ['chunked bodies', { 'Transfer-Encoding': 'chunked' }, '5\r\na\r\n\r\n\r\n0\r\n\r\n'],
    ['bodies after 100 Continue', { 'Content-Length': '1', Expect: '100-continue' }, 'a'],
  ])('gets the responses in order with %s in pieces of any size', async (_what, headers, body) => {
    release.resolve();
    const post = `${request('POST /a', { 'Content-Type': 'text/plain', ...headers })}${body}`;
    for (const size of [1, 3, 7, 50, 10_000]) {
      const socket = await connected(port);
      const received = statuses(socket);
      const bytes = `${post}${GET}`.repeat(5);
      for (let at = 0; at < bytes.length; at += size) {
        socket.write(bytes.slice(at, at + size));
        await new Promise((resolve) => setImmediate(resolve));
      }
      await eventually(() => received().length === 10);
      expect(received()).toEqual([200, 204, 200, 204, 200, 204, 200, 204, 200, 204]);
      socket.destroy();
    }
  });

  test('gets no response to requests after one with Connection: close', async () => {
    release.resolve();
    const last = request('GET /a', { Connection: 'close' });
    const { responses, closed } = await exchange(port, GET + last + GET.repeat(20), {
      responses: 9,
    });
    expect(responses.map(({ status }) => status)).toEqual([204, 204]);
    expect(closed).toBe(true);
    expect(pending.length).toBe(2);
  });

  test('gets all responses before the rejection of bytes that are not a request', async () => {
    const answers = exchange(port, `${GET.repeat(3)}no request\r\n\r\n${GET}`, { responses: 9 });
    await eventually(() => pending.length === 1);
    release.resolve();
    const { responses, closed } = await answers;
    expect(responses.map(({ status }) => status)).toEqual([204, 204, 204, 400]);
    expect(closed).toBe(true);
  });
});

describe('a body', () => {
  test('that the app does not read is dropped if it has at most 64 KiB', async () => {
    const socket = await connected(port);
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk;
    });
    const body = 'x'.repeat(65_536);
    socket.write(request('POST /held', {}, body.slice(1)) + request('GET /'));
    await eventually(() => held.length === 1);
    held[0]?.[1].end('early');
    await eventually(() => received.match(/HTTP\/1\.1 200 /g)?.length === 2);
    socket.destroy();
  });

  test('that the app does not read closes the connection if it is chunked', async () => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk;
    });
    const ended = once(socket, 'end');
    socket.write(`${request('POST /held', CHUNKED)}${inBytes(50_000)}`);
    await eventually(() => held.length === 1);
    held[0]?.[1].end('early');
    await ended;
    expect(received).toMatch(/^HTTP\/1\.1 200 .*^Connection: close\r$.*early/ms);
    const closed = once(socket, 'close');
    socket.end();
    await closed;
  });
});

describe('a connection', () => {
  test('without free memory, begins the first request and is destroyed at the second', () => {
    const { add, begun, memory, socket, connection } = createConnection();
    const left = memory.bytesLeft;
    expect(memory.reserve(left)).toBe(true);
    add('first', 100);
    expect(begun).toEqual(['first, no memory']);
    add('second', 200);
    expect([connection.isClosing, socket.destroyed]).toEqual([true, true]);
    expect(begun).toHaveLength(1);
    memory.release(left);
    expect(memory.bytesLeft).toBe(left);
  });

  test.each<[string, boolean, (bytes: { bytesRead: number; writableLength: number }) => void]>([
    ['no byte was transferred', true, () => {}],
    [
      'a byte was read',
      false,
      (bytes) => {
        bytes.bytesRead += 1;
      },
    ],
    [
      'a byte was read, but the client does not read',
      true,
      (bytes) => {
        bytes.bytesRead += 1;
        bytes.writableLength = 1;
      },
    ],
  ])('is stuck if %s: %p', (_name, expected, transfer) => {
    const { add, connection, bytes } = createConnection();
    expect(connection.isStuck()).toBe(true);
    add('a', 100, ['Content-Length', '5']);
    expect(connection.isStuck()).toBe(false);
    transfer(bytes);
    expect(connection.isStuck()).toBe(expected);
  });

  test('watches for the next request after the newest response', async () => {
    const late: string[] = [];
    const { add, connection } = createConnection();
    const first = add('first', 100);
    connection.watch(20, () => late.push('first'));
    close(first);
    const second = add('second', 200);
    connection.watch(20, () => late.push('second'));
    await delay(40);
    expect(late).toEqual([]);
    close(second);
    await eventually(() => late.length === 1);
    expect(late).toEqual(['second']);
  });

  test('does not watch for a request after it is closed', async () => {
    const late: string[] = [];
    const { add, connection, socket } = createConnection();
    const response = add('a', 100);
    connection.watch(20, () => late.push('a'));
    close(response);
    socket.emit('close');
    await delay(50);
    expect(late).toEqual([]);
  });
});
