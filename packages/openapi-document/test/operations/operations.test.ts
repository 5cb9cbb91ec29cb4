import { describe, expect, test } from '@jest/globals';
import { declaredFor } from '../../src/operations/declared-for.ts';
import { type Operation, operationsOf, webhooksOf } from '../../src/operations/operations.ts';
import { Schemas } from '../../src/schema/schemas.ts';
import { operationObjects, pathItemsIn } from '../../src/source/path-items.ts';

function operationOf(operation: object, item: object = {}, root: object = {}): Operation {
  const [first] = operationsOf(
    new Schemas({ ...root, paths: { '/a/{id}': { ...item, post: operation } } }),
  );
  if (first === undefined) throw new Error('there is no operation');
  return first;
}

const at = '/paths/~1a~1{id}';

test('operations are listed in the order of their paths and methods', () => {
  const item = {
    additionalOperations: { COPY: { x: 1 }, 'M/V': {} },
    query: {},
    trace: {},
    patch: {},
    head: {},
    options: {},
    delete: {},
    post: {},
    put: {},
    get: {},
    parameters: [],
    summary: {},
  };
  const paths = { '/b': item, '/a~b': { get: {}, post: 1 }, '/c': null };
  const objects = operationObjects(pathItemsIn({ paths }, 'paths'));
  expect(objects.map(({ method, pointer }) => [method, pointer])).toEqual([
    ...'get put post delete options head patch trace query'
      .split(' ')
      .map((method) => [method, `/paths/~1b/${method}`]),
    ['COPY', '/paths/~1b/additionalOperations/COPY'],
    ['M/V', '/paths/~1b/additionalOperations/M~1V'],
    ['get', '/paths/~1a~0b/get'],
  ]);
  expect(objects[9]).toEqual({
    method: 'COPY',
    path: '/b',
    source: { x: 1 },
    pointer: '/paths/~1b/additionalOperations/COPY',
    item,
    itemPointer: '/paths/~1b',
  });
  expect(pathItemsIn({}, 'paths')).toEqual([]);
});

test.each<[operation: object, document: object, security: unknown]>([
  [{}, {}, []],
  [{}, { security: [{ key: [] }] }, [{ key: [] }]],
  [{ security: [{ token: ['read'] }] }, { security: [{ key: [] }] }, [{ token: ['read'] }]],
  [{ security: [] }, { security: [{ key: [] }] }, []],
  [{ security: [null, { key: null }] }, {}, [{}, { key: [] }]],
  [{ security: 'none' }, { security: [{ key: [] }] }, []],
])('the security of %j in a document with %j is %j', (operation, document, security) => {
  expect(operationOf(operation, {}, document).security).toEqual(security);
});

test.each<[members: object, schema: unknown]>([
  [{}, { anyOf: [{ $ref: '#/Limit' }, { const: '' }], default: 5 }],
  [{ schema: {} }, { anyOf: [{}, { const: '' }] }],
  [{ schema: { type: 'array' } }, { type: 'array' }],
  [{ allowEmptyValue: false }, { $ref: '#/Limit' }],
])('a query parameter with allowEmptyValue and %j has the schema %j', (members, schema) => {
  const limit = { name: 'limit', in: 'query', schema: { $ref: '#/Limit' }, allowEmptyValue: true };
  const parameters = [{ ...limit, ...members }];
  const Limit = { type: 'integer', default: 5 };
  const [parameter] = operationOf({ parameters }, {}, { Limit }).parameters;
  expect(parameter?.schema).toEqual(schema);
});

describe('an id', () => {
  const idsOf = (paths: object) => operationsOf(new Schemas({ paths })).map(({ id }) => id);

  test('is the operationId, or the method and the path', () => {
    const paths = {
      '/': { get: {} },
      '/books/{id}/co-authors': { get: {}, post: { operationId: 'add' } },
      '/größe.json': { put: {}, additionalOperations: { COPY: {} } },
    };
    expect(idsOf(paths)).toEqual([
      'get',
      'getBooksByIdCoAuthors',
      'add',
      'putGrößeJson',
      'COPYGrößeJson',
    ]);
  });

  test('gets no number if only an extension of paths has it too', () => {
    const item = { get: { operationId: 'getA' } };
    expect(idsOf({ 'x-a': item, '/a': item })).toEqual(['getA']);
  });

  test('gets a number if another operation has it', () => {
    const paths = {
      '/a': { get: {}, put: { operationId: 'x' } },
      '/b': { get: { operationId: 'getA' }, put: { operationId: 'x' } },
      '/a/': { get: {} },
      '/c': { get: { operationId: '' }, put: { operationId: 'x2' } },
    };
    expect(idsOf(paths)).toEqual(['getA2', 'x', 'getA', 'x3', 'getA3', '', 'x2']);
  });
});

test('webhooks and callbacks are listed as operations', () => {
  const root = {
    webhooks: { sent: { post: { operationId: 'a' } }, 'a.b': { put: {} } },
    Callback: { '{$url}/1': { post: {} }, '{$url}/2': { put: {} } },
  };
  const callbacks = { done: { $ref: '#/Callback' }, failed: {}, none: { $ref: '#/None' } };
  const paths = { '/a': { get: { operationId: 'a', callbacks } } };
  const operations = operationsOf(new Schemas({ ...root, paths }));
  const webhooks = webhooksOf(new Schemas(root), operations);
  expect(webhooks.map(({ id, method, path, pointer }) => [id, method, path, pointer])).toEqual([
    ['a', 'post', 'sent', '/webhooks/sent/post'],
    ['putAB', 'put', 'a.b', '/webhooks/a.b/put'],
    ['postADone', 'post', 'a.done', '/paths/~1a/get/callbacks/done/{$url}~11/post'],
  ]);
});

