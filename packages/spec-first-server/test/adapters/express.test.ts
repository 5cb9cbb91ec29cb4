import { once } from 'node:events';
import { get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { text as readText } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from '@jest/globals';
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import helmet from 'helmet';
import request from 'supertest';
import { withFiles } from 'test-support/documents';
import { addHeaders, ExpressCall } from '../../src/adapters/express.ts';
import { recorder } from '../../src/core/record.ts';
import { Resources } from '../../src/http/resources.ts';
import {
  type AnyHandler,
  createService,
  expressHandler,
  loadDocument,
  type Service,
} from '../../src/index.ts';

const SERVICE = { begin: recorder(new Resources()), end() {} };

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

test.each([
  ['/things', '/things'],
  ['/v2/others', '/others'],
  ['/next?a', 'next http://127.0.0.1/next?a'],
])('a target in absolute form with the path %s is answered', async (path, expected) => {
  const app = express()
    .use(expressHandler(await serviceWith('/things')))
    .use('/v2', expressHandler(await serviceWith('/others')))
    .use(({ url }, response) => void response.send(`next ${url}`));
  const server = app.listen(0, '127.0.0.1');
  try {
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const sent = get({ host: '127.0.0.1', port, path: `http://127.0.0.1${path}` });
    const [response] = await once(sent, 'response');
    expect(await readText(response)).toMatch(new RegExp(`^${RegExp.escape(expected)}`));
  } finally {
    server.close();
  }
});

describe('in an app with other routes', () => {
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
  ])('%s gets the response of its own handler', async (path, text) => {
    const { text: answer } = await request(app).get(path).expect(200);
    expect(answer.slice(0, text.length)).toBe(text);
  });

  test.each(['/others', '/v2/v1/others', '/v2/things', '/fourth', '/%zz', '/things/'])(
    '%s is in no document, and goes to the next handler',
    async (path) => {
      const { text } = await request(app).get(path);
      expect(text).toContain('<!DOCTYPE html>');
    },
  );
});

describe("with missing: 'next'", () => {
  const operation = (operationId: string, security: object[] = []) => ({
    [operationId.split('-')[0] ?? '']: {
      operationId,
      security,
      responses: { 200: { description: 'ok' } },
    },
  });
  const root = {
    openapi: '3.1.0',
    info: { title: 'Half moved', version: '1.0.0' },
    paths: {
      '/users/{id}': { ...operation('get-user'), ...operation('put-user') },
      '/users/me': operation('get-me', [{ basic: [] }]),
    },
    components: { securitySchemes: { basic: { type: 'http', scheme: 'basic' } } },
  };
  let app: Express;

  beforeAll(async () => {
    const handlers = { 'get-user': () => ({ status: 200 }), 'put-user': undefined };
    const service = await createService(root, { handlers, missing: 'next' });
    app = express()
      .use(expressHandler(service))
      .use(({ method, url }, response) => void response.send(`next ${method} ${url}`));
  });

  test.each([
    ['get', '/users/1', ''],
    ['put', '/users/1', 'next PUT /users/1'],
    ['get', '/users/me', 'next GET /users/me'],
    ['delete', '/users/1', 'next DELETE /users/1'],
  ] as const)(
    '%s %s is answered by the service only if it has a handler',
    async (method, path, text) => {
      const response = await request(app)[method](path).expect(200);
      expect(response.text).toBe(text);
      expect(response.headers['x-request-id'] === undefined).toBe(text !== '');
    },
  );
});

test('a body that other middleware has read is a fault of the app, not of the client', async () => {
  const app = express().use(
    async (received, _response, next) => {
      for await (const _chunk of received);
      next();
    },
    expressHandler(await serviceWith('/things')),
  );
  await request(app).post('/things').send({ count: 1 }).expect(500);
});

