import { describe, expect, test } from '@jest/globals';
import type { Json } from 'openapi-document';
import { costOf, repeatsOf } from '../../../src/core/validation/cost.ts';

const costWith = (schema: object, $defs: object = {}) => costOf({ ...schema }, { ...$defs });

test('a schema without keywords has the least cost', () => {
  const least = {
    degree: 1,
    hasAlternatives: false,
    changesValues: false,
    matched: [],
    unions: 0,
    branches: 1,
    isRecursive: false,
  };
  expect(costWith({})).toEqual({ ...least, schemas: 1 });
  expect(costOf(true, {})).toEqual({ ...least, schemas: 0 });
});

describe('the number of schemas', () => {
  test.each<[number, object]>([
    [2, { items: {} }],
    [2, { items: { type: 'string' } }],
    [4, { type: 'object', required: ['a', 'b', 'c'] }],
    [4, { properties: { a: {}, b: {} } }],
    [3, { anyOf: [{}, {}] }],
    [6, { allOf: [{ required: ['a'] }, { items: { items: {} } }] }],
    [1, { enum: [{ a: {} }], const: { a: {} }, default: { a: {} }, example: {}, examples: [{}] }],
  ])('is %i for %j', (schemas, schema) => {
    expect(costWith(schema).schemas).toBe(schemas);
  });

  test('includes each referenced definition once', () => {
    const $defs = { Tree: { properties: { left: { $ref: '#/$defs/Tree' } } }, Other: {} };
    const tree = { $ref: '#/$defs/Tree' };
    expect(costWith(tree, $defs).schemas).toBe(4);
    expect(costWith({ anyOf: [tree, tree] }, $defs).schemas).toBe(6);
  });
});

describe('the degree', () => {
  test.each<[number, object]>([
    [1, { type: 'string' }],
    [1, { pattern: '^a*$' }],
    [2, { pattern: 'a*$' }],
    [3, { pattern: '^a*b*c*$' }],
    [64, { pattern: '^(a+)+$' }],
    [3, { patternProperties: { '^a*b*c*$': true } }],
    [3, { properties: { a: { items: { pattern: '^a*b*c*$' } } } }],
    [3, { anyOf: [{ pattern: '^a*b*c*$' }, { pattern: 'a' }] }],
    [2, { format: 'uri' }],
    [1, { format: 'int32' }],
    [1, { format: 'int64' }],
    [1, { format: 'float' }],
    [1, { format: 'double' }],
    [3, { format: 'uri', pattern: '^a*b*c*$' }],
    [1, { enum: ['x'], default: { pattern: '^a*b*c*$' } }],
    [1, { pattern: 5 }],
  ])('is %i for %j', (degree, schema) => {
    expect(costWith(schema).degree).toBe(degree);
  });

  test('includes referenced definitions', () => {
    const $defs = { 'A/B': { pattern: '^a*b*$' } };
    expect(costWith({ items: { $ref: '#/$defs/A~1B' } }, $defs).degree).toBe(2);
  });
});

test.each<[boolean, object]>([
  [true, { anyOf: [] }],
  [true, { oneOf: [] }],
  [true, { if: true }],
  [true, { not: {} }],
  [true, { items: { oneOf: [] } }],
  [false, { allOf: [{}], items: {} }],
])('hasAlternatives is %s for %j', (hasAlternatives, schema) => {
  expect(costWith(schema).hasAlternatives).toBe(hasAlternatives);
});

describe('alternatives for one object or array', () => {
  const [a, b] = [{ type: 'object', title: 'a' }, { title: 'b' }];
  const text = { type: 'string' };
  const tag = { 'x-tag': { name: 'a', values: [['x'], ['y']] } };

  test.each<[string, object, { unions: number; branches: number; matched: unknown[] }]>([
    ['are those of a union', { anyOf: [a, b] }, { unions: 1, branches: 2, matched: [a, b] }],
    [
      'are not those of other types',
      { oneOf: [a, text, { type: 'array' }] },
      { unions: 0, branches: 1, matched: [] },
    ],
    [
      'exclude those that a tag selects',
      { oneOf: [a, b], ...tag },
      { unions: 0, branches: 1, matched: [] },
    ],
    [
      'are a condition and its branch',
      { if: a, else: b },
      { unions: 1, branches: 2, matched: [a, b] },
    ],
    [
      'are counted inside one another',
      { anyOf: [{ ...a, properties: { x: { oneOf: [a, a, a] } } }, text], items: { if: a } },
      { unions: 2, branches: 3, matched: [a, a, a, a] },
    ],
  ])('%s', (_title, schema, expected) => {
    const { unions, branches, matched } = costWith(schema);
    expect({ unions, branches, matched: matched.toSorted() }).toEqual({
      ...expected,
      matched: expected.matched.toSorted(),
    });
  });

  test.each<[boolean, Json]>([
    [false, { A: { items: { $ref: '#/$defs/B' } }, B: {} }],
    [true, { A: { items: { $ref: '#/$defs/A' } } }],
    [
      true,
      { A: { items: { $ref: '#/$defs/B' } }, B: { properties: { a: { $ref: '#/$defs/A' } } } },
    ],
    [true, { A: { $ref: '#/$defs/B' }, B: { $ref: '#/$defs/C' }, C: { $ref: '#/$defs/B' } }],
    [
      false,
      { A: { $ref: '#/$defs/B' }, B: { $ref: '#/$defs/C' }, C: {}, D: { $ref: '#/$defs/D' } },
    ],
  ])('may repeat at each level: %s for %j', (isRecursive, $defs) => {
    expect(costWith({ anyOf: [{ $ref: '#/$defs/A' }] }, $defs).isRecursive).toBe(isRecursive);
  });

  test.each([
    [1, {}, 9],
    [3, { anyOf: [b, b, b] }, 9],
    [1, { anyOf: [b, b, b] }, 0],
    [4, { anyOf: [b, { items: { anyOf: [b, b] } }] }, 9],
    [512, { anyOf: [b, { $ref: '#/$defs/A' }] }, 9],
  ])('validate a value up to %i times: %j at depth %i', (repeats, schema, depth) => {
    const cost = costWith(schema, { A: { items: { $ref: '#/$defs/A' } } });
    expect(repeatsOf(cost, depth)).toBe(repeats);
  });
});

test.each<[boolean, object]>([
  [true, { default: null }],
  [true, { default: undefined }],
  [true, { 'x-dropped': ['id'] }],
  [true, { items: { properties: { a: { default: 1 } } } }],
  [false, { properties: { a: {} }, const: { default: 1 } }],
])('changesValues is %s for %j', (changesValues, schema) => {
  expect(costWith(schema).changesValues).toBe(changesValues);
});
