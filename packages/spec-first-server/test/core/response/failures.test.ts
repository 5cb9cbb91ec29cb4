import { beforeAll, describe, expect, test } from '@jest/globals';
import { type Codec, createSchemas, type Operation } from 'openapi-document';
import { type LoggerOptions, pino } from 'pino';
import { codecsOf } from 'test-support/codecs';
import { documentOf } from 'test-support/document-of';
import { Resources } from '../../../src/core/account.ts';
import { describeError } from '../../../src/core/describe-error.ts';
import type { AnyHandler } from '../../../src/core/handlers/types.ts';
import { recorder } from '../../../src/core/record.ts';
import {
  failureAnswer,
  failureOf,
  type OperationFailureContext,
} from '../../../src/core/response/failures.ts';
import {
  Forbidden,
  HttpError,
  InvalidReply,
  Unauthorized,
} from '../../../src/core/response/http-error.ts';
import {
  type ErrorBody,
  PROBLEM_DETAILS,
  type Problem,
} from '../../../src/core/response/problem.ts';
import { createService, type Service } from '../../../src/core/service.ts';
import { createValidators, Violations } from '../../../src/core/validation/validator.ts';

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

const withGetter = (error: Error, property: string): Error =>
  Object.defineProperty(error, property, { get: fail, enumerable: true });

