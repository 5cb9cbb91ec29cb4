import { spawnSync } from 'node:child_process';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { DocumentError } from 'openapi-document';
import { documentOf } from 'test-support/document-of';
import { ConfigError } from '../../src/serve/configuration.ts';
import {
  describeStart,
  exampleLine,
  explain,
  shellQuoted,
  startError,
  withToken,
} from '../../src/serve/terminal.ts';

const securitySchemes = {
  bearer: { type: 'http', scheme: 'bearer' },
  basic: { type: 'http', scheme: 'Basic' },
  hmac: { type: 'http', scheme: 'hmac' },
  oauth: { type: 'oauth2', flows: {} },
  header: { type: 'apiKey', in: 'header', name: 'X-Key' },
  query: { type: 'apiKey', in: 'query', name: 'key' },
  cookie: { type: 'apiKey', in: 'cookie', name: 'session' },
  certificate: { type: 'mutualTLS' },
};
const documentWith = (paths: object, others: object = {}) =>
  documentOf(
    JSON.stringify({
      openapi: '3.1.0',
      info: { title: 'Any', version: '1.0.0' },
      paths,
      components: { securitySchemes },
      ...others,
    }),
  );

/** Returns the arguments of a curl command, as a shell parses them. */
function argumentsOf(line: string): string[] {
  const command = line.replace('curl', "printf '%s\\n'");
  const { stdout } = spawnSync('sh', ['-c', command], { encoding: 'utf8' });
  return stdout.trimEnd().split('\n');
}

async function argumentsFor(paths: object): Promise<string[] | undefined> {
  const line = await exampleLine(await documentWith(paths), 'http://127.0.0.1:3000/api');
  return line === undefined ? undefined : argumentsOf(withToken(line, 'secret'));
}

const responses = { 200: { description: 'Fine' } };

describe('the example command', () => {
  test('prefers an operation that needs a token and no path parameters', async () => {
    const parameters = [{ in: 'path', name: 'name', required: true, schema: { type: 'string' } }];
    const args = await argumentsFor({
      '/open': { get: { operationId: 'open', responses } },
      '/things/{name}': {
        get: { operationId: 'getThing', security: [{ bearer: [] }], parameters, responses },
      },
      '/things': {
        put: {
          operationId: 'putThing',
          security: [{ bearer: [] }],
          parameters: [{ in: 'query', name: 'colour', schema: { type: 'string' }, example: 'red' }],
          requestBody: {
            content: { 'application/json': { example: { note: "it's new" }, schema: {} } },
          },
          responses,
        },
      },
    });
    expect(args).toEqual([
      ...['-X', 'PUT', 'http://127.0.0.1:3000/api/things'],
      ...['-H', 'Authorization: Bearer secret', '-H', 'Content-Type: application/json'],
      ...['-d', '{"note":"it\'s new"}'],
    ]);
  });

  test.each([
    [{ type: 'array', items: { type: 'string' } }, ['']],
    [{ type: 'array' }, [[1, 2]]],
    [{}, { a: { b: 1 } }],
    [{ type: ['string', 'null'] }, null],
    [{ type: 'string' }, '..'],
  ])('is not for a path whose parameter %j has the example %j', async (schema, example) => {
    const parameters = [{ in: 'path', name: 'a', required: true, schema, example }];
    const paths = { '/a/{a}': { get: { operationId: 'a', parameters, responses } } };
    expect(await exampleLine(await documentWith(paths), 'http://127.0.0.1')).toBeUndefined();
  });

  test('has the declared header of an API key, and a percent-encoded path', async () => {
    const get = (scheme: string) => ({
      get: { operationId: scheme, security: [{ [scheme]: [] }], responses },
    });
    const url = 'http://127.0.0.1:3000/api/all%20things';
    expect(
      await argumentsFor({ '/things?all': get('bearer'), '/all things': get('header') }),
    ).toEqual([url, '-H', 'X-Key: secret']);
  });
});

test.each([
  ["it's", "'it'\\''s'"],
  ['$HOME "a" \\ `b`', `'$HOME "a" \\ \`b\`'`],
  ['', "''"],
])('the argument %j is quoted as %s', (argument, quoted) => {
  expect(shellQuoted(argument)).toBe(quoted);
  expect(argumentsOf(`curl ${quoted}`)).toEqual([argument]);
});

test('a token that contains $& is inserted unchanged', () => {
  expect(withToken('curl -H "a: $TOKEN" -H "b: $TOKEN"', '$&')).toBe('curl -H "a: $&" -H "b: $&"');
});

test.each([
  ['http://127.0.0.1:3000', '/docs', 'http://127.0.0.1:3000/v1', 'http://127.0.0.1:3000/docs'],
  ['http://0.0.0.0:80', '/docs', 'http://127.0.0.1:80/v1', 'http://127.0.0.1:80/docs'],
  ['http://[::]:80', '/ops/docs', 'http://[::1]:80/v1', 'http://[::1]:80/ops/docs'],
  ['http://[::1]:80', '/docs', 'http://[::1]:80/v1', 'http://[::1]:80/docs'],
])('the start of %s with %s has the URL %s and the page %s', async (server, path, url, docs) => {
  const get = { operationId: 'get', responses };
  const document = await documentWith({ '/a': { get } }, { servers: [{ url: '/v1' }] });
  const facts = { store: 'memory', metrics: undefined, missing: ['get'] };
  expect(await describeStart([document], server, [path], facts)).toEqual({
    url,
    docs,
    operations: ['GET /v1/a'],
    example: url.includes('[') ? `curl '${url}/a'` : `curl ${url}/a`,
    ...facts,
  });
});

test('the start without a page has only the URL of the service', async () => {
  const document = await documentWith({ '/a': { get: { responses } } }, {});
  const facts = { store: 'memory', metrics: undefined, missing: [] };
  expect(await describeStart([document], 'http://127.0.0.1:3000', [], facts)).toMatchObject({
    url: 'http://127.0.0.1:3000',
    docs: undefined,
  });
});

describe('an error at the start', () => {
  test('is indented below a heading', () => {
    expect(stripVTControlCharacters(startError('a: wrong\n\nb: wrong'))).toBe(
      'The service cannot start.\n\n  a: wrong\n\n  b: wrong\n',
    );
  });

  test.each<[message: string, error: unknown]>([
    ['PORT must be an integer', new ConfigError('PORT must be an integer')],
    ['openapi.yaml:1:1 is wrong', new DocumentError('openapi.yaml:1:1 is wrong')],
    [
      "Unknown option '--x': see --help",
      Object.assign(new Error("Unknown option '--x'. To specify a positional …"), {
        code: 'ERR_PARSE_ARGS_UNKNOWN_OPTION',
      }),
    ],
    [
      'the file is not a database',
      Object.assign(new Error('the file is not a database'), { status: 500 }),
    ],
    ['a text', 'a text'],
  ])('that is expected has its message: %s', (message, error) => {
    expect(explain(error)).toBe(message);
  });

  test('that is unexpected has its stack, without the frames of Node', () => {
    const error = new Error('a fault');
    error.stack = `Error: a fault
    at open (file:///app/src/main.ts:3:9)
    at process.processTicksAndRejections (node:internal/process/task_queues:104:5)
    at async serve (file:///app/serve.ts:1:2)`;
    expect(explain(error)).toBe(`Error: a fault
    at open (file:///app/src/main.ts:3:9)
    at async serve (file:///app/serve.ts:1:2)`);
    delete error.stack;
    expect(explain(error)).toBe('a fault');
  });
});
