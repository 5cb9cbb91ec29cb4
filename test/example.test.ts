import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { loadDocument } from '../src/contract/load.ts';
import { operationsOf } from '../src/contract/operation.ts';
import { exampleLine, TOKEN_PLACE } from '../src/example.ts';

const folder = mkdtempSync(join(tmpdir(), 'plants-example-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** The arguments that a shell makes of the line for a document with these paths. */
async function argumentsFor(paths: object): Promise<string[] | undefined> {
  const file = join(folder, 'openapi.json');
  const securitySchemes = {
    bearer: { type: 'http', scheme: 'bearer' },
    header: { type: 'apiKey', in: 'header', name: 'X-Key' },
    query: { type: 'apiKey', in: 'query', name: 'key' },
    cookie: { type: 'apiKey', in: 'cookie', name: 'session' },
  };
  const info = { title: 'Any', version: '1.0.0' };
  writeFileSync(file, JSON.stringify({ openapi: '3.1.0', info, paths, components: { securitySchemes } }));
  const document = await loadDocument(file);
  const line = await exampleLine(document, operationsOf(document), 'http://127.0.0.1:3000/api');
  if (line === undefined) return undefined;
  const { stdout } = spawnSync('sh', ['-c', line.replace(/^curl/, "printf '%s\\n'")], { encoding: 'utf8' });
  return stdout.trimEnd().split('\n');
}

const responses = { 200: { description: 'Fine' } };

test('the line sends the first request that asks for a token, with its required parameters and its own examples', async () => {
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
    ...['-H', `Authorization: Bearer ${TOKEN_PLACE}`, '-H', 'Content-Type: application/json'],
    ...['-d', '{"note":"it\'s new"}'],
  ]);
});

test('a body without an example is made from its schema', async () => {
  const schema = { type: 'object', required: ['count'], properties: { count: { type: 'integer', minimum: 2 } } };
  const requestBody = { content: { 'application/json': { schema } } };
  const post = { operationId: 'postThing', security: [{ bearer: [] }], requestBody, responses };
  expect((await argumentsFor({ '/things': { post } }))?.at(-1)).toBe('{"count":2}');
});

test('tokens go where the document has its keys', async () => {
  const security = [{ header: [], query: [], cookie: [] }];
  expect(await argumentsFor({ '/things': { get: { operationId: 'getThings', security, responses } } })).toEqual([
    `http://127.0.0.1:3000/api/things?key=${TOKEN_PLACE}`,
    ...['-H', `X-Key: ${TOKEN_PLACE}`],
    ...['-b', `session=${TOKEN_PLACE}`],
  ]);
});

test('there is none where nothing asks for a token', async () => {
  expect(await argumentsFor({ '/things': { get: { operationId: 'getThings', responses } } })).toBeUndefined();
});
