import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { loadDocument } from 'openapi-document';
import { createRouter } from '../../src/core/router.ts';

const PATHS = {
  '/models/{task}/{id}': { get: { operationId: 'get' }, put: { operationId: 'put' } },
  '/models/sparse/{id}': { put: { operationId: 'putSparse' } },
  '/models/{task}/all.json': { get: { operationId: 'all' } },
  '/models/{task}/{id}.json': { get: { operationId: 'json' } },
  '/models/{name}/{number}': { delete: { operationId: 'delete' } },
  '/a b/:x*': { get: { operationId: 'odd' } },
};

async function routerOf(paths: object) {
  const folder = mkdtempSync(join(tmpdir(), 'router-'));
  const file = join(folder, 'openapi.json');
  writeFileSync(
    file,
    JSON.stringify({ openapi: '3.1.0', info: { title: 'Test', version: '1' }, paths }),
  );
  const { operations } = await loadDocument(file);
  rmSync(folder, { recursive: true });
  return createRouter(operations, ['', '/v1']);
}

test.each([
  ['GET', '/models/sparse/1', 'get'],
  ['HEAD', '/v1/models/sparse/1', 'get'],
  ['PUT', '/models/sparse/1', 'putSparse'],
  ['GET', '/models/dense/all.json', 'all'],
  ['GET', '/models/dense/a.json', 'json'],
  ['DELETE', '/models/dense/1', 'delete'],
  ['GET', '/a%20b/%3Ax*', 'odd'],
])('%s %s leads to the operation %s', async (method, path, id) => {
  const route = (await routerOf(PATHS))(method, path);
  expect(route).toMatchObject({ operation: { id } });
});

test.each([
  ['/models/sparse/1', ['PUT', 'GET', 'DELETE', 'HEAD']],
  ['/models/dense/a.json', ['GET', 'HEAD', 'PUT', 'DELETE']],
])('A method that no template of the path %s has is not allowed there', async (path, allow) => {
  const route = (await routerOf(PATHS))('PATCH', path);
  expect(route).toMatchObject({ status: 405 });
  const { Allow } = Object(route).headers;
  expect(new Set(Allow.split(', '))).toEqual(new Set(allow));
});

test.each(['/models/sparse/', '/models//1', '/models', '*', '/other', '/models/a/b/c'])(
  'Nothing is at %s',
  async (path) => {
    expect((await routerOf(PATHS))('GET', path)).toBeUndefined();
  },
);

test('A path that is not percent-encoded UTF-8 is malformed', async () => {
  expect((await routerOf(PATHS))('GET', '/models/a/%ff')).toMatchObject({ status: 400 });
});
