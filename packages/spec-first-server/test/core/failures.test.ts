import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { pino } from 'pino';
import request from 'supertest';
import { withFiles } from 'test-support/documents';
import { eventually } from 'test-support/eventually';
import { describeError } from '../../src/core/describe-error.ts';
import type { AnyHandler } from '../../src/core/handlers/types.ts';
import { failureOf } from '../../src/core/response/failures.ts';
import { Forbidden, HttpError, Unauthorized } from '../../src/core/response/http-error.ts';
import type { ErrorBody } from '../../src/core/response/problem.ts';
import { createApp } from '../../src/index.ts';

const DOCUMENT = `openapi: 3.1.0
info: { title: Failures, version: 1.0.0 }
paths:
  /values/{name}:
    get:
      operationId: fail
      parameters: [{ name: name, in: path, required: true, schema: { type: string } }]
      responses: { '200': { description: never } }
`;

function cyclic(): Error {
  const error = new Error('cyclic');
  error.cause = new Error('inner', { cause: error });
  return error;
}

function deep(): Error {
  let error = new Error('innermost');
  for (let depth = 0; depth < 10_000; depth += 1) error = new Error('outer', { cause: error });
  return error;
}

function revoked(): unknown {
  const { proxy, revoke } = Proxy.revocable(new Error('revoked'), {});
  revoke();
  return proxy;
}

const fail = (): never => {
  throw new Error('a getter failed');
};
const hostile = () => new Proxy({}, { get: fail, has: fail, getPrototypeOf: fail, ownKeys: fail });

/** Returns a sound error whose property throws when it is read. */
const withGetter = (error: Error, property: string): Error =>
  Object.defineProperty(error, property, { get: fail, enumerable: true });