describe('ExpressCall', () => {
  async function callOf(
    parsers: RequestHandler[],
    type: string,
    body: string,
  ): Promise<ExpressCall> {
    let call: ExpressCall | undefined;
    const app = express();
    for (const parser of parsers) app.use(parser);
    app.use((received, response) => {
      call = new ExpressCall(received, response, SERVICE);
      call.readRequest();
      response.end();
    });
    await request(app)
      .post('/a?b')
      .set({ 'Content-Type': type, 'Content-Encoding': 'gzip', 'X-Forwarded-For': '192.0.2.1' })
      .serialize((sent) => sent)
      .send(gzipSync(body));
    if (call === undefined) throw new Error('the request did not arrive');
    return call;
  }

  test.each<[string, RequestHandler, string, string]>([
    ['application/json', express.json(), '{"a":[9007199254740991]}', '{"a":[9007199254740991]}'],
    ['application/json', express.raw({ type: '*/*' }), '{"a": 1}', '{"a": 1}'],
  ])('has the bytes of a parsed body of %s', async (type, parser, body, bytes) => {
    const call = await callOf([parser], type, body);
    expect(String(call.body)).toBe(bytes);
    expect(call.headers['content-encoding']).toBeUndefined();
    expect(call.headers['content-type']).toBe(type);
    expect(call).toMatchObject({ path: '/a', query: 'b', method: 'POST' });
  });

  test.each<[string, RequestHandler, string]>([
    ['application/x-www-form-urlencoded', express.urlencoded(), 'a=1'],
    ['application/json', express.json(), '{"a":[9007199254740993]}'],
  ])('cannot restore a parsed body of %s', async (type, parser, body) => {
    const call = await callOf([parser], type, body);
    expect(() => call.body).toThrow('other middleware has read the body');
  });

  test.each<[string, RequestHandler[]]>([
    ['no parser has read it', []],
    ['the parser is for another type', [express.json()]],
    [
      'other middleware has set body',
      [
        (received, _response, next) => {
          received.body = {};
          next();
        },
      ],
    ],
  ])('has the stream of a body if %s', async (_name, parsers) => {
    const call = await callOf(parsers, 'text/plain', 'text');
    expect(call.body).toHaveProperty('next');
    expect(call.headers['content-encoding']).toBe('gzip');
  });
});

test('addHeaders adds to Vary and Set-Cookie; others are replaced, but not by defaults', async () => {
  const existing = { Vary: 'Origin', 'Set-Cookie': 'a=1', 'X-A': 'old', 'X-Frame-Options': 'DENY' };
  const app = express().use((_received, response) => {
    response.set(existing);
    addHeaders(response, [
      ...['Vary', 'Origin, Accept', 'set-cookie', 'b=2', 'Set-Cookie', 'c=3', 'X-A', 'new'],
      ...['Link', '</a>', 'Link', '</b>', 'X-Frame-Options', 'SAMEORIGIN'],
      ...['X-Content-Type-Options', 'nosniff'],
    ]);
    // The service has chosen a value that is not the default.
    addHeaders(response, ['X-Content-Type-Options', 'other']);
    response.end();
  });
  const { headers } = await request(app).get('/').expect(200);
  expect(headers).toMatchObject({
    vary: 'Origin, Accept',
    'set-cookie': ['a=1', 'b=2', 'c=3'],
    'x-a': 'new',
    link: '</a>, </b>',
    'x-frame-options': 'DENY',
    'x-content-type-options': 'other',
  });
});

test('writeAnswer ends a stream that it cannot write', async () => {
  let isEnded = false;
  const app = express().use((received, response) => {
    response.write('started');
    const body: AsyncIterableIterator<Uint8Array> = {
      [Symbol.asyncIterator]() {
        return this;
      },
      next: async () => ({ done: false, value: new Uint8Array(1) }),
      async return() {
        isEnded = true;
        return { done: true, value: undefined };
      },
    };
    void new ExpressCall(received, response, SERVICE).write({ status: 200, headers: [], body });
  });
  await expect(request(app).get('/')).rejects.toThrow(/aborted|hang up|reset/);
  expect(isEnded).toBe(true);
});

test('the error of an answer that cannot be written goes to the error handler of the app', async () => {
  const service = await serviceWith('/things');
  const answer = async () => ({ status: 200, headers: ['X-A', 'a\nb'], body: '' });
  const onError: ErrorRequestHandler = (error, _received, response, _next) => {
    response.status(500).send(error.code);
  };
  const app = express().use(expressHandler({ ...service, handle: answer }), onError);
  const { text } = await request(app).get('/things').expect(500);
  expect(text).toBe('ERR_INVALID_CHAR');
});
