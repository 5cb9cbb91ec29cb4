import { describe, expect, test } from '@jest/globals';
import { parameterReader } from '../../src/parameters/parameter-reader.ts';
import { documentOf, only } from '../support/operations.ts';

const integer = { type: 'integer' };
const point = { type: 'object', properties: { x: integer, y: { type: 'string' } } };

async function readerOf(parameters: readonly object[], path = '/things', ignored?: Set<string>) {
  const { operations } = await documentOf({ [path]: { get: { parameters } } });
  const operation = only(operations);
  const read = parameterReader(operation, ignored);
  return {
    operation,
    read: (target: string, headers: Record<string, string | string[]> = {}) => {
      const [requestPath = '', query = ''] = target.split('?');
      return read({ path: requestPath, query, headers });
    },
  };
}

const inQuery = (name: string, schema: object = {}, others: object = {}) => ({
  name,
  in: 'query',
  schema,
  ...others,
});

test.each<[path: string, where: string, values: object]>([
  ['/things/{id}', 'path', { path: { id: 5 } }],
  ['/things/5', 'header', { header: { id: 6 } }],
  ['/things/5', 'cookie', { cookie: { id: 7 } }],
])(
  'the only parameter of %s, in: %s, is read from a request without a query',
  async (path, where, expected) => {
    const { read } = await readerOf(
      [{ name: 'id', in: where, required: true, schema: integer }],
      path,
    );
    const { values } = read('/things/5', { id: '6', cookie: 'id=7' });
    expect(values).toMatchObject(expected);
  },
);

test.each(['constructor', 'toString', 'hasOwnProperty'])(
  'parameters %s that are not sent have no value',
  async (name) => {
    const parameters = ['query', 'header', 'cookie'].map((where) => ({
      name,
      in: where,
      schema: {},
    }));
    const { read } = await readerOf(parameters);
    expect(read('/things').values).toEqual({ path: {}, query: {}, header: {}, cookie: {} });
    expect(read('/things', { [name.toLowerCase()]: 'a' }).values.header).toEqual({ [name]: 'a' });
  },
);

test('a parameter __proto__ is ignored', async () => {
  const inHeader = { name: '__proto__', in: 'header', required: true, schema: {} };
  const { operation, read } = await readerOf([inHeader, inQuery('__proto__', point)]);
  expect(operation.parameters).toEqual([]);
  expect(read('/things?__proto__=x,1').violations).toMatchObject([{ path: '/query/__proto__' }]);
});

describe('names in a query that no parameter declares', () => {
  const undeclared = async (parameters: readonly object[], query: string, ignored?: Set<string>) =>
    (await readerOf(parameters, '/things', ignored)).read(`/things?${query}`).violations;
  const violation = (name: string) => ({
    path: `/query/${name}`,
    message: 'is not a parameter of this operation',
    keyword: 'additionalProperties',
  });
  const open = { ...point, additionalProperties: integer };

  test.each<[beside: string, names: string[], parameters: readonly object[], query: string]>([
    ['a scalar', ['b', 'a[]'], [inQuery('a')], 'a=1&b=2&a%5B%5D=3'],
    ['a header', ['a'], [{ name: 'a', in: 'header', schema: {} }], 'a=1'],
    ['an exploded object', ['z', 'a'], [inQuery('a', point)], 'x=1&y=2&z=3&a=4'],
    ['an object', ['x'], [inQuery('a', point, { explode: false })], 'a=x,1&x=2'],
    [
      'a deepObject',
      ['ab', 'x'],
      [inQuery('a', point, { style: 'deepObject', explode: true })],
      'a[x]=1&a=2&a[z]=3&ab=4&x=5',
    ],
    ['an open object', [], [inQuery('a', open)], 'z=1'],
    [
      'the whole query',
      [],
      [{ name: 'a', in: 'querystring', content: { 'text/plain': { schema: {} } } }],
      'b=1',
    ],
  ])('beside %s are violations: %j', async (_beside, names, parameters, query) => {
    expect(await undeclared(parameters, query)).toEqual(names.map(violation));
  });

  test('are ignored if they are API keys', async () => {
    const violations = await undeclared([inQuery('a')], 'key=1&b=2', new Set(['key']));
    expect(violations).toEqual([violation('b')]);
  });
});

