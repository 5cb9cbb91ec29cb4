import { once } from 'node:events';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { type Options, serve, withFiles } from 'test-support/documents';
import { eventually } from 'test-support/eventually';
import { connected, exchange, request } from 'test-support/raw-http';
import type { Limits } from '../../src/adapters/node/index.ts';
import { type Listening, listen } from '../../src/adapters/node/index.ts';
import type { AnyRequest } from '../../src/core/handlers/types.ts';

const DOCUMENT = `
openapi: 3.1.0
info: { title: A, version: 1.0.0 }
security: [{ token: [] }]
paths:
  /quick: { get: { operationId: quick, responses: { '204': { description: done } } } }
  /telling: { get: { operationId: telling, responses: { '204': { description: done } } } }
  /slow: { get: { operationId: slow, responses: { '204': { description: done } } } }
components: { securitySchemes: { token: { type: http, scheme: bearer } } }
`;
const GOOD = { Authorization: 'Bearer good' };
const ANY_ID = expect.stringMatching(/^[\w-]{20}-[\da-z]+$/);

const listening: Listening[] = [];
afterEach(() => Promise.all(listening.splice(0).map(({ stop }) => stop())));

/**
 * A service whose `slow` is never answered: where it is, what it logs, and what it tells the
 * metrics.
 */
