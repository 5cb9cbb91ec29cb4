import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, jest, test } from '@jest/globals';
import { eventually } from 'test-support/eventually';
import { createClient, listen } from '../../src/contract-tests/client.ts';

async function clientOf(app: RequestListener) {
  const origin = await listen(app);
  return { origin, ...createClient(`${origin}/v1/`, 'http://shown') };
}

const GET = { method: 'GET', url: '/a', headers: {} };

/** Waits longer than the client waits for a chunk. */
const late = () => delay(2_000, undefined, { ref: false });

/** The timers that a test does not replace: all except intervals. */
const REAL_TIMERS = [
  'Date',
  'hrtime',
  'nextTick',
  'performance',
  'queueMicrotask',
  'setImmediate',
  'clearImmediate',
  'setTimeout',
  'clearTimeout',
] as const;

describe('a client', () => {
  test('sends requests to the base URL on one connection', async () => {
    const received: unknown[] = [];
    const sockets = new Set<unknown>();
    const { base, send } = await clientOf((request, response) => {
      sockets.add(request.socket);
      const { method, url, headers } = request;
      const { 'x-a': header, 'content-length': length } = headers;
      let body = '';
      request.setEncoding('utf8').on('data', (chunk) => {
        body += chunk;
      });
      request.on('end', () => {
        received.push({ method, url, header, length, body });
        response.end();
      });
    });
    const body = Buffer.from('{"name":"ä"}');
    const { url } = await send({ method: 'POST', url: '/a?b=c', headers: { 'X-A': 'd' }, body });
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1\/a\?b=c$/);
    await send(GET);
    expect(received).toEqual([
      { method: 'POST', url: '/v1/a?b=c', header: 'd', length: '13', body: '{"name":"ä"}' },
      { method: 'GET', url: '/v1/a', header: undefined, length: undefined, body: '' },
    ]);
    expect([base, sockets.size]).toEqual(['http://shown/v1', 1]);
  });

  test.each(['DELETE', 'GET', 'OPTIONS'])('sends the body of %s', async (method) => {
    const { send } = await clientOf(async (request, response) => {
      const chunks = await Array.fromAsync<Buffer>(request);
      response.end(Buffer.concat(chunks));
    });
    const body = Buffer.from('{"name":"ä"}');
    const response = await send({ ...GET, method, body });
    expect([response.status, `${response.body}`]).toEqual([200, '{"name":"ä"}']);
  });

  test('reads the status, the headers and the whole body, even of a slow response', async () => {
    const { send } = await clientOf(async (_request, response) => {
      response.setHeader('Set-Cookie', ['a=1', 'b=2']).setHeader('X-A', 'c').writeHead(201);
      response.write('a');
      await delay(100);
      for (let chunk = 0; chunk < 20; chunk += 1) response.write('b');
      await delay(500);
      response.end('c');
    });
    const { status, headers, body, isCut } = await send(GET);
    expect([status, isCut, String(body)]).toEqual([201, false, `a${'b'.repeat(20)}c`]);
    expect(headers).toMatchObject({ 'set-cookie': 'a=1,b=2', 'x-a': 'c' });
  });

  test.each([
    'text/event-stream',
    'multipart/mixed; boundary=b',
    'application/json-seq',
    'application/jsonl',
    'application/x-ndjson',
  ])('reads the beginning of a stream without end in %s', async (type) => {
    const { send } = await clientOf(async (request, response) => {
      response.setHeader('Content-Type', type);
      for (let chunk = 0; !request.socket.destroyed; chunk += 1) {
        response.write(`${chunk} `);
        await delay(5);
      }
    });
    const { body, isCut } = await send(GET);
    expect(isCut).toBe(true);
    // A busy machine may read fewer chunks, or several at once.
    expect(String(body).split(' ').length).toBeLessThan(100);
  });

  test('waits for the first chunk of a stream longer than for the next one', async () => {
    const { send } = await clientOf(async (_request, response) => {
      response.setHeader('Content-Type', 'text/event-stream').flushHeaders();
      await delay(100);
      response.write('data: a\n\n');
      await late();
      response.end('data: b\n\n');
    });
    const { body, isCut } = await send(GET);
    expect([String(body), isCut]).toEqual(['data: a\n\n', true]);
  });

  test('reads a chunk that arrives while the process is suspended', async () => {
    const { send } = await clientOf(async (_request, response) => {
      response.setHeader('Content-Type', 'text/event-stream').flushHeaders();
      const chunkTime = delay(200);
      await delay(100);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
      await chunkTime;
      response.write('data: a\n\n');
      await late();
      response.end('data: b\n\n');
    });
    const { body, isCut } = await send(GET);
    expect([String(body), isCut]).toEqual(['data: a\n\n', true]);
  });

  test('counts the wait for the headers as a part of the wait for the first chunk', async () => {
    const { send } = await clientOf(async (_request, response) => {
      await delay(500);
      response.setHeader('Content-Type', 'text/event-stream').flushHeaders();
      await late();
      response.end('data: a\n\n');
    });
    const { body, isCut } = await send(GET);
    expect([String(body), isCut]).toEqual(['', true]);
  });

  test('reads a stream that ends', async () => {
    const { send } = await clientOf((_request, response) => {
      response.setHeader('Content-Type', 'text/event-stream').end('data: a\n\n');
    });
    expect(await send(GET)).toMatchObject({ body: Buffer.from('data: a\n\n'), isCut: false });
  });

  test.each([
    ['without a response', ''],
    ['within a response', 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc'],
    [
      'within a stream',
      'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 9\r\n\r\nabc',
    ],
  ])('throws if the connection ends %s', async (_name, text) => {
    const { send } = await clientOf((request) => request.socket.end(text));
    await expect(send(GET)).rejects.toThrow(/socket hang up|aborted/);
  });

  test('sends a request again if the service has closed its idle connection', async () => {
    const sockets = new Set<Socket>();
    let requests = 0;
    const { send } = await clientOf((request, response) => {
      requests += 1;
      // The second request on a connection arrives while the service closes it.
      if (sockets.has(request.socket)) return void request.socket.resetAndDestroy();
      sockets.add(request.socket);
      response.end();
    });
    for (const expected of [1, 3, 5]) {
      expect(await send(GET)).toHaveProperty('status', 200);
      expect(requests).toBe(expected);
    }
  });

  test('throws after 10 seconds without data', async () => {
    jest.useFakeTimers({ advanceTimers: false, doNotFake: [...REAL_TIMERS] });
    try {
      let isReceived = false;
      const { send } = await clientOf(() => {
        isReceived = true;
      });
      const failed = send(GET).catch(({ message }: Error) => message);
      await eventually(() => isReceived);
      jest.advanceTimersByTime(10_000);
      const pending = await Promise.race([failed, delay(50, 'pending')]);
      jest.advanceTimersByTime(1_000);
      expect([pending, await failed]).toEqual(['pending', 'no data for 10 seconds']);
    } finally {
      jest.useRealTimers();
    }
  });

  test('throws if the connection is reset within a response', async () => {
    const { send } = await clientOf(async (request, response) => {
      response.setHeader('Content-Length', 9).write('abc');
      await delay(20);
      request.socket.resetAndDestroy();
    });
    await expect(send(GET)).rejects.toThrow(/ECONNRESET|aborted/);
  });

  test('uses TLS for https', async () => {
    const { origin } = await clientOf((_request, response) => response.end());
    const { base, send } = createClient(origin.replace('http:', 'https:'));
    await expect(send(GET)).rejects.toThrow(/SSL|EPROTO|wrong version/);
    expect(base).toBe(origin.replace('http:', 'https:'));
  });
});
