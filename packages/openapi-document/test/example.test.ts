import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { exampleLine, loadDocument, operationsOf, TOKEN_PLACEHOLDER, withToken } from 'openapi-document';
import { echo, serve } from '../../../test/support/documents.ts';

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
  writeFileSync(file, JSON.stringify({ openapi: '3.1.0', info, paths, components: { securitySchemes } }));
  return file;
}

/** The arguments that a shell makes of a line. */
function argumentsOf(line: string): string[] {
  const { stdout } = spawnSync('sh', ['-c', line.replace(/^curl/, "printf '%s\\n'")], { encoding: 'utf8' });
  return stdout.trimEnd().split('\n');
}

/** The arguments that a shell makes of the line for a document with these paths. */
async function argumentsFor(paths: object): Promise<string[] | undefined> {
  const document = await loadDocument(documentWith(paths));
  const line = await exampleLine(document, operationsOf(document), 'http://127.0.0.1:3000/api');
  return line === undefined ? undefined : argumentsOf(line);
}

/** Sends what curl sends for these arguments. */
async function send(args: readonly string[]): Promise<{ status: number; body: Record<string, unknown> }> {
  let url = '';
  const init: { method?: string; headers: [string, string][]; body?: string } = { headers: [] };
  for (let index = 0; index < args.length; index++) {
    const value = args[index + 1] ?? '';
    if (args[index]?.startsWith('-') === false) {
      url = args[index] ?? '';
      continue;
    }
    if (args[index] === '-X') init.method = value;
    if (args[index] === '-H') init.headers.push(value.split(': ', 2) as [string, string]);
    if (args[index] === '-b') init.headers.push(['Cookie', value]);
    if (args[index] === '-d') Object.assign(init, { method: init.method ?? 'POST', body: value });
    index++;
  }
  const response = await fetch(url, init);
  return { status: response.status, body: Object(await response.json()) };
}

const responses = { 200: { description: 'Fine' } };

test('the line sends the first operation that needs a token, with required parameters and examples of the document', async () => {
  const args = await argumentsFor({
    '/open': { get: { operationId: 'open', responses } },
    '/things/{name}': {
      put: {
        operationId: 'putThing',
        security: [{ bearer: [] }],
        parameters: [
          { in: 'path', name: 'name', required: true, example: 'a thing', schema: { type: 'string' } },
          { in: 'query', name: 'size', required: true, schema: { type: 'integer', examples: [3] } },
          { in: 'query', name: 'colour', schema: { type: 'string' }, example: 'red' },
        ],
        requestBody: { content: { 'application/json': { example: { note: "it's new" }, schema: {} } } },
        responses,
      },
    },
  });
  expect(args).toEqual([
    ...['-X', 'PUT', 'http://127.0.0.1:3000/api/things/a%20thing?size=3'],
    ...['-H', `Authorization: Bearer ${TOKEN_PLACEHOLDER}`, '-H', 'Content-Type: application/json'],
    ...['-d', '{"note":"it\'s new"}'],
  ]);
});

test('a body without an example is generated from its schema', async () => {
  const schema = { type: 'object', required: ['count'], properties: { count: { type: 'integer', minimum: 2 } } };
  const requestBody = { content: { 'application/json': { schema } } };
  const post = { operationId: 'postThing', security: [{ bearer: [] }], requestBody, responses };
  expect((await argumentsFor({ '/things': { post } }))?.at(-1)).toBe('{"count":2}');
});

test('the token stands where the document has its API keys', async () => {
  const security = [{ header: [], query: [], cookie: [] }];
  expect(await argumentsFor({ '/things': { get: { operationId: 'getThings', security, responses } } })).toEqual([
    `http://127.0.0.1:3000/api/things?key=${TOKEN_PLACEHOLDER}`,
    ...['-H', `X-Key: ${TOKEN_PLACEHOLDER}`],
    ...['-b', `session=${TOKEN_PLACEHOLDER}`],
  ]);
});

test('HTTP schemes are written as their own, and a path as a URL has it', async () => {
  const get = (scheme: string) => ({ get: { operationId: scheme, security: [{ [scheme]: [] }], responses } });
  const url = 'http://127.0.0.1:3000/api/all%20things';
  expect(await argumentsFor({ '/all things': get('basic') })).toEqual([url, '-u', 'user:password']);
  expect(await argumentsFor({ '/all things': get('hmac') })).toEqual([
    url,
    '-H',
    `Authorization: Hmac ${TOKEN_PLACEHOLDER}`,
  ]);
  expect(await argumentsFor({ '/things?all': get('bearer'), '/all things': get('basic') })).toContain(url);
});

