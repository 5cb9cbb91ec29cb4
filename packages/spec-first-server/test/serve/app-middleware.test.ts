import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json as readJson } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import compression from 'compression';
import express, { type NextFunction } from 'express';
import { rateLimit } from 'express-rate-limit';
import session from 'express-session';
import { pino } from 'pino';
import { authenticator, withFiles } from 'test-support/documents';
import { eventually } from 'test-support/eventually';
import { exchange } from 'test-support/raw-http';
import { HttpError } from '../../src/core/response/http-error.ts';
import type { Listening } from '../../src/listener/listen.ts';
import { type AppService, createAppService, createListener } from '../../src/serve/app.ts';
import { listenLocally } from '../listener/support.ts';

declare module 'express-session' {
  interface SessionData {
    visits: number;
  }
}

const DOCUMENT = `openapi: 3.2.0
info: { title: A, version: 1.0.0 }
paths:
  /events: { get: { operationId: events, responses: { '200': { description: ok, content: { text/event-stream: { itemSchema: {} } } } } } }
  /texts: { get: { operationId: texts, responses: { '200': { description: ok, content: { application/json: {} } } } } }
  /secured: { get: { operationId: secured, security: [{ token: [] }], responses: { '204': { description: ok } } } }
components: { securitySchemes: { token: { type: http, scheme: bearer } } }
`;

async function* oneEvent(signal: AbortSignal) {
  yield { data: 'a' };
  if (!signal.aborted) await once(signal, 'abort');
}

const lines: Record<string, unknown>[] = [];
let service: AppService;
let listening: Listening;
const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(listening.url + path, { headers });

beforeAll(async () => {
  const perPath = {
    limit: 2,
    skip: ({ path }: express.Request) => path !== '/secured',
    handler: (_request: express.Request, _response: express.Response, next: NextFunction) =>
      next(new HttpError(429, 'at most two requests a minute', { headers: { 'Retry-After': 60 } })),
  };
  const hooks = express.Router().post('/hooks', express.json(), (request, response) => {
    response.json({ received: request.body });
  });
  service = await withFiles({ 'openapi.yaml': DOCUMENT }, (folder) =>
    createAppService({
      document: join(folder, 'openapi.yaml'),
      authenticator,
      log: pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) }),
      handlers: {
        texts: () => ({ status: 200, body: { text: 'a'.repeat(5_000) } }),
        secured: () => ({ status: 204 }),
        events: ({ signal }) => ({ status: 200, body: oneEvent(signal) }),
      },
    }),
  );
  const app = await createListener(service, {
    use: [
      rateLimit(perPath),
      compression(),
      session({ secret: 'a', resave: false, saveUninitialized: true, name: 'visitor' }),
      (request, response, next) => {
        request.session.visits = (request.session.visits ?? 0) + 1;
        response.setHeader('Visits', request.session.visits);
        next();
      },
      hooks,
    ],
  });
  listening = await listenLocally(app);
});
afterAll(() => listening.stop());

describe('middleware of a project', () => {
  test('compresses the replies of operations', async () => {
    const answer = await get('/texts', { 'Accept-Encoding': 'gzip' });
    expect(answer.headers.get('content-encoding')).toBe('gzip');
    expect(await answer.json()).toEqual({ text: 'a'.repeat(5_000) });
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
  });

  test('does not delay events by compressing them', async () => {
    const answer = await get('/events', { 'Accept-Encoding': 'gzip' });
    const reader = answer.body?.getReader();
    expect(String(Buffer.from((await reader?.read())?.value ?? []))).toBe('data: a\n\n');
    await reader?.cancel();
  });

  test('limits rates before credentials are checked, with the error body of the document', async () => {
    const statuses = [];
    for (let times = 0; times < 3; times += 1) statuses.push((await get('/secured')).status);
    expect(statuses).toEqual([401, 401, 429]);
    const answer = await get('/secured', { Authorization: 'Bearer good' });
    expect(answer.headers.get('retry-after')).toBe('60');
    expect(answer.headers.get('x-request-id')).toMatch(/\w/);
    expect(await answer.json()).toEqual({
      title: 'Too Many Requests',
      status: 429,
      detail: 'at most two requests a minute',
    });
    await eventually(() => lines.filter(({ status }) => status === 429).length === 2);
  });

  test('serves additional routes', async () => {
    const answer = await fetch(`${listening.url}/hooks`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{"a":1}',
    });
    expect(await answer.json()).toEqual({ received: { a: 1 } });
    expect(answer.headers.get('x-request-id')).toMatch(/\w/);
    const broken = await fetch(`${listening.url}/hooks`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{"a":secret',
    });
    expect([broken.status, broken.headers.get('content-type')]).toEqual([
      400,
      'application/problem+json',
    ]);
    expect(await broken.json()).toMatchObject({ detail: 'the body is malformed' });
    await eventually(() => lines.some(({ status }) => status === 400));
    expect(lines.at(-1)).toMatchObject({ reason: 'the body is malformed' });
    expect(JSON.stringify(lines)).not.toContain('secret');
  });

  test('reads a body whose client waits for 100 Continue', async () => {
    const headers = { Expect: '100-continue', 'Content-Type': 'application/json' };
    const client = httpRequest(`${listening.url}/hooks`, { method: 'POST', headers });
    client.on('continue', () => client.end('{"a":1}'));
    client.flushHeaders();
    const [answer] = await once(client, 'response');
    expect(await readJson(answer)).toEqual({ received: { a: 1 } });
  });

  test('gets requests that the server has checked, without another check', async () => {
    const app = await createListener(service, { use: [] });
    const server = createServer(app).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    // Node drops the second header; only a check would reject it.
    const twice = 'GET /texts HTTP/1.1\r\nHost: a\r\nHost: a\r\nConnection: close\r\n\r\n';
    const { responses } = await exchange(port, twice);
    server.close();
    expect(responses[0]?.status).toBe(200);
  });
});