test('an open object has the names that no other parameter declares', async () => {
  const properties = { ...point.properties, limit: integer };
  const open = { ...point, properties, additionalProperties: integer };
  const { read } = await readerOf(
    [inQuery('filter', open), inQuery('limit', integer)],
    '/things',
    new Set(['key']),
  );
  expect(read('/things?limit=1&x=2&z=3&key=4').values.query).toEqual({
    filter: { x: 2, z: 3 },
    limit: 1,
  });
});

test.each<[type: string, query: string, value: unknown]>([
  ['application/x-www-form-urlencoded', 'a=1&api+key=2', { a: '1' }],
  ['application/x-www-form-urlencoded', 'api%20key=2', undefined],
  ['application/json', '{"a":1}&api+key=2', { a: 1 }],
])('a whole query of %s does not contain API keys: %s', async (type, query, value) => {
  const content = { [type]: { schema: { type: 'object' } } };
  const { read } = await readerOf(
    [{ name: 'filter', in: 'querystring', content }],
    '/things',
    new Set(['api key']),
  );
  expect(read(`/things?${query}`).values.query.filter).toEqual(value);
});

test('a parameter that cannot be parsed is a violation, and the others are read', async () => {
  const { read } = await readerOf(
    [
      { name: 'id', in: 'path', required: true, schema: {} },
      inQuery('a'),
      inQuery('b'),
      { name: 'c', in: 'cookie', schema: {} },
      inQuery('d', integer),
      { name: 'e', in: 'query', content: { 'application/json': { schema: point } } },
    ],
    '/things/{id}',
  );
  const target = '/things/%zz?a=1&a=2&b=%ff&d=3&e=%7B';
  const { values, violations } = read(target, { cookie: 'c=%zz' });
  const encoding = { message: 'must be percent-encoded UTF-8', keyword: 'format' };
  expect(violations).toEqual([
    { path: '/path/id', ...encoding },
    { path: '/query/a', message: 'must be given once', keyword: 'format' },
    { path: '/query/b', ...encoding },
    { path: '/cookie/c', ...encoding },
    {
      path: '/query/e',
      message: 'must be JSON (invalid at line 1, column 2)',
      keyword: 'format',
    },
  ]);
  expect(values).toEqual({ path: {}, query: { d: 3 }, header: {}, cookie: {} });
});

describe('numbers are parsed if they are described by', () => {
  const string = { type: 'string' };
  const o = { properties: { o: string } };

  test.each<[keyword: string, schema: object, query: string, value: unknown]>([
    [
      'items beside prefixItems',
      { prefixItems: [string], items: integer },
      'value=1&value=2',
      ['1', 2],
    ],
    ['unevaluatedItems', { type: 'array', unevaluatedItems: integer }, 'value=1', [1]],
    [
      'patternProperties',
      { ...o, patternProperties: { '^n': integer } },
      'value[n1]=1&value[o]=1',
      { n1: 1, o: '1' },
    ],
    [
      'additionalProperties',
      { ...o, additionalProperties: integer },
      'value[n]=1&value[o]=1',
      { n: 1, o: '1' },
    ],
    [
      'unevaluatedProperties',
      { ...o, unevaluatedProperties: integer },
      'value[n]=1&value[o]=1',
      { n: 1, o: '1' },
    ],
  ])('%s', async (_keyword, schema, query, value) => {
    const style = query.includes('[') ? 'deepObject' : 'form';
    const { read } = await readerOf([inQuery('value', schema, { style, explode: true })]);
    const { values, violations } = read(`/things?${query}`);
    expect(violations).toEqual([]);
    expect(values.query).toEqual({ value });
  });
});

test('a name that is too long for a pattern is a violation', async () => {
  const schema = { type: 'object', patternProperties: { '^(?!.*(a+)+b)(x+x+)+$': integer } };
  const { read } = await readerOf([inQuery('filter', schema, { style: 'deepObject' })]);
  expect(read(`/things?filter[${'x'.repeat(60)}]=1`).violations).toEqual([
    { path: '/query/filter', message: 'is too expensive to validate', keyword: 'format' },
  ]);
});

test('names of a deepObject are not members of an object with any members', async () => {
  const members = { type: 'object', additionalProperties: { type: 'string' } };
  const deep = inQuery('filter', point, { style: 'deepObject' });
  const { read } = await readerOf([deep, inQuery('others', members)]);
  expect(read('/things?filter[x]=1&a=b').values.query).toEqual({
    filter: { x: 1 },
    others: { a: 'b' },
  });
});