test('the line is for the first operation if none needs a token', async () => {
  const operation = (operationId: string) => ({ get: { operationId, responses } });
  expect(await argumentsFor({ '/things': operation('getThings'), '/others': operation('getOthers') })).toEqual([
    'http://127.0.0.1:3000/api/things',
  ]);
});

test('a shell puts the variable TOKEN in the place of the token, beside any other character', async () => {
  const line = `curl -H 'Authorization: Bearer ${TOKEN_PLACEHOLDER}' -b '$a"\`=${TOKEN_PLACEHOLDER}' -d '{"a":"$b"}'`;
  const shell = `TOKEN='a b'; ${withToken(line, undefined).replace(/^curl/, "printf '%s\\n'")}`;
  const { stdout } = spawnSync('sh', ['-c', shell], { encoding: 'utf8' });
  expect(stdout.split('\n')).toEqual(['-H', 'Authorization: Bearer a b', '-b', '$a"`=a b', '-d', '{"a":"$b"}', '']);
  expect(withToken(line, 'secret')).toBe(line.replaceAll(TOKEN_PLACEHOLDER, 'secret'));
});

describe('the server reads the example back from the line:', () => {
  const list = { schema: { type: 'array', items: { type: 'integer' } }, example: [1, 2] };
  const names = { schema: { type: 'array', items: { type: 'string' } }, example: ['a, b', 'c&d|e=é'] };
  const properties = { x: { type: 'integer' }, y: { type: 'string' } };
  const point = { schema: { type: 'object', properties }, example: { x: 1, y: 'b c' } };
  const inside = { p: { type: 'object', properties }, l: list.schema };
  const nested = { schema: { type: 'object', properties: inside }, example: { p: { x: 1, y: 'b' }, l: [1, 2] } };
  const moment = { schema: { type: 'string', format: 'date-time' }, example: '2026-01-01T00:00:00Z' };
  const text = { schema: { type: 'string' }, example: "it's 100 % [é] {x}, a+b" };
  const large = { schema: { type: 'integer', format: 'int64' }, examples: { most: { value: 2 ** 53 } } };
  const json = { content: { 'application/json': { schema: point.schema, example: point.example } } };
  const cases = [
    ...[text, moment, large, list, names, point, json].map((value) => ({ in: 'query', ...value })),
    ...[list, names, point].map((value) => ({ in: 'query', explode: false, ...value })),
    ...[list, { ...names, example: ['a,b', 'c'] }].map((value) => ({ in: 'query', style: 'spaceDelimited', ...value })),
    ...[list, { ...names, example: ['a b', 'c'] }].map((value) => ({ in: 'query', style: 'pipeDelimited', ...value })),
    ...[point, nested].map((value) => ({ in: 'query', style: 'deepObject', ...value })),
    ...[text, moment, list, names, point, json].map((value) => ({ in: 'path', ...value })),
    { in: 'path', explode: true, ...point },
    ...['label', 'matrix'].flatMap((style) =>
      [false, true].flatMap((explode) =>
        [list, names, point].map((value) => ({ in: 'path', style, explode, ...value })),
      ),
    ),
    ...[moment, list, point, json].map((value) => ({ in: 'header', ...value })),
    { in: 'header', explode: true, ...point },
    ...[text, list, names, point, json].map((value) => ({ in: 'cookie', ...value })),
    ...[list, names, point].map((value) => ({ in: 'cookie', explode: false, ...value })),
  ];
  let served: Awaited<ReturnType<typeof serve>>;
  const server = createServer((request, response) => served.app(request, response));
  beforeAll(async () => {
    const paths = cases.map((parameter, index): [string, object] => [
      `/${index}${parameter.in === 'path' ? '/{value}' : ''}`,
      {
        get: {
          operationId: `case${index}`,
          security: [{ bearer: [] }],
          parameters: [{ name: 'value', required: true, ...parameter }],
          responses: { 200: { description: 'It', content: { 'application/json': {} } } },
        },
      },
    ]);
    const handlers = Object.fromEntries(cases.map((_, index) => [`case${index}`, echo]));
    served = await serve(documentWith(Object.fromEntries(paths)), handlers);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  const titled = cases.map((parameter, index) => {
    const { schema: _, ...rest } = { schema: undefined, ...parameter };
    return [JSON.stringify(rest), parameter.in, index] as const;
  });
  test.each(titled)('%s', async (_title, where, index) => {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const operations = operationsOf(served.document).filter(({ id }) => id === `case${index}`);
    const line = await exampleLine(served.document, operations, url);
    const { status, body } = await send(argumentsOf(String(line).replace(TOKEN_PLACEHOLDER, 'good')));
    const { example, examples, content } = Object(cases[index]);
    const value = example ?? examples?.most.value ?? content['application/json'].example;
    expect({ status, taken: body[where] }).toEqual({ status: 200, taken: { value } });
  });
});
