import { describe, expect, test } from '@jest/globals';
import { costOf } from '../../../src/core/validation/cost.ts';

const costWith = (schema: object, $defs: object = {}) => costOf({ ...schema }, { ...$defs });

test('a schema without keywords has the least cost', () => {
  const least = { degree: 1, hasAlternatives: false, changesValues: false };
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

test.each<[boolean, object]>([
  [true, { default: null }],
  [true, { default: undefined }],
  [true, { 'x-dropped': ['id'] }],
  [true, { items: { properties: { a: { default: 1 } } } }],
  [false, { properties: { a: {} }, const: { default: 1 } }],
])('changesValues is %s for %j', (changesValues, schema) => {
  expect(costWith(schema).changesValues).toBe(changesValues);
});
