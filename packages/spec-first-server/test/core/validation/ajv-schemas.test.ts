import { describe, expect, test } from '@jest/globals';
import { type Json, schemas } from 'openapi-document';
import {
  type ConversionOptions,
  createAjvSchemas,
} from '../../../src/core/validation/ajv-schemas.ts';

const defaults = {
  hasFormat: (name: string) => name === 'email',
  tracksItems: false,
  tracksMembers: false,
  drops: true,
};

interface Setting extends Partial<ConversionOptions> {
  readonly files?: boolean;
  readonly open?: boolean;
  readonly $defs?: Record<string, Json>;
}

function converted(
  schema: unknown,
  { files = false, open = false, $defs = {}, ...options }: Setting = {},
) {
  const lowered = { ...schemas.lower({}, 'request'), $defs };
  const { convert, definitions } = createAjvSchemas(lowered, { ...defaults, ...options });
  return { schema: convert(schema, { files, open }), definitions: Object.fromEntries(definitions) };
}

const when = (test: unknown, then: unknown, otherwise: unknown = true): Json => ({
  if: test,
  then,
  else: otherwise,
});

test.each<[unknown, unknown]>([
  [true, true],
  [false, false],
  [undefined, true],
  [null, true],
  [{}, {}],
  [{ title: 'a', description: 'b', example: 1, default: 1, 'x-internal': true }, {}],
  [
    { type: 'string', minLength: 1, maxLength: 2, pattern: 'a' },
    { type: 'string', minLength: 1, maxLength: 2, pattern: 'a' },
  ],
  [
    {
      type: 'array',
      items: false,
      prefixItems: [{ title: 'a' }],
      minItems: 1,
      maxItems: 2,
      uniqueItems: true,
    },
    {
      type: 'array',
      items: false,
      prefixItems: [{}],
      minItems: 1,
      maxItems: 2,
      distinctItems: true,
    },
  ],
  [
    { contains: { title: 'a' }, minContains: 1, maxContains: 2 },
    { contains: {}, minContains: 1, maxContains: 2 },
  ],
  [
    { required: ['a'], properties: { a: { title: 'a' } }, minProperties: 1, maxProperties: 2 },
    { required: ['a'], properties: { a: {} }, minProperties: 1, maxProperties: 2 },
  ],
  [
    {
      dependentRequired: { a: ['b'] },
      dependentSchemas: { a: { title: 'a' } },
      propertyNames: { title: 'a' },
    },
    { dependentRequired: { a: ['b'] }, dependentSchemas: { a: {} }, propertyNames: {} },
  ],
  [
    { allOf: [{ title: 'a' }], anyOf: [true], oneOf: [false], not: { title: 'a' } },
    { allOf: [{}], anyOf: [true], oneOf: [false], not: {} },
  ],
  [{ format: 'email' }, { format: 'email' }],
  [{ format: 'unknown' }, {}],
  [{ uniqueItems: false }, {}],
  [{ enum: [1, 'a'] }, { enumValues: [1, 'a'] }],
  [{ const: null }, { constValues: [null] }],
  [{ const: undefined }, { constValues: [undefined] }],
])('%j is converted to %j', (source, expected) => {
  expect(converted(source).schema).toEqual(expected);
});

describe('numbers', () => {
  test.each<[Json, Json]>([
    [{ type: 'integer' }, { type: ['integer'] }],
    [
      { type: ['integer', 'null'], minimum: 1 },
      { type: ['integer', 'null'], minimum: 1 },
    ],
    [
      { type: 'integer', format: 'int32' },
      { type: ['integer'], format: 'int32' },
    ],
    [
      { type: 'integer', format: 'int64' },
      { type: ['integer'], format: 'int64' },
    ],
    [
      { type: 'number', format: 'double' },
      { type: ['number'], format: undefined },
    ],
    [{ format: 'int64' }, { format: 'int64', type: undefined }],
    [{ multipleOf: 2 }, { multipleOf: 2, type: undefined, format: undefined }],
  ])('%j is converted to numeric %j', (source, numeric) => {
    const { schema } = converted(source, { hasFormat: () => false });
    expect(schema).toEqual({ numeric: expect.objectContaining(numeric) });
  });

  test('with another type have that type beside numeric', () => {
    expect(converted({ type: 'string', maximum: 5 }).schema).toMatchObject({
      type: 'string',
      numeric: { maximum: 5, type: undefined },
    });
  });
});

describe('a reference', () => {
  const $defs = {
    Tree: { properties: { left: { $ref: '#/$defs/Tree' } } },
    'A/B': { type: 'string', title: 'a' },
  };

  test('leads to a converted definition, which is created once', () => {
    const { schema, definitions } = converted(
      { allOf: [{ $ref: '#/$defs/Tree' }, { $ref: '#/$defs/A~1B' }, { $ref: '#/$defs/Tree' }] },
      { $defs },
    );
    const refs = [{ $ref: '#/$defs/S0' }, { $ref: '#/$defs/S1' }, { $ref: '#/$defs/S0' }];
    expect(schema).toEqual({ allOf: refs });
    expect(definitions).toEqual({
      '#/$defs/S0': { properties: { left: { $ref: '#/$defs/S0' } } },
      '#/$defs/S1': { type: 'string' },
    });
  });

  test('has another definition for files and for open objects', () => {
    const lowered = {
      ...schemas.lower({}, 'request'),
      $defs: { A: { type: 'string', additionalProperties: false } },
    };
    const { convert, definitions } = createAjvSchemas(lowered, defaults);
    const source = { $ref: '#/$defs/A' };
    const refOf = (files: boolean, open: boolean) => Object(convert(source, { files, open })).$ref;
    const [plain, withFiles, open] = [refOf(false, false), refOf(true, false), refOf(false, true)];
    expect(new Set([plain, withFiles, open]).size).toBe(3);
    expect(refOf(false, false)).toBe(plain);
    expect(definitions.get(plain)).toEqual({ type: 'string', additionalProperties: false });
    expect(definitions.get(withFiles)).toMatchObject({ if: { file: {} } });
    expect(definitions.get(open)).toEqual({ type: 'string' });
  });
});

