import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import express from 'express';
import { type AnyHandler, createApp, loadDocument, Unauthorized } from 'spec-first-server';
import request from 'supertest';
import { documentFile, withFiles } from 'test-support/documents';

const who: AnyHandler = ({ caller }) => ({
  status: 200,
  body: { subject: caller?.subject ?? null },
});
const ids = ['secured', 'open', 'optional', 'either', 'both', 'scoped', 'graded', 'body'];
const handlers = Object.fromEntries(ids.map((id) => [id, who]));

describe('createApp', () => {
  test('needs a document and handlers, accepts the given tokens, and answers failures as problem details', async () => {
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

  test('accepts no token by default, and takes a loaded document', async () => {
    const document = await loadDocument(documentFile('security.yaml'));
    const client = request(await createApp({ document, handlers }));
    await client.get('/secured').set('Authorization', 'Bearer secret').expect(401);
    await client.get('/open').expect(200);
  });

  test.each([
    ['localhost', 200],
    ['LOCALHOST:3000', 200],
    ['app.localhost', 200],
    ['127.0.0.1:3000', 200],
    ['[::1]:3000', 200],
    ['evillocalhost', 421],
    ['localhost.evil.example', 421],
    ['127.0.0.1.evil.example', 421],
    ['evil.example', 421],
  ])('answers requests to %s in development by %i', async (host, status) => {
    const document = documentFile('security.yaml');
    const client = request(await createApp({ document, handlers, inDevelopment: true }));
    await client.get('/open').set('Host', host).expect(status);
    await client.get('/healthz').set('Host', host).expect(status);
  });

  test('rejects requests in an embedded app that two programs could read in different ways', async () => {
    const document = documentFile('security.yaml');
    const app = await createApp({ document, handlers });
    const server = createServer({ requireHostHeader: false }, app).listen(0, '127.0.0.1');
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
        `${get}Host: a.example\nAuthorization: Bearer a\nAuthorization: Bearer b\n\n`,
        'GET open HTTP/1.1\nHost: a.example\nConnection: close\n\n',
        'GET http://a@b/open HTTP/1.1\nHost: a.example\nConnection: close\n\n',
        'POST /body HTTP/1.0\nHost: a.example\nTransfer-Encoding: chunked\n\n0\n\n',
      ])
        expect([faulty, await statusOf(faulty)]).toEqual([faulty, '400']);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

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

  test('gives the error body what was wrong in parts, and the id of the request', async () => {
    const errorBody = { mediaType: 'application/json', make: (problem: unknown) => problem };
    const document = documentFile('security.yaml');
    const client = request(
      await createApp({ document, handlers, accessTokens: ['secret scheme=bearer'], errorBody }),
    );
    const headers = {
      Authorization: 'Bearer secret',
      'X-Request-Id': 'a',
      'Content-Type': 'application/json',
    };
    const answer = await client.post('/body').set(headers).send('1');
    expect(answer.body).toMatchObject({
      status: 400,
      errors: [
        { path: expect.any(String), message: expect.any(String), keyword: expect.any(String) },
      ],
      requestId: 'a',
    });
  });

  test.each(['identity', 'gzip'])(
    'uses a body in %s that its host has already read',
    async (coding) => {
      const app = await createApp({
        document: documentFile('security.yaml'),
        handlers,
        accessTokens: ['secret scheme=bearer'],
      });
      const host = express().use(express.json(), app);
      const bytes = Buffer.from('{"text":"a"}');
      await request(host)
        .post('/body')
        .set({
          Authorization: 'Bearer secret',
          'Content-Type': 'application/json',
          'Content-Encoding': coding,
        })
        .serialize((body) => body)
        .send(coding === 'gzip' ? gzipSync(bytes) : bytes)
        .expect(200, { subject: null });
    },
  );
});

const BASIC = `openapi: 3.1.0
info: { title: Basic, version: 1.0.0 }
paths:
  /a: { get: { operationId: a, security: [{ basic: [] }], responses: { '200': { description: ok, content: { application/json: {} } } } } }
  /b: { get: { operationId: b, security: [{ mutual: [] }], responses: { '200': { description: ok, content: { application/json: {} } } } } }
  /c: { get: { operationId: c, security: [{}, { basic: [] }], responses: { '200': { description: ok, content: { application/json: {} } } } } }
components:
  securitySchemes:
    basic: { type: http, scheme: basic }
    mutual: { type: mutualTLS }
`;

describe('schemes that tokens do not cover', () => {
  const serving = (options: Partial<Parameters<typeof createApp>[0]>) =>
    withFiles({ 'openapi.yaml': BASIC }, async (folder) =>
      request(await createApp({ document: `${folder}/openapi.yaml`, handlers: {}, ...options })),
    );
  const basic = (credentials: string) => `Basic ${Buffer.from(credentials).toString('base64')}`;

  test('have mocks that accept any credential of the declared form', async () => {
    const client = await serving({ missing: 'mock' });
    await client.get('/a').set('Authorization', basic('anyone:anything')).expect(200);
    const { headers } = await client.get('/a').expect(401);
    expect(headers['www-authenticate']).toBe('Basic realm="api", charset="UTF-8"');
    await client.get('/a').set('Authorization', 'Bearer token').expect(401);
    await client.get('/b').expect(200);
    await client.get('/c').expect(200);
  });

  test('need a verifier for handlers, also beside mocks', async () => {
    const needed =
      /nothing verifies credentials of this scheme: pass verifiers: \{ "basic": … \} to serve/;
    await expect(serving({ missing: '501' })).rejects.toThrow(needed);
    await expect(serving({ missing: 'mock', handlers: { a: who } })).rejects.toThrow(needed);
  });

  test('are verified by the verifiers of the project, if a credential is presented', async () => {
    const seen: unknown[] = [];
    const client = await serving({
      handlers: { a: who, b: who, c: who },
      verifiers: {
        mutual: () => ({ subject: 'peer', scopes: 'all' }),
        basic({ headers }) {
          seen.push(headers.authorization);
          if (headers.authorization !== basic('me:secret'))
            throw new Unauthorized('The password is wrong');
          return { subject: 'me', scopes: 'all' };
        },
      },
    });
    await client.get('/a').set('Authorization', basic('me:secret')).expect(200, { subject: 'me' });
    await client.get('/a').set('Authorization', basic('me:wrong')).expect(401);
    expect(seen).toHaveLength(2);
    await client.get('/a').expect(401);
    await client.get('/b').expect(200, { subject: 'peer' });
    await client.get('/c').expect(200, { subject: null });
    expect(seen).toHaveLength(2);
    await client.get('/c').set('Authorization', basic('me:wrong')).expect(401);
  });
});
