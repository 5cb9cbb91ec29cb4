import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  jest,
  test,
} from '@jest/globals';
import { eventually } from 'test-support/eventually';
import { connected, request } from 'test-support/raw-http';
import type { Listening } from '../../src/listener/listen.ts';
import { close, createConnection, listenLocally } from './support.ts';

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
afterEach(() => {
  jest.useRealTimers();
});
afterAll(() => listening.stop());

const connections = (): Promise<number> =>
  new Promise((resolve) => listening.server.getConnections((_error, count) => resolve(count)));

describe('a client that pipelines requests', () => {
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
});

describe('a connection', () => {
  test('without free memory, begins the first request and is destroyed at the second', () => {
    const { add, begun, memory, socket, connection } = createConnection();
    const left = memory.bytesLeft;
    expect(memory.reserve(left)).toBe(true);
    add('first', 100);
    expect(begun).toEqual(['first, 503']);
    add('second', 200);
    expect([connection.isClosing, socket.destroyed]).toEqual([true, true]);
    expect(begun).toHaveLength(1);
    memory.reserve(-left);
    expect(memory.bytesLeft).toBe(left);
  });

  const IDLE = { idleTimeout: 60_000, keepAliveTimeout: 65_000 };

  test.each<[string, number, (bytes: { bytesRead: number; writableLength: number }) => void]>([
    ['no byte was transferred', 0, () => {}],
    [
      'a byte was read',
      30_000,
      (bytes) => {
        bytes.bytesRead += 1;
      },
    ],
    [
      'a byte was read, but the client does not read',
      0,
      (bytes) => {
        bytes.bytesRead += 1;
        bytes.writableLength = 1;
      },
    ],
  ])('with a request is checked again, unless it is stuck: %s', (_name, expected, transfer) => {
    const { add, connection, bytes } = createConnection();
    add('a', 100, ['Content-Length', '5']);
    expect(connection.timeLeft(IDLE)).toBe(30_000);
    transfer(bytes);
    expect(connection.timeLeft(IDLE)).toBe(expected);
  });

  test('is closed 65 s after the response to its last request', () => {
    jest.useFakeTimers();
    const { add, connection } = createConnection();
    jest.advanceTimersByTime(100_000);
    close(add('a', 100));
    jest.advanceTimersByTime(30_000);
    expect(connection.timeLeft(IDLE)).toBe(35_000);
    jest.advanceTimersByTime(34_000);
    expect(connection.timeLeft(IDLE)).toBe(30_000);
    jest.advanceTimersByTime(1_000);
    expect(connection.timeLeft(IDLE)).toBe(0);
  });

  test('watches for the next request after the newest response', () => {
    jest.useFakeTimers();
    const late: string[] = [];
    const { add, connection } = createConnection();
    const first = add('first', 100);
    connection.watch(20, () => late.push('first'));
    close(first);
    const second = add('second', 200);
    connection.watch(20, () => late.push('second'));
    jest.advanceTimersByTime(40);
    expect(late).toEqual([]);
    close(second);
    jest.advanceTimersByTime(20);
    expect(late).toEqual(['second']);
  });
});

test('begins a pipelined request in its own async context', async () => {
  const trace = new AsyncLocalStorage<string>();
  const begun: unknown[] = [];
  const { add } = createConnection(() => begun.push(trace.getStore()));
  const [first] = ['first', 'second'].map((name) => trace.run(name, () => add(name, 100)));
  await eventually(() => begun.length === 1);
  trace.run('first', () => first?.emit('close'));
  await eventually(() => begun.length === 2);
  expect(begun).toEqual(['first', 'second']);
});

test('holds 4 KiB of memory for each request until its response is closed', () => {
  const { add, memory, socket } = createConnection();
  const before = memory.bytesLeft;
  const first = add('first', 100);
  add('second', 200);
  expect(before - memory.bytesLeft).toBe(8_192);
  close(first);
  expect(before - memory.bytesLeft).toBe(4_096);
  socket.emit('close');
  expect(memory.bytesLeft).toBe(before);
});

test.each<[string, string[], number, number]>([
  ['of incomplete headers', [], 1_000, 8 * 1_000],
  ['of a body', ['Content-Length', '5'], 100, 1_000],
  ['of a chunked body', ['Transfer-Encoding', 'chunked'], 100, 1_000],
])('estimates the memory %s and of unsent responses', (_name, rawHeaders, head, memory) => {
  const { add, connection, bytes } = createConnection();
  if (rawHeaders.length > 0) add('a', head, rawHeaders);
  bytes.bytesRead = 1_000;
  bytes.writableLength = 7;
  expect(connection.estimatedBytes).toBe(memory + 7);
});

test('counts no bytes of a body that is read, nor of previous requests', () => {
  const { add, connection, bytes } = createConnection();
  const response = add('a', 100, ['Transfer-Encoding', 'chunked']);
  Object.defineProperty(response.req, 'readableDidRead', { value: true });
  bytes.bytesRead = 1_000;
  expect(connection.estimatedBytes).toBe(0);
  response.req.complete = true;
  close(response);
  bytes.bytesRead = 1_010;
  expect(connection.estimatedBytes).toBe(8 * 10);
});