test.each<[string, Json, Json]>([
  ['additionalProperties', { additionalProperties: false }, {}],
  ['unevaluatedProperties', { unevaluatedProperties: false }, {}],
])('%s: false is ignored for open objects only', (_keyword, source, open) => {
  const nested = { properties: { a: source } };
  expect(converted(nested, { open: true }).schema).toEqual({ properties: { a: open } });
  expect(converted(nested).schema).toEqual(nested);
  const constrained = { additionalProperties: { type: 'string' }, items: false };
  expect(converted(constrained, { open: true }).schema).toEqual(constrained);
});

test.each([true, false])(
  'members of the other direction are accepted only if drops is true: %s',
  (drops) => {
    const source = { properties: { a: {} }, 'x-dropped': ['id'], additionalProperties: false };
    expect(converted(source, { drops }).schema).toEqual({
      properties: { a: {}, id: drops },
      additionalProperties: false,
    });
    expect(converted({ 'x-dropped': ['id'] }, { drops }).schema).toEqual({
      properties: { id: drops },
    });
  },
);

describe('a tag', () => {
  const has = (values: unknown[]) => ({
    type: 'object',
    required: ['kind'],
    properties: { kind: { enum: values } },
  });
  const [a, b] = [{ minProperties: 1 }, { minProperties: 2 }];

  test.each(['oneOf', 'anyOf'])('selects one alternative of %s', (key) => {
    const source = {
      [key]: [a, b],
      allOf: [{}],
      'x-tag': { name: 'kind', values: [['x'], ['y', 'z']] },
    };
    const selected = [when(has(['x']), a), when(has(['y', 'z']), b)];
    const rule = { type: 'object', allOf: [...selected, has(['x', 'y', 'z'])] };
    expect(converted(source).schema).toEqual({ allOf: [{}, rule] });
  });

  test('may accept null', () => {
    const source = {
      oneOf: [a, { type: 'null' }],
      'x-tag': { name: 'kind', values: [['x'], 'null'] },
    };
    const rule = { type: 'object', allOf: [when(has(['x']), a), has(['x'])] };
    expect(converted(source).schema).toEqual({ allOf: [when({ type: 'null' }, true, rule)] });
  });

  test('may have an alternative for all other values', () => {
    const source = { oneOf: [b, a], 'x-tag': { name: 'kind', values: ['others', ['x']] } };
    const rule = { type: 'object', allOf: [when(has(['x']), a), when(has(['x']), true, b)] };
    expect(converted(source).schema).toEqual({ allOf: [rule] });
  });
});

describe('files', () => {
  test.each<[Json, unknown]>([
    [
      { type: 'string', maxLength: 5 },
      when(
        { file: {} },
        { file: { minLength: undefined, maxLength: 5 } },
        { type: 'string', maxLength: 5 },
      ),
    ],
    [
      { maxLength: 5 },
      when({ file: {} }, { file: { minLength: undefined, maxLength: 5 } }, { maxLength: 5 }),
    ],
    [
      { minLength: 5 },
      when({ file: {} }, { file: { minLength: 5, maxLength: undefined } }, { minLength: 5 }),
    ],
    [{ type: ['string', 'null'] }, when({ file: {} }, { file: {} }, { type: ['string', 'null'] })],
    [{ type: 'boolean' }, { type: 'boolean', file: false }],
    [{ type: ['array', 'null'] }, { type: ['array', 'null'], file: false }],
    [{ pattern: 'a' }, { pattern: 'a' }],
    [{}, {}],
  ])('%j accepts files as %j', (source, expected) => {
    expect(converted(source, { files: true }).schema).toEqual(expected);
    expect(JSON.stringify(converted(source).schema)).not.toContain('file');
  });

  test('may be in objects and lists', () => {
    const file = { type: 'string' };
    const { schema } = converted({ properties: { a: { items: file } } }, { files: true });
    expect(schema).toMatchObject({ properties: { a: { items: { if: { file: {} } } } } });
  });
});

describe('contains', () => {
  const contains = { type: 'string' };
  const hidden = { not: { not: { contains, minContains: undefined, maxContains: 2 } } };

  test('is hidden if a schema of the document has unevaluatedItems', () => {
    const source = { contains, maxContains: 2, allOf: [{}] };
    const { schema } = converted(source, { tracksItems: true });
    expect(schema).toMatchObject({ allOf: [{}, hidden] });
    expect(schema).not.toHaveProperty('contains');
    expect(converted({ minContains: 1 }, { tracksItems: true }).schema).toEqual({ minContains: 1 });
  });

  test('marks matching items as evaluated, also in an allOf', () => {
    const source = { unevaluatedItems: false, contains, allOf: [{ contains: { type: 'null' } }] };
    expect(converted(source, { tracksItems: true }).schema).toMatchObject({
      unevaluatedItems: { anyOf: [false, contains, { type: 'null' }] },
    });
    expect(converted({ unevaluatedItems: false }).schema).toEqual({
      unevaluatedItems: { anyOf: [false] },
    });
  });
});
