import { once } from 'node:events';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { type Options, serve, withFiles } from 'test-support/documents';
import { eventually } from 'test-support/eventually';
import { connected, exchange, request } from 'test-support/raw-http';
import type { AnyRequest } from '../src/core/handlers/types.ts';
import { createAuthenticator } from '../src/core/security/tokens.ts';
import type { Limits, Listening } from '../src/listener/listen.ts';
import { listenLocally } from './listener/support.ts';

const DOCUMENT = `
openapi: 3.1.0
info: { title: A, version: 1.0.0 }
security: [{ token: [] }]
paths:
  /quick: { get: { operationId: quick, responses: { '204': { description: done } } } }
  /logging: { get: { operationId: logging, responses: { '204': { description: done } } } }
  /plants/{id}:
    post:
      operationId: addPlant
      parameters: [{ name: id, in: path, required: true, schema: { type: integer } }]
      requestBody:
        content:
          application/json:
            schema:
              type: object
              additionalProperties: false
              properties:
                name: { type: string }
                beds: { type: array, items: { type: object, additionalProperties: { type: integer } } }
      responses: { '204': { description: done }, '400': { description: no body } }
  /signed:
    get:
      operationId: signed
      security: [{ token: [], __proto__: [] }]
      responses: { '200': { description: callers, content: { application/json: {} } } }
  /slow: { get: { operationId: slow, responses: { '204': { description: done } } } }
components: { securitySchemes: { token: { type: http, scheme: bearer }, __proto__: { type: apiKey, in: header, name: X-Key } } }
`;
const GOOD = { Authorization: 'Bearer good' };
const ANY_ID = expect.stringMatching(/^[\w-]{20}-[\da-z]+$/);

const listening: Listening[] = [];
afterEach(() => Promise.all(listening.splice(0).map(({ stop }) => stop())));

/** Starts a service whose operation `slow` never answers. */
async function start(limits: Partial<Limits> = {}, options: Options = {}) {
  const observed: unknown[] = [];
  let waiting = 0;
  const handlers = {
    quick: () => ({ status: 204 }),
    addPlant: () => ({ status: 204 }),
    signed: ({ callers }: AnyRequest) => ({ status: 200, body: Object.entries(callers ?? {}) }),
    logging: ({ id, log, headers }: AnyRequest) => {
      log.warn({ id, host: headers.host }, 'from the handler');
      return { status: 204 };
    },
    slow: () => {
      waiting += 1;
      return new Promise<never>(() => undefined);
    },
  };
  const observe: Options['observe'] = (operationId, status, seconds) =>
    observed.push({ operationId, status, seconds });
  const { app, lines } = await withFiles({ 'openapi.yaml': DOCUMENT }, (folder) =>
    serve(join(folder, 'openapi.yaml'), handlers, { observe, ...options }),
  );
  const server = await listenLocally(app, { limits });
  listening.push(server);
  const port = Number(new URL(server.url).port);
  return {
    lines,
    observed,
    stop: server.stop,
    get: async (path: string, headers = {}) =>
      (await exchange(port, request(`GET ${path}`, { ...GOOD, ...headers }))).responses[0],
    async post(path: string, body: object) {
      const headers = { ...GOOD, 'Content-Type': 'application/json' };
      const sent = request(`POST ${path}`, headers, JSON.stringify(body));
      return (await exchange(port, sent)).responses[0];
    },
    async connectSlowly() {
      const socket = await connected(port);
      socket.write(request('GET /slow', GOOD));
      await eventually(() => waiting === 1);
      return socket;
    },
  };
}

