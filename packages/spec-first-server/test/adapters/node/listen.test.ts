import { type EventEmitter, once } from 'node:events';
import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { runInThisContext } from 'node:vm';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { serve, withFiles } from 'test-support/documents';
import { eventually } from 'test-support/eventually';
import { connected, exchange, request } from 'test-support/raw-http';
import { type Listening, listen } from '../../../src/adapters/node/index.ts';
import type { AnyHandler, AnyRequest } from '../../../src/core/handlers/types.ts';
import { bytesLeft } from '../../../src/core/memory.ts';

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
const LOCAL = { host: '127.0.0.1', port: 0 };

/** The requests that the handler holds, until they are released. */
let held: AnyRequest[] = [];
let release = Promise.withResolvers<void>();
const hold: AnyHandler = async (asked) => {
  held.push(asked);
  await release.promise;
  return { status: 204 };
};

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
  listening = await listen(app, LOCAL);
  port = Number(new URL(listening.url).port);
});
beforeEach(() => {
  held = [];
  release = Promise.withResolvers();
});
afterAll(() => listening.stop());

const connections = (): Promise<number> =>
  new Promise((resolve) => listening.server.getConnections((_error, count) => resolve(count)));

describe('a client that closes its side', () => {
  test.each(['before', 'after'])(
    'leaves no connection behind if it is gone %s its answer',
    async (when) => {
      const socket = await connected(port);
      socket.end(GET);
      await eventually(() => held.length === 1 && held.every(({ signal }) => signal.aborted));
      if (when === 'before') socket.destroy();
      release.resolve();
      await eventually(async () => (await connections()) === 0);
      socket.destroy();
    },
  );

  test('gives the memory of all its requests back if it is gone before their answers', async () => {
    const before = bytesLeft();
    const socket = await connected(port);
    socket.write(GET.repeat(20));
    await eventually(() => held.length === 1 && bytesLeft() < before);
    socket.resetAndDestroy();
    await eventually(() => bytesLeft() === before);
    release.resolve();
  });

  test('gets the answers to all its requests, however late they are', async () => {
    const answers = exchange(port, GET.repeat(3), { responses: 4, end: true });
    await eventually(() => held.length === 1 && held.every(({ signal }) => signal.aborted));
    await delay(20);
    release.resolve();
    const { responses, closed } = await answers;
    expect(responses.map(({ status }) => status)).toEqual([204, 204, 204]);
    expect(closed).toBe(true);
  });

  test('leaves no connection behind if it has asked for nothing', async () => {
    const socket = await connected(port);
    await eventually(async () => (await connections()) === 1);
    socket.end();
    await eventually(async () => (await connections()) === 0);
  });
});

describe('the signal of a request', () => {
  test.each(['closes', 'resets'])('is aborted when the client %s its connection', async (how) => {
    const socket = await connected(port);
    socket.write(GET);
    await eventually(() => held.length === 1);
    expect(held[0]?.signal.aborted).toBe(false);
    if (how === 'closes') socket.destroy();
    else socket.resetAndDestroy();
    await eventually(() => held.every(({ signal }) => signal.aborted));
    release.resolve();
  });

  test.each(['closed', 'reset'])(
    'is aborted at its first reading if the client has %s its connection',
    async (how) => {
      const accepted = once(listening.server, 'connection');
      const socket = await connected(port);
      const [behind]: Socket[] = await accepted;
      socket.write(GET);
      await eventually(() => held.length === 1);
      if (how === 'closed') socket.destroy();
      else socket.resetAndDestroy();
      await eventually(() => behind?.readableEnded === true || behind?.destroyed === true);
      expect(held[0]?.signal.aborted).toBe(true);
      release.resolve();
    },
  );

  test('is one, however often it is read', async () => {
    const answer = exchange(port, GET);
    await eventually(() => held.length === 1);
    expect(new Set(Array.from({ length: 20 }, () => held[0]?.signal)).size).toBe(1);
    release.resolve();
    await answer;
  });

  test('may be read by every one of many pipelined requests', async () => {
    // Jest gives its tests a copy of the process object, which hears of no warnings.
    const emitter: EventEmitter = runInThisContext('process');
    const warnings: unknown[] = [];
    const note = (warning: unknown) => warnings.push(warning);
    emitter.on('warning', note);
    const answers = exchange(port, GET.repeat(20), { responses: 20 });
    await eventually(() => held.length === 1);
    expect(held[0]?.signal.aborted).toBe(false);
    release.resolve();
    await answers;
    for (const { signal } of held) expect(signal.aborted).toBe(false);
    emitter.off('warning', note);
    expect(warnings).toEqual([]);
  });

  test('is not aborted by a client that goes once it is answered', async () => {
    const socket = await connected(port);
    socket.write(GET);
    await eventually(() => held.length === 1);
    const early = held[0]?.signal;
    release.resolve();
    await new Promise((resolve) => socket.once('data', resolve));
    const late = held[0]?.signal;
    socket.destroy();
    await eventually(async () => (await connections()) === 0);
    expect([early?.aborted, late?.aborted]).toEqual([false, false]);
  });
});

