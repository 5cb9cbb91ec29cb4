import { describe, expect, test } from '@jest/globals';
import { cookiesOf, parameterReader } from 'openapi-document';
import { documentOf, only } from './support/operations.ts';

const list = { schema: { type: 'array', items: { type: 'integer' } }, value: [1, 2] };
const names = { schema: { type: 'array', items: { type: 'string' } }, value: ['a, b', 'c&d|e=é'] };
const properties = { x: { type: 'integer' }, y: { type: 'string' } };
const point = { schema: { type: 'object', properties }, value: { x: 1, y: 'b c' } };
const inside = { p: { type: 'object', properties }, l: list.schema };
const nested = {
  schema: { type: 'object', properties: inside },
  value: { p: { x: 1, y: 'b' }, l: [1, 2] },
};
const text = { schema: { type: 'string' }, value: "it's 100 % [é] {x}, a+b" };
const large = { schema: { type: 'integer', format: 'int64' }, value: 2n ** 60n + 1n };
const json = { content: { 'application/json': { schema: point.schema } }, value: point.value };
const RESERVED = "a/b?c=d&e#f+g:h@i!j$k'l(m)n*o,p;q[r]s%t u";
const reserved = { schema: { type: 'string' }, allowReserved: true, value: RESERVED };

type Case = {
  readonly in: string;
  readonly value: unknown;
  readonly style?: string;
  readonly explode?: boolean;
};

const each = (shared: object, ...values: readonly object[]): Case[] =>
  values.map((value) => ({ ...shared, ...value }) as Case);

const CASES: readonly Case[] = [
  ...each({ in: 'query' }, text, large, list, names, point, json, reserved),
  ...each({ in: 'query', explode: false }, list, names, point),
  ...each({ in: 'query', style: 'spaceDelimited', explode: false }, list, {
    ...names,
    value: ['a,b', 'c'],
  }),
  ...each({ in: 'query', style: 'pipeDelimited', explode: false }, list, {
    ...names,
    value: ['a b', 'c'],
  }),
  ...each({ in: 'query', style: 'deepObject' }, point, nested),
  ...each({ in: 'path' }, text, list, names, point, json, reserved),
  ...each({ in: 'path', explode: true }, point),
  ...['label', 'matrix'].flatMap((style) =>
    [false, true].flatMap((explode) => each({ in: 'path', style, explode }, list, names, point)),
  ),
  ...each({ in: 'header' }, list, point, json),
  ...each({ in: 'header', explode: true }, point),
  ...each({ in: 'cookie' }, text, list, names, point, json),
  ...each({ in: 'cookie', explode: false }, list, names, point),
  ...each({ in: 'cookie', style: 'cookie' }, { ...text, value: 'a%20b/c' }, list, point),
  ...each({ in: 'cookie', style: 'cookie', explode: false }, list, point),
];

async function readerOf({ value: _value, ...parameter }: Case) {
  const path = parameter.in === 'path' ? '/things/{value}' : '/things';
  const get = { parameters: [{ name: 'value', required: true, ...parameter }] };
  const { root, operations } = await documentOf({ [path]: { get } });
  return { read: parameterReader(root, only(operations)), operation: only(operations) };
}

const bigints = (_key: string, value: unknown): unknown =>
  typeof value === 'bigint' ? String(value) : value;

describe('a serialized value is parsed to the same value', () => {
  test.each(CASES.map((one) => [JSON.stringify(one, bigints), one] as const))(
    '%s',
    async (_title, one) => {
      const { read, operation } = await readerOf(one);
      const written = operation.parameters.map((parameter) => parameter.write(one.value)).join('');
      const { values, violations } = read({
        path: one.in === 'path' ? `/base/things/${written}` : '/base/things',
        query: one.in === 'query' ? written : '',
        headers: { [one.in]: written, value: written },
      });
      expect(violations).toEqual([]);
      expect({ ...values.path, ...values.query, ...values.header, ...values.cookie }).toEqual({
        value: one.value,
      });
    },
  );
});

test('reserved characters are not encoded with allowReserved', async () => {
  const { operation } = await readerOf(each({ in: 'query' }, reserved)[0] as Case);
  expect(operation.parameters.map((parameter) => parameter.write('a/b?c:d&e+f'))).toEqual([
    'value=a/b?c:d%26e%2Bf',
  ]);
});

test.each([
  ['a=1; b=2', { a: ['1'], b: ['2'] }],
  ['a=1;b=2', { a: ['1'], b: ['2'] }],
  ['a=b=c', { a: ['b=c'] }],
  ['a="b c"', { a: ['b c'] }],
  ['a=""; b="; c=d"', { a: [''], b: ['"'], c: ['d"'] }],
  ['a=1; a=2', { a: ['1', '2'] }],
  ['a=; b; ; c=%20', { a: [''], c: ['%20'] }],
  [undefined, {}],
])('the cookies of %j are %j', (header, cookies) => {
  expect(Object.fromEntries(cookiesOf(header))).toEqual(cookies);
});

test('a deepObject may nest 256 levels deep', async () => {
  const { read } = await readerOf(each({ in: 'query', style: 'deepObject' }, nested)[0] as Case);
  const at = (levels: number) =>
    read({ path: '/things', query: `value${'[p]'.repeat(levels)}=1`, headers: {} }).violations;
  expect(at(256)).toEqual([]);
  expect(at(257)).toEqual([
    { path: '/query/value', message: 'must be nested at most 256 levels deep', keyword: 'format' },
  ]);
});

