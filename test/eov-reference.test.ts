import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, createServer, type RequestListener, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import express, { type ErrorRequestHandler, type Express } from 'express';
import { middleware } from 'express-openapi-validator';
import { Unavailable } from 'group-commit';
import type { Json } from 'openapi-document';
import { type AnyHandler, type AnyReply, createApp } from 'spec-first-server';
import { createApp as createEovApp } from '../examples/eov/app.ts';
import { errorBody } from '../src/errors.ts';
import { plantHandlers } from '../src/plants.ts';
import { openStore } from '../src/stores/index.ts';
import type { PlantStore } from '../src/stores/store.ts';
import { plantsIn } from './plants/support/plant-service.ts';
import { readMarkdown } from './support/markdown.ts';

/** A reason for a different result, as docs/design.md lists it. */
type Reason = string;

/** A body as JSON, and the reasons why the results differ for requests and for replies. */
type Case = readonly [body: string, inRequest?: Reason, inReply?: Reason];

const DROPPED = 'undeclared members of closed objects in replies';
const ONE_WAY = 'members of the other direction';
const INTEGERS = 'integers beyond int64';
const TUPLES = '`prefixItems` without `minItems`';
const PARENT = 'discriminators of a base schema';
const REPLY_TAGS = 'discriminators in replies';
const DECIMALS = 'multiples of decimals';
const DAYS = 'days that do not exist';
const FORMATS = '`uuid`, `hostname` and `date-time`';
const NULLS = 'replies that are `null`';
const CONSTANTS = 'objects in `const` and `enum`';
const DEFAULTS = 'required members with a `default`';
const CONDITIONS = '`unevaluatedProperties` beside an `if` without `then`';
/** The results for the documents of this repository differ on these only. */
const EMPTY = 'query parameters without a value';
const BESIDE = 'keywords beside a `$ref`';

/**
 * Schemas for the body of a request and of its reply, with the values on which the results differ.
 * `protection/eov.test.ts` compares all other results for random schemas.
 */
const DOCUMENTS: Readonly<
  Record<string, readonly [schema: Json, cases: readonly Case[], components?: Json]>