async function start(limits: Partial<Limits> = {}, options: Options = {}) {
  const observed: unknown[] = [];
  let waiting = 0;
  const handlers = {
    quick: () => ({ status: 204 }),
    telling: ({ id, log, headers }: AnyRequest) => {
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
  const server = await listen(app, { host: '127.0.0.1', port: 0, limits });
  listening.push(server);
  const port = Number(new URL(server.url).port);
  return {
    port,
    lines,
    observed,
    stop: server.stop,
    get: async (path: string, headers = {}) =>
      (await exchange(port, request(`GET ${path}`, { ...GOOD, ...headers }))).responses[0],
    /** Resolves to a connection whose request is with the handler. */
    async asking() {
      const socket = await connected(port);
      socket.write(request('GET /slow', GOOD));
      await eventually(() => waiting === 1);
      return socket;
    },
  };
}

describe('the line of a request', () => {
  test('has no unknown path, which may hold a secret, except in development', async () => {
    for (const inDevelopment of [false, true]) {
      const { get, lines } = await start({}, { inDevelopment });
      expect(await get('/nowhere?key=secret')).toMatchObject({ status: 404 });
      await eventually(() => lines.length === 1);
      expect(lines[0]?.path).toBe(inDevelopment ? '/nowhere' : undefined);
    }
  });

  test('tells who asked for what, what came of it and how long it took', async () => {
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
      msg: 'answered',
    });
    expect(line.durationMs).toBeGreaterThan(0);
    expect(observed).toEqual([
      { operationId: 'quick', status: 204, seconds: Number(line.durationMs) / 1000 },
    ]);
  });

  test.each([
    [undefined, '127.0.0.1'],
    [1, '192.0.2.2'],
    [2, '192.0.2.1'],
    [true, '192.0.2.1'],
    [['loopback'], '192.0.2.2'],
    [['10.0.0.0/8'], '127.0.0.1'],
  ])('has the address of the client, with trustProxy %j', async (trustProxy, client) => {
    const { get, lines } = await start({}, trustProxy === undefined ? {} : { trustProxy });
    await get('/quick', { 'X-Forwarded-For': '192.0.2.1, 192.0.2.2' });
    await eventually(() => lines.length === 1);
    expect(lines[0]).toMatchObject({ client });
  });

  test.each(['secret', '192.0.2.1:80', 'unknown'])(
    'has the address of the connection where the forwarded one is %s',
    async (sent) => {
      const { get, lines } = await start({}, { trustProxy: true });
      await get('/quick', { 'X-Forwarded-For': sent });
      await eventually(() => lines.length === 1);
      expect(lines[0]).toMatchObject({ client: '127.0.0.1' });
    },
  );

  test('has the id that came with it, or one of its own if that is empty, long or has other characters', async () => {
    const { get, lines } = await start();
    const sent = ['a', 'from:a-proxy_1.2', 'x'.repeat(64), '', 'two words', '"', 'x'.repeat(65)];
    const answered: unknown[] = [];
    for (const id of sent)
      answered.push((await get('/quick', { 'X-Request-Id': id }))?.headers['x-request-id']);
    expect(answered).toEqual([...sent.slice(0, 3), ANY_ID, ANY_ID, ANY_ID, ANY_ID]);
    await eventually(() => lines.length === sent.length);
    expect(lines.map(({ requestId }) => requestId)).toEqual(answered);
  });

  const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
  test('has the trace id of a traceparent that is valid', async () => {
    const { get, lines } = await start();
    const sent = [
      [`00-${TRACE}-00f067aa0ba902b7-01`, TRACE],
      [`01-${TRACE}-00f067aa0ba902b7-01-later`, TRACE],
      [`00-${TRACE}-00f067aa0ba902b7`, undefined],
      [`00-${'0'.repeat(32)}-00f067aa0ba902b7-01`, undefined],
      ['secret', undefined],
    ] as const;
    for (const [traceparent] of sent) await get('/quick', { traceparent });
    await eventually(() => lines.length === sent.length);
    expect(lines.map(({ traceId }) => traceId)).toEqual(sent.map(([, traceId]) => traceId));
  });

  test('has the ids of the line that its handler logs', async () => {
    const { get, lines } = await start();
    const answer = await get('/telling', { traceparent: `00-${TRACE}-00f067aa0ba902b7-01` });
    await eventually(() => lines.length === 2);
    const requestId = answer?.headers['x-request-id'];
    const ids = { requestId, traceId: TRACE, operationId: 'telling' };
    expect(lines[0]).toMatchObject({
      ...ids,
      level: 40,
      id: requestId,
      host: 'localhost',
      msg: 'from the handler',
    });
    expect(lines[1]).toMatchObject({ ...ids, msg: 'answered' });
  });

  test('is written for a health probe at level debug only', async () => {
    const { get, lines, observed } = await start();
    await get('/healthz');
    await get('/quick');
    await eventually(() => observed.length === 2);
    expect(lines.map(({ operationId }) => operationId)).toEqual(['quick']);
    expect(observed).toMatchObject([{ operationId: '(probe)' }, { operationId: 'quick' }]);
  });

  test('is a warning for a request that takes longer than slowMs', async () => {
    const { get, lines } = await start({}, { slowMs: 0.000001 });
    await get('/quick');
    await eventually(() => lines.length === 1);
    expect(lines).toMatchObject([{ level: 40, msg: 'slow', operationId: 'quick' }]);
  });

  test('tells an outage by its first answer 503 and by its end, with a count', async () => {
    let isDown = true;
    const ready = () =>
      isDown
        ? Promise.reject(Object.assign(new Error('the store is away'), { status: 503 }))
        : Promise.resolve();
    const { get, lines } = await start({}, { ready });
    for (let times = 0; times < 3; times += 1) {
      await get('/readyz');
      // The probe of liveness is not part of the outage.
      await get('/healthz');
    }
    isDown = false;
    await get('/readyz');
    const logged = () => lines.filter(({ level }) => Number(level) > 20);
    await eventually(() => logged().length === 4);
    expect(
      logged().map(({ level, msg, err, failed }) => [level, msg, err !== undefined, failed]),
    ).toEqual([
      [50, 'failed', true, undefined],
      [30, 'answered', false, undefined],
      [30, 'answered', false, undefined],
      [40, 'available again', false, 3],
    ]);
  });

  test('tells the end of an outage by a success only', async () => {
    const away = Object.assign(new Error('the store is away'), { status: 503 });
    let failure: Error | undefined;
    const ready = async () => {
      if (failure !== undefined) throw failure;
    };
    const { get, lines, port } = await start({}, { ready });
    for (const next of [away, new Error('a bug'), away]) {
      failure = next;
      await get('/readyz');
      await exchange(port, request('POST /readyz', GOOD));
    }
    failure = undefined;
    await get('/readyz');
    const logged = () => lines.filter(({ level }) => Number(level) > 20);
    await eventually(() => logged().some(({ msg }) => msg === 'available again'));
    expect(logged().map(({ status, msg, failed }) => [status, msg, failed])).toEqual([
      [503, 'failed', undefined],
      [500, 'failed', undefined],
      [503, 'answered', undefined],
      [undefined, 'available again', 2],
    ]);
  });

  test('has the path of what operators ask for, and of nothing else', async () => {
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
      [500, '/readyz'],
      [200, '/docs'],
      [200, '/docs/page.css'],
      [404, undefined],
      [404, undefined],
    ]);
  });

  test('tells a client that went away, as the metrics do', async () => {
    const { asking, lines, observed } = await start();
    (await asking()).resetAndDestroy();
    await eventually(() => lines.length === 1);
    expect(lines[0]).toMatchObject({
      level: 30,
      operationId: 'slow',
      status: 499,
      cutOff: true,
      msg: 'answered',
    });
    expect(lines[0]).not.toHaveProperty('reason');
    expect(observed).toMatchObject([{ operationId: 'slow', status: 499 }]);
  });

  test('tells what a stop cut off, as the metrics do', async () => {
    const { asking, lines, observed, stop } = await start({ stopTimeout: 100 });
    const socket = await asking();
    const closed = once(socket.resume(), 'close');
    await stop();
    await closed;
    await eventually(() => lines.length === 1);
    expect(lines[0]).toMatchObject({
      level: 50,
      operationId: 'slow',
      status: 503,
      reason: 'the service stopped before the request was answered',
      cutOff: true,
      msg: 'failed',
    });
    expect(observed).toMatchObject([{ operationId: 'slow', status: 503 }]);
  });
});
