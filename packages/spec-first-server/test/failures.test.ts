import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Codec } from 'openapi-document';
import { type LoggerOptions, pino } from 'pino';
import { withFiles } from 'test-support/files';
import { describeError } from '../src/core/describe-error.ts';
import type { ServiceOptions } from '../src/core/prepare.ts';
import { createService, type ErrorBody, Forbidden, HttpError, type Problem } from '../src/index.ts';

const DOCUMENT = `openapi: 3.1.0
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
        '429':
          description: headers
          headers:
            Retry-After: { required: true, schema: { type: integer } }
            X-Limit: { schema: { type: integer, maximum: 9 } }
            X-Frame-Options: { required: true, schema: { type: string } }
        '503': { description: any, content: { '*/*': { schema: { type: object } } } }
  /none: { get: { operationId: none, responses: { '204': { description: done } } } }
`;

/** Creates a service whose operations throw a value. */
async function failing(options: Partial<ServiceOptions> = {}) {
  const lines: Record<string, unknown>[] = [];
  let make: () => unknown = () => undefined;
  let isLate = false;
  const handler = async () => {
    if (isLate) await new Promise(setImmediate);
    throw make();
  };
  const service = await withFiles({ 'openapi.yaml': DOCUMENT }, (folder) =>
    createService(`${folder}/openapi.yaml`, {
      handlers: { get: handler, none: handler },
      log: pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) }),
      ...options,
    }),
  );
  return async (next: () => unknown, { path = '/a', method = 'GET', late = false } = {}) => {
    make = next;
    isLate = late;
    lines.length = 0;
    const call = { method, path, headers: { 'x-request-id': 'r1' } };
    const record = service.begin(call);
    const { status, headers: list, body } = await service.handle(call, record);
    service.end(call, record, { status, isComplete: true });
    const headers = Object.fromEntries(
      list.flatMap((name, at) => (at % 2 === 0 ? [[name, list[at + 1]]] : [])),
    );
    const text = body === undefined ? undefined : String(body);
    const type = headers['Content-Type'];
    return { status, headers, list, type, text, lines: [...lines], failure: record.failure };
  };
}

type Answers = Awaited<ReturnType<typeof failing>>;

/** Returns a function that answers with the given error. */
async function answering(errorBody?: ErrorBody) {
  const answer = await failing(errorBody && { errorBody });
  return (error: unknown, parts?: Parameters<Answers>[1]) => answer(() => error, parts);
}

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

const exposed = { expose: true, message: 'secret' };

/** Functions that make a value, by the status and the message that a client gets for it. */
const VALUES: Readonly<Record<string, readonly (() => unknown)[]>> = {
  '500 internal server error': [
    () => undefined,
    () => null,
    () => 'secret',
    () => Symbol('secret'),
    () => fail,
    hostile,
    revoked,
    () => ({ toString: fail, toJSON: fail }),
    () => Object.freeze(new Error('secret')),
    cyclic,
    deep,
    () => new Error('secret', { cause: revoked() }),
    () => new Error('x'.repeat(2_000_000)),
    () => Object.assign(new Error('a'), { message: hostile() }),
    ...['message', 'status', 'detail'].map((name) => () => withGetter(new Error('a'), name)),
    ...['message', 'reason'].map((name) => () => withGetter(new HttpError(404, 'a'), name)),
    () => ({ ...exposed, status: 404, headers: { 'x-a': 'a\nb' } }),
    () => ({ status: 404, headers: { 'x-a': ['a', 'a\nb'] } }),
    () => Object.assign(new HttpError(404, 'a'), { headers: { 'x-a': 'a\nb' } }),
    ...[500, Number.NaN, 200, 399, 600, 404.5, '404'].map((status) => () => ({
      ...exposed,
      status,
    })),
  ],
  '404 not found': [
    () => ({ status: 404, headers: JSON.parse('{"__proto__":"a"}') }),
    () => ({ status: 404, message: 'secret' }),
    () => ({ status: 404, message: 'secret', expose: false }),
  ],
  '404 no such book': [
    () => ({ status: 404, expose: true, message: 'no such book', headers: null }),
    () => new HttpError(404, 'no such book', { cause: cyclic() }),
    () => Object.assign(new HttpError(404, 'no such book'), { headers: null, errors: 7 }),
  ],
  '403 The token lacks a scope: this operation needs a:read ä"\ud800': [
    () => new Forbidden(['a:read', 'ä"\ud800']),
  ],
  '403 ask an administrator': [() => new Forbidden(['a'], 'ask an administrator')],
};