describe('the line of a request over HTTP', () => {
  test('contains the place and the keyword of each violation, without names of the client', async () => {
    const { post, lines } = await start();
    const body = { name: 5, beds: [{ secret: 'secret' }, { secret: [] }], secret: 1 };
    expect(await post('/plants/7', body)).toMatchObject({ status: 400, body: Buffer.alloc(0) });
    expect(await post('/plants/secret?secret=1', {})).toMatchObject({ status: 400 });
    await eventually(() => lines.length === 2);
    const [inBody, inParameters] = lines;
    expect(inBody?.reason).toBe('the request does not match the document');
    expect(inBody?.violations).toEqual(
      expect.arrayContaining([
        '/body/name type',
        '/body/* additionalProperties',
        '/body/beds/*/* type',
      ]),
    );
    expect(inBody?.violations).toHaveLength(3);
    expect(inParameters?.violations).toEqual(['/path/id type', '/query/* additionalProperties']);
    expect(JSON.stringify(lines)).not.toContain('secret');
  });

  test('contains each subject of a request with several credentials, like its handler', async () => {
    const settings = { accessTokens: ['ann:good scheme=token', 'office:key scheme=__proto__'] };
    const authenticator = await createAuthenticator(
      settings,
      new Map([
        ['token', true],
        ['__proto__', false],
      ]),
    );
    const { get, lines } = await start({}, { authenticator });
    const { body } = (await get('/signed', { 'X-Key': 'key' })) ?? {};
    expect(JSON.parse(String(body))).toMatchObject([
      ['token', { subject: 'ann' }],
      ['__proto__', { subject: 'office' }],
    ]);
    await eventually(() => lines.length === 1);
    expect(lines[0]?.subject).toBe('ann');
    expect(JSON.stringify(lines[0]?.subjects)).toBe('{"token":"ann","__proto__":"office"}');
  });

  test('contains the caller, the operation, the status and the duration', async () => {
    const { get, lines, observed } = await start();
    expect(await get('/quick')).toMatchObject({ status: 204 });
    await eventually(() => lines.length === 1);
    const { pid: _, hostname: __, time: ___, ...line } = lines[0] ?? {};
    expect(line).toEqual({
      level: 30,
      requestId: ANY_ID,
      client: '127.0.0.1',
      operationId: 'quick',
      method: 'GET',
      status: 204,
      durationMs: expect.any(Number),
      subject: 'someone',
      msg: 'responded',
    });
    expect(line.durationMs).toBeGreaterThan(0);
    expect(observed).toEqual([
      { operationId: 'quick', status: 204, seconds: Number(line.durationMs) / 1000 },
    ]);
  });

  const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
  test('has the same ids as a line that the handler logs', async () => {
    const { get, lines } = await start();
    const answer = await get('/logging', { traceparent: `00-${TRACE}-00f067aa0ba902b7-01` });
    await eventually(() => lines.length === 2);
    const requestId = answer?.headers['x-request-id'];
    const ids = { requestId, traceId: TRACE, operationId: 'logging' };
    expect(lines[0]).toMatchObject({
      ...ids,
      level: 40,
      id: requestId,
      host: 'localhost',
      msg: 'from the handler',
    });
    expect(lines[1]).toMatchObject({ ...ids, msg: 'responded' });
  });

  test('contains the path of a page or a failed probe, and no other path', async () => {
    const ready = () => Promise.reject(new Error('not ready'));
    const { get, lines } = await start({}, { ready });
    for (const path of [
      '/',
      '/healthz?a=b',
      '/readyz',
      '/docs',
      '/docs/page.css',
      '/secret',
      '/docs/secret',
    ])
      await get(path);
    await eventually(() => lines.length === 6);
    expect(lines.map(({ status, path }) => [status, path])).toEqual([
      [302, '/'],
      [503, '/readyz'],
      [200, '/docs'],
      [200, '/docs/page.css'],
      [404, undefined],
      [404, undefined],
    ]);
  });

  test('has status 499 if the client disconnects, as in the metrics', async () => {
    const { connectSlowly, lines, observed } = await start();
    (await connectSlowly()).resetAndDestroy();
    await eventually(() => lines.length === 1);
    expect(lines[0]).toMatchObject({
      level: 30,
      operationId: 'slow',
      status: 499,
      cutOff: true,
      msg: 'responded',
    });
    expect(lines[0]).not.toHaveProperty('reason');
    expect(observed).toMatchObject([{ operationId: 'slow', status: 499 }]);
  });

  test('has status 503 if the service stops first, as in the metrics', async () => {
    const { connectSlowly, lines, observed, stop } = await start({ stopTimeout: 100 });
    const socket = await connectSlowly();
    const closed = once(socket.resume(), 'close');
    await stop();
    await closed;
    await eventually(() => lines.length === 1);
    expect(lines[0]).toMatchObject({
      level: 50,
      operationId: 'slow',
      status: 503,
      reason: 'the service stopped before it responded',
      cutOff: true,
      msg: 'failed',
    });
    expect(observed).toMatchObject([{ operationId: 'slow', status: 503 }]);
  });
});
