import { once } from 'node:events';
import type { RequestListener, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from 'test-support/eventually';
import { connected, exchange, request } from 'test-support/raw-http';
import type { HttpFailure } from '../../src/http/failures.ts';
import type { Listening } from '../../src/listener/listen.ts';
import { listenLocally } from './support.ts';

const app: RequestListener = (received, response) => {
  received.resume().on('end', () => response.end());
};

let listening: Listening;
let port: number;
const rejected: HttpFailure[] = [];
beforeAll(async () => {
  listening = await listenLocally(app, {
    onRejected: (reason) => rejected.push(reason),
  });
  port = Number(new URL(listening.url).port);
});
afterAll(() => listening.stop());

test('the size of a header section is limited in each request of a connection', async () => {
  const short = Object.fromEntries(Array.from({ length: 190 }, (_, index) => [`a${index}`, '']));
  const longRequest = request('GET /', { Long: 'a'.repeat(10_000), ...short });
  const { responses } = await exchange(port, longRequest.repeat(5), { responses: 5 });
  expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
});

describe('the time for a request', () => {
  const limits = { headersTimeout: 400, requestTimeout: 800 };

  /** Repeats a failed check: on a busy machine, a request may take longer than the limits. */
  const withServer = (listener: RequestListener, check: (port: number) => Promise<void>) =>
    eventually(async () => {
      const { url, stop } = await listenLocally(listener, { limits });
      try {
        await check(Number(new URL(url).port));
      } finally {
        await stop();
      }
    });

  test('does not include the time of previous responses', async () => {
    const waiting: ServerResponse[] = [];
    const body = { 'Content-Length': '200000' };
    const post = request('POST /', body) + 'x'.repeat(200_000);
    await withServer(
      (_request, response) => void waiting.push(response),
      async (serverPort) => {
        waiting.length = 0;
        let isOver = false;
        const bytes = request('GET /').repeat(11) + post;
        const answer = exchange(serverPort, bytes, { responses: 12 }).finally(() => {
          isOver = true;
        });
        for (let index = 0; index < 12; index += 1) {
          await eventually(() => isOver || waiting.length === index + 1);
          await delay(index === 0 ? 1_400 : 5);
          const response = waiting[index];
          if (index === 11) response?.req.resume().on('end', () => response.end());
          else response?.end();
        }
        const { responses } = await answer;
        expect(responses.map(({ status }) => status)).toEqual(Array(12).fill(200));
      },
    );
  });

  test('begins again after the last response to previous requests', async () => {
    const answerLate: RequestListener = (_request, response) => {
      setTimeout(() => response.end(), 700);
    };
    const bytes = request('GET /') + request('GET /').slice(0, -2);
    await withServer(answerLate, async (serverPort) => {
      const { responses, closed } = await exchange(serverPort, bytes, { responses: 3 });
      expect(responses.map(({ status }) => status)).toEqual([200, 408]);
      expect(closed).toBe(true);
    });
  });

  test.each([
    ['a head that does not end', request('GET /').slice(0, -2)],
    ['a body that does not end', `${request('POST /', { 'Content-Length': '9' })}x`],
    ['a head that does not end, after a request', request('GET /') + request('GET /').slice(0, -2)],
  ])('ends with 408: %s', async (_what, bytes) => {
    const answerGet: RequestListener = ({ method }, response) => {
      if (method === 'GET') response.end();
    };
    await withServer(answerGet, async (serverPort) => {
      const { responses, closed } = await exchange(serverPort, bytes, { responses: 3 });
      expect(responses.at(-1)).toMatchObject({ status: 408, headers: { connection: 'close' } });
      expect(closed).toBe(true);
    });
  });
});

test('a request that ends with a reset is not reported', async () => {
  const accepted = once(listening.server, 'connection');
  const socket = await connected(port);
  const [serverSocket] = await accepted;
  socket.write('GET / HT');
  await eventually(() => serverSocket.bytesRead > 0);
  socket.resetAndDestroy();
  await exchange(port, request('GET /'));
  expect(rejected).toEqual([]);
});

describe('a body that becomes invalid', () => {
  const HEAD = request('POST /', { 'Transfer-Encoding': 'chunked' });
  const INVALID = '1\r\na\r\nno size\r\n';

  /** Starts a server whose app gets each request before the rest of its body. */
  async function start() {
    const responses: ServerResponse[] = [];
    const reasons: HttpFailure[] = [];
    const keep: RequestListener = (received, response) => {
      received.on('error', () => {}).resume();
      responses.push(response);
    };
    const server = await listenLocally(keep, {
      onRejected: (reason) => reasons.push(reason),
    });
    return { responses, reasons, server, port: Number(new URL(server.url).port) };
  }

  test('while the app handles its request, gets 400, which the app can read', async () => {
    const { responses, reasons, server, port } = await start();
    const socket = await connected(port);
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk;
    });
    socket.write(HEAD);
    await eventually(() => responses.length === 1);
    socket.write(INVALID);
    await eventually(() => received.includes('size in hex digits'));
    expect(received).toMatch(/^HTTP\/1\.1 400 /);
    expect(responses[0]).toHaveProperty('failure.status', 400);
    expect(reasons).toEqual([]);
    socket.destroy();
    await server.stop();
  });

  test('after the response has started, closes the connection when the response ends', async () => {
    const { responses, reasons, server, port } = await start();
    const socket = await connected(port);
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk;
    });
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.write(HEAD);
    await eventually(() => responses.length === 1);
    responses[0]?.write('start');
    await eventually(() => received.includes('start'));
    socket.write(INVALID);
    const size = HEAD.length + INVALID.length;
    await eventually(() => responses[0]?.req.socket.bytesRead === size);
    responses[0]?.end('end');
    await closed;
    expect(received.match(/HTTP\/1\.1/g)).toHaveLength(1);
    expect(reasons).toEqual([]);
    await server.stop();
  });
});
