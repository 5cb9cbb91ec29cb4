import { expect, test } from '@jest/globals';
import { loadDocument } from 'openapi-document';
import { createRouter } from '../../src/core/router.ts';

const get = (operationId: string) => ({ get: { operationId } });

const PATHS = {
  '/models/{task}/{id}': { get: { operationId: 'get' }, put: { operationId: 'put' } },
  '/models/sparse/{id}': { put: { operationId: 'putSparse' } },
  '/models/{task}/all.json': get('all'),
  '/models/{task}/{id}.json': get('json'),
  '/models/{task}/new-{id}.json': get('newJson'),
  '/models/{name}/{number}': {
    get: { operationId: 'unreachable' },
    delete: { operationId: 'delete' },
  },
  '/a b/:x*': get('odd'),
  '/files/{path}': { head: { operationId: 'peek' }, get: { operationId: 'read' } },
  '/': get('home'),
  '/ties/{x}-b': get('firstOfTie'),
  '/ties/a-{x}': get('secondOfTie'),
  '/query?a=b': get('withQuery'),
};

const routerOf = async (paths: object, basePaths: readonly string[]) => {
  const servers = basePaths.map((url) => ({ url: url || '/' }));
  const document = { openapi: '3.1.0', info: { title: 'Test', version: '1' }, servers, paths };
  const { operations } = await loadDocument(document);
  return createRouter(operations);
};
const { find, has } = await routerOf(PATHS, ['', '/v1']);

test.each([
  ['GET', '/', 'home', ''],
  ['GET', '/models/sparse/1', 'get', ''],
  ['GET', '/v1/models/sparse/1', 'get', '/v1'],
  ['HEAD', '/v1/models/sparse/1', 'get', '/v1'],
  ['PUT', '/models/sparse/1', 'putSparse', ''],
  ['PUT', '/models/dense/1', 'put', ''],
  ['GET', '/models/dense/all.json', 'all', ''],
  ['GET', '/models/dense/a.json', 'json', ''],
  ['GET', '/models/dense/new-1.json', 'newJson', ''],
  ['DELETE', '/models/dense/1', 'delete', ''],
  ['GET', '/a%20b/%3Ax*', 'odd', ''],
  ['GET', '/models/%73parse/1', 'get', ''],
  ['GET', '/models/a%2Fb/1', 'get', ''],
  ['GET', '/ties/a-b', 'firstOfTie', ''],
  ['GET', '/ties/a-c', 'secondOfTie', ''],
  ['HEAD', '/files/a', 'peek', ''],
  ['GET', '/files/a', 'read', ''],
])('%s %s is the operation %s below "%s"', (method, path, id, basePath) => {
  expect(find(method, path)).toMatchObject({ operation: { id }, basePath });
  expect(has(path)).toBe(true);
});

test.each([
  ['/models/sparse/1', 'PUT, GET, HEAD, DELETE'],
  ['/models/dense/a.json', 'GET, HEAD, PUT, DELETE'],
  ['/v1/', 'GET, HEAD'],
])('PATCH %s is answered with the methods of all matching paths: %s', (path, methods) => {
  const headers = { Allow: expect.any(String) };
  const error = find('PATCH', path);
  expect(error).toMatchObject({ status: 405, headers });
  expect(Object(error).headers.Allow.split(', ').sort()).toEqual(methods.split(', ').sort());
});

test('HEAD is not allowed at a path without GET', async () => {
  const router = await routerOf({ '/a': { put: { operationId: 'a' } } }, ['']);
  expect(router.find('HEAD', '/a')).toMatchObject({ status: 405, headers: { Allow: 'PUT' } });
});

test.each([
  ['/models/sparse/', '/models/sparse'],
  ['/models/secret/', '/models/{task}'],
  ['/models//1', '/models'],
  ['/models', '/models'],
  ['/models/secret/1/2', '/models/{task}/{id}'],
  ['/models/', '/models'],
  ['*', '/'],
  ['', '/'],
  ['/other', '/'],
  ['/MODELS/sparse/1', '/'],
  ['/query', '/'],
  ['/query%3Fa=b', '/'],
  ['/v2/models/sparse/1', '/'],
  ['/v1/files/a/b', '/v1/files/{path}'],
  ['//', '/'],
])('%j gets 404; its longest declared prefix is %s', (path, prefix) => {
  const reason = `no such path; the longest declared prefix is ${prefix}`;
  for (const method of ['GET', 'PATCH'])
    expect(find(method, path)).toMatchObject({ status: 404, message: 'no such path', reason });
  expect(has(path)).toBe(false);
});

test('the message of a 404 names the base path if the path lacks it', async () => {
  const router = await routerOf({ '/books/{id}': get('getBook') }, ['/v1']);
  const message = 'no such path: the base path /v1 is missing';
  for (const method of ['GET', 'POST'])
    expect(router.find(method, '/books/7')).toMatchObject({ status: 404, message });
});

test.each(['/models/a/%ff', '/models/a/%', '/%zz'])(
  '%s gets 400, since it is not percent-encoded UTF-8',
  (path) => {
    expect(find('GET', path)).toMatchObject({ status: 400 });
    expect(has(path)).toBe(false);
  },
);

test('operations and paths may have servers of their own', async () => {
  const servers = [{ url: 'https://files.example/up/' }, { url: '/up2' }];
  const router = await routerOf(
    {
      '/a': { servers, ...get('a'), put: { operationId: 'b', servers: [{ url: '/b' }] } },
      '/a/{y}': get('c'),
      // The first of its URLs is that of the operation before.
      '/a/{z}': { servers: [{ url: '/v1' }, { url: '/other' }], ...get('d') },
    },
    ['/v1'],
  );
  const lines = ['GET /up/a', 'GET /up2/a', 'PUT /b/a', 'GET /v1/a', 'PUT /up/a'];
  const shared = ['GET /v1/a/1', 'GET /other/a/1'];
  const found = [...lines, ...shared].map((line) => {
    const [method = '', path = ''] = line.split(' ');
    const route = router.find(method, path);
    return 'operation' in route ? route.operation.id : route.status;
  });
  expect(found).toEqual(['a', 'a', 'b', 404, 405, 'c', 'd']);
});