test('a connection whose answer did not wait for the body keeps no stop waiting', async () => {
  const stopping = await listen(app, { ...LOCAL, limits: { stopTimeout: 600_000 } });
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

test('while it drains, the answer to a body that is read at once tells the client to close', async () => {
  const draining = await listen(app, LOCAL);
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

test('a stop closes a connection that had a request, and answers the first request of the others', async () => {
  const limits = { idleStopTimeout: 0, quietTimeout: 0, arrivalStopTimeout: 600_000 };
  const stopping = await listen(app, { ...LOCAL, limits });
  const at = Number(new URL(stopping.url).port);
  const unused = await connected(at);
  const used = await connected(at);
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

test('a stop waits for each connection by its age, and five seconds in all', async () => {
  const limits = { quietTimeout: 0, arrivalStopTimeout: 300, longestArrivalStop: 900 };
  const stopping = await listen(app, { ...LOCAL, limits });
  const at = Number(new URL(stopping.url).port);
  const ages: number[] = [];
  const start = performance.now();
  const open = async () => {
    const opened = performance.now();
    const socket = await connected(at);
    socket.on('close', () => ages.push(performance.now() - opened));
  };
  await open();
  const stopped = stopping.stop();
  // Each one comes before the former one is closed, so that only the outer limit ends this.
  while (performance.now() - start < 800) {
    await delay(150);
    // The port is closed in the end.
    await open().catch(() => undefined);
  }
  await stopped;
  await eventually(() => ages.length >= 4);
  // Those before the last ones had their whole time.
  expect(Math.min(...ages.slice(0, 3))).toBeGreaterThanOrEqual(290);
});

describe('a client that sends many requests at once', () => {
  /** The statuses that a socket has received. */
  const statuses = (socket: Socket): (() => number[]) => {
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    return () => [...text.matchAll(/HTTP\/1\.1 ([2-5]\d\d) /g)].map(([, status]) => Number(status));
  };

  test('has one request under way, and is answered in order', async () => {
    const socket = await connected(port);
    const answered = statuses(socket);
    const kinds = [...Array(40).keys()].map((index) => (index % 3 === 2 ? 404 : 204));
    socket.write(kinds.map((status) => (status === 204 ? GET : request('GET /b'))).join(''));
    await eventually(() => held.length === 1);
    for (let others = 0; others < 5; others += 1) await exchange(port, request('GET /b'));
    expect(held.length).toBe(1);
    release.resolve();
    await eventually(() => answered().length === kinds.length);
    expect(answered()).toEqual(kinds);
    socket.destroy();
  });

  test('is closed when more than 64 requests wait, and leaves no memory behind', async () => {
    const sockets = await Promise.all(Array.from({ length: 40 }, () => connected(port)));
    const closed = Promise.all(
      sockets.map((socket) => new Promise((resolve) => socket.resume().on('close', resolve))),
    );
    for (const socket of sockets) socket.write(GET.repeat(3_000));
    await closed;
    expect(held.length).toBeLessThanOrEqual(sockets.length);
    release.resolve();
    await eventually(async () => (await connections()) === 0);
  });

  test('is answered 64 times, if it sends no more', async () => {
    const answers = exchange(port, GET.repeat(64), { responses: 64 });
    await eventually(() => held.length === 1);
    release.resolve();
    const { responses } = await answers;
    expect(responses.map(({ status }) => status)).toEqual(Array(64).fill(204));
  });

  test('lets others have their turn between its requests', async () => {
    const busy = await listen((_asked, response) => {
      const end = performance.now() + 3;
      while (performance.now() < end);
      response.end();
    }, LOCAL);
    const at = Number(new URL(busy.url).port);
    const flood = await connected(at);
    const other = await connected(at);
    const answered = statuses(flood);
    flood.write(GET.repeat(60));
    await eventually(() => answered().length > 0);
    const before = answered().length;
    other.write(GET);
    await once(other, 'data');
    expect(answered().length - before).toBeLessThan(30);
    await eventually(() => answered().length === 60);
    other.destroy();
    flood.destroy();
    await busy.stop();
  });

  test.each([
    ['bodies of a known length', { 'Content-Length': '8' }, 'a\r\n\r\nb\r\n'],
    ['chunked bodies', { 'Transfer-Encoding': 'chunked' }, '5\r\na\r\n\r\n\r\n0\r\n\r\n'],
    ['bodies that are asked for', { 'Content-Length': '1', Expect: '100-continue' }, 'a'],
  ])('is answered in order with %s, in whatever pieces they come', async (_what, headers, body) => {
    release.resolve();
    const one = `${request('POST /a', { 'Content-Type': 'text/plain', ...headers })}${body}`;
    for (const size of [1, 3, 7, 50, 10_000]) {
      const socket = await connected(port);
      const answered = statuses(socket);
      const bytes = `${one}${GET}`.repeat(5);
      for (let at = 0; at < bytes.length; at += size) {
        socket.write(bytes.slice(at, at + size));
        await new Promise((resolve) => setImmediate(resolve));
      }
      await eventually(() => answered().length === 10);
      expect(answered()).toEqual([200, 204, 200, 204, 200, 204, 200, 204, 200, 204]);
      socket.destroy();
    }
  });

  test('has no request begun after the one with which it asks to close', async () => {
    release.resolve();
    const last = request('GET /a', { Connection: 'close' });
    const { responses, closed } = await exchange(port, GET + last + GET.repeat(20), {
      responses: 9,
    });
    expect(responses.map(({ status }) => status)).toEqual([204, 204]);
    expect(closed).toBe(true);
    expect(held.length).toBe(2);
  });

  test('is answered all before bytes that are not a request, which close the connection', async () => {
    const answers = exchange(port, `${GET.repeat(3)}no request\r\n\r\n${GET}`, { responses: 9 });
    await eventually(() => held.length === 1);
    release.resolve();
    const { responses, closed } = await answers;
    expect(responses.map(({ status }) => status)).toEqual([204, 204, 204, 400]);
    expect(closed).toBe(true);
  });
});

test('a request for an upgrade is answered, and closes the connection', async () => {
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

test.each(['//a@[#', '//a@:#', '//a@b#x', '/b#', '/b?#a', 'http://h/b#c'])(
  'the target %s is answered like any other path',
  async (target) => {
    const { responses } = await exchange(port, request(`GET ${target}`));
    expect(responses).toMatchObject([
      { status: 404, headers: { 'content-type': 'application/json' } },
    ]);
    expect(responses[0]?.headers).toHaveProperty('x-request-id');
  },
);

test('a stop answers a request that came before an unused connection is closed, though the process was busy', async () => {
  const limits = { quietTimeout: 5, idleStopTimeout: 50 };
  const other = await listen((_asked, response) => void response.end('answered'), {
    ...LOCAL,
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
  // Timers come next in the event loop, before it reads.
  await new Promise(setImmediate);
  client.write(GET);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
  await stopped;
  await eventually(() => received.length > 0);
  expect(received.join('')).toMatch(/^HTTP\/1\.1 200 OK\r\n.*answered/s);
});
