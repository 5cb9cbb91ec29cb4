import { describe, expect, test } from '@jest/globals';
import { DocumentError, loadDocument } from 'openapi-document';
import { pino } from 'pino';
import { withFiles } from 'test-support/documents';
import type { AnyHandler } from '../../src/core/handlers/types.ts';
import { prepare, type ServiceOptions } from '../../src/core/prepare.ts';
import { PROBLEM_DETAILS } from '../../src/core/response/problem.ts';
import { authentication } from '../../src/core/security/schemes.ts';

const done: AnyHandler = () => ({ status: 204 });
const responses = { 204: { description: 'done' } };
const paths = {
  '/a': { get: { operationId: 'a', responses } },
  '/b': { put: { operationId: 'b', responses } },
};
const handlers = { a: done, b: done };

function prepared(members: object, options: Partial<ServiceOptions> = {}) {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line));
  const log = pino({ base: null, timestamp: false }, { write });
  const info = { title: 'A', version: '1' };
  const text = JSON.stringify({ openapi: '3.1.0', info, paths, ...members });
  return withFiles({ 'openapi.json': text }, async (folder) => {
    try {
      const document = await loadDocument(`${folder}/openapi.json`);
      const result = await prepare(document, { handlers, log, ...options });
      return { ...result, lines, error: '' };
    } catch (error) {
      if (!(error instanceof DocumentError)) throw error;
      return { lines, error: error.message, operations: [], context: undefined };
    }
  });
}

const ids = (operations: readonly { readonly id: string }[]) => operations.map(({ id }) => id);

test('the result has the operations, the handlers and the default options', async () => {
  const { operations, context, lines } = await prepared({});
  expect(ids(operations)).toEqual(['a', 'b']);
  expect(context).toMatchObject({ bodyLimit: 102_400, errorBody: PROBLEM_DETAILS });
  expect(context?.broken.size).toBe(0);
  expect(lines).toEqual([]);
});

test('the options are part of the context', async () => {
  const stopping = new AbortController().signal;
  const around = () => ({ status: 204 });
  const errorBody = { make: () => ({}), mediaType: 'application/json' };
  const options = { stopping, around, errorBody, bodyLimit: 5 };
  expect((await prepared({}, options)).context).toMatchObject(options);
});

test('a document may be a file, and nothing is logged by default', async () => {
  const text = JSON.stringify({
    openapi: '3.1.0',
    info: { title: 'A', version: '1' },
    paths,
    x: 1,
  });
  await withFiles({ 'openapi.json': text }, async (folder) => {
    const { operations } = await prepare(`${folder}/openapi.json`, { handlers });
    expect(ids(operations)).toEqual(['a', 'b']);
    await expect(prepare(`${folder}/none.json`, { handlers })).rejects.toThrow('cannot be read');
  });
});

test('formats of the service and trusted origins are used', async () => {
  const formats = { even: (text: string) => text.length % 2 === 0 };
  const parameters = [{ name: 'word', in: 'query', schema: { type: 'string', format: 'even' } }];
  const members = {
    paths: { '/a': { post: { operationId: 'a', parameters, responses } } },
    security: [{ session: [] }],
    components: {
      securitySchemes: { session: { type: 'apiKey', in: 'cookie', name: 'session' } },
    },
  };
  const { operations, context } = await prepared(members, {
    formats,
    handlers: { a: done },
    accessTokens: ['ann:secret'],
    trustedOrigins: ['https://app.example'],
  });
  const [operation] = operations;
  if (operation === undefined || context === undefined) throw new Error('no operation');
  const values = { path: {}, query: { word: 'odd' }, header: {}, cookie: {} };
  const validator = context.validatorOf(operation);
  expect(() => validator.parameters(values)).toThrow('must match format "even"');
  const authenticate = authentication(operation, context.schemes, false);
  const statusOf = (origin: string) =>
    Promise.try(authenticate, {
      method: 'POST',
      headers: { cookie: 'session=secret', origin },
    }).then(
      () => 200,
      ({ status }) => status,
    );
  expect(await statusOf('https://app.example')).toBe(200);
  expect(await statusOf('https://evil.example')).toBe(403);
});

