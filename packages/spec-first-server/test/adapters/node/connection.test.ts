import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { queryObjects } from 'node:v8';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { eventually } from 'test-support/eventually';
import { connected, exchange, request } from 'test-support/raw-http';
import { type Listening, listen } from '../../../src/adapters/node/index.ts';

const LOCAL = { host: '127.0.0.1', port: 0 };
const CHUNKED = { 'Transfer-Encoding': 'chunked' };

/** Requests that the app has not answered yet. */
let held: [request: IncomingMessage, response: ServerResponse][] = [];
/**
 * Answers a GET at once, other requests when their body is there; holds what is sent to `/held`.
 */
const app: RequestListener = async (asked, response) => {
  if (asked.url === '/held') return void held.push([asked, response]);
  let [size, chunks] = [0, 0];
  for await (const chunk of asked) {
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
});
afterAll(() => listening.stop());

/** A body in HTTP/1.1 chunks of one byte each. */
const inBytes = (size: number): string => '1\r\nx\r\n'.repeat(size);

describe('a body', () => {
  test('of blank lines costs no more than one of letters', async () => {
    const bodies = ['\r\n\r\n', 'xxxx'].map((text) => text.repeat(25_000));
    const answers = await Promise.all(
      bodies.map((body) => exchange(port, request('POST /', {}, body))),
    );
    const [blank, letters] = answers.map(({ responses }) => JSON.parse(String(responses[0]?.body)));
    expect(blank.size).toBe(100_000);
    expect(blank.chunks).toBeLessThan(letters.chunks * 3);
  });

  test('in chunks of one byte is read on demand, and merged into one buffer', async () => {
    // Before the connection: the count can take longer than the limit for its first request.
    const before = queryObjects(Uint8Array, { format: 'count' });
    const accepted = once(listening.server, 'connection');
    const socket = await connected(port);
    const [behind] = await accepted;
    socket.write(`${request('POST /held', CHUNKED)}${inBytes(100_000)}0\r\n\r\n`);
    await eventually(() => held.length === 1 && behind.isPaused());
    // Without the merge, each byte would take an object of its own.
    expect(queryObjects(Uint8Array, { format: 'count' }) - before).toBeLessThan(1_000);
    expect(behind.bytesRead).toBeLessThan(300_000);
    const [asked, response] = held[0] ?? [];
    let size = 0;
    asked?.on('data', (chunk) => {
      size += chunk.length;
    });
    asked?.on('end', () => response?.end());
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toMatch(/^HTTP\/1\.1 200 /);
    expect(size).toBe(100_000);
    socket.destroy();
  });

  test('whose chunks come apart from their sizes is read to its end by an app that iterates over it', async () => {
    const accepted = once(listening.server, 'connection');
    const socket = await connected(port);
    const [behind] = await accepted;
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
      await eventually(() => behind.bytesRead === sent);
      await delay(5);
    }
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toMatch(/\r\n\r\n.*"size":8/s);
    socket.destroy();
  });

  test('of at most 64 KiB that nobody reads is dropped, and the next request is answered', async () => {
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

  test('that is larger, and that nobody reads, ends the connection once it is answered', async () => {
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

  test('that goes on after its request was rejected does not reset the answer', async () => {
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

describe('a header section', () => {
  test.each([
    ['200 headers', `GET / HTTP/1.1\r\nHost: a\r\n${'a:\r\n'.repeat(199)}\r\n`],
    ['many short headers', `GET / HTTP/1.1\r\nHost: a\r\n${'a:\r\n'.repeat(20_000)}\r\n`],
    ['a long value', `GET / HTTP/1.1\r\nHost: a\r\na: ${'a'.repeat(60_000)}\r\n\r\n`],
    ['a long target', `GET /${'a'.repeat(60_000)} HTTP/1.1\r\nHost: a\r\n\r\n`],
  ])('that is too large gets 431 and the end: %s', async (_what, bytes) => {
    const { responses, closed } = await exchange(port, bytes, { responses: 2 });
    expect(responses.map(({ status }) => status)).toEqual([431]);
    expect(String(responses[0]?.body)).toContain('at most 16384 bytes');
    expect(closed).toBe(true);
  });

  test('of less is taken, request after request', async () => {
    const short = Object.fromEntries(Array.from({ length: 190 }, (_, index) => [`a${index}`, '']));
    const one = request('GET /', { Long: 'a'.repeat(10_000), ...short });
    const { responses } = await exchange(port, one.repeat(5), { responses: 5 });
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  });
});

describe('the time for a request', () => {
  const limits = { headersTimeout: 400, requestTimeout: 800 };

  test('does not run while an answer before it is awaited', async () => {
    const waiting: ServerResponse[] = [];
    const slow = await listen((_asked, response) => void waiting.push(response), {
      ...LOCAL,
      limits,
    });
    const body = { 'Content-Length': '200000' };
    const post = request('POST /', body) + 'x'.repeat(200_000);
    const answers = exchange(Number(new URL(slow.url).port), request('GET /').repeat(11) + post, {
      responses: 12,
    });
    for (let index = 0; index < 12; index += 1) {
      await eventually(() => waiting.length === index + 1);
      await delay(index === 0 ? 2_500 : 20);
      const response = waiting[index];
      if (index === 11) response?.req.resume().on('end', () => response.end());
      else response?.end();
    }
    const { responses } = await answers;
    expect(responses.map(({ status }) => status)).toEqual(Array(12).fill(200));
    await slow.stop();
  });

  test.each([
    ['a head that does not end', request('GET /').slice(0, -2), 400],
    ['a body that does not end', `${request('POST /', { 'Content-Length': '9' })}x`, 800],
    [
      'a head that does not end, after a request',
      request('GET /') + request('GET /').slice(0, -2),
      400,
    ],
  ])('ends with 408: %s', async (_what, bytes, least) => {
    const answerGet: RequestListener = ({ method }, response) => {
      if (method === 'GET') response.end();
    };
    const hasty = await listen(answerGet, { ...LOCAL, limits });
    const start = performance.now();
    const { responses, closed } = await exchange(Number(new URL(hasty.url).port), bytes, {
      responses: 3,
    });
    const elapsed = performance.now() - start;
    expect(responses.at(-1)?.status).toBe(408);
    expect(closed).toBe(true);
    expect(elapsed).toBeGreaterThan(least * 0.9);
    expect(elapsed).toBeLessThan(5_000);
    await hasty.stop();
  });
});

test('a connection whose answers nobody reads is closed as soon as one on which nothing happens', async () => {
  const impatient = await listen(app, { ...LOCAL, limits: { idleTimeout: 1_000 } });
  const at = Number(new URL(impatient.url).port);
  const ends: string[] = [];
  const open = async (name: string, bytes: string) => {
    const socket = await connected(at);
    socket.on('close', () => ends.push(name)).write(bytes);
    return socket;
  };
  const unread = (await open('unread', request('GET /held'))).pause();
  await eventually(() => held.length === 1);
  // More than the buffers of both systems take.
  held[0]?.[1].end(Buffer.alloc(64 * 1024 ** 2));
  await delay(700);
  const quiet = (await open('quiet', request('GET /held'))).resume();
  await eventually(async () => {
    await new Promise<void>((resolve, reject) =>
      impatient.server.getConnections((_error, count) => (count === 1 ? resolve() : reject())),
    );
  });
  expect(ends).toEqual([]);
  await eventually(() => ends.length === 1);
  expect(ends).toEqual(['quiet']);
  unread.destroy();
  quiet.destroy();
  await impatient.stop();
});

test('connections beyond the limit of open files are dropped, and counted', async () => {
  const program = `
    import { listen } from '${new URL('../../../src/adapters/node/index.ts', import.meta.url)}';
    const { url } = await listen((_asked, response) => void response.end(), {
      host: '127.0.0.1', port: 0, onDropped: (count) => console.log('dropped', count),
    });
    console.log('url', url);
  `;
  const child = spawn(
    'sh',
    ['-c', 'ulimit -n 400; exec "$0" --input-type=module -e "$1"', process.execPath, program],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  await eventually(() => output.includes('url'));
  const at = Number(new URL(output.split(/\s+/)[1] ?? '').port);
  const sockets = await Promise.all(Array.from({ length: 420 }, () => connected(at)));
  await eventually(() => output.includes('dropped'));
  // The others have room beside what the process opens itself.
  expect(output).toContain(`dropped ${420 - (400 - 64)}`);
  for (const socket of sockets) socket.destroy();
  child.kill();
});