/** Functions that make a value, with the status and the message that a client gets for it. */
const VALUES: Readonly<Record<string, readonly [() => unknown, number, string?]>> = {
  undefined: [() => undefined, 500],
  null: [() => null, 500],
  'a string': [() => 'text', 500],
  'a symbol': [() => Symbol('secret'), 500],
  'a function': [() => fail, 500],
  'an object whose toString throws': [() => ({ toString: fail }), 500],
  'an object whose toJSON throws': [() => ({ toJSON: fail }), 500],
  'a hostile proxy': [hostile, 500],
  'a revoked proxy': [revoked, 500],
  'an error': [() => new Error('secret'), 500],
  'a frozen error': [() => Object.freeze(new Error('secret')), 500],
  'an error with a cyclic cause': [cyclic, 500],
  'an error with 10,000 causes': [deep, 500],
  'an error with a revoked cause': [() => new Error('secret', { cause: revoked() }), 500],
  'an error with a huge message': [() => new Error('x'.repeat(2_000_000)), 500],
  'an error with an object as its message': [
    () => Object.assign(new Error('a'), { message: hostile() }),
    500,
  ],
  'an error whose message throws': [() => withGetter(new Error('a'), 'message'), 500],
  'an error whose status throws': [() => withGetter(new Error('a'), 'status'), 500],
  'an error with another property that throws': [() => withGetter(new Error('a'), 'detail'), 500],
  'a status with a line break in a header': [
    () => ({ status: 404, expose: true, message: 'a', headers: { 'x-a': 'a\nb' } }),
    500,
  ],
  'a status without headers': [
    () => ({ status: 404, expose: true, message: 'no such book', headers: null }),
    404,
    'no such book',
  ],
  'a status with a header __proto__': [
    () => ({ status: 404, headers: JSON.parse('{"__proto__":"a"}') }),
    404,
    'not found',
  ],
  'a status with a public message': [
    () => ({ status: 409, expose: true, message: 'taken' }),
    409,
    'taken',
  ],
  'a status with a private message': [
    () => ({ status: 409, expose: false, message: 'secret' }),
    409,
    'conflict',
  ],
  'a status whose message is not marked as public': [
    () => ({ status: 404, message: 'secret' }),
    404,
    'not found',
  ],
  'a status 500 with a public message': [
    () => ({ status: 500, expose: true, message: 'secret' }),
    500,
  ],
  'the status NaN': [() => ({ status: Number.NaN }), 500],
  'the status 200': [() => ({ status: 200, expose: true, message: 'fine' }), 500],
  'the status 404.5': [() => ({ status: 404.5 }), 500],
  'the status "404"': [() => ({ status: '404' }), 500],
  'an HttpError': [() => new HttpError(404, 'no such book'), 404, 'no such book'],
  'an HttpError with a changed header': [
    () => Object.assign(new HttpError(404, 'a'), { headers: { 'x-a': 'a\nb' } }),
    500,
  ],
  'an HttpError without headers': [
    () => Object.assign(new HttpError(404, 'a'), { headers: null }),
    404,
    'a',
  ],
  'an HttpError with errors that are not a list': [
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
};
const names = Object.keys(VALUES);

const DOCUMENT = `openapi: 3.1.0
info: { title: Failures, version: 1.0.0 }
paths:
  /values/{name}:
    get:
      operationId: fail
      parameters: [{ name: name, in: path, required: true, schema: { type: string } }]
      responses: { '200': { description: never } }
`;

describe('a handler that throws', () => {
  const lines: Record<string, unknown>[] = [];
  const services = new Map<string, Service>();

  const handler: AnyHandler = ({ path, headers }) => {
    const [make] = VALUES[String(path.name)] ?? [fail];
    if (headers['x-later'] === undefined) throw make();
    return new Promise((_resolve, reject) => setImmediate(() => reject(make())));
  };

  beforeAll(async () => {
    const document = await documentOf(DOCUMENT);
    const write = (line: string): void => void lines.push(JSON.parse(line));
    const serve = (options: LoggerOptions) =>
      createService(document, { handlers: { fail: handler }, log: pino(options, { write }) });
    const serializers = { err: (error: unknown) => describeError(error) };
    services.set('the log of serve', await serve({ serializers }));
    services.set('another log', await serve({}));
  });

  const logs = ['the log of serve', 'another log'];
  test.each(logs.flatMap((log) => names.map((name) => [name, log] as const)))(
    '%s gets an error response and one line in %s',
    async (name, log) => {
      const [, status = 0, message] = VALUES[name] ?? [];
      for (const headers of [{}, { 'x-later': 'yes' }]) {
        lines.length = 0;
        const call = { method: 'GET', path: `/values/${encodeURIComponent(name)}`, headers };
        const service = services.get(log) as Service;
        const record = service.begin(call);
        const answer = await service.handle(call, record);
        service.end(call, record, { status, isComplete: true });
        expect(answer.status).toBe(status);
        const detail = status === 500 ? 'internal server error' : message;
        expect(JSON.parse(String(answer.body))).toMatchObject({ detail });
        expect(answer.body).not.toContain('secret');
        expect(lines).toEqual([expect.objectContaining({ operationId: 'fail', status })]);
        expect(JSON.stringify(lines).length).toBeLessThan(log === logs[0] ? 200_000 : Infinity);
      }
    },
  );
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

test('the message of an error with a body is not the reason for the log', () => {
  const message = 'Unexpected token in "secret"';
  const error = { status: 400, expose: true, message };
  expect(failureOf(error)).toMatchObject({ message, reason: message });
  expect(failureOf({ ...error, body: 'secret' })).toMatchObject({ message, reason: 'bad request' });
});

const VIOLATIONS = new Violations([
  { path: '/body/name', message: 'must be string', keyword: 'type' },
  { path: '/query/secret', message: 'is not a parameter', keyword: 'additionalProperties' },
]);

test('the failure of each kind of error has its status, headers, reason and violations', () => {
  const reply = new InvalidReply('get answered 200: /body/secret must be string');
  const message = 'the service made a reply that the document does not declare';
  expect(failureOf(reply)).toEqual({
    status: 500,
    message,
    reason: message,
    headers: {},
    expected: false,
    cause: reply,
  });
  expect(failureOf(VIOLATIONS)).toEqual({
    status: 400,
    message: '/body/name must be string; /query/secret is not a parameter',
    reason: 'the request does not match the document',
    headers: {},
    expected: false,
    errors: VIOLATIONS.violations,
  });
  const options = {
    type: '/problems/stopping',
    headers: { 'Retry-After': 5 },
    reason: 'a stop',
    expected: true,
    errors: VIOLATIONS.violations,
    cause: 'SIGTERM',
  };
  expect(failureOf(new HttpError(503, 'try again', options))).toEqual({
    ...options,
    status: 503,
    message: 'try again',
    headers: { 'Retry-After': '5' },
    isPresented: true,
  });
  expect(failureOf(new Unauthorized('no token', false))).toMatchObject({ isPresented: false });
  expect(failureOf(new Unauthorized('a wrong token'))).toMatchObject({ isPresented: true });
});

test('a message of more than 8192 characters is cut', () => {
  const messageOf = (length: number) => failureOf(new HttpError(409, 'x'.repeat(length))).message;
  expect(messageOf(8192)).toBe('x'.repeat(8192));
  expect(messageOf(8193)).toBe(`${'x'.repeat(8192)}…`);
});

describe('the answer to a failure', () => {
  const failing = `openapi: 3.1.0
info: { title: Failures, version: 1.0.0 }
paths:
  /a:
    get:
      operationId: get
      responses:
        '204': { description: done }
        '400':
          description: a fault of the client
          content:
            application/json:
              schema: { type: object, required: [why], properties: { why: { enum: [fault, typo] } } }
              examples: { wrong: { value: {} }, right: { value: { why: typo } } }
        '401': { description: no body }
        '404': { description: text, content: { text/plain: { schema: { type: string } } } }
        '409': { description: JSON, content: { application/json: { schema: { type: object, required: [detail] } } } }
        '422': { description: one value, content: { application/json: { schema: { const: 1 } } } }
        '503': { description: any, content: { '*/*': { schema: { type: object } } } }
`;
  let context: OperationFailureContext;
  let operation: Operation;
  beforeAll(async () => {
    const { operations, root } = await documentOf(failing);
    const [get] = operations;
    if (get === undefined) throw new Error('the document has no operation');
    operation = get;
    const codecs = await codecsOf(operations);
    await codecs.load([{ type: PROBLEM_DETAILS.mediaType }]);
    context = {
      errorBody: PROBLEM_DETAILS,
      codecs,
      operation,
      validator: createValidators(createSchemas(root), { codecs })(operation),
      names: new Set(['body', 'name', 'query', 'why']),
      challenge: (presented) => `Bearer${presented ? ' error="invalid_token"' : ''}`,
    };
  });

  function answerTo(
    error: unknown,
    errorBody: ErrorBody = PROBLEM_DETAILS,
    operationContext: OperationFailureContext | null = context,
    method = 'GET',
  ) {
    const call = { method, path: '/a', headers: { 'x-request-id': 'r1' } };
    const record = recorder(new Resources())(call);
    const { codecs, names } = context;
    const failures = { ...(operationContext ?? { codecs, names }), errorBody };
    const answer = failureAnswer(error, record, call, failures);
    const { status, headers: list, body } = answer;
    const headers: Record<string, string> = {};
    for (let at = 0; at < list.length; at += 2) headers[String(list[at])] = String(list[at + 1]);
    return { status, list, headers, type: headers['Content-Type'], body, record };
  }

  const JSON_BODY: ErrorBody = { mediaType: 'application/json', make: (problem) => problem };

  test.each([
    [['400', '422'], 400],
    [['422'], 422],
    [['422', '4XX', 'default'], 422],
    [['4XX'], 400],
    [['default'], 400],
    [[], 400],
  ])(
    'of an invalid request, with the declared responses %j, has the status %i',
    (keys, expected) => {
      const [response] = operation.responses;
      if (response === undefined) throw new Error('no response');
      const responses = keys.map((key) => ({ ...response, key }));
      const declaring = { ...context, operation: { ...operation, responses } };
      const { status, record } = answerTo(VIOLATIONS, undefined, declaring);
      expect([status, record.failure?.status]).toEqual([expected, expected]);
      expect(answerTo(new HttpError(409, 'taken'), undefined, declaring).status).toBe(409);
    },
  );

  test('has the media type of errorBody where the document declares a range, or no response', () => {
    expect(answerTo(new HttpError(503, 'away')).type).toBe('application/problem+json');
    const declared: unknown[] = [];
    const errorBody: ErrorBody = {
      mediaType: 'text/plain',
      make: ({ message }, response) => declared.push(response) && message,
    };
    const { type, body } = answerTo(new HttpError(410, 'gone'), errorBody);
    expect({ type, body }).toEqual({ type: 'text/plain; charset=utf-8', body: 'gone' });
    const none = answerTo(new HttpError(404, 'no such path'), errorBody, null);
    expect(none.body).toBe('no such path');
    expect(declared).toEqual([
      { operationId: 'get', mediaType: undefined, schema: undefined },
      undefined,
    ]);
  });

  test('has no body where the document declares none, nor for HEAD', () => {
    expect(answerTo(new Unauthorized('no token'))).toMatchObject({ status: 401, body: undefined });
    const head = answerTo(new HttpError(409, 'taken'), undefined, null, 'HEAD');
    expect(head).toMatchObject({ type: 'application/problem+json', body: undefined });
  });

  test('has the headers of errorBody, unless the error has the same ones', () => {
    const errorBody: ErrorBody = {
      ...JSON_BODY,
      headers: ({ status, requestId = '' }) => ({ 'X-Id': requestId, 'Retry-After': `${status}` }),
    };
    const away = new HttpError(503, 'away', { headers: { 'Retry-After': 3 } });
    expect(answerTo(away, errorBody).headers).toMatchObject({ 'X-Id': 'r1', 'Retry-After': '3' });
    expect(answerTo(new HttpError(404, 'none'), errorBody).headers).toMatchObject({
      'X-Id': 'r1',
      'Retry-After': '404',
    });
  });

  test('has a header once, in whatever case the error writes its name', () => {
    const headers = { 'www-authenticate': 'Basic realm="x"', 'retry-AFTER': '3' };
    const errorBody: ErrorBody = { ...JSON_BODY, headers: () => ({ 'Retry-After': '9' }) };
    const answer = answerTo(new HttpError(401, 'over', { headers }), errorBody);
    expect(answer.headers).toMatchObject(headers);
    expect(answer.headers).not.toHaveProperty('WWW-Authenticate');
    expect(answer.headers).not.toHaveProperty('Retry-After');
  });

  test('has a line for each value of a header', () => {
    const headers = { 'Set-Cookie': ['a=1', 'b=2'] };
    for (const error of [{ status: 404, headers }, new HttpError(404, 'none', { headers })]) {
      const { list } = answerTo(error);
      expect(list.join('\n')).toContain('Set-Cookie\na=1\nSet-Cookie\nb=2');
    }
    expect(answerTo({ status: 404, headers: { 'X-A': ['a', 'a\nb'] } }).status).toBe(500);
  });

  test.each<[title: string, errorBody: Partial<ErrorBody>]>([
    ['makes a header that cannot be sent', { headers: () => ({ 'X-A': 'a\nb' }) }],
    ['throws', { make: fail }],
    ['is asynchronous', { make: async () => ({}) }],
    ['is asynchronous and fails', { make: async () => fail() }],
  ])('is a 500 in problem details if errorBody %s', (_title, members) => {
    const answer = answerTo(new HttpError(409, 'taken'), { ...JSON_BODY, ...members });
    expect([answer.status, answer.type]).toEqual([500, 'application/problem+json']);
    expect(JSON.parse(String(answer.body)).detail).toBe('internal server error');
    expect(answer.record.failure).toMatchObject({ status: 500, cause: expect.any(Error) });
  });

  test('is written by the codec of its media type, also outside an operation', async () => {
    const upper: Codec = {
      match: (type) => type === 'application/upper',
      unit: 'value',
      read: (bytes) => String(bytes),
      write: (value) => Buffer.from(JSON.stringify(value).toUpperCase()),
    };
    const bodyWith = async (mediaType: string) => {
      const errorBody = { mediaType, make: ({ message }: Problem) => message };
      const options = { handlers: { get: () => ({ status: 204 }) }, codecs: [upper], errorBody };
      const document = await documentOf(failing);
      const service = await createService(document, options);
      const { body } = await service.handle({ method: 'GET', path: '/none', headers: {} });
      return String(body);
    };
    expect(await bodyWith('application/json')).toBe('"no such path"');
    expect(await bodyWith('application/upper')).toBe('"NO SUCH PATH"');
    expect(await bodyWith('text/plain')).toBe('no such path');
  });

  test('is problem details if errorBody makes text in another charset', () => {
    const errorBody = { mediaType: 'text/plain; charset=iso-8859-1', make: () => 'für' };
    const none = new HttpError(404, 'none');
    expect(answerTo(none, errorBody, null)).toMatchObject({ type: 'application/problem+json' });
    const ascii = { ...errorBody, make: () => 'none' };
    expect(answerTo(none, ascii, null)).toMatchObject({ type: errorBody.mediaType, body: 'none' });
  });

  describe('whose declared response requires headers', () => {
    const limited = `openapi: 3.1.0
info: { title: Limits, version: 1.0.0 }
paths:
  /a:
    get:
      operationId: get
      responses:
        '204': { description: done }
        '429':
          description: too many
          headers:
            Retry-After: { required: true, schema: { type: integer } }
            X-Limit: { schema: { type: integer, maximum: 9 } }
            X-Frame-Options: { required: true, schema: { type: string } }
`;
    const reasonFor = async (headers: Record<string, string | number>, errorBody?: ErrorBody) => {
      const { operations, root } = await documentOf(limited);
      const [get = operation] = operations;
      const limitedContext = {
        ...context,
        operation: get,
        validator: createValidators(createSchemas(root), { codecs: await codecsOf(operations) })(
          get,
        ),
      };
      const answer = answerTo(
        new HttpError(429, 'too many', { headers }),
        errorBody,
        limitedContext,
      );
      expect(answer.status).toBe(429);
      return answer.record.failure?.reason;
    };

    test('is sent and logged if the error has none', async () => {
      expect(await reasonFor({})).toBe(
        'too many; the headers of the error do not match the document: ' +
          '/headers/retry-after is required',
      );
    });

    test('is not logged if the error or errorBody has them', async () => {
      expect(await reasonFor({ 'retry-after': '3', 'X-Limit': 9 })).toBe('too many');
      const errorBody = { ...JSON_BODY, headers: () => ({ 'Retry-After': '3' }) };
      expect(await reasonFor({}, errorBody)).toBe('too many');
    });
  });
});