/** Makes each value, with the status and the message that a client gets. */
const VALUES: Readonly<Record<string, readonly [() => unknown, number, string?]>> = {
  undefined: [() => undefined, 500],
  null: [() => null, 500],
  'a string': [() => 'text', 500],
  'a number': [() => 404, 500],
  'a bigint': [() => 404n, 500],
  'a symbol': [() => Symbol('secret'), 500],
  'a function': [() => fail, 500],
  'a class': [() => HttpError, 500],
  'an object without a prototype': [() => Object.create(null), 500],
  'an object whose toString throws': [() => ({ toString: fail }), 500],
  'an object whose toJSON throws': [() => ({ toJSON: fail }), 500],
  'a hostile proxy': [hostile, 500],
  'a revoked proxy': [revoked, 500],
  'an error': [() => new Error('secret'), 500],
  'a frozen error': [() => Object.freeze(new Error('secret')), 500],
  'an error with a cyclic cause': [cyclic, 500],
  'an error with 10,000 causes': [deep, 500],
  'an error with a revoked cause': [() => new Error('secret', { cause: revoked() }), 500],
  'an error with a huge message': [() => new Error('x'.repeat(20_000_000)), 500],
  'an error with an object as its message': [
    () => Object.assign(new Error('a'), { message: hostile() }),
    500,
  ],
  'an error whose message throws': [() => withGetter(new Error('a'), 'message'), 500],
  'an error whose stack throws': [() => withGetter(new Error('a'), 'stack'), 500],
  'an error whose cause throws': [() => withGetter(new Error('a'), 'cause'), 500],
  'an error whose status throws': [() => withGetter(new Error('a'), 'status'), 500],
  'an error with another property that throws': [() => withGetter(new Error('a'), 'detail'), 500],
  'a status with a line break in a header': [
    () => ({ status: 404, expose: true, message: 'a', headers: { 'x-a': 'a\nb' } }),
    500,
  ],
  'a status with a wrong header name': [() => ({ status: 404, headers: { 'x a': 'b' } }), 500],
  'a status with an object in a header': [
    () => ({ status: 404, headers: { a: Object.create(null) } }),
    500,
  ],
  'a status without headers': [
    () => ({ status: 404, expose: true, message: 'no such book', headers: null }),
    404,
    'no such book',
  ],
  'a status that is told': [() => ({ status: 409, expose: true, message: 'taken' }), 409, 'taken'],
  'a status that is not told': [
    () => ({ status: 409, expose: false, message: 'secret' }),
    409,
    'conflict',
  ],
  'a status with a hidden message by default': [
    () => ({ status: 404, message: 'secret' }),
    404,
    'not found',
  ],
  'a status 500 that is told': [() => ({ status: 500, expose: true, message: 'secret' }), 500],
  'the status NaN': [() => ({ status: Number.NaN }), 500],
  'the status 600': [() => ({ status: 600 }), 500],
  'the status 200': [() => ({ status: 200, expose: true, message: 'fine' }), 500],
  'the status 404.5': [() => ({ status: 404.5 }), 500],
  'the status "404"': [() => ({ status: '404' }), 500],
  'an HttpError': [() => new HttpError(404, 'no such book'), 404, 'no such book'],
  'an HttpError of the status 600': [() => new HttpError(600, 'a'), 500],
  'an HttpError of the status NaN': [() => new HttpError(Number.NaN, 'a'), 500],
  'an HttpError with a header that was changed': [
    () => Object.assign(new HttpError(404, 'a'), { headers: { 'x-a': 'a\nb' } }),
    500,
  ],
  'an HttpError without headers': [
    () => Object.assign(new HttpError(404, 'a'), { headers: null }),
    404,
    'a',
  ],
  'an HttpError with errors that are none': [
    () => Object.assign(new HttpError(404, 'a'), { errors: 7 }),
    404,
    'a',
  ],
  'an HttpError whose reason throws': [() => withGetter(new HttpError(404, 'a'), 'reason'), 500],
  'an HttpError whose message throws': [() => withGetter(new HttpError(404, 'a'), 'message'), 500],
  'an HttpError with a cyclic cause': [
    () => new HttpError(404, 'a', { cause: cyclic() }),
    404,
    'a',
  ],
  'Forbidden with scopes': [
    () => new Forbidden(['a']),
    403,
    'The token lacks a scope: this operation needs a',
  ],
  'Forbidden with a message': [() => new Forbidden('not yours'), 403, 'not yours'],
  'Unauthorized of a handler': [() => new Unauthorized('who?'), 401, 'who?'],
};
const names = Object.keys(VALUES);

const lines: Record<string, unknown>[] = [];
const failures: unknown[] = [];
const onFailure = (error: unknown): void => void failures.push(error);
const sink = { write: (line: string): void => void lines.push(JSON.parse(line)) };

/** Fails with the value that the path names: at once, or later. */
const handler: AnyHandler = async ({ path, headers }) => {
  const [make] = VALUES[String(path.name)] ?? [fail];
  if (headers['x-later'] !== undefined) await new Promise((resolve) => setImmediate(resolve));
  throw make();
};

