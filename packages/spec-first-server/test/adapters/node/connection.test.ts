import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { connect, Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { queryObjects } from 'node:v8';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { eventually } from 'test-support/eventually';
import { connected, exchange, request } from 'test-support/raw-http';
import { ClientConnection, isLarge } from '../../../src/adapters/node/connection.ts';
import { type Listening, listen } from '../../../src/adapters/node/listen.ts';
import { readAll } from '../../../src/adapters/node/request-body.ts';
import { Resources } from '../../../src/core/account.ts';
import { createRequest } from './support.ts';

const LOCAL = { host: '127.0.0.1', port: 0 };
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
  listening = await listen(app, LOCAL);
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
    const sockets = await Promise.all(Array.from({ length: 4 }, () => connected(port)));
    const closed = Promise.all(
      sockets.map((socket) => new Promise((resolve) => socket.resume().on('close', resolve))),
    );
    for (const socket of sockets) socket.write(GET.repeat(300));
    await closed;
    expect(pending.length).toBeLessThanOrEqual(sockets.length);
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
    const busy = await listen((_request, response) => {
      const end = performance.now() + 3;
      while (performance.now() < end);
      response.end();
    }, LOCAL);
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
  test('of blank lines arrives in as few chunks as one of letters', async () => {
    const bodies = ['\r\n\r\n', 'xxxx'].map((text) => text.repeat(25_000));
    const answers = await Promise.all(
      bodies.map((body) => exchange(port, request('POST /', {}, body))),
    );
    const [blank, letters] = answers.map(({ responses }) => JSON.parse(String(responses[0]?.body)));
    expect(blank.size).toBe(100_000);
    expect(blank.chunks).toBeLessThan(letters.chunks * 3);
  });

  test('in chunks of one byte is read on demand, and merged into one buffer', async () => {
    // Counting takes long, so it precedes the connection, whose first request has a time limit.
    const before = queryObjects(Uint8Array, { format: 'count' });
    const accepted = once(listening.server, 'connection');
    const socket = await connected(port);
    const [serverSocket] = await accepted;
    socket.write(`${request('POST /held', CHUNKED)}${inBytes(100_000)}0\r\n\r\n`);
    await eventually(() => held.length === 1 && serverSocket.isPaused());
    // Without the merge, each byte would take an object of its own.
    expect(queryObjects(Uint8Array, { format: 'count' }) - before).toBeLessThan(1_000);
    expect(serverSocket.bytesRead).toBeLessThan(300_000);
    const [received, response] = held[0] ?? [];
    let size = 0;
    received?.on('data', (chunk) => {
      size += chunk.length;
    });
    received?.on('end', () => response?.end());
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toMatch(/^HTTP\/1\.1 200 /);
    expect(size).toBe(100_000);
    socket.destroy();
  });

  test.each<[string, (received: IncomingMessage) => unknown]>([
    ['a listener for data', (received) => received.on('data', () => {})],
    ['a listener for readable', (received) => received.on('readable', () => readAll(received))],
    ['resume()', (received) => received.resume()],
  ])('that is paused continues at %s', async (_name, read) => {
    const accepted = once(listening.server, 'connection');
    const socket = await connected(port);
    const [serverSocket] = await accepted;
    socket.write(`${request('POST /held', CHUNKED)}${inBytes(100_000)}0\r\n\r\n`);
    await eventually(() => held.length === 1 && serverSocket.isPaused());
    const [received, response] = held[0] ?? [];
    received?.on('end', () => response?.end());
    if (received) read(received);
    expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 200 /);
    socket.destroy();
  });

  test('is read to its end if the size and the data of a chunk arrive separately', async () => {
    const accepted = once(listening.server, 'connection');
    const socket = await connected(port);
    const [serverSocket] = await accepted;
    let sent = 0;
    for (const bytes of [
      request('POST /', CHUNKED),
      '5\r\n',
      'hello',
      '\r\n3\r\n',
      'you\r\n',
      '0\r\n\r\n',
    ]) {
      socket.write(bytes);
      sent += bytes.length;
      await eventually(() => serverSocket.bytesRead === sent);
    }
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toMatch(/\r\n\r\n.*"size":8/s);
    socket.destroy();
  });

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
    expect(received).toMatch(/^HTTP\/1\.1 200 .*early/s);
    const closed = once(socket, 'close');
    socket.end();
    await closed;
  });

  test('that continues after its request is rejected does not reset the connection', async () => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    const errors: unknown[] = [];
    socket.on('error', (error) => errors.push(error));
    const ended = once(socket, 'end');
    const closed = once(socket, 'close');
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk;
    });
    socket.write(request('POST /', { host: 'b', 'Content-Length': '1000000' }));
    for (let times = 0; times < 10; times += 1) {
      await delay(5);
      socket.write('x'.repeat(100_000));
    }
    await ended;
    expect(received).toMatch(/^HTTP\/1\.1 400 .*must come once, as host/s);
    socket.end();
    await closed;
    expect(errors).toEqual([]);
  });
});