describe('an operation without a handler', () => {
  test('fails the start by default', async () => {
    const { error } = await prepared({}, { handlers: { a: done } });
    expect(error).toContain('operation b has no handler: run npm run stub -- b');
  });

  test.each(['501', 'mock'] as const)(
    'gets a handler with the option missing: %s',
    async (missing) => {
      const { context, error } = await prepared({}, { handlers: { a: done }, missing });
      expect([error, Object.keys(context?.handlers ?? {})]).toEqual(['', ['a', 'b']]);
    },
  );
});

describe('an operation that cannot be enforced', () => {
  const requestBody = { $ref: '#/components/requestBodies/Missing' };
  const members = {
    paths: { ...paths, '/c': { get: { operationId: 'c', responses, requestBody } } },
  };

  test('is served as broken, and logged', async () => {
    const { operations, context, lines } = await prepared(members);
    expect(ids(operations)).toEqual(['a', 'b', 'c']);
    expect([...(context?.broken ?? [])]).toEqual([
      ['c', expect.stringContaining('does not exist')],
    ]);
    expect(lines).toEqual([
      {
        level: 40,
        operationId: 'c',
        locations: [expect.stringMatching(/openapi.json:\d+:\d+ \$ref: \S+ does not exist/)],
        msg: 'c cannot be served and answers 501',
      },
    ]);
  });

  test.each<[string, Partial<ServiceOptions>, boolean]>([
    ['fails the start if it has a handler', { handlers: { ...handlers, c: done } }, true],
    ['fails the start with the option strict', { strict: true }, true],
    [
      'does not fail the start of mocks, although it has a handler',
      { handlers: { ...handlers, c: done }, missing: 'mock' },
      false,
    ],
    ['is not logged in development', { inDevelopment: true }, false],
  ])('%s', async (_title, options, isRejected) => {
    const { error, lines } = await prepared(members, options);
    expect(error.includes('does not exist')).toBe(isRejected);
    expect(lines).toHaveLength(!isRejected && options.inDevelopment !== true ? 1 : 0);
  });
});

describe('a part of the document that is not enforced', () => {
  const unknown = (count: number) => ({
    components: {
      schemas: Object.fromEntries(
        Array.from({ length: count }, (_, index) => [`S${index}`, { format: `colour${index}` }]),
      ),
    },
  });

  test('is logged', async () => {
    const { lines } = await prepared(unknown(1));
    expect(lines).toEqual([
      {
        level: 40,
        locations: [expect.stringContaining('the format colour0 is unknown')],
        msg: 'some parts of the document are corrected, ignored or not checked',
      },
    ]);
  });

  test.each([
    [10, 10, undefined],
    [13, 10, 3],
  ])('shares one line: of %i parts, the line lists %i', async (count, listed, unlisted) => {
    const { lines } = await prepared(unknown(count));
    expect(lines).toHaveLength(1);
    expect(lines[0]?.locations).toHaveLength(listed);
    expect(lines[0]?.unlisted).toBe(unlisted);
  });

  test('is not logged in development, nor if the service checks it', async () => {
    expect((await prepared(unknown(1), { inDevelopment: true })).lines).toEqual([]);
    expect((await prepared(unknown(1), { formats: { colour0: () => true } })).lines).toEqual([]);
  });
});

