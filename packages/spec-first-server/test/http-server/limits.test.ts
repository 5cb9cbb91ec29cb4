import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { eventually } from '../../../../test/support/eventually.ts';
import { connected, exchange, request } from '../../../../test/support/raw-http.ts';
import { type Listening, listen } from '../../src/http-server/index.ts';

const LOCAL = { host: '127.0.0.1', port: 0 };
const CHUNKED = { 'Transfer-Encoding': 'chunked' };

/** What the app got, and did not answer yet. */
let held: [request: IncomingMessage, response: ServerResponse][] = [];
/** Answers a GET at once, other requests when their body is there; holds what is sent to `/held`. */
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
    const answers = await Promise.all(bodies.map((body) => exchange(port, request('POST /', {}, body))));
    const [blank, letters] = answers.map(({ responses }) => JSON.parse(String(responses[0]?.body)));
    expect(blank.size).toBe(100_000);
    expect(blank.chunks).toBeLessThan(letters.chunks * 3);
  });

  test('in chunks of one byte is read as it is asked for, and no sooner', async () => {
    const accepted = once(listening.server, 'connection');
    const socket = await connected(port);
    const [behind] = await accepted;
    socket.write(`${request('POST /held', CHUNKED)}${inBytes(100_000)}0\r\n\r\n`);
    await eventually(() => held.length === 1 && behind.bytesRead > 60_000);
    await delay(50);
    const [asked, response] = held[0] ?? [];
    // Each byte of this takes an object of its own.
    expect(asked?.readableLength).toBeLessThan(1_000);
    expect(behind.bytesRead).toBeLessThan(300_000);
    asked?.resume().on('end', () => response?.end());
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toMatch(/^HTTP\/1\.1 200 /);
    socket.destroy();
  });

  test('whose chunks come apart from their sizes is read to its end by an app that iterates over it', async () => {
    const accepted = once(listening.server, 'connection');
    const socket = await connected(port);
    const [behind] = await accepted;
    let sent = 0;
    for (const bytes of [request('POST /', CHUNKED), '5\r\n', 'hello', '\r\n3\r\n', 'you\r\n', '0\r\n\r\n']) {
      socket.write(bytes);
      sent += bytes.length;
      await eventually(() => behind.bytesRead === sent);
      await delay(5);
    }
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toMatch(/\r\n\r\n.*"size":8/s);
    socket.destroy();
  });

  test('that nobody reads is dropped once its request is answered', async () => {
    const socket = await connected(port);
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk;
    });
    socket.write(`${request('POST /held', CHUNKED)}${inBytes(50_000)}0\r\n\r\n${request('GET /')}`);
    await eventually(() => held.length === 1);
    held[0]?.[1].end('early');
    await eventually(() => received.match(/HTTP\/1\.1 200 /g)?.length === 2);
    socket.destroy();
  });

  test('that goes on after its request was rejected does not reset the answer', async () => {
    const socket = await connected(port);
    const errors: unknown[] = [];
    socket.on('error', (error) => errors.push(error));
    const [answer] = await Promise.all([
      once(socket, 'data'),
      (async () => {
        socket.write(request('POST /', { host: 'b', 'Content-Length': '1000000' }));
        for (let times = 0; times < 10; times += 1) {
          await delay(5);
          socket.write('x'.repeat(100_000));
        }
      })(),
    ]);
    expect(String(answer)).toMatch(/^HTTP\/1\.1 400 .*must come once, as host/s);
    await once(socket, 'close');
    expect(errors).toEqual([]);
  });
});

describe('a header section', () => {
  test.each([
    ['many short headers', `GET / HTTP/1.1\r\nHost: a\r\n${'a:\r\n'.repeat(15_000)}\r\n`],
    ['spaces before a value', `GET / HTTP/1.1\r\nHost: a\r\na:${' '.repeat(60_000)}b\r\n\r\n`],
    ['a long value', `GET / HTTP/1.1\r\nHost: a\r\na: ${'a'.repeat(60_000)}\r\n\r\n`],
    ['blank lines before it', `${'\r\n'.repeat(30_000)}${request('GET /')}`],
  ])('of more than 16 KiB gets 431 and the end, made of %s', async (_what, bytes) => {
    const { responses, closed } = await exchange(port, bytes, { responses: 2 });
    expect(responses.map(({ status }) => status)).toEqual([431]);
    expect(String(responses[0]?.body)).toContain('at most 16384 bytes');
    expect(closed).toBe(true);
  });

  test('of less is taken, request after request', async () => {
    const one = request('GET /', { Long: 'a'.repeat(15_000), Short: 'b' });
    const { responses } = await exchange(port, one.repeat(5), { responses: 5 });
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
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
    import { listen } from '${new URL('../../src/http-server/index.ts', import.meta.url)}';
    const { url } = await listen((_asked, response) => void response.end(), {
      host: '127.0.0.1', port: 0, onDropped: (count) => console.log('dropped', count),
    });
    console.log('url', url);
  `;
  const child = spawn('sh', ['-c', 'ulimit -n 400; exec "$0" --input-type=module -e "$1"', process.execPath, program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
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
