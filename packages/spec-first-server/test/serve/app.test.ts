import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from '@jest/globals';
import { type AnyHandler, type AppOptions, createApp, HttpError } from 'spec-first-server';
import request from 'supertest';
import { documentFile, withFiles } from 'test-support/documents';

const who: AnyHandler = ({ caller }) => ({
  status: 200,
  body: { subject: caller?.subject ?? null },
});
const ids = ['secured', 'open', 'optional', 'either', 'both', 'scoped', 'graded', 'body'];
const handlers = Object.fromEntries(ids.map((id) => [id, who]));

describe('createApp', () => {
  test('needs a document and handlers, and answers failures as problem details', async () => {
    const document = documentFile('security.yaml');
    const client = request(
      await createApp({ document, handlers, accessTokens: ['secret scheme=bearer'] }),
    );
    await client
      .get('/secured')
      .set('Authorization', 'Bearer secret')
      .expect(200, { subject: null });
    await client
      .get('/secured')
      .set('Authorization', 'Bearer other')
      .expect(401, {
        title: 'Unauthorized',
        status: 401,
        detail: 'The token is not valid',
      })
      .expect('Content-Type', 'application/problem+json');
    await client.get('/healthz').expect(200);
  });

  test.each([
    ['localhost', 200],

    ['app.localhost', 200],

    ['evillocalhost', 421],

    ['127.0.0.1.evil.example', 421],
    ['evil.example', 421],
  ])('in development, a request to the host %s gets %i', async (host, status) => {
    const document = documentFile('security.yaml');
    const client = request(await createApp({ document, handlers, inDevelopment: true }));
    await client.get('/open').set('Host', host).expect(status);
    await client.get('/healthz').set('Host', host).expect(status);
  });

  test.each([true, false])(
    'rejects ambiguous requests in another server (joinDuplicateHeaders: %j)',
    async (joinDuplicateHeaders) => {
      const document = documentFile('security.yaml');
      const app = await createApp({ document, handlers });
      const options = { requireHostHeader: false, joinDuplicateHeaders };
      const server = createServer(options, app).listen(0, '127.0.0.1');
      try {
        await once(server, 'listening');
        const { port } = server.address() as AddressInfo;
        const statusOf = async (message: string) => {
          const socket = connect(port, '127.0.0.1');
          socket.end(message.replaceAll('\n', '\r\n'));
          return /^HTTP\/1\.1 (\d+)/.exec(await text(socket))?.[1];
        };
        const get = 'GET /open HTTP/1.1\nConnection: close\n';
        expect(await statusOf(`${get}Host: a.example\n\n`)).toBe('200');
        for (const faulty of [
          `${get}\n`,
          `${get}Host: a b\n\n`,
          `${get}Host: a.example\nHost: a.example\n\n`,
          `${get}Host: a.example\nAuthorization: Bearer a\nAuthorization: Bearer b\n\n`,
          `${get}Host: a.example\nAuthorization: Bearer a\nAuthorization:\n\n`,
          'GET open HTTP/1.1\nHost: a.example\nConnection: close\n\n',
          'GET http://a@b/open HTTP/1.1\nHost: a.example\nConnection: close\n\n',
          'POST /body HTTP/1.0\nHost: a.example\nTransfer-Encoding: chunked\n\n0\n\n',
        ])
          expect([faulty, await statusOf(faulty)]).toEqual([faulty, '400']);
        const headers = { Host: 'a b', Connection: 'keep-alive' };
        await request(server).get('/open').set(headers).expect(400).expect('Connection', 'close');
      } finally {
        server.closeAllConnections();
        server.close();
      }
    },
  );

  test('limits bodies to 100 KiB by default', async () => {
    const document = documentFile('security.yaml');
    const client = request(
      await createApp({ document, handlers, accessTokens: ['secret scheme=bearer'] }),
    );
    const post = (size: number) =>
      client
        .post('/body')
        .set('Authorization', 'Bearer secret')
        .send({ text: 'a'.repeat(size) });
    await post(100_000).expect(200);
    await post(102_400).expect(413);
  });
});

describe('with corsOrigins', () => {
  const DOCUMENT = `openapi: 3.1.0
info: { title: A, version: 1.0.0 }
paths:
  /a:
    post: { operationId: a, security: [{ session: [] }], responses: { '204': { description: done } } }
    options: { operationId: b, security: [{ session: [] }], responses: { '204': { description: done } } }
components: { securitySchemes: { session: { type: apiKey, in: cookie, name: session } } }
`;
  const APP = 'https://app.example';
  const done: AnyHandler = () => ({ status: 204 });
  const serving = (corsOrigins: readonly string[], options: Partial<AppOptions> = {}) =>
    withFiles({ 'openapi.yaml': DOCUMENT }, async (folder) =>
      request(
        await createApp({
          document: `${folder}/openapi.yaml`,
          handlers: { a: done, b: done },
          accessTokens: ['ann:secret'],
          corsOrigins,
          ...options,
        }),
      ),
    );
  const cookie = { Cookie: 'session=secret', Origin: APP };
  const preflight = { Origin: APP, 'Access-Control-Request-Method': 'POST' };

  test('a listed origin may send cookies and read responses, also failures', async () => {
    const client = await serving([APP]);
    for (const [path, status] of [
      ['/a', 204],
      ['/nowhere', 404],
      ['/healthz', 405],
    ] as const) {
      const { headers } = await client.post(path).set(cookie).expect(status);
      expect(headers).toMatchObject({
        'access-control-allow-origin': APP,
        'x-content-type-options': 'nosniff',
      });
    }
    const other = { ...cookie, Origin: 'https://evil.example' };
    const { headers } = await client.post('/a').set(other).expect(403);
    expect(headers).not.toHaveProperty('access-control-allow-origin');
  });

  test('a preflight needs no credentials; other requests with OPTIONS do', async () => {
    const client = await serving([APP]);
    const { headers } = await client.options('/a').set(preflight).expect(204);
    expect(headers['access-control-allow-methods']).toBe('POST,OPTIONS');
    await client.options('/a').set('Origin', APP).expect(401);
    await client.options('/a').set(cookie).expect(204);
  });

  test('the host, preflights and headers come before middleware', async () => {
    const paths: string[] = [];
    const use: AppOptions['use'] = [
      ({ path }, response, next) => {
        paths.push(path);
        if (path === '/added') response.vary('Accept').end();
        else next(new HttpError(429, 'at most one request a minute'));
      },
    ];
    const client = await serving([APP], { use, inDevelopment: true });
    const expected = { 'access-control-allow-origin': APP, 'x-content-type-options': 'nosniff' };
    const { headers } = await client.options('/a').set(preflight).expect(204);
    expect(headers).toMatchObject({ ...expected, 'access-control-allow-methods': 'POST,OPTIONS' });
    const rebound = await client.get('/added').set('Host', 'evil.example').expect(421);
    expect(rebound.headers).toHaveProperty('x-content-type-options');
    expect(paths).toEqual([]);
    const limited = await client.post('/a').set(cookie).expect(429);
    expect(limited.headers).toMatchObject({ ...expected, vary: 'Origin' });
    const added = await client.get('/added').set(cookie).expect(200);
    expect(added.headers).toMatchObject({ ...expected, vary: 'Origin, Accept' });
  });

  test('an empty list allows no origin', async () => {
    const client = await serving([]);
    for (const answer of [
      await client.post('/a').set(cookie).expect(403),
      await client.options('/a').set(preflight).expect(401),
    ])
      expect(Object.keys(answer.headers).join()).not.toContain('access-control-');
  });
});
