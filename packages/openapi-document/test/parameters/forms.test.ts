import { describe, expect, test } from '@jest/globals';
import { formField, readFields, readForm, writeForm } from '../../src/parameters/forms.ts';
import type { FormEncoding } from '../../src/parameters/write-value.ts';
import type { Budget } from '../../src/schema/budget.ts';
import { Schemas } from '../../src/schema/schemas.ts';

const integer = { type: 'integer' };
const integers = { type: 'array', items: integer };
const point = { type: 'object', properties: { x: integer, y: { type: 'string' } } };
const schema = {
  type: 'object',
  properties: {
    count: integer,
    tags: integers,
    point,
    pair: { prefixItems: [{ type: 'string' }, integer] },
    points: { type: 'array', items: point },
    note: { type: ['string', 'object'] },
    open: {},
  },
};
const outlineOf = (source: unknown) => new Schemas({}).outline(source);
const formOf = (format: Parameters<typeof readForm>[0]) => ({
  urlencoded: (text: string, budget?: Budget) => readForm(format, text, budget),
});
const readerOf = (encoding: FormEncoding = {}) => formOf({ outline: outlineOf(schema), encoding });

describe('a form without an encoding', () => {
  test.each<[text: string, fields: object]>([
    ['', {}],
    ['count=1&other=2&open=3', { count: 1, other: '2', open: '3' }],
    ['a+b=c+d%26&%65=', { 'a b': 'c d&', e: '' }],
    ['tags=1', { tags: [1] }],
    ['tags=1&count=x&tags=2', { tags: [1, 2], count: 'x' }],
    ['open=1&open=2&other=3&other=4', { open: ['1', '2'], other: ['3', '4'] }],
    ['pair=1&pair=2', { pair: ['1', 2] }],
    ['point=%7B%22x%22:1%7D', { point: { x: 1 } }],
    ['note=x', { note: 'x' }],
    ['note=%7B%22x%22:1%7D', { note: { x: 1 } }],
    ['points=%7B%22x%22:1%7D&points=%7B%7D', { points: [{ x: 1 }, {}] }],
    ['point[x]=1', { 'point[x]': '1' }],
  ])('is parsed by the schemas of its fields: %j', (text, fields) => {
    expect(readerOf().urlencoded(text)).toEqual(fields);
  });

  test.each([
    ['point=x', 'point', 'must be JSON (invalid at line 1, column 1)'],
    ['points=%7B%7D&points=%7B', 'points', 'must be JSON (invalid at line 1, column 2)'],
    [`point=${'['.repeat(300)}`, 'point', 'must be JSON nested at most 256 levels deep'],
    ['count=1&count=2', 'count', 'must be given once'],
    ['point=%7B%7D&point=%7B%7D', 'point', 'must be given once'],
  ])('rejects %s', (text, parameter, reason) => {
    const error = expect.objectContaining({ parameter, reason });
    expect(() => readerOf().urlencoded(text)).toThrow(error);
  });

  test('has a field __proto__', () => {
    const form = readerOf().urlencoded('__proto__=1');
    expect(Object.entries(form)).toEqual([['__proto__', '1']]);
  });
});

describe('a field with an encoding', () => {
  test.each<[encoding: FormEncoding, text: string, fields: object]>([
    [{ tags: { style: 'form', explode: false } }, 'tags=1,2&count=3', { tags: [1, 2], count: 3 }],
    [{ tags: { style: 'pipeDelimited' } }, 'tags=1|2', { tags: [1, 2] }],
    [{ tags: { explode: true } }, 'count=1', { count: 1 }],
    [
      { point: { style: 'deepObject', explode: true } },
      'point[x]=3&point%5By%5D=a+b&other=x',
      { point: { x: 3, y: 'a b' }, other: 'x' },
    ],
    [{ point: { explode: true } }, 'x=1&y=2&z=3', { point: { x: 1, y: '2' }, z: '3' }],
    [{ point: { explode: true } }, 'point=%7B%22x%22:1%7D', { point: { x: 1 } }],
    [{ open: { contentType: 'application/json' } }, 'open=%5B1%5D', { open: [1] }],
    [{ open: { contentType: 'application/x+json' } }, 'open=%5B1%5D', { open: [1] }],
    [{ open: { contentType: 'Application/JSON; charset=utf-8' } }, 'open=%5B1%5D', { open: [1] }],
    [{ open: { contentType: 'application/jsonl' } }, 'open=%5B1%5D', { open: '[1]' }],
    [{ open: { contentType: 'application/json' } }, 'open=x', { open: 'x' }],
    [{ open: { contentType: 'application/json' } }, 'open=1&open=2', { open: ['1', '2'] }],
    [{ tags: { contentType: 'application/json' } }, 'tags=%5B1,2%5D', { tags: [1, 2] }],
    [{ tags: { contentType: 'application/json' } }, 'tags=1&tags=2', { tags: [1, 2] }],
    [{ tags: { contentType: 'application/json' } }, 'tags=1', { tags: [1] }],
    [{ points: { contentType: 'application/json' } }, 'points=%7B%7D', { points: [{}] }],
    [{ count: { contentType: 'text/plain' } }, 'count=1', { count: 1 }],
  ])('such as %j is parsed by it: %s', (encoding, text, fields) => {
    expect(readerOf(encoding).urlencoded(text)).toEqual(fields);
  });

  test('may be a map, which has the names of no other field', () => {
    const map = { type: 'object', additionalProperties: integer };
    const object = { type: 'object', properties: { x: integer, q: integer } };
    const properties = { map, object, q: { type: 'string' } };
    const encoding = { map: { style: 'form' }, object: { style: 'form' } };
    const { urlencoded } = formOf({ outline: outlineOf({ properties }), encoding });
    const value = { map: { a: 1, b: 2 }, object: { x: 3 }, q: '4' };
    expect(urlencoded('a=1&b=2&x=3&q=4')).toEqual(value);
    expect(urlencoded(writeForm(value, encoding))).toEqual(value);
    for (const unclear of [
      { object: { q: 1 }, q: 'x' },
      { map: { x: 1 }, object: { x: 2 } },
    ])
      expect(() => writeForm(unclear, encoding)).toThrow('which is not its own');
  });

  test('that is a map has no files of other fields', () => {
    const map = { type: 'object', additionalProperties: integer };
    const form = {
      outline: outlineOf({ properties: { map } }),
      encoding: { map: { style: 'form' } },
    };
    const fields = new Map<string, (string | object)[]>([
      ['a', ['1']],
      ['b', [form]],
    ]);
    expect(readFields(form, fields, { isPlain: true })).toEqual({ map: { a: 1 }, b: form });
  });

  test('must be JSON if its media type is JSON and its schema allows no string', () => {
    const { urlencoded } = readerOf({ count: { contentType: 'application/json' } });
    expect(() => urlencoded('count=x')).toThrow('count must be JSON');
  });

  test('is parsed by each schema that may describe it', () => {
    const alternatives = {
      anyOf: [{ properties: { a: integers } }, { properties: { a: integer } }],
    };
    const encoding = { a: { style: 'form', explode: false } };
    const { urlencoded } = formOf({ outline: outlineOf(alternatives), encoding });
    expect(urlencoded('a=1')).toEqual({ a: 1 });
  });
});