describe('a handler that throws', () => {
  let clients: Readonly<Record<string, ReturnType<typeof request>>>;
  beforeAll(async () => {
    process.on('uncaughtException', onFailure).on('unhandledRejection', onFailure);
    const serializers = { err: (error: unknown) => describeError(error) };
    clients = await withFiles({ 'openapi.yaml': DOCUMENT }, async (folder) => {
      const document = join(folder, 'openapi.yaml');
      const appWith = (log: ReturnType<typeof pino>) =>
        createApp({ document, handlers: { fail: handler }, log });
      return {
        'the log of serve': request(await appWith(pino({ serializers }, sink))),
        'a log of its own': request(await appWith(pino({}, sink))),
      };
    });
  });
  afterAll(() => {
    process.off('uncaughtException', onFailure).off('unhandledRejection', onFailure);
  });

  const logs = ['the log of serve', 'a log of its own'];
  test.each(logs.flatMap((log) => names.map((name) => [name, log] as const)))(
    '%s, with %s, is answered and logged',
    async (name, log) => {
      const [, status, message] = VALUES[name] ?? [];
      for (const headers of [{}, { 'X-Later': 'yes' }]) {
        lines.length = 0;
        const path = `/values/${encodeURIComponent(name)}`;
        const answer = await clients[log]?.get(path).set(headers);
        expect(answer?.status).toBe(status);
        const told = status === 500 ? 'internal server error' : message;
        if (told !== undefined)
          expect(JSON.stringify(answer?.body)).toContain(JSON.stringify(told));
        expect(answer?.text).not.toContain('secret');
        expect(answer?.text.length).toBeLessThan(10_000);
        await eventually(() => lines.length === 1);
        expect(lines[0]).toMatchObject({ operationId: 'fail', status });
        expect(JSON.stringify(lines[0]).length).toBeLessThan(log === logs[0] ? 200_000 : Infinity);
      }
      expect(failures).toEqual([]);
    },
  );
});

test.each(names)('the description of %s for the log has strings only', (name) => {
  const described = describeError(VALUES[name]?.[0]());
  expect(JSON.parse(JSON.stringify(described))).toEqual(described);
});

test.each(names)('the failure of %s can be read twice', (name) => {
  const { cause: _cause, ...failure } = failureOf(VALUES[name]?.[0]());
  expect(JSON.parse(JSON.stringify(failure))).toMatchObject({ status: VALUES[name]?.[1] });
});

test.each([
  ['the error, if the client does not get its message', { status: 409 }, 'error'],
  ['the error, if it is a fault of the service', { status: 503, expose: true }, 'error'],
  ['the error, if it has no status', {}, 'error'],
  ['the cause of an error whose message the client gets', { status: 409, expose: true }, 'cause'],
])('the log contains %s', (_title, members, logged) => {
  const error = new Error('error', { cause: new Error('cause') });
  expect(failureOf(Object.assign(error, members)).cause).toMatchObject({ message: logged });
});