describe('a handler that throws', () => {
  const services = new Map<string, Answers>();
  const lines: Record<string, unknown>[] = [];
  beforeAll(async () => {
    const write = (line: string): void => void lines.push(JSON.parse(line));
    const logging = (options: LoggerOptions) => failing({ log: pino(options, { write }) });
    const serializers = { err: (error: unknown) => describeError(error) };
    services.set('the log of serve', await logging({ serializers }));
    services.set('another log', await logging({}));
  });

  const logs = ['the log of serve', 'another log'];
  const cases = logs.flatMap((log) =>
    Object.entries(VALUES).flatMap(([outcome, values]) =>
      values.map((make) => [outcome, log, make] as const),
    ),
  );
  test.each(cases)('causes a %s, and one line in %s (%#)', async (outcome, log, make) => {
    const answer = services.get(log);
    for (const late of [false, true]) {
      lines.length = 0;
      const { status, text = '' } = (await answer?.(make, { path: '/none', late })) ?? {};
      expect(`${status} ${JSON.parse(text).detail}`).toBe(outcome);
      expect(text).not.toContain('secret');
      expect(lines).toEqual([expect.objectContaining({ operationId: 'none', status })]);
      expect(JSON.stringify(lines).length).toBeLessThan(log === logs[0] ? 200_000 : Infinity);
    }
  });
});

describe('the log', () => {
  let answerTo: Awaited<ReturnType<typeof answering>>;
  beforeAll(async () => {
    answerTo = await answering();
  });

  test.each([
    ['the error, if the client does not get its message', { status: 409 }, 'error'],
    ['the error, if it is a fault of the service', { status: 503, expose: true }, 'error'],
    ['the error, if it has no status', {}, 'error'],
    ['the cause, if the client gets the message', { status: 409, expose: true }, 'cause'],
  ])('contains %s', async (_title, members, logged) => {
    const error = new Error('error', { cause: new Error('cause') });
    const { failure } = await answerTo(Object.assign(error, members));
    expect(failure?.cause).toMatchObject({ message: logged });
  });

  test('does not contain the message of an error with a body', async () => {
    const error = { status: 400, expose: true, message: 'Unexpected token in "secret"' };
    const { failure } = await answerTo(error);
    expect(failure?.reason).toContain(error.message);
    const { failure: parsing, lines } = await answerTo({ ...error, body: 'secret' });
    expect(parsing?.reason).toMatch(/^bad request; /);
    expect(JSON.stringify(lines)).not.toContain('secret');
  });

  test('contains the reason of an expected error at level info', async () => {
    const options = { reason: 'a stop', expected: true };
    const { lines } = await answerTo(new HttpError(503, 'try again', options));
    expect(lines).toMatchObject([{ level: 30, status: 503, reason: 'a stop' }]);
  });
});

test('a message of more than 8192 characters is cut', async () => {
  const answerTo = await answering();
  for (const [length, sent] of [
    [8192, 'x'.repeat(8192)],
    [8193, `${'x'.repeat(8192)}…`],
  ] as const) {
    const { text } = await answerTo(new HttpError(409, 'x'.repeat(length)));
    expect(JSON.parse(String(text)).detail).toBe(sent);
  }
});