test.each<[properties: object, encoding: { contentType?: string }, kinds: string]>([
  [{}, {}, 'file or text'],
  [{ field: true }, {}, 'file or text'],
  [{ field: {} }, {}, 'file'],
  [{ field: { type: 'string', format: 'binary' } }, {}, 'file'],
  [{ field: { contentMediaType: 'image/png' } }, {}, 'file'],
  [{ field: { type: 'string', contentMediaType: 'image/png' } }, {}, 'file'],
  [{ field: { contentMediaType: 'image/png', contentEncoding: 'base64' } }, {}, 'text'],
  [{ field: { contentMediaType: 'application/json' } }, {}, 'text'],
  [{ field: { type: 'string' } }, {}, 'text'],
  [{ field: { type: 'object' } }, { contentType: 'application/json' }, 'text'],
  [{ field: {} }, { contentType: 'image/png, image/jpeg' }, 'file'],
  [{ field: {} }, { contentType: 'text/plain' }, 'text'],
  [{ field: { anyOf: [{ type: 'string' }] } }, {}, 'text'],
  [
    { field: { oneOf: [{ type: 'string', format: 'binary' }, { type: 'integer' }] } },
    {},
    'file or text',
  ],
  [{ field: { type: 'array', items: { format: 'binary' } } }, {}, 'file'],
  [{ field: { type: 'array', items: { type: 'string' } } }, {}, 'text'],
  [{ field: { type: 'array' } }, {}, 'text'],
])('a part of a form of %j with the encoding %j is %s', (properties, field, kinds) => {
  const encoding: FormEncoding = { field };
  const format = { outline: outlineOf({ properties }), encoding };
  const declared = formField(format, 'field');
  const { isFile, isText } = declared.kind();
  expect([...(isFile ? ['file'] : []), ...(isText ? ['text'] : [])].join(' or ')).toBe(kinds);
  expect(declared.types()).toEqual(field.contentType?.split(', ') ?? []);
});

test('a text part of JSON may contain all items of an array', () => {
  const encoding = { pair: { contentType: 'application/json' } };
  const textValues = (name: string, type: string, text: string) =>
    formField({ outline: outlineOf(schema), encoding }, name).textValues(type, text);
  expect(textValues('tags', 'application/json', '[1,2]')).toEqual([1, 2]);
  for (const [name, type, text] of [
    ['tags', 'text/plain', '[1]'],
    ['tags', 'application/json', '1'],
    ['tags', 'application/json', '[1'],
    ['count', 'application/json', '[1]'],
    ['pair', 'application/json', '[1]'],
    ['other', 'application/json', '[1]'],
  ] as const)
    expect(textValues(name, type, text)).toEqual([text]);
  const form = { outline: outlineOf({ properties: { constructor: integers } }) };
  expect(formField(form, 'constructor').textValues('application/json', '[1]')).toEqual([1]);
});

test('the budget pays for fields and the patterns of names', () => {
  const plain = { steps: 10 };
  expect(formOf({}).urlencoded('a=1&a=2&b=3', plain)).toEqual({ a: ['1', '2'], b: '3' });
  expect(plain.steps).toBe(7);
  const { urlencoded } = formOf({
    outline: outlineOf({ patternProperties: { '^a+$': integer } }),
  });
  const budget = { steps: 1_000 };
  expect(urlencoded('aa=1', budget)).toEqual({ aa: 1 });
  expect(budget.steps).toBeLessThan(1_000);
  expect(() => urlencoded(`${'a'.repeat(1_000)}=1`, budget)).toThrow(
    'is too expensive to validate',
  );
});
