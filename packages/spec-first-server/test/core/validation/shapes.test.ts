import { describe, expect, test } from '@jest/globals';
import { type Json, schemas } from 'openapi-document';
import { withText } from 'test-support/titles';
import { createShapes } from '../../../src/core/validation/shapes.ts';

const matches = (schema: unknown, value: unknown): boolean =>
  schema === true ||
  schemas
    .allOf({}, schema)
    .every((part) =>
      [part.required ?? []].flat().every((name) => Object.hasOwn(Object(value), String(name))),
    );

function shapeOf(
  schema: Json,
  value: unknown,
  direction: schemas.Direction = 'response',
  $defs: Json = {},
) {
  const lowered = { ...schemas.lower({}, direction), $defs: $defs as Record<string, Json> };
  return createShapes(lowered, direction, matches)(schema, value);
}

const A = { type: 'string' };
const B = { type: 'integer' };
const when = (test: unknown, then: Json, otherwise: Json): Json => ({
  if: test,
  then,
  else: otherwise,
});

describe('a member', () => {
  test.each<[string, Json, string, unknown, unknown]>([
    ['a property', { properties: { a: A } }, 'a', A, A],
    ['a boolean property', { properties: { a: true } }, 'a', true, true],
    ['a forbidden property', { properties: { a: false } }, 'a', true, true],
    ['an undeclared member', { properties: { a: A } }, 'b', undefined, true],
    [
      'a required member that is no property',
      { properties: { a: A }, required: ['b'] },
      'b',
      true,
      true,
    ],
    [
      'a required member of another part',
      { properties: { a: A }, allOf: [{ required: ['b'] }] },
      'b',
      true,
      true,
    ],
    [
      'a required member of a closed object',
      { required: ['b'], additionalProperties: false },
      'b',
      undefined,
      false,
    ],
    ['an undeclared member of a pattern', { patternProperties: { '^a': A } }, 'b', undefined, true],
    ['a member of any object', { type: 'object' }, 'b', true, true],
    ['a member of an object without properties', { properties: {} }, 'b', true, true],
    ['a member of an object without patterns', { patternProperties: {} }, 'b', true, true],
    [
      'an undeclared member beside a property of the other direction',
      { properties: {}, 'x-dropped': ['a'] },
      'b',
      undefined,
      true,
    ],
    ['a member that matches a pattern', { patternProperties: { '^a': A } }, 'ab', A, A],
    [
      'a member that matches a slow pattern',
      { patternProperties: { '^[a-z]+(?:-[a-z]+)*$': A } },
      'a-b',
      A,
      A,
    ],
    ['an additional member', { properties: { a: A }, additionalProperties: B }, 'b', B, B],
    ['an unevaluated member', { properties: { a: A }, unevaluatedProperties: B }, 'b', B, B],
    [
      'any additional member',
      { properties: { a: A }, additionalProperties: true },
      'b',
      true,
      true,
    ],
    [
      'an undeclared member beside an allOf',
      { properties: { a: A }, allOf: [{ type: 'object' }] },
      'b',
      undefined,
      true,
    ],
    ['a closed object', { additionalProperties: false }, 'b', undefined, false],
    ['an unevaluated member', { unevaluatedProperties: false }, 'b', undefined, true],
    [
      'a member that a pattern of another part evaluates',
      { allOf: [{ patternProperties: { '^a': A } }], unevaluatedProperties: false },
      'ab',
      A,
      A,
    ],
    [
      'an additional member of another part',
      { allOf: [{ additionalProperties: A }], unevaluatedProperties: false },
      'b',
      A,
      A,
    ],
    [
      'a member of the other direction',
      { properties: { a: A }, 'x-dropped': ['b'] },
      'b',
      undefined,
      undefined,
    ],
    [
      'a property that another part drops',
      { allOf: [{ properties: { a: A } }, { 'x-dropped': ['a'] }] },
      'a',
      undefined,
      undefined,
    ],
    ['a name of Object.prototype', { properties: { a: A } }, 'constructor', undefined, true],
  ])(
    'has its schema, or undefined if it is removed: %s',
    (_title, schema, name, inReply, inRequest) => {
      expect(shapeOf(schema, {}).member(name)).toEqual(inReply);
      expect(shapeOf(schema, {}, 'request').member(name)).toEqual(inRequest);
    },
  );

  test('has the schemas of all parts of an allOf', () => {
    const schema = {
      properties: { a: A },
      allOf: [{ properties: { a: B } }, { $ref: '#/$defs/C' }],
    };
    const $defs = { C: { properties: { c: A } } };
    const shape = shapeOf(schema, {}, 'response', $defs);
    expect(shape.member('a')).toEqual({ allOf: [A, B] });
    expect(shape.member('c')).toBe(A);
  });
});