describe('the answer to a failure', () => {
  const JSON_BODY: ErrorBody = { mediaType: 'application/json', make: (problem) => problem };

  test('has the media type of errorBody where the document declares a range, or no response', async () => {
    expect((await (await answering())(new HttpError(503, 'away'))).type).toBe(
      'application/problem+json',
    );
    const declared: unknown[] = [];
    const answerTo = await answering({
      mediaType: 'text/plain',
      make: ({ message }, response) => declared.push(response) && message,
    });
    const { type, text } = await answerTo(new HttpError(410, 'gone'));
    expect({ type, text }).toEqual({ type: 'text/plain; charset=utf-8', text: 'gone' });
    expect((await answerTo(undefined, { path: '/nowhere' })).text).toBe('no such path');
    expect(declared).toEqual([
      { operationId: 'get', mediaType: undefined, schema: undefined },
      undefined,
    ]);
  });

  test('has no body where the document declares none, nor for HEAD', async () => {
    const answerTo = await answering();
    expect(await answerTo(new HttpError(401, 'no'))).toMatchObject({
      status: 401,
      text: undefined,
    });
    const head = await answerTo(new HttpError(409, 'taken'), { method: 'HEAD', path: '/none' });
    expect(head).toMatchObject({ type: 'application/problem+json', text: undefined });
  });

  test('has the headers of errorBody, unless the error has the same ones in any case', async () => {
    const answerTo = await answering({
      ...JSON_BODY,
      headers: ({ status, requestId = '' }) => ({ 'X-Id': requestId, 'Retry-After': `${status}` }),
    });
    const none = await answerTo(new HttpError(404, 'none'));
    expect(none.headers).toMatchObject({ 'X-Id': 'r1', 'Retry-After': '404' });
    const headers = { 'www-authenticate': 'Basic realm="x"', 'retry-AFTER': '3' };
    const over = await answerTo(new HttpError(401, 'over', { headers }));
    expect(over.headers).toMatchObject({ 'X-Id': 'r1', ...headers });
    expect(Object.keys(over.headers)).not.toContain('Retry-After');
    expect(Object.keys(over.headers)).not.toContain('WWW-Authenticate');
  });

  test('has a line for each value of a header, and an encoded challenge', async () => {
    const answerTo = await answering();
    const headers = { 'Set-Cookie': ['a=1', 'b=2'] };
    for (const error of [{ status: 404, headers }, new HttpError(404, 'none', { headers })]) {
      const { list } = await answerTo(error);
      expect(list.join('\n')).toContain('Set-Cookie\na=1\nSet-Cookie\nb=2');
    }
    const forbidden = await answerTo(new Forbidden(['a:read', 'ä"\ud800']));
    expect(forbidden.headers['WWW-Authenticate']).toBe(
      'Bearer error="insufficient_scope", scope="a:read %C3%A4%22%EF%BF%BD"',
    );
  });

  test.each<[title: string, errorBody: Partial<ErrorBody>]>([
    ['makes a header that cannot be sent', { headers: () => ({ 'X-A': 'a\nb' }) }],
    ['throws', { make: fail }],
    ['is asynchronous', { make: async () => ({}) }],
    ['is asynchronous and fails', { make: async () => fail() }],
  ])('is a 500 in problem details if errorBody %s', async (_title, members) => {
    const answerTo = await answering({ ...JSON_BODY, ...members });
    const answer = await answerTo(new HttpError(409, 'taken'));
    expect([answer.status, answer.type]).toEqual([500, 'application/problem+json']);
    expect(JSON.parse(String(answer.text)).detail).toBe('internal server error');
    expect(answer.failure).toMatchObject({ status: 500, cause: expect.any(Error) });
  });

  test('is written by the codec of its media type, also outside an operation', async () => {
    const upper: Codec = {
      match: (type) => type === 'application/upper',
      unit: 'value',
      read: (bytes) => String(bytes),
      write: (value) => Buffer.from(JSON.stringify(value).toUpperCase()),
    };
    const bodyWith = async (mediaType: string, message?: string) => {
      const make = (problem: Problem) => message ?? problem.message;
      const answer = await failing({ codecs: [upper], errorBody: { mediaType, make } });
      const { type, text } = await answer(() => undefined, { path: '/nowhere' });
      return [type, text];
    };
    expect(await bodyWith('application/json')).toEqual(['application/json', '"no such path"']);
    expect(await bodyWith('application/upper')).toEqual(['application/upper', '"NO SUCH PATH"']);
    const latin = 'text/plain; charset=iso-8859-1';
    expect(await bodyWith(latin)).toEqual([latin, 'no such path']);
    expect((await bodyWith(latin, 'für'))[0]).toBe('application/problem+json');
  });

  test.each([
    [
      {},
      undefined,
      'too many; the headers of the error do not match the document: /headers/retry-after is required',
    ],
    [{ 'retry-after': '3', 'X-Limit': 9 }, undefined, 'too many'],
    [
      { 'retry-after': '3', 'X-Limit': 10 },
      undefined,
      'too many; the headers of the error do not match the document: /headers/x-limit must be <= 9',
    ],
    [{}, { ...JSON_BODY, headers: () => ({ 'Retry-After': '3' }) }, 'too many'],
  ])(
    'with the headers %j is logged if the document requires others',
    async (headers, errorBody, reason) => {
      const answerTo = await answering(errorBody);
      const { status, failure } = await answerTo(new HttpError(429, 'too many', { headers }));
      expect([status, failure?.reason]).toEqual([429, reason]);
    },
  );
});

test.each([
  [['400', '422'], 400],
  [['422'], 422],
  [['422', '4XX', 'default'], 422],
  [['4XX'], 400],
  [['default'], 400],
  [[], 400],
])(
  'an invalid request, with the declared responses %j, has the status %i',
  async (keys, status) => {
    const responses = Object.fromEntries(
      [...keys, '204'].map((key) => [key, { description: 'it' }]),
    );
    const paths = { '/a': { get: { operationId: 'get', responses } } };
    const document = Object({ openapi: '3.1.0', info: { title: 'A', version: '1' }, paths });
    const taken = () => Promise.reject(new HttpError(409, 'taken'));
    const service = await createService(document, { handlers: { get: taken } });
    const statusOf = async (query: string) =>
      (await service.handle({ method: 'GET', path: '/a', query, headers: {} })).status;
    expect([await statusOf('x=1'), await statusOf('')]).toEqual([status, 409]);
  },
);
