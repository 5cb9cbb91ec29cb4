import { describe, expect, test } from '@jest/globals';
import { Schemas } from '../../src/schema/schemas.ts';
import { temporalFormats } from '../../src/schema/temporal-formats.ts';
import type { View } from '../../src/schema/tree.ts';
import type { Json } from '../../src/source/document.ts';

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

/** Returns the value that a view reads, or its violations. */
function read(schemas: Json, schema: unknown, view: View, value: unknown, extension = {}) {
  const root = { ...extension, components: { schemas } };
  const result = new Schemas(root).at(schema, view).check(value);
  return result.violations?.map(({ path, keyword }) => `${path} ${keyword}`) ?? result.value;
}

describe('members of the other direction', () => {
  const SCHEMAS = {
    A: {
      type: 'object',
      required: ['id', 'secret', 'name'],
      properties: { id: ref('Id'), secret: { type: 'string', writeOnly: true }, name: {} },
    },
    Id: { type: 'integer', readOnly: true },
    B: { allOf: [ref('A'), { required: ['id'] }] },
  };
  const ALL = { id: 1, secret: 'x', name: 'a' };

  test.each<[view: View, value: object, result: unknown]>([
    ['request', ALL, { secret: 'x', name: 'a' }],
    ['request', { name: 'a' }, ['/secret required']],
    ['response', ALL, { id: 1, name: 'a' }],
    ['response', { name: 'a' }, ['/id required']],
    ['example', { name: 'a' }, { name: 'a' }],
    ['example', ALL, ALL],
    ['example', { name: 'a', id: 'x' }, ['/id type']],
  ])('in the view %s, %j becomes %j', (view, value, result) => {
    expect(read(SCHEMAS, ref('B'), view, value)).toEqual(result);
  });

  test.each(['anyOf', 'oneOf'])('may be so by an alternative in %s', (keyword) => {
    const id = { [keyword]: [ref('Id'), { type: 'null' }] };
    const schema = { type: 'object', required: ['id'], properties: { id } };
    expect(read(SCHEMAS, schema, 'request', { id: 1 })).toEqual({});
    expect(read(SCHEMAS, schema, 'request', { id: 1 }, { 'x-read-only': 'reject' })).toHaveLength(
      1,
    );
  });

  test.each<[view: View, value: object, result: unknown]>([
    ['request', { owner: 'me' }, { owner: 'me' }],
    ['request', { owner: 5 }, { owner: 5 }],
    ['request', { owner: { id: 1 } }, ['/owner required']],
    ['request', {}, ['/owner required']],
    ['response', { owner: 'me', secret: 5 }, { owner: 'me', secret: 5 }],
    ['response', { owner: { id: 1 }, secret: 'x' }, { owner: { id: 1 } }],
    ['response', { owner: { id: 1 }, secret: 'both' }, { owner: { id: 1 } }],
    ['sent', { owner: 'me' }, { owner: 'me' }],
    ['sent', { owner: { id: 1 } }, ['/owner readOnly']],
  ])(
    'depend on the value in the view %s, if only some alternatives are so: %j',
    (view, value, result) => {
      const owner = {
        anyOf: [{ type: ['string', 'integer'] }, { type: ['object', 'integer'], readOnly: true }],
      };
      const secret = { anyOf: [{ type: 'string', writeOnly: true }, { enum: [5, 'both'] }] };
      const schema = { type: 'object', required: ['owner'], properties: { owner, secret } };
      expect(read({}, schema, view, value)).toEqual(result);
    },
  );

  test('are not required by other schemas of the value, but by those of inner values', () => {
    const required = { required: ['id'] };
    const schema = {
      properties: { id: { readOnly: true }, inner: { type: 'object', ...required } },
      allOf: [required],
      dependentSchemas: { b: required },
    };
    expect(read({}, schema, 'request', { b: 1 })).toEqual({ b: 1 });
    expect(read({}, schema, 'request', { inner: {} })).toEqual(['/inner/id required']);
  });

  test.each<[schema: Json, valid: object, invalid: object]>([
    [{ oneOf: [{ required: ['id'] }, { required: ['name'] }] }, { name: 'x' }, {}],
    [{ not: { required: ['id'] } }, {}, { id: 1 }],
    [{ not: { required: ['id', 'name'] } }, { name: 'x' }, { id: 1, name: 'x' }],
    [JSON.parse('{ "if": { "required": ["id"] }, "then": { "required": ["b"] } }'), {}, { id: 1 }],
  ])('may be required by the condition %j', (condition, valid, invalid) => {
    const schema = { ...condition, properties: { id: { readOnly: true }, name: {}, b: {} } };
    expect(read({}, schema, 'request', valid)).toEqual(valid);
    expect(read({}, schema, 'request', invalid)).toHaveLength(1);
  });

  test('are those of the place where a shared schema is used', () => {
    const placeWith = (name: string) => ({
      properties: { [name]: { readOnly: true } },
      allOf: [ref('NotBoth')],
    });
    const schema = { properties: { first: placeWith('id'), second: placeWith('other') } };
    const value = { first: { id: 1, a: 1 }, second: { id: 1, a: 1 } };
    const NotBoth = { not: { properties: { id: false }, required: ['a'] } };
    expect(read({ NotBoth }, schema, 'request', value)).toEqual(['/first not']);
  });

  test('are rejected with x-read-only: reject, at the top or beside readOnly', () => {
    const property = { readOnly: true, 'x-read-only': 'reject' };
    const id = (member: object) => ({ type: 'object', properties: { id: member } });
    expect(read({}, id(property), 'request', { id: 1 })).toHaveLength(1);
    expect(read({}, id({ readOnly: true }), 'request', { id: 1 })).toEqual({});
    expect(
      read({}, id({ ...property, readOnly: false, writeOnly: true }), 'response', { id: 1 }),
    ).toEqual({});
  });
});

