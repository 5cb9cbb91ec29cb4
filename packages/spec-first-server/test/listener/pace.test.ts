import { once } from 'node:events';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { eventually } from 'test-support/eventually';
import { connected, exchange, request } from 'test-support/raw-http';
import { readAll } from '../../src/http/request-body.ts';
import type { Listening } from '../../src/listener/listen.ts';
import { listenLocally } from './support.ts';

const CHUNKED = { 'Transfer-Encoding': 'chunked' };

let held: [request: IncomingMessage, response: ServerResponse][] = [];
/** Answers after the body. Does not answer `/held`. */
const app: RequestListener = async (received, response) => {
  if (received.url === '/held') return void held.push([received, response]);
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
});
afterAll(() => listening.stop());

const inBytes = (size: number): string => '1\r\nx\r\n'.repeat(size);

test('a body of blank lines arrives in as few chunks as one of letters', async () => {
  const bodies = ['\r\n\r\n', 'xxxx'].map((text) => text.repeat(25_000));
  const answers = await Promise.all(
    bodies.map((body) => exchange(port, request('POST /', {}, body))),
  );
  const [blank, letters] = answers.map(({ responses }) => JSON.parse(String(responses[0]?.body)));
  expect(blank.size).toBe(100_000);
  expect(blank.chunks).toBeLessThan(letters.chunks * 3);
});

test('a body in chunks of one byte is read on demand, and merged into few buffers', async () => {
  const accepted = once(listening.server, 'connection');
  const socket = await connected(port);
  const [serverSocket] = await accepted;
  socket.write(`${request('POST /held', CHUNKED)}${inBytes(100_000)}0\r\n\r\n`);
  await eventually(() => held.length === 1 && serverSocket.isPaused());
  expect(serverSocket.bytesRead).toBeLessThan(300_000);
  const [received, response] = held[0] ?? [];
  let size = 0;
  let chunks = 0;
  received?.on('data', (chunk) => {
    size += chunk.length;
    chunks += 1;
  });
  received?.on('end', () => response?.end());
  const [answer] = await once(socket, 'data');
  expect(String(answer)).toMatch(/^HTTP\/1\.1 200 /);
  expect(size).toBe(100_000);
  // Without the merge, each byte would be an object of its own.
  expect(chunks).toBeLessThan(1_000);
  socket.destroy();
});

test.each<[string, (received: IncomingMessage) => unknown]>([
  ['a listener for data', (received) => received.on('data', () => {})],
  ['a listener for readable', (received) => received.on('readable', () => readAll(received))],
  ['resume()', (received) => received.resume()],
])('a body that is paused continues at %s', async (_name, read) => {
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

test('a pipelined body is read after the connection was paused for the body before it', async () => {
  const accepted = once(listening.server, 'connection');
  const socket = await connected(port);
  const [serverSocket] = await accepted;
  const bytes = 'x'.repeat(60_000);
  socket.write(request('POST /held', { 'Content-Length': '60000' }));
  await eventually(() => held.length === 1);
  socket.write(`${bytes}${request('POST /', CHUNKED)}1\r\nx\r\n`);
  await eventually(() => serverSocket.isPaused());
  held[0]?.[0].resume().on('end', () => held[0]?.[1].end());
  const [first] = await once(socket, 'data');
  expect(String(first)).toMatch(/^HTTP\/1\.1 200 /);
  socket.write(`${inBytes(100_000)}0\r\n\r\n`);
  const [second] = await once(socket, 'data');
  expect(String(second)).toMatch(/\r\n\r\n.*"size":100001/s);
  socket.destroy();
});

test('a body is read to its end if the size and the data of a chunk arrive separately', async () => {
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