test.each([
  [['default', '4XX', '404'], { 404: '404', 403: '4XX', 500: 'default' }],
  [['404', '4xx', '5XX'], { 404: '404', 499: '4xx', 500: '5XX', 599: '5XX', 200: undefined }],
])('of the responses %j, each status has the most specific', (keys, expected) => {
  const responses = Object.fromEntries(keys.map((key) => [key, { description: key }]));
  const operation = operationOf({ responses });
  const declared = Object.keys(expected).map((status) => [
    status,
    declaredFor(operation, Number(status))?.key,
  ]);
  expect(Object.fromEntries(declared)).toEqual(expected);
});

describe('the parameters', () => {
  const parameter = (where: string, name: string, members: object = {}) => ({
    in: where,
    name,
    ...members,
  });

  test('of an operation replace those of its path item', () => {
    const shared = [
      parameter('query', 'a', { schema: { title: 'shared' } }),
      parameter('header', 'X-A', { schema: { title: 'shared' } }),
      parameter('cookie', 'a'),
      { $ref: '#/Id' },
    ];
    const parameters = [
      parameter('query', 'a', { schema: { title: 'operation' } }),
      parameter('header', 'x-a', { schema: { title: 'operation' } }),
      { $ref: '#/None' },
    ];
    const root = { Id: parameter('path', 'id', { required: true }) };
    const operation = operationOf({ parameters }, { parameters: shared }, root);
    expect(
      operation.parameters.map(({ in: where, name, schema, required, pointer }) => [
        where,
        name,
        Object(schema).title,
        required,
        pointer,
      ]),
    ).toEqual([
      ['query', 'a', 'operation', false, `${at}/post/parameters/0`],
      ['header', 'x-a', 'operation', false, `${at}/post/parameters/1`],
      ['cookie', 'a', undefined, false, `${at}/parameters/2`],
      ['path', 'id', undefined, true, `${at}/parameters/3`],
    ]);
  });

  test.each([
    ['path', 'other'],
    ['header', 'Accept'],
    ['header', 'Accept-Encoding'],
  ])('in %s named %s are ignored', (where, name) => {
    expect(operationOf({ parameters: [parameter(where, name)] }).parameters).toEqual([]);
  });

  test.each<[parameter: object, style: string, explode: boolean]>([
    [parameter('path', 'id'), 'simple', false],
    [parameter('query', 'a'), 'form', true],
    [parameter('cookie', 'a'), 'form', true],
    [parameter('query', 'a', { style: 'deepObject', explode: true }), 'deepObject', true],
    [parameter('query', 'a', { explode: 'false' }), 'form', true],
    [parameter('querystring', 'a', { style: 'form' }), 'querystring', false],
  ])('%j have the style %s and explode %j', (source, style, explode) => {
    const [first] = operationOf({ parameters: [source] }).parameters;
    expect([first?.style, first?.explode]).toEqual([style, explode]);
  });

  test('have the schema and the examples of their content', () => {
    const content = { 'application/json': { schema: { type: 'object' }, example: { a: 1 } } };
    const source = parameter('query', 'a', { content, example: 'text' });
    const [first] = operationOf({ parameters: [source] }).parameters;
    expect(first).toMatchObject({ json: true, schema: { type: 'object' } });
    expect(first?.examples.map(({ value }) => value)).toEqual(['text', { a: 1 }]);
  });
});

test('a response has its headers, except Content-Type', () => {
  const headers = {
    'X-A': { $ref: '#/Header' },
    'Content-Type': {},
    'X-Request-Id': { required: true },
    'X-Style': { style: 'form', required: true },
  };
  const operation = operationOf(
    { responses: { '2XX': { $ref: '#/Response' }, default: { $ref: '#/None' }, 'x-a': {} } },
    {},
    { Response: { headers, description: 'done' }, Header: { schema: { type: 'integer' } } },
  );
  const [response, fallback] = operation.responses;
  expect(operation.responses.map(({ key, pointer }) => [key, pointer])).toEqual([
    ['2XX', `${at}/post/responses/2XX`],
    ['default', `${at}/post/responses/default`],
  ]);
  expect(response?.source.description).toBe('done');
  expect(
    response?.headers.map(({ name, style, required, explode, pointer }) => [
      name,
      style,
      required,
      explode,
      pointer.slice(pointer.lastIndexOf('/')),
    ]),
  ).toEqual([
    ['x-a', 'simple', false, false, '/X-A'],
    ['x-request-id', 'simple', true, false, '/X-Request-Id'],
    ['x-style', 'simple', true, false, '/X-Style'],
  ]);
  expect(response?.headers[0]?.in).toBe('header');
  expect(response?.headers[0]?.schema).toEqual({ type: 'integer' });
  expect([fallback?.media, fallback?.headers]).toEqual([[], []]);
});