describe('the default of a member', () => {
  const SCHEMAS = { Count: { type: 'integer', default: 1 } };

  test.each<[member: object, result: object]>([
    [ref('Count'), { a: 1 }],
    [{ ...ref('Count'), default: 2 }, { a: 2 }],
    [{ allOf: [ref('Count')], default: 'many' }, {}],
    [{ default: null }, { a: null }],
  ])('of the schema %j is filled in if it fits: %j', (member, result) => {
    const schema = { type: 'object', properties: { a: member } };
    expect(read(SCHEMAS, schema, 'request', {})).toEqual(result);
    expect(read(SCHEMAS, schema, 'response', {})).toEqual({});
  });
});

test.each<[schema: object, value: object]>([
  [{ maxProperties: 1 }, { n: 1 }],
  [{ dependentRequired: { mode: ['other'] } }, {}],
  [{ dependentSchemas: { mode: { required: ['n'] } } }, {}],
  [{ not: { required: ['mode', 'n'] } }, { n: 1 }],
  [{ oneOf: [{ required: ['mode'] }, { required: ['n'] }] }, { n: 1 }],
  [{ if: { required: ['mode'] }, ...JSON.parse('{ "then": { "required": ["n"] } }') }, {}],
])('with %j, a default is not filled in if %j is then invalid', (schema, value) => {
  const declared = {
    ...schema,
    properties: { mode: { default: 'fast' }, page: { default: 1 }, n: {} },
  };
  const page = 'maxProperties' in schema ? {} : { page: 1 };
  expect(read({}, declared, 'request', value)).toEqual({ ...value, ...page });
  const shape = JSON.stringify(new Schemas({}).shape(declared, 'request'));
  const filled = [...shape.matchAll(/"name":"(mode|page)".*?"isFilled":(true|false)/g)];
  for (const [, name, isFilled] of filled)
    expect([name, isFilled]).toEqual([name, String(name === 'page' && name in page)]);
});

describe('a base schema with a discriminator', () => {
  const SCHEMAS = {
    Pet: {
      type: 'object',
      required: ['kind'],
      properties: { kind: { type: 'string' } },
      discriminator: { propertyName: 'kind' },
    },
    Cat: { allOf: [ref('Pet'), { type: 'object', required: ['lives'] }] },
    Other: {},
  };
  const CAT = { kind: 'Cat' };

  test.each<[schema: object, result: unknown]>([
    [ref('Pet'), ['/lives required']],
    [{ allOf: [ref('Pet')] }, ['/lives required']],
    [{ allOf: [{ ...ref('Pet'), title: 'T' }, ref('Other')] }, CAT],
  ])('selects a schema that extends it, unless %j extends it itself', (schema, result) => {
    expect(read(SCHEMAS, schema, 'request', CAT)).toEqual(result);
  });

  test('selects nothing in a view without its member', () => {
    const kind = { type: 'string', readOnly: true };
    const Cat = { type: 'object', properties: { kind, lives: { type: 'integer' } } };
    const schema = { oneOf: [ref('Cat')], discriminator: { propertyName: 'kind' } };
    expect(read({ Cat }, schema, 'request', { lives: 9 })).toEqual({ lives: 9 });
    expect(read({ Cat }, schema, 'response', { lives: 9 })).toEqual(['/kind required']);
  });
});

