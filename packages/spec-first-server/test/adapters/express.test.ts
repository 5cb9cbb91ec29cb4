import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from '@jest/globals';
import compression from 'compression';
import express, { type Express } from 'express';
import helmet from 'helmet';
import request from 'supertest';
import { withFiles } from 'test-support/documents';
import {
  type AnyHandler,
  createService,
  expressHandler,
  loadDocument,
  type Service,
} from '../../src/index.ts';

const documentWith = (path: string, server: string) => `openapi: 3.1.0
info: { title: A guest, version: 1.0.0 }
servers: [{ url: ${server} }]
paths:
  ${path}:
    get: { operationId: read, responses: { '200': { description: ok, headers: { Vary: { schema: { type: string } } }, content: { text/plain: {} } } } }
    post:
      operationId: write
      requestBody:
        required: true
        content:
          application/json: { schema: { $ref: '#/components/schemas/Thing' } }
          application/x-www-form-urlencoded: { schema: { $ref: '#/components/schemas/Thing' } }
          text/plain: { schema: { type: string } }
          application/octet-stream: {}
      responses: { '200': { description: ok, content: { application/json: {} } } }
components:
  schemas:
    Thing:
      type: object
      required: [count]
      properties:
        count: { type: integer }
        names: { type: array, items: { type: string } }
`;

async function serviceWith(path: string, server = '/'): Promise<Service> {
  const write: AnyHandler = async ({ body }) => {
    if (!(body instanceof Readable)) return { status: 200, body: { body } };
    let text = '';
    for await (const chunk of body) text += chunk;
    return { status: 200, body: { body: text } };
  };
  const read = () => ({ status: 200, headers: { Vary: 'Accept' }, body: path.repeat(1000) });
  return withFiles({ 'openapi.yaml': documentWith(path, server) }, async (folder) =>
    createService(await loadDocument(`${folder}/openapi.yaml`), { handlers: { read, write } }),
  );
}

describe('in an app that has routes of its own', () => {
  let app: Express;

  beforeAll(async () => {
    app = express()
      .use(helmet({ contentSecurityPolicy: { directives: { defaultSrc: ["'self'"] } } }))
      .use((_request, response, next) => {
        response.setHeader('Vary', 'Origin');
        next();
      })
      .get('/before', (_request, response) => void response.send('before'))
      .use(expressHandler(await serviceWith('/things')))
      .use('/v2', expressHandler(await serviceWith('/others', '/v1')))
      .use(expressHandler(await serviceWith('/fourth', '/v4')))
      .get('/after', (_request, response) => void response.send('after'));
  });

  test.each([
    ['/before', 'before'],
    ['/things', '/things'],
    ['/v2/others', '/others'],
    ['/v4/fourth', '/fourth'],
    ['/after', 'after'],
  ])('%s is answered by its owner', async (path, text) => {
    const { text: answer } = await request(app).get(path).expect(200);
    expect(answer.slice(0, text.length)).toBe(text);
  });

  test.each(['/others', '/v2/v1/others', '/v2/things', '/fourth', '/%zz', '/things/'])(
    '%s is in none of the documents',
    async (path) => {
      const { text } = await request(app).get(path);
      expect(text).toContain('<!DOCTYPE html>');
    },
  );

  test('keeps the headers of the app', async () => {
    const { headers } = await request(app).get('/things');
    expect(headers['content-security-policy']).toContain("default-src 'self'");
    expect(headers.vary).toBe('Origin, Accept');
    expect(headers['x-request-id']).toMatch(/\w/);
  });

  test('answers another method of its path', async () => {
    await request(app).put('/things').expect(405).expect('Allow', 'GET, POST, HEAD');
  });
});

describe('behind a parser of bodies', () => {
  let app: Express;

  beforeAll(async () => {
    app = express()
      .use(express.json(), express.urlencoded({ extended: true }))
      .use(express.text(), express.raw())
      .use(compression())
      .use(expressHandler(await serviceWith('/things')));
  });

  test.each([
    ['application/json', '{"count":1}', { count: 1 }],
    [
      'application/x-www-form-urlencoded',
      'count=1&names=a&names=b',
      { count: 1, names: ['a', 'b'] },
    ],
    ['text/plain', 'ä', 'ä'],
    ['application/octet-stream', 'bytes', 'bytes'],
  ])('uses a body of %s', async (type, body, expected) => {
    for (const coding of ['identity', 'gzip']) {
      const bytes = Buffer.from(body);
      await request(app)
        .post('/things')
        .set({ 'Content-Type': type, 'Content-Encoding': coding })
        .serialize((sent) => sent)
        .send(coding === 'gzip' ? gzipSync(bytes) : bytes)
        .expect(200, { body: expected });
    }
  });

  test('validates the body', async () => {
    await request(app).post('/things').send({ count: 'a' }).expect(400);
    await request(app).post('/things').send([]).expect(400);
    await request(app).post('/things').set('Content-Type', 'application/json').expect(400);
  });

  test('is compressed by the middleware of the app', async () => {
    const { headers } = await request(app).get('/things').set('Accept-Encoding', 'gzip');
    expect(headers['content-encoding']).toBe('gzip');
  });
});