> = {
  'a date-time': [
    { type: 'string', format: 'date-time' },
    [
      ['"2024-02-29T12:00:00Z"'],
      ['"2023-02-29T12:00:00Z"', DAYS, DAYS],
      ['"2024-02-29T12:00:00+01"', FORMATS, FORMATS],
    ],
  ],
  'a date': [{ type: 'string', format: 'date' }, [['"2024-02-29"'], ['"2023-02-29"', DAYS, DAYS]]],
  'a uuid': [
    { type: 'string', format: 'uuid' },
    [
      ['"4b8a0a52-7d7c-4f1c-8a51-6a0d3c1c9f10"'],
      ['"urn:uuid:4b8a0a52-7d7c-4f1c-8a51-6a0d3c1c9f10"', FORMATS, FORMATS],
    ],
  ],
  'a hostname': [
    { type: 'string', format: 'hostname' },
    [['"a.example"'], ['"xn--hello-txk.example"', FORMATS, FORMATS]],
  ],

  'an int64': [
    { type: 'integer', format: 'int64' },
    [['1'], ['9007199254740993'], ['1e300', INTEGERS, INTEGERS]],
  ],
  'a multiple': [{ type: 'number', multipleOf: 0.01 }, [['0.5'], ['19.99', DECIMALS, DECIMALS]]],
  'a nullable type': [{ type: ['string', 'null'] }, [['null', undefined, NULLS], ['"a"'], ['1']]],
  'an enum': [{ enum: ['a', 1, null] }, [['"a"'], ['1'], ['null', undefined, NULLS], ['"b"']]],
  'a constant': [
    { anyOf: [{ const: { a: 1 } }, { type: 'null' }] },
    [
      ['null', undefined, NULLS],
      ['{"a":1}', CONSTANTS, CONSTANTS],
    ],
  ],
  'a tuple': [
    { type: 'array', prefixItems: [{ type: 'integer' }, { type: 'string' }] },
    [
      ['[1,"a"]', TUPLES, TUPLES],
      ['["a"]', TUPLES],
    ],
  ],

  'a closed object': [
    { type: 'object', properties: { id: { type: 'integer' } }, additionalProperties: false },
    [['{"id":1}'], ['{"id":1,"more":2}', undefined, DROPPED]],
  ],
  'an allOf': [
    {
      allOf: [
        { type: 'object', required: ['a'], properties: { a: {} } },
        { type: 'object', properties: { b: { type: 'integer' } } },
      ],
      unevaluatedProperties: false,
    },
    [['{"a":1,"b":2}'], ['{"b":2}'], ['{"a":1,"c":3}', undefined, DROPPED]],
  ],
  'a reference with keywords beside it': [
    { $ref: '#/components/schemas/Short', minLength: 2 },
    [['"ab"'], ['"a"', BESIDE, BESIDE], ['"abcd"']],
    { Short: { type: 'string', maxLength: 3 } },
  ],
  'a default': [
    { type: 'object', required: ['a'], properties: { a: { type: 'string', default: 'b' } } },
    [['{"a":"c"}'], ['{}', DEFAULTS]],
  ],
  'a condition': [
    {
      type: 'object',
      properties: { a: {} },
      if: { required: ['b'], properties: { b: { const: 1 }, c: {} } },
      unevaluatedProperties: false,
    },
    [['{"a":1}'], ['{"b":1}', CONDITIONS, CONDITIONS], ['{"b":2}', undefined, DROPPED]],
  ],

  'members of one direction': [
    {
      type: 'object',
      required: ['id', 'secret'],
      properties: {
        id: { type: 'integer', readOnly: true },
        secret: { type: 'string', writeOnly: true },
      },
    },
    [
      ['{"secret":"a"}', undefined, undefined],
      ['{"id":1,"secret":"a"}', ONE_WAY, ONE_WAY],
      ['{"id":1}'],
    ],
  ],
  'a discriminator': [
    {
      oneOf: [{ $ref: '#/components/schemas/Cat' }, { $ref: '#/components/schemas/Dog' }],
      discriminator: { propertyName: 'kind' },
    },
    [
      ['{"kind":"Cat","lives":9}'],
      ['{"kind":"Dog","bark":"a"}'],
      ['{"kind":"Dog","lives":9}', undefined, REPLY_TAGS],
      ['{}'],
    ],
    {
      Cat: {
        type: 'object',
        required: ['kind', 'lives'],
        properties: { kind: { type: 'string' }, lives: { type: 'integer' } },
      },
      Dog: {
        type: 'object',
        required: ['kind', 'bark'],
        properties: { kind: { type: 'string' }, bark: { type: 'string' } },
      },
    },
  ],
  'a discriminator of a base schema': [
    { $ref: '#/components/schemas/Pet' },
    [['{"kind":"Cow","milk":1}'], ['{"kind":"Cow"}', PARENT, PARENT], ['{}']],
    {
      Pet: {
        type: 'object',
        required: ['kind'],
        properties: { kind: { type: 'string' } },
        discriminator: { propertyName: 'kind' },
      },
      Cow: {
        allOf: [
          { $ref: '#/components/schemas/Pet' },
          { type: 'object', required: ['milk'], properties: { milk: { type: 'integer' } } },
        ],
      },
    },
  ],
};

function documentOfAll(): Json {
  const operations = Object.values(DOCUMENTS).map(([schema], at) => {
    const content = { 'application/json': { schema } };
    const responses = { 200: { description: 'it', content }, 204: { description: 'none' } };
    const requestBody = { required: true, content };
    return [`/${at}`, { post: { operationId: `post${at}`, requestBody, responses } }];
  });
  const schemas = Object.values(DOCUMENTS).map(([_schema, _cases, components]) => components);
  return {
    openapi: '3.1.0',
    info: { title: 'Reference', version: '1.0.0' },
    paths: Object.fromEntries(operations),
    components: { schemas: Object.assign({}, ...schemas) },
  };
}