test.each<View>(['request', 'sent', 'example'])(
  'a readOnly member is not required by another member in the view %s',
  (view) => {
    const schema = { properties: { id: { readOnly: true } }, dependentRequired: { a: ['id'] } };
    expect(read({}, schema, view, { a: 1 })).toEqual({ a: 1 });
  },
);

test('a text in a union becomes a value of the type of its format', () => {
  const schemas = new Schemas({}, { formats: temporalFormats });
  const parsed = (schema: object, text: string) =>
    Object(schemas.at(schema, 'request').check(text, { parsesFormats: true }).value).constructor
      .name;
  const day = { anyOf: [{ format: 'date' }, { enum: ['today'] }] };
  expect(parsed({ anyOf: [{ format: 'date' }, { format: 'date-time' }] }, '2024-02-29')).toBe(
    'PlainDate',
  );
  expect([parsed(day, '2024-02-29'), parsed(day, 'today')]).toEqual(['PlainDate', 'String']);
  expect(parsed({ format: 'duration' }, 'PT1H5.5S')).toBe('Duration');
  const any = { anyOf: ['time', 'date', 'date-time'].map((format) => ({ format })) };
  const texts = [
    Temporal.PlainDate.from('2024-02-29'),
    Temporal.PlainTime.from('12:00'),
    Temporal.Instant.from('2024-02-29T12:00Z'),
  ].map((value) => schemas.at(any, 'response').check(value).value);
  expect(texts).toEqual(['2024-02-29', '12:00:00Z', '2024-02-29T12:00:00Z']);
});

test('the array that `toJSON` returns is written as it was validated', () => {
  const array = Object.assign([1], { toJSON: () => ['secret'] });
  const schema = { type: 'array', items: { type: 'integer' } };
  expect(JSON.stringify(read({}, schema, 'response', { toJSON: () => array }))).toBe('[1]');
});

test('a reply lacks a required member whose `toJSON` returns nothing', () => {
  const schema = { type: 'object', properties: { a: {} }, required: ['a'] };
  const reply = { a: { toJSON: () => undefined } };
  expect(read({}, schema, 'response', reply)).toEqual(['/a required']);
});

test('null in a reply is no value that `not` excludes', () => {
  expect(read({}, { not: { type: 'null' } }, 'response', null)).toEqual([' not']);
});

test.each<[schema: object, reply: object, result: unknown]>([
  [{ not: { required: ['a'] } }, { a: 1, b: 2 }, { b: 2 }],
  [{ not: { required: ['b'] } }, { a: 1, b: 2 }, [' not']],
  [{ not: { required: ['b'] } }, { b: 2 }, [' not']],
  [{ allOf: [{ not: { required: ['a'] } }] }, { a: 1 }, {}],
  [{ properties: { a: {} }, not: { required: ['a'] } }, { a: 1, b: 2 }, [' not']],
])('%j of a reply is about the members that are written: %j', (schema, reply, result) => {
  const declared = { properties: { b: {} }, ...schema };
  expect(read({}, declared, 'response', reply)).toEqual(result);
  const inner = { properties: { inner: declared } };
  const nested = Array.isArray(result) ? ['/inner not'] : { inner: result };
  expect(read({}, inner, 'response', { inner: reply })).toEqual(nested);
});

test.each<[schema: object, reply: unknown, result: unknown]>([
  [{ not: { properties: {}, minProperties: 1 } }, { a: 1 }, [' not']],
  [{ contains: { properties: {}, maxProperties: 0 } }, [{ a: 1 }], [' contains']],
  [
    { contains: { unevaluatedProperties: false }, unevaluatedItems: { minProperties: 2 } },
    [{}, { a: 1 }],
    ['/1 minProperties'],
  ],
])('a test inside %j counts the members that a reply keeps', (schema, reply, result) => {
  expect(read({}, schema, 'response', reply)).toEqual(result);
});
