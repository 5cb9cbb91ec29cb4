import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { loadDocument } from 'openapi-document';
import { exampleLine, withToken } from '../src/serve/terminal.ts';

const folder = mkdtempSync(join(tmpdir(), 'plants-example-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** The path of a document with these paths. */
function documentWith(paths: object): string {
  const file = join(folder, 'openapi.json');
  const securitySchemes = {
    bearer: { type: 'http', scheme: 'bearer' },
    basic: { type: 'http', scheme: 'Basic' },
    hmac: { type: 'http', scheme: 'hmac' },
    header: { type: 'apiKey', in: 'header', name: 'X-Key' },
    query: { type: 'apiKey', in: 'query', name: 'key' },
    cookie: { type: 'apiKey', in: 'cookie', name: 'session' },
  };
  const info = { title: 'Any', version: '1.0.0' };
  writeFileSync(
    file,
    JSON.stringify({ openapi: '3.1.0', info, paths, components: { securitySchemes } }),
  );
  return file;
}

/** The arguments that a shell makes of a line. */
function argumentsOf(line: string): string[] {
  const { stdout } = spawnSync('sh', ['-c', line.replace(/^curl/, "printf '%s\\n'")], {
    encoding: 'utf8',
  });
  return stdout.trimEnd().split('\n');
}

/** The arguments that a shell makes of the line for a document with these paths. */
async function argumentsFor(paths: object): Promise<string[] | undefined> {
  const document = await loadDocument(documentWith(paths));
  const line = await exampleLine(document, 'http://127.0.0.1:3000/api');
  return line === undefined ? undefined : argumentsOf(withToken(line, 'secret'));
}

const responses = { 200: { description: 'Fine' } };

test('the line sends the first operation that needs a token and no parameter, with an example of the document', async () => {
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

test('a body without an example is generated from its schema', async () => {
  const schema = { type: 'object', required: ['count'], properties: { count: { const: 2 } } };
  const requestBody = { content: { 'application/json': { schema } } };
  const post = { operationId: 'postThing', security: [{ bearer: [] }], requestBody, responses };
  expect((await argumentsFor({ '/things': { post } }))?.at(-1)).toBe('{"count":2}');
});

test('an API key is sent as the document declares it, and the path is percent-encoded', async () => {
  const get = (scheme: string) => ({
    get: { operationId: scheme, security: [{ [scheme]: [] }], responses },
  });
  const url = 'http://127.0.0.1:3000/api/all%20things';
  expect(
    await argumentsFor({ '/things?all': get('bearer'), '/all things': get('header') }),
  ).toEqual([url, '-H', 'X-Key: secret']);
});

test('there is no line for an operation whose credentials are not a token or a key in a header', async () => {
  const get = (scheme: string) => ({
    get: { operationId: scheme, security: [{ [scheme]: [] }], responses },
  });
  expect(
    await argumentsFor({
      '/a': get('basic'),
      '/b': get('cookie'),
      '/c': get('hmac'),
      '/d': get('query'),
    }),
  ).toBeUndefined();
});

test('the line is for the first operation if none needs a token', async () => {
  const operation = (operationId: string) => ({ get: { operationId, responses } });
  expect(
    await argumentsFor({ '/things': operation('getThings'), '/others': operation('getOthers') }),
  ).toEqual(['http://127.0.0.1:3000/api/things']);
});

test('without a token the line has the variable TOKEN of a shell', async () => {
  const get = { operationId: 'get', security: [{ bearer: [] }], responses };
  const line = await exampleLine(
    await loadDocument(documentWith({ '/a': { get } })),
    'http://127.0.0.1:3000',
  );
  expect(argumentsOf(`TOKEN='a b'; ${line}`.replace('curl', "printf '%s\\n'"))).toEqual([
    'http://127.0.0.1:3000/a',
    ...['-H', 'Authorization: Bearer a b'],
  ]);
});