describe('the start fails for', () => {
  const basic = {
    security: [{ basic: [] }],
    components: { securitySchemes: { basic: { type: 'http', scheme: 'basic' } } },
  };

  test('a security scheme without a verifier, unless all its operations are mocked', async () => {
    expect((await prepared(basic)).error).toContain('nothing verifies credentials of this scheme');
    const verifiers = { basic: () => ({ subject: 'ann', scopes: 'all' as const }) };
    expect((await prepared(basic, { verifiers })).error).toBe('');
    expect((await prepared(basic, { handlers: {}, missing: 'mock' })).error).toBe('');
    const partly = await prepared(basic, { handlers: { a: done }, missing: 'mock' });
    expect(partly.error).toContain('nothing verifies');
  });

  test('a verifier of an undeclared scheme, such as a misspelled one', async () => {
    const verifiers = { bassic: () => ({ subject: 'ann', scopes: 'all' as const }) };
    const message = 'the verifier bassic has no security scheme: rename or remove it';
    expect((await prepared({}, { verifiers })).error).toContain(message);
    const mocked = await prepared(basic, { handlers: {}, missing: 'mock', verifiers });
    expect(mocked.error).toMatch(/^\S+openapi.json:\d+:\d+ the verifier bassic has no [^\n]+$/);
  });

  test('an invalid body limit and an unknown handler, reported together', async () => {
    const requestBody = { content: { 'application/json': { 'x-body-limit': '0' } } };
    const limited = { paths: { '/a': { post: { operationId: 'a', requestBody, responses } } } };
    expect((await prepared(limited)).error.split('\n')).toEqual([
      expect.stringContaining('the handler b has no operation: rename or remove it'),
      expect.stringContaining('x-body-limit must be a size'),
    ]);
  });

  test('a document with a member of a wrong type', async () => {
    const wrong = { paths: { '/a': { get: { operationId: 'a', responses: 5 } } } };
    expect((await prepared(wrong, { handlers: { a: done } })).error).toContain(
      'must be object, but responses is 5',
    );
  });
});

test('an operation whose method the adapter does not receive is not served', async () => {
  const { operations, lines } = await prepared({}, { methods: ['GET', 'POST'] });
  expect(ids(operations)).toEqual(['a']);
  expect(lines).toEqual([
    { level: 40, msg: 'PUT /b cannot be served: the server cannot read PUT' },
  ]);
});

describe('tokens', () => {
  const secured = {
    security: [{ token: [] }],
    components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
  };

  const authenticator = {
    verify: () => ({ subject: 'anyone', scopes: 'all' as const }),
    reload: async () => 0,
  };

  test.each<[string, string, Partial<ServiceOptions>]>([
    ['accessTokens', 'ann', { accessTokens: ['ann:secret'] }],
    ['security', 'ann', { security: { accessTokens: ['ann:secret'] } }],
    [
      'security before accessTokens',
      'ann',
      { accessTokens: ['bob:secret'], security: { accessTokens: ['ann:secret'] } },
    ],
    ['an authenticator before both', 'anyone', { authenticator, accessTokens: ['ann:secret'] }],
  ])('are those of %s', async (_title, subject, options) => {
    const { operations, context } = await prepared(secured, options);
    const [operation] = operations;
    if (operation === undefined || context === undefined) throw new Error('no operation');
    const headers = { authorization: 'Bearer secret' };
    const authenticate = authentication(operation, context.schemes, false);
    expect(await authenticate({ method: 'GET', headers })).toMatchObject({ caller: { subject } });
  });
});

test('the first undeclared member of each operation is logged in development', async () => {
  const schema = { type: 'object', properties: { id: {} } };
  const content = { 'application/json': { schema } };
  const members = {
    paths: Object.fromEntries(
      ['a', 'b'].map((id) => [
        `/${id}`,
        { get: { operationId: id, responses: { 200: { description: 'ok', content } } } },
      ]),
    ),
  };
  for (const inDevelopment of [true, false]) {
    const { operations, context, lines } = await prepared(members, { inDevelopment });
    for (const operation of [...operations, ...operations]) {
      const media = operation.responses[0]?.media[0];
      if (media === undefined) throw new Error('no media type');
      context?.validatorOf(operation).response(media, { id: 1, first: 1, second: 1 });
    }
    const message = (id: string) => ({
      level: 40,
      operationId: id,
      member: 'first',
      msg: `${id} answers without first: the document does not declare it, or declares it writeOnly`,
    });
    expect(lines).toEqual(inDevelopment ? [message('a'), message('b')] : []);
  }
});
