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
const rejected: [reason: HttpFailure, client: string | undefined][] = [];
beforeAll(async () => {
  listening = await listenLocally(app, {
    onRejected: (reason, client) => rejected.push([reason, client]),
  });
  port = Number(new URL(listening.url).port);
});
afterAll(() => listening.stop());

describe('a header section', () => {
  test.each([
    ['200 headers', `GET / HTTP/1.1\r\nHost: a\r\n${'a:\r\n'.repeat(199)}\r\n`],
    ['many short headers', `GET / HTTP/1.1\r\nHost: a\r\n${'a:\r\n'.repeat(20_000)}\r\n`],
    ['a long value', `GET / HTTP/1.1\r\nHost: a\r\na: ${'a'.repeat(60_000)}\r\n\r\n`],
    ['a long target', `GET /${'a'.repeat(60_000)} HTTP/1.1\r\nHost: a\r\n\r\n`],
  ])('that is too large gets 431, and the connection is closed: %s', async (_what, bytes) => {
    const { responses, closed } = await exchange(port, bytes, { responses: 2 });
    expect(responses.map(({ status }) => status)).toEqual([431]);
    expect(String(responses[0]?.body)).toContain('at most 16384 bytes');
    expect(closed).toBe(true);
  });

  test('below the limit is accepted in each request of a connection', async () => {
    const short = Object.fromEntries(Array.from({ length: 190 }, (_, index) => [`a${index}`, '']));
    const longRequest = request('GET /', { Long: 'a'.repeat(10_000), ...short });
    const { responses } = await exchange(port, longRequest.repeat(5), { responses: 5 });
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  });
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

describe('bytes that the app does not get', () => {
  test.each([
    ['no request\r\n\r\n', 400],
    ['CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n', 405],
    ['GET / HTTP/1.1\r\nHost: a\r\nb c: d\r\n\r\n', 400],
    [request('GET /', { Host: 'a/b' }), 400],
    [request('GET /', { Expect: 'tea' }), 417],
    ['GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nno size\r\n', 400],
  ])('get an error response, and the connection is closed: %j', async (bytes, status) => {
    rejected.length = 0;
    const { responses, closed } = await exchange(port, bytes, { responses: 2 });
    expect(closed).toBe(true);
    const [response] = responses;
    expect(responses).toHaveLength(1);
    expect(response).toMatchObject({
      status,
      headers: {
        'content-type': 'text/plain; charset=utf-8',
        connection: 'close',
        date: expect.stringMatching(/ GMT$/),
      },
    });
    if (status === 405) expect(response?.headers.allow).toBe('');
  });

  test('are reported with the reason and the client', async () => {
    rejected.length = 0;
    await exchange(port, 'no request\r\n\r\n', { responses: 2 });
    await exchange(port, request('GET /', { Host: 'a/b' }), { responses: 2 });
    expect(rejected.map(([reason, client]) => [reason.status, client])).toEqual([
      [400, '127.0.0.1'],
      [400, '127.0.0.1'],
    ]);
  });

  test('that end with a reset are not reported', async () => {
    rejected.length = 0;
    const accepted = once(listening.server, 'connection');
    const socket = await connected(port);
    const [serverSocket] = await accepted;
    socket.write('GET / HT');
    await eventually(() => serverSocket.bytesRead > 0);
    socket.resetAndDestroy();
    await exchange(port, request('GET /'));
    expect(rejected).toEqual([]);
  });
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