describe('the alternatives of an object', () => {
  const a = { required: ['a'], properties: { a: A } };
  const b = { required: ['b'], properties: { b: B } };
  const has = (schema: Json, value: unknown) => {
    const { member } = shapeOf(schema, value);
    return ['a', 'b', 'c'].filter((name) => member(name) !== undefined).join('');
  };

  test.each<[string, string, Json, unknown]>([
    ['a', 'the one that matches', { oneOf: [a, b] }, { a: 1 }],
    ['b', 'the one that matches', { anyOf: [a, b] }, { b: 1 }],
    ['ab', 'all that match', { anyOf: [a, b] }, { a: 1, b: 1 }],
    ['ab', 'all if none matches', { anyOf: [a, b] }, {}],
    ['a', 'the only one with the right type', { anyOf: [a, { type: 'array' }] }, {}],
    ['ab', 'those without a type', { anyOf: [a, b, { type: 'string' }] }, { c: 1 }],
    [
      'abc',
      'those beside the properties of the schema',
      { properties: { c: A }, anyOf: [a, b] },
      {},
    ],
    ['a', 'a nested one', { anyOf: [{ oneOf: [a, b], required: ['a'] }, b] }, { a: 1 }],
    ['a', 'then', when({ required: ['a'] }, a, b), { a: 1 }],
    ['b', 'else', when({ required: ['a'] }, a, b), {}],
    ['ab', 'if and then', when(a, b, {}), { a: 1 }],
    ['a', 'then of an `if: true`', when(true, a, b), {}],
    ['b', 'else of an `if: false`', when(false, a, b), {}],
    ['a', 'a dependent schema', { properties: { a: A }, dependentSchemas: { b } }, { a: 1 }],
    ['ab', 'a dependent schema', { properties: { a: A }, dependentSchemas: { b } }, { b: 1 }],
  ])('are %s: %s', (names, _title, schema, value) => {
    expect(has(schema, value)).toBe(names);
  });

  test.each([
    ['x', 'a'],
    ['y', 'b'],
    ['z', 'b'],
    [undefined, 'b'],
  ])('are selected by a tag: %s selects %s', (kind, names) => {
    const tag = { name: 'kind', values: [['x'], 'others'] };
    expect(has({ oneOf: [a, b], 'x-tag': tag }, { kind, a: 1, b: 1 })).toBe(names);
  });

  test('are none if no tag matches', () => {
    const tag = { name: 'kind', values: [['x'], ['y']] };
    const schema = { oneOf: [a, b], 'x-tag': tag, properties: { kind: A } };
    expect(has(schema, { kind: 'z', a: 1 })).toBe('');
    expect(has(schema, { kind: 'y', a: 1 })).toBe('b');
  });

  test('are found in references', () => {
    const $defs = { Union: { oneOf: [{ $ref: '#/$defs/A' }, b] }, A: a };
    const { member } = shapeOf({ $ref: '#/$defs/Union' }, { a: 1 }, 'response', $defs);
    expect([member('a'), member('b')]).toEqual([A, undefined]);
  });

  test('are ignored for other values', () => {
    expect(shapeOf({ anyOf: [a, b] }, 'text').member('a')).toBe(true);
  });

  test('do not depend on an earlier value', () => {
    const shapes = createShapes(schemas.lower({}, 'response'), 'response', matches);
    const schema = { oneOf: [a, b] };
    expect(shapes(schema, { a: 1 }).member('a')).toBe(A);
    expect(shapes(schema, { b: 1 }).member('a')).toBeUndefined();
  });
});

