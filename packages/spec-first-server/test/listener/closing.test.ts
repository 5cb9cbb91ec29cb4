import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { withFiles } from 'test-support/documents';
import { eventually } from 'test-support/eventually';
import { request } from 'test-support/raw-http';
import { sendPooled, writeThenRead } from 'test-support/uploads';
import type { AnyHandler } from '../../src/core/handlers/types.ts';
import { HttpError } from '../../src/core/response/http-error.ts';
import type { Listening } from '../../src/listener/listen.ts';
import { createAppService, createListener } from '../../src/serve/app.ts';
import { listenLocally } from './support.ts';

const DOCUMENT = `openapi: 3.1.0
info: { title: A, version: 1.0.0 }
components:
  securitySchemes: { token: { type: http, scheme: bearer } }
paths:
  /secured:
    post:
      operationId: secured
      security: [{ token: [] }]
      requestBody: { content: { application/json: {} } }
      responses: { '204': { description: done } }
  /texts:
    post:
      operationId: texts
      requestBody: { content: { text/plain: { schema: { type: string } } } }
      responses: { '204': { description: done } }
  /bytes:
    post:
      operationId: bytes
      requestBody: { content: { application/octet-stream: { x-body-limit: 100000000 } } }
      responses: { '204': { description: done } }
`;

/** Reads the first piece of a body, and fails. */
const stopReading: AnyHandler = async ({ body }) => {
  for await (const _piece of body as AsyncIterable<unknown>) break;
  throw new HttpError(503, 'full');
};

let listening: Listening;
let port: number;

describe.each([false, true])('with Express middleware: %p', (hasMiddleware) => {
  beforeAll(async () => {
    const done: AnyHandler = () => ({ status: 204 });
    const service = await withFiles({ 'openapi.yaml': DOCUMENT }, (folder) =>
      createAppService({
        document: join(folder, 'openapi.yaml'),
        handlers: { secured: done, texts: done, bytes: stopReading },
        accessTokens: ['secret'],
        bodyLimit: 10_000,
      }),
    );
    const app = await createListener(service, {
      use: hasMiddleware
        ? [
            ({ url }, response, next) => {
              if (url === '/limited') response.status(429).json({});
              else next();
            },
          ]
        : undefined,
    });
    listening = await listenLocally(app);
    port = Number(new URL(listening.url).port);
  });
  afterAll(() => listening.stop());

  const connections = (): Promise<number> =>
    new Promise((resolve) => listening.server.getConnections((_error, count) => resolve(count)));

  const TEXT = { 'Content-Type': 'text/plain' };
  const BYTES = { 'Content-Type': 'application/octet-stream' };
  /** Requests whose body is not read to its end, by the status of their response. */
  const unread = [
    [401, '/secured', TEXT],
    [404, '/nowhere', TEXT],
    [413, '/texts', TEXT],
    [415, '/secured', { ...TEXT, Authorization: 'Bearer secret' }],
    [503, '/bytes', BYTES],
    ...(hasMiddleware ? [[429, '/limited', TEXT] as const] : []),
  ] as const;

  test('a client with a pool of connections sees no reset in 200 requests', async () => {
    const small = { path: '/texts', headers: TEXT, body: 'text' };
    const large = unread.map(([, path, headers]) => ({
      path,
      headers,
      body: Buffer.alloc(150_000, ' '),
    }));
    const requests = Array.from({ length: 200 }, (_, index) =>
      index % 10 === 9 ? (large[Math.floor(index / 10) % large.length] ?? small) : small,
    );
    const counts = await sendPooled(port, requests);
    const expected: Record<string, number> = { 204: 180 };
    for (const index of Array(20).keys()) {
      const status = unread[index % unread.length]?.[0] ?? 0;
      expected[status] = (expected[status] ?? 0) + 1;
    }
    expect(counts).toEqual(expected);
    await eventually(async () => (await connections()) === 0);
  });

  const length = { 'Content-Length': '20000000' };
  const bodies = unread.map(
    ([status, path, headers]) =>
      [status, request(`POST ${path}`, { ...headers, ...length })] as const,
  );
  /** Faulty heads, chunks and HTTP/1.0. Middleware does not change how they are answered. */
  const rejected = [
    [400, `POST /texts HTTP/1.0\r\nHost: a\r\n${'Content-Length: 1\r\n'.repeat(2)}\r\n`],
    [400, request('POST /texts', { 'a b': 'c' })],
    [400, request('POST /texts', { host: 'b', ...length })],
    [400, request('POST /texts#/../bytes', length)],
    [413, `${request('POST /texts', { ...TEXT, 'Transfer-Encoding': 'chunked' })}2000000\r\n`],
    [401, request('POST /secured', { ...TEXT, ...length }).replace('HTTP/1.1', 'HTTP/1.0')],
  ] as const;

  test.each([...bodies, ...(hasMiddleware ? [] : rejected)])(
    'a client that sends 12 MB before it reads gets its %i: %j',
    async (status, head) => {
      const response = await writeThenRead(port, head, 12e6);
      expect(response).toMatch(new RegExp(`^HTTP/1.1 ${status} .*^Connection: close\r$`, 'ms'));
    },
  );

  test('no connection is left', async () => {
    await eventually(async () => (await connections()) === 0);
  });
});