const integers = { type: 'integer' };

test.each<[keyword: string, schema: object, query: string, value: unknown]>([
  ['items', { items: integers }, 'value=1&value=2', [1, 2]],
  ['prefixItems', { prefixItems: [{ type: 'string' }, integers] }, 'value=1&value=2', ['1', 2]],
  [
    'items beside prefixItems',
    { prefixItems: [{ type: 'string' }], items: integers },
    'value=1&value=2',
    ['1', 2],
  ],
  ['unevaluatedItems', { type: 'array', unevaluatedItems: integers }, 'value=1&value=2', [1, 2]],
  ['allOf', { allOf: [{ items: integers }] }, 'value=1', [1]],
  ['properties', { properties: { n: integers } }, 'value[n]=1&value[o]=1', { n: 1, o: '1' }],
  [
    'patternProperties',
    { properties: { o: {} }, patternProperties: { '^n': integers } },
    'value[n1]=1&value[o]=1',
    { n1: 1, o: '1' },
  ],
  [
    'additionalProperties',
    { properties: { o: { type: 'string' } }, additionalProperties: integers },
    'value[n]=1&value[o]=1',
    { n: 1, o: '1' },
  ],
  [
    'unevaluatedProperties',
    { properties: { o: { type: 'string' } }, unevaluatedProperties: integers },
    'value[n]=1&value[o]=1',
    { n: 1, o: '1' },
  ],
])('numbers that %s describes are parsed', async (_keyword, schema, query, value) => {
  const style = query.includes('[') ? 'deepObject' : 'form';
  const { read } = await readerOf({ in: 'query', style, explode: true, value, ...{ schema } });
  const { values, violations } = read({ path: '/things', query, headers: {} });
  expect(violations).toEqual([]);
  expect(values.query).toEqual({ value });
});

test.each([
  ['a scalar', each({ in: 'query' }, text)],
  ['a list that is not exploded', each({ in: 'query', explode: false }, list)],
  ['JSON', each({ in: 'query' }, json)],
])('a query that repeats %s is rejected', async (_title, [one]) => {
  const { read } = await readerOf(one as Case);
  const { violations } = read({ path: '/things', query: 'value=1&value=2', headers: {} });
  expect(violations).toEqual([
    { path: '/query/value', message: 'must be given once', keyword: 'format' },
  ]);
});

describe('a field of a form', () => {
  const schema = {
    type: 'object',
    properties: {
      tags: { type: 'array', items: { type: 'integer' } },
      metadata: { type: 'object', properties: { size: { type: 'integer' } } },
      settings: { type: 'object' },
    },
  };
  const encoding = {
    tags: { style: 'form', explode: false },
    metadata: { style: 'deepObject', explode: true },
  };
  const read = async (media: object) => {
    const requestBody = { content: { 'application/x-www-form-urlencoded': { schema, ...media } } };
    const { operations } = await documentOf({ '/things': { post: { requestBody } } });
    const [form] = only(operations).requestBody?.media ?? [];
    if (form === undefined) throw new Error('the operation has no form');
    return form.formReader();
  };

  test('is parsed by the style of its encoding', async () => {
    const reader = await read({ encoding });
    expect(reader.urlencoded('tags=1,2&metadata[size]=3&metadata[colour]=red&other=x')).toEqual({
      tags: [1, 2],
      metadata: { size: 3, colour: 'red' },
      other: 'x',
    });
  });

  test.each<[schema: unknown, contentType: string | undefined, kinds: string]>([
    [undefined, undefined, 'file or text'],
    [true, undefined, 'file or text'],
    [{}, undefined, 'file'],
    [{ type: 'string', format: 'binary' }, undefined, 'file'],
    [{ contentMediaType: 'image/png' }, undefined, 'file'],
    [{ type: 'string', contentMediaType: 'image/png' }, undefined, 'file'],
    [{ contentMediaType: 'image/png', contentEncoding: 'base64' }, undefined, 'text'],
    [{ contentMediaType: 'application/json' }, undefined, 'text'],
    [{ type: 'string' }, undefined, 'text'],
    [{ type: 'object' }, 'application/json', 'text'],
    [{}, 'image/png, image/jpeg', 'file'],
    [{}, 'text/plain', 'text'],
    [{ anyOf: [{ type: 'string' }] }, undefined, 'text'],
    [{ type: 'array', items: { format: 'binary' } }, undefined, 'file'],
    [{ type: 'array', items: { type: 'string' } }, undefined, 'text'],
  ])('with the schema %j and the media type %s is %s', async (field, contentType, kinds) => {
    const properties = field === undefined ? {} : { field };
    const reader = await read({ schema: { properties }, encoding: { field: { contentType } } });
    const { isFile, isText, types } = reader.partOf('field');
    expect([...(isFile ? ['file'] : []), ...(isText ? ['text'] : [])].join(' or ')).toBe(kinds);
    expect(types).toEqual(contentType?.split(', ') ?? []);
  });

  test('is parsed as JSON or an array without an encoding', async () => {
    const reader = await read({});
    expect(reader.urlencoded('tags=1&tags=2&settings=%7B%22a%22%3A1%7D')).toEqual({
      tags: [1, 2],
      settings: { a: 1 },
    });
  });
});