describe('shapes are created once', () => {
  const a = { required: ['a'], properties: { a: A } };
  const b = { required: ['b'], properties: { b: B } };
  const shapes = () => createShapes(schemas.lower({}, 'request'), 'request', matches);

  test('for each combination of alternatives', () => {
    const shape = shapes();
    const schema = { anyOf: [a, b] };
    const both = shape(schema, { a: 1, b: 1 });
    expect(shape(schema, { b: 2, a: 2 })).toBe(both);
    expect(shape(schema, { a: 1 })).not.toBe(both);
    expect(shape(schema, { a: 1 })).toBe(shape(schema, { a: 2 }));
  });

  test('for members of several schemas', () => {
    const shape = shapes();
    const schema = { patternProperties: { '^a': A, b$: B } };
    const { member } = shape(schema, {});
    expect(member('ab')).toEqual({ allOf: [A, B] });
    expect(member('a-b')).toBe(member('ab'));
    expect(member('a')).toBe(A);
  });

  test('and forgotten if there are many combinations', () => {
    const shape = shapes();
    const names = Array.from({ length: 11 }, (_, index) => `m${index}`);
    const schema = {
      anyOf: names.map((name) => ({ required: [name], properties: { [name]: A } })),
    };
    const valueFor = (combination: number) =>
      Object.fromEntries(
        names.filter((_, bit) => combination & (1 << bit)).map((name) => [name, 1]),
      );
    const first = shape(schema, valueFor(1));
    for (let combination = 1; combination < 1_000; combination += 1)
      shape(schema, valueFor(combination));
    expect(shape(schema, valueFor(1))).toBe(first);
    for (let combination = 1_000; combination < 2 ** 11; combination += 1)
      shape(schema, valueFor(combination));
    const created = shape(schema, valueFor(1));
    expect(created).not.toBe(first);
    expect(['m0', 'm1'].map(created.member)).toEqual(['m0', 'm1'].map(first.member));
  });
});

describe('an item', () => {
  test.each<[string, Json, unknown[]]>([
    ['of a list', { items: A }, [A, A, A]],
    ['of a tuple', { prefixItems: [A, B], items: true }, [A, B, true]],
    ['of a tuple with a rest', { prefixItems: [A], items: B }, [A, B, B]],
    ['of a closed tuple', { prefixItems: [A], items: false }, [A, false, false]],
    ['that is unevaluated', { prefixItems: [A], unevaluatedItems: B }, [A, B, B]],
    ['without a schema', { type: 'array' }, [true, true, true]],
    [
      'of two tuples',
      { prefixItems: [A], allOf: [{ prefixItems: [B, B, B] }] },
      [{ allOf: [A, B] }, B, B],
    ],
  ])('%s has a schema by its index', (_title, schema, items) => {
    const { item } = shapeOf(schema, []);
    expect([item(0), item(1), item(2)]).toEqual(items);
  });

  test('is that of the alternative for arrays', () => {
    const schema = { anyOf: [{ type: 'object' }, { type: 'array', items: A }] };
    expect(shapeOf(schema, []).item(0)).toBe(A);
  });
});

describe('defaults', () => {
  const schema = {
    properties: { a: { default: 1 }, b: A, c: { default: null }, d: true },
    allOf: [{ properties: { b: { default: 'x' } } }],
  };

  test('are those of the properties of a request', () => {
    const { defaults } = shapeOf(schema, {}, 'request');
    expect(Object.fromEntries(defaults)).toEqual({ a: 1, b: 'x', c: null });
  });

  test('are not added to replies', () => {
    expect(shapeOf(schema, {}).defaults).toEqual([]);
  });
});

test.each(
  withText<Json, [boolean]>([
    [{ type: 'number' }, true],
    [{ type: ['number', 'null'] }, true],
    [{ type: 'number', allOf: [{ minimum: 1 }] }, true],
    [{ type: 'integer' }, false],
    [{ type: ['integer', 'number'] }, false],
    [{ anyOf: [{ type: 'number' }, { type: 'integer' }] }, false],
    [{ type: 'number', format: 'int64' }, false],
    [{ type: 'number', maximum: 2n ** 60n }, false],
    [{}, false],
  ]),
)('isDouble of %s is %s in a request', (_text, isDouble, schema) => {
  expect(shapeOf(schema, 1n, 'request').isDouble).toBe(isDouble);
  expect(shapeOf(schema, 1n, 'response').isDouble).toBe(false);
});

test.each<[Json, boolean]>([
  [{ format: 'date' }, true],
  [{ allOf: [{ format: 'date' }] }, true],
  [{ anyOf: [{ format: 'date' }, { type: 'null' }] }, true],
  [{ anyOf: [{ format: 'date' }, { format: 'date-time' }] }, false],
  [{ format: 'date-time' }, false],
])('isDay of %j is %s', (schema, isDay) => {
  expect(shapeOf(schema, '2024-02-29').isDay).toBe(isDay);
});