test('errorBody makes headers that the document requires of failures', async () => {
  const header = '{ required: true, schema: { type: string, format: uuid } }';
  const error = '{ type: object, required: [message], properties: { message: { type: string } } }';
  const text = `${DOCUMENT.replace("{ '200'", `{ default: { description: It., headers: { X-Interaction: ${header} }, content: { application/json: { schema: ${error} } } }, '200'`)}`;
  await withFiles({ 'openapi.yaml': text }, async (folder) => {
    const id = '3f1c8d0a-6f0e-4b43-9a51-0d6a4f1f8f0e';
    const app = await createApp({
      document: join(folder, 'openapi.yaml'),
      handlers: {
        fail: () => {
          throw new HttpError(409, 'taken', { headers: { 'X-Other': 'thrown' } });
        },
      },
      errorBody: {
        mediaType: 'application/json',
        make: ({ message }) => ({ message }),
        headers: ({ status }) => ({ 'X-Interaction': id, 'X-Other': String(status) }),
      },
    });
    const response = await request(app).get('/values/a');
    expect({ status: response.status, body: response.body }).toEqual({
      status: 409,
      body: { message: 'taken' },
    });
    expect(response.headers).toMatchObject({ 'x-interaction': id, 'x-other': 'thrown' });
  });
});

describe('the body of a failure', () => {
  const schema =
    '{ type: object, required: [name], properties: { name: { type: string }, age: { type: integer } } }';
  const document = `openapi: 3.1.0
info: { title: Details, version: 1.0.0 }
paths:
  /people:
    post:
      operationId: add
      security: [{ key: [] }, { basic: [] }, {}]
      requestBody: { required: true, content: { application/json: { schema: ${schema} } } }
      responses: { '204': { description: added } }
    get: { operationId: list, responses: { '204': { description: listed } } }
components:
  securitySchemes:
    key: { type: apiKey, in: header, name: X-Key }
    basic: { type: http, scheme: basic }
`;
  const serve = async (error: unknown, errorBody?: ErrorBody) =>
    withFiles({ 'openapi.yaml': document }, async (folder) => {
      const fail: AnyHandler = () => {
        throw error;
      };
      const verifiers = { basic: () => ({ subject: 'ann', scopes: 'all' as const }) };
      const file = join(folder, 'openapi.yaml');
      const handlers = { add: fail, list: fail };
      return request(await createApp({ document: file, handlers, verifiers, errorBody }));
    });

  test('has a title by its status, the message as detail, and each violation', async () => {
    const client = await serve(new HttpError(409, 'there is an Ann', { headers: { 'X-A': 'b' } }));
    const conflict = await client.post('/people').send({ name: 'Ann' }).expect(409);
    expect(conflict.headers).toMatchObject({
      'content-type': 'application/problem+json',
      'x-a': 'b',
    });
    const detail = 'there is an Ann';
    expect(conflict.body).toEqual({ status: 409, title: 'Conflict', detail });
    const { body } = await client.post('/people').send({ age: 'x' }).expect(400);
    expect(body).toEqual({
      status: 400,
      title: 'Bad Request',
      detail: "/body/name must have required property 'name'; /body/age must be integer",
      errors: [
        { pointer: '#/body/name', detail: "must have required property 'name'" },
        { pointer: '#/body/age', detail: 'must be integer' },
      ],
    });
  });

  test('comes with the challenges of the operation if a handler throws Unauthorized', async () => {
    const client = await serve(new Unauthorized('the session is over'));
    const { headers, body } = await client.post('/people').send({ name: 'Ann' }).expect(401);
    expect(body.detail).toBe('the session is over');
    expect(headers['www-authenticate']).toBe(
      'ApiKey in="header", name="X-Key", Basic realm="api", charset="UTF-8"',
    );
    // An operation without security has no challenge.
    expect((await client.get('/people').expect(401)).headers['www-authenticate']).toBeUndefined();
  });

  test('comes with headers of the project, unless the error has its own', async () => {
    const errorBody: ErrorBody = {
      mediaType: 'application/json',
      make: ({ status }) => ({ status }),
      headers: ({ requestId = '' }) => ({ 'X-Interaction': requestId, 'Retry-After': '9' }),
    };
    const error = new HttpError(503, 'away', { headers: { 'Retry-After': 3 } });
    const client = await serve(error, errorBody);
    const answer = await client.get('/people').set('X-Request-Id', 'abc').expect(503);
    expect(answer.headers).toMatchObject({ 'x-interaction': 'abc', 'retry-after': '3' });
    const missing = await client.get('/nowhere').set('X-Request-Id', 'def').expect(404);
    expect(missing.headers).toMatchObject({ 'x-interaction': 'def', 'retry-after': '9' });
  });

  test('is framed by the server, whatever headers the error has', async () => {
    const headers = {
      'Content-Length': '1',
      'content-type': 'text/html',
      'Transfer-Encoding': 'chunked',
    };
    const error = Object.assign(new Error('taken'), { status: 409, expose: true, headers });
    const client = await serve(error);
    const answer = await client.get('/people').expect(409);
    expect(answer.headers).toMatchObject({
      'content-type': 'application/problem+json',
      'content-length': String(answer.text.length),
    });
    expect(answer.headers).not.toHaveProperty('transfer-encoding');
  });

  test('is a 500 if the headers of the project cannot be sent', async () => {
    const client = await serve(new HttpError(409, 'taken'), {
      mediaType: 'application/json',
      make: ({ status }) => ({ status }),
      headers: () => ({ 'X-A': 'a\nb' }),
    });
    const { body } = await client.get('/people').expect(500);
    expect(body.detail).toBe('internal server error');
  });
});