/** Uses the middleware of EOV as its README shows. */
function eovApp(document: Json, reply: () => AnyReply): Express {
  const app = express();
  app.use(express.json({ strict: false }));
  const apiSpec = Object(structuredClone(document));
  app.use(middleware({ apiSpec, validateRequests: true, validateResponses: true }));
  app.use((_request, response) => {
    const { status, body } = reply();
    if (body === undefined) response.status(status).end();
    else response.status(status).json(body);
  });
  const failed: ErrorRequestHandler = ({ status = 500, message }, _request, response, _next) => {
    response.status(status).json({ message });
  };
  app.use(failed);
  return app;
}

interface Call {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  readonly path: string;
  readonly body?: string | undefined;
}

async function serveBoth(document: Json, ids: readonly string[]) {
  let next: AnyReply = { status: 204 };
  const handler: AnyHandler = () => next;
  const handlers = Object.fromEntries(ids.map((id) => [id, handler]));
  const service = await createApp({ document: Object(document), handlers });
  const eov = eovApp(document, () => next);
  const [sendToEov, sendToService] = await Promise.all([eov, service].map(senderTo));
  return async (call: Call, reply: AnyReply) => {
    next = reply;
    return { eov: await sendToEov?.(call), service: await sendToService?.(call) };
  };
}

const TOKEN = 'token';
const JSON_HEADERS = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' };

const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const servers: Server[] = [];
afterAll(() => {
  agent.destroy();
  for (const server of servers) server.close().closeAllConnections();
});