const resources = new Resources();
const { memory } = resources;

describe('a connection', () => {
  function create() {
    const socket = new Socket();
    const state = { bytesRead: 0, bytesWritten: 0, writableLength: 0 };
    for (const name of ['bytesRead', 'bytesWritten', 'writableLength'] as const) {
      Object.defineProperty(socket, name, { get: () => state[name] });
    }
    const connection = new ClientConnection(socket, 2_000, resources);
    const begun: string[] = [];
    /** Adds a request whose head ends at a position. */
    function add(name: string, bytesRead: number, rawHeaders: string[] = []): ServerResponse {
      const { request: received, response } = createRequest({ rawHeaders, socket });
      state.bytesRead = bytesRead;
      received.complete = rawHeaders.length === 0;
      connection.add(response, (hasMemory) => begun.push(hasMemory ? name : `${name}, no memory`));
      return response;
    }
    return { connection, socket, state, begun, add };
  }

  const close = (response: ServerResponse) => response.emit('close');

  test('begins a pipelined request in its own async context', async () => {
    const { connection } = create();
    const trace = new AsyncLocalStorage<string>();
    const begun: unknown[] = [];
    const responses = ['first', 'second'].map((name) => {
      const { response } = createRequest();
      trace.run(name, () => connection.add(response, () => void begun.push(trace.getStore())));
      return response;
    });
    await eventually(() => begun.length === 1);
    trace.run('first', () => responses[0]?.emit('close'));
    await eventually(() => begun.length === 2);
    expect(begun).toEqual(['first', 'second']);
  });

  test('begins a request immediately, and the next one after the response is closed', async () => {
    const { begun, add, connection } = create();
    const first = add('first', 100);
    expect(begun).toEqual(['first']);
    const second = add('second', 200);
    expect(begun).toEqual(['first']);
    expect([connection.isQueued, connection.newestResponse]).toEqual([true, second]);
    close(first);
    await eventually(() => begun.length === 2);
    expect(connection.isQueued).toBe(false);
    const before = performance.now();
    expect(connection.idleSince).toBeLessThan(before);
    close(second);
    expect(connection.newestResponse).toBeUndefined();
    expect(connection.idleSince).toBeGreaterThanOrEqual(before);
  });

  test('keeps its newest response until the body of the request is complete', () => {
    const { add, connection } = create();
    const response = add('a', 100, ['Content-Length', '5']);
    close(response);
    expect(connection.newestResponse).toBe(response);
    response.req.complete = true;
    expect(connection.newestResponse).toBeUndefined();
  });

  test('holds 4 KiB of memory for each request until its response is closed', () => {
    const before = memory.bytesLeft;
    const { add, socket } = create();
    const first = add('first', 100);
    add('second', 200);
    expect(before - memory.bytesLeft).toBe(8_192);
    close(first);
    expect(before - memory.bytesLeft).toBe(4_096);
    socket.emit('close');
    expect(memory.bytesLeft).toBe(before);
  });

  test('without free memory, begins the first request and is destroyed at the second', () => {
    const left = memory.bytesLeft;
    expect(memory.reserve(left)).toBe(true);
    const { add, begun, socket, connection } = create();
    add('first', 100);
    expect(begun).toEqual(['first, no memory']);
    add('second', 200);
    expect([connection.closing, socket.destroyed]).toEqual([true, true]);
    expect(begun).toHaveLength(1);
    memory.release(left);
    expect(memory.bytesLeft).toBe(left);
  });

  test('calls the callback of end after the response, or immediately without one', async () => {
    const idle = create();
    const calls: string[] = [];
    idle.connection.end(() => calls.push('idle'));
    expect(calls).toEqual(['idle']);
    const busy = create();
    const response = busy.add('a', 100);
    busy.connection.end(() => calls.push('busy'));
    expect(calls).toEqual(['idle']);
    expect(busy.connection.closing).toBe(true);
    close(response);
    await eventually(() => calls.length === 2);
  });

  test.each<[string, string[], number, number]>([
    ['of incomplete headers', [], 1_000, 8 * 1_000],
    ['of a body', ['Content-Length', '5'], 100, 1_000],
    ['of a chunked body', ['Transfer-Encoding', 'chunked'], 100, 50 * 1_000],
  ])('estimates the memory %s and of unsent responses', (_name, rawHeaders, head, memory) => {
    const { add, connection, state } = create();
    if (rawHeaders.length > 0) add('a', head, rawHeaders);
    state.bytesRead = 1_000;
    state.writableLength = 7;
    expect(connection.estimatedBytes).toBe(memory + 7);
  });

  test('counts no bytes of a body that is read, nor of previous requests', () => {
    const { add, connection, state } = create();
    const response = add('a', 100, ['Transfer-Encoding', 'chunked']);
    Object.defineProperty(response.req, 'readableDidRead', { value: true });
    state.bytesRead = 1_000;
    expect(connection.estimatedBytes).toBe(0);
    response.req.complete = true;
    close(response);
    state.bytesRead = 1_010;
    expect(connection.estimatedBytes).toBe(8 * 10);
  });

  test.each<[string, boolean, (state: { bytesRead: number; writableLength: number }) => void]>([
    ['no byte was transferred', true, () => {}],
    [
      'a byte was read',
      false,
      (state) => {
        state.bytesRead += 1;
      },
    ],
    [
      'a byte was read, but the client does not read',
      true,
      (state) => {
        state.bytesRead += 1;
        state.writableLength = 1;
      },
    ],
  ])('is stuck if %s: %p', (_name, expected, transfer) => {
    const { add, connection, state } = create();
    expect(connection.isStuck()).toBe(true);
    add('a', 100, ['Content-Length', '5']);
    expect(connection.isStuck()).toBe(false);
    transfer(state);
    expect(connection.isStuck()).toBe(expected);
  });

  test('watches for the next request after the newest response', async () => {
    const late: string[] = [];
    const { add, connection } = create();
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
    const { add, connection, socket } = create();
    const response = add('a', 100);
    connection.watch(20, () => late.push('a'));
    close(response);
    socket.emit('close');
    await delay(50);
    expect(late).toEqual([]);
  });

  test.each([
    [false, false, false],
    [true, false, true],
    [true, true, true],
  ])(
    'with a request in progress: %p, and a second one: %p, waits for responses: %p',
    (isAnswering, hasNext, expected) => {
      const { add, connection } = create();
      if (isAnswering) add('first', 100);
      if (hasNext) add('second', 200, ['Content-Length', '5']);
      expect(connection.waitsForAnswers).toBe(expected);
    },
  );

  test.each<[string[], boolean]>([
    [[], false],
    [['Content-Length', '65536'], false],
    [['Content-Length', '65537'], true],
    [['Transfer-Encoding', 'chunked'], true],
  ])('a request with the headers %j is large: %p', (rawHeaders, expected) => {
    expect(isLarge(createRequest({ rawHeaders }).request)).toBe(expected);
  });
});