async function urlOf(app: RequestListener): Promise<string> {
  // Idle connections stay open, or a request could meet a connection that is being closed.
  const server = createServer({ keepAliveTimeout: 0 }, app).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function senderTo(app: RequestListener) {
  const { port } = new URL(await urlOf(app));
  return ({ method, path, body }: Call) =>
    new Promise<number | undefined>((resolve, reject) => {
      const headers = body === undefined ? {} : { 'Content-Type': 'application/json' };
      const options = { host: '127.0.0.1', port, path, method: method.toUpperCase(), agent };
      const sent = request({ ...options, headers }, (response) => {
        response.resume().once('end', () => resolve(response.statusCode));
      });
      sent.once('error', reject).end(body);
    });
}

// EOV logs a warning for unknown formats.
jest.spyOn(console, 'warn').mockImplementation(() => undefined);
// `examples/eov` logs errors.
jest.spyOn(console, 'error').mockImplementation(() => undefined);

describe('express-openapi-validator has the same result, except for the listed differences, for', () => {
  let statusesOf: Awaited<ReturnType<typeof serveBoth>>;
  beforeAll(async () => {
    const ids = Object.keys(DOCUMENTS).map((_title, at) => `post${at}`);
    statusesOf = await serveBoth(documentOfAll(), ids);
  });

  test.each(Object.entries(DOCUMENTS))('%s', async (title, [_schema, cases]) => {
    const path = `/${Object.keys(DOCUMENTS).indexOf(title)}`;
    const post = (body: string): Call => ({ method: 'post', path, body });
    const [valid = ['null']] = cases;
    const differences: Record<string, string> = {};
    const expected: Record<string, unknown> = {};
    for (const [body, inRequest, inReply] of cases) {
      const statuses = {
        request: await statusesOf(post(body), { status: 204 }),
        reply: await statusesOf(post(valid[0]), { status: 200, body: JSON.parse(body) }),
      };
      for (const [side, { eov, service }] of Object.entries(statuses)) {
        if (eov !== service) differences[`${side} ${body}`] = `EOV ${eov}, service ${service}`;
        const reason = side === 'request' ? inRequest : inReply;
        if (reason === undefined) continue;
        expected[`${side} ${body}`] = expect.any(String);
      }
    }
    expect(differences).toEqual(expected);
  });
});

test('express-openapi-validator rejects query parameters without a value, which are served here', async () => {
  const get = {
    operationId: 'find',
    parameters: [{ name: 'n', in: 'query', schema: { type: 'string' } }],
    responses: { 204: { description: 'Found.' } },
  };
  const info = { title: 'Search', version: '1' };
  const document = { openapi: '3.1.0', info, paths: { '/a': { get } } };
  const statusesOf = await serveBoth(document, ['find']);
  const statuses = await statusesOf({ method: 'get', path: '/a?n=' }, { status: 204 });
  expect(statuses).toEqual({ eov: 400, service: 204 });
});

test('docs/design.md lists the differences', () => {
  const reasons = Object.values(DOCUMENTS).flatMap(([_schema, cases]) =>
    cases.flatMap(([_body, ...sides]) => sides.filter((reason) => reason !== undefined)),
  );
  const page = readMarkdown(readFileSync('docs/design.md', 'utf8'));
  const listed = page.table('on', 'EOV', 'here').map(([reason]) => reason);
  expect(new Set(listed)).toEqual(new Set([...reasons, EMPTY]));
});

const plant = (id: string, name = '"Fern"') => `{"id":${id},"name":${name},"tag":"","more":1}`;
const nested = '['.repeat(300) + ']'.repeat(300);
const type = (text: string) => ({ 'Content-Type': text });
const NO_TOKEN = { Authorization: '' };

interface PlantRequest {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer<ArrayBuffer>;
}

/**
 * Requests to the plant store: by default `POST /plants` with a token and a media type. With the
 * reason, if the response of `examples/eov` has another status.
 */
const PLANT_REQUESTS: Readonly<Record<string, readonly [PlantRequest, Reason?]>> = {
  'a plant': [{ body: plant('1') }],
  'the same plant again': [{ body: plant('1') }],
  'the same id with another name': [{ body: plant('1', '"Moss"') }],

  'an id with a fraction of zero': [{ body: plant('2.0') }],
  'an id beyond 2^53': [{ body: plant('9007199254740993') }, 'ids beyond 2^53'],

  'no members': [{ body: '{}' }],

  'malformed JSON': [{ body: '{' }],
  'a member __proto__': [{ body: '{"id":3,"__proto__":{"name":"a"}}' }],
  'deeply nested JSON': [{ body: `{"id":4,"name":"a","x":${nested}}` }, 'JSON of 300 levels'],
  'no body': [{}],
  'neither a body nor a media type': [{ headers: type('') }, 'no body and no media type'],
  'no token': [{ body: plant('1'), headers: NO_TOKEN }],
  'a wrong token': [{ body: plant('1'), headers: { Authorization: 'Bearer other' } }],
  'another scheme': [{ body: plant('1'), headers: { Authorization: 'Basic xxbearerxx' } }],

  'no token, and malformed JSON': [{ body: '{', headers: NO_TOKEN }, 'no token and a wrong body'],
  'text/plain': [{ body: 'a', headers: type('text/plain') }],

  'UTF-16': [{ body: plant('1'), headers: type('application/json; charset=utf-16') }, 'UTF-16'],

  'invalid UTF-8': [{ body: Buffer.from('{"id":5,"name":"\xff"}', 'latin1') }],

  'an unknown encoding': [{ body: plant('1'), headers: { 'Content-Encoding': 'foo' } }],
  'a body that is too large': [{ body: plant('1', `"${'a'.repeat(200_000)}"`) }],
  'a lone surrogate': [{ body: plant('1', '"\\ud800"') }],

  'any other text': [{ body: plant('6', '"\\u0000 🌵 e\\u0301"') }],
  'an unknown path': [{ path: '/trees', body: '{}' }],

  'an unknown method': [{ method: 'GET' }],

  'a slash at the end': [{ path: '/plants/', body: plant('1') }, 'a slash at the end of the path'],

  'an encoded letter': [{ path: '/%70lants', body: plant('1') }, 'encoded letters in the path'],
  'an undeclared query parameter': [{ path: '/plants?x=1', body: plant('1') }],
};

describe('the plant store behind express-openapi-validator', () => {
  const folder = mkdtempSync(join(tmpdir(), 'eov-'));
  const files = { eov: join(folder, 'eov.db'), service: join(folder, 'service.db') };
  const urls = { eov: '', service: '' };
  const stores: PlantStore[] = [];
  beforeAll(async () => {
    const [eov, service] = await Promise.all(
      [files.eov, files.service].map((file) => openStore(`sqlite:${file}`, { maxWaiting: 10 })),
    );
    if (eov === undefined || service === undefined) throw new Error('no store');
    stores.push(eov, service);
    const accessTokens = [TOKEN];
    const handlers = plantHandlers(service);
    const app = await createApp({ document: 'openapi.yaml', handlers, errorBody, accessTokens });
    urls.eov = await urlOf(createEovApp(eov, accessTokens));
    urls.service = await urlOf(app);
  });
  afterAll(async () => {
    await Promise.all(stores.map((store) => store.close()));
    rmSync(folder, { recursive: true });
  });

  const send = async (
    url: string,
    { method = 'POST', path = '/plants', ...rest }: PlantRequest,
  ) => {
    const headers = Object.entries({ ...JSON_HEADERS, ...rest.headers }).filter(([, text]) => text);
    const options = { method, headers, body: rest.body ?? null };
    const response = await fetch(url + path, options);
    const { status } = response;
    const body: unknown = await response.json();
    // The texts of errors differ.
    if (status >= 400) expect(body).toEqual({ error: status, message: expect.stringMatching(/./) });
    const [scheme] = response.headers.get('WWW-Authenticate')?.split(' ') ?? [];
    const allow = response.headers.get('Allow');
    return { status, scheme, allow, ...(status < 400 && { body }) };
  };

  test('has the same responses, except for the listed differences', async () => {
    const differences: Record<string, unknown> = {};
    for (const [name, [sent, reason = name]] of Object.entries(PLANT_REQUESTS)) {
      const { eov, service } = {
        eov: await send(urls.eov, sent),
        service: await send(urls.service, sent),
      };
      if (!isDeepStrictEqual(eov, service)) differences[reason] = [eov.status, service.status];
    }
    const listed = readMarkdown(readFileSync('examples/eov/README.md', 'utf8'))
      .table('request', 'examples/eov', 'npm start')
      .map(([reason = '', ...statuses]) => [reason, statuses.map(Number)]);
    expect(differences).toEqual(Object.fromEntries(listed));
  });

  test('has stored the same plants, except for those of the listed differences', async () => {
    const [eov, service] = [plantsIn(files.eov), plantsIn(files.service)];
    service.delete(9007199254740993n);
    eov.delete(4n);
    expect(eov).toEqual(service);
    expect(eov.size).toBeGreaterThan(2);
  });

  test('responds with 503 while the store is unavailable, and hides errors', async () => {
    const broken = { status: 500, name: 'Error', message: 'a secret' };
    for (const [error, retryAfter] of [
      [new Unavailable('a secret', 'X'), '1'],
      [broken, null],
    ] as const) {
      const add = () => Promise.reject(error);
      const url = await urlOf(createEovApp({ ...(stores[0] as PlantStore), add }, [TOKEN]));
      const response = await fetch(`${url}/plants`, {
        method: 'POST',
        headers: JSON_HEADERS,
        body: plant('1'),
      });
      expect([response.status, response.headers.get('Retry-After')]).toEqual([
        error.status,
        retryAfter,
      ]);
      expect(await response.text()).not.toContain('secret');
    }
  });
});
