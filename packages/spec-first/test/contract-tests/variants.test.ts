import { describe, expect, test } from '@jest/globals';
import { createSchemas } from 'openapi-document';
import { valuesOf } from 'openapi-document/samples';
import {
  describeKind,
  variantsOf,
  withoutRoundingErrors,
} from '../../src/contract-tests/variants.ts';

const variants = (schema: unknown, value: unknown, root = {}) => {
  const schemas = createSchemas(root);
  const sampleOf = (source: unknown) => [...valuesOf(schemas, source, 'request').take(1)];
  return [...variantsOf(sampleOf, schemas.outline(schema), value)];
};
const values = (schema: unknown, value: unknown) =>
  variants(schema, value).map((variant) => variant.value);
const edgeCases = (schema: unknown, value: unknown) =>
  variants(schema, value)
    .filter(({ place, isEdgeCase }) => place === '' && isEdgeCase)
    .map((variant) => variant.value);

const changes = (schema: unknown, value: unknown) =>
  variants(schema, value).map(({ place, newValue }) => [place, newValue]);

describe('variants', () => {
  test.each([
    [7, [null, true, '', 'text', [], {}]],
    [9007199254740993n, [null, true, '', 'text', [], {}]],
    ['a', [null, true, '', 1.5, [], {}]],
    [false, [null, '', 'text', 1.5, [], {}, true]],
    [null, [true, '', 'text', 1.5, [], {}]],
    [['a'], [null, true, '', 'text', 1.5, {}]],
    [{ a: 1 }, [null, true, '', 'text', 1.5, []]],
  ])('of %p begin with a value of each other type', (value, expected) => {
    expect(values({}, value).slice(0, expected.length)).toEqual(expected);
  });

  test.each([
    ['integer', { minimum: 1, maximum: 10 }, 5, [1, 10], [0, 2, 9, 11, 5.5]],
    ['exclusive', { exclusiveMinimum: 1, exclusiveMaximum: 10 }, 5, [1, 10], [0, 2, 9, 11]],
    ['bigint', { maximum: 2n ** 60n }, 5, [2n ** 60n], [2n ** 60n - 1n, 2n ** 60n + 1n]],
    ['decimal', { minimum: 0.1, multipleOf: 0.05 }, 0.5, [0.1], [0.05, 0.15, 0.525, 0.6, 5, 50]],
    ['listed', { enum: [3, 4], default: 88, examples: [77, 99] }, 3, [3, 4], [77, 88, 99]],
    ['const', { const: 3, example: 77 }, 3, [3], [77]],
    ['bounds that are not numbers', { minimum: '1', exclusiveMinimum: true }, 3, [], [2]],
  ])('of a number are at and beside its bounds: %s', (_name, schema, value, place, beside) => {
    expect(edgeCases(schema, value)).toEqual(place);
    expect(values(schema, value)).toEqual(expect.arrayContaining(beside));
  });

  test('of a number are small, large, negative and not integers', () => {
    const common = [-1, 0, 1, 12, 100, 1_000, 2 ** 31, Number.MAX_SAFE_INTEGER, 0.1, -1.5, 1e-7];
    expect(values({}, 40)).toEqual(expect.arrayContaining([...common, 40.5]));
    const multiples = values({ multipleOf: 5 }, 40);
    expect(multiples).toEqual(expect.arrayContaining([500, 5_000, 42.5]));
    const small = [-5, 0, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60];
    expect(multiples.filter((value) => Math.abs(Number(value)) < 100)).toEqual(
      expect.arrayContaining(small),
    );
    expect(multiples).not.toContain(65);
  });

  test.each([
    ['int32', [2147483647, -2147483648, 2147483648, -2147483649]],
    [
      'int64',
      [9223372036854775807n, 9007199254740993n, -9223372036854775808n, 2 ** 63, -(2 ** 63) - 2048],
    ],
  ])('of a number contain the limits of its format: %s', (format, limits) => {
    expect(edgeCases({ format }, 5)).toEqual(limits);
    expect(edgeCases({ format }, 2n ** 60n)).toEqual(limits);
  });

  test('of a text have the lengths at and beside its bounds', () => {
    const schema = { minLength: 3, maxLength: 6 };
    const unusual = ` Ä漢🌵e\u0301'"\\<b>&%\r\n `;
    expect(edgeCases(schema, 'abcd')).toEqual([
      'xxx',
      'xxxxxx',
      '🌵'.repeat(6),
      'ä'.repeat(6),
      unusual,
    ]);
    const others = ['xx', 'xxxx', 'xxxxx', 'xxxxxxx', 'abcd-other', 'text', 'ABCD', '', "'", '%00'];
    expect(values(schema, 'abcd')).toEqual(expect.arrayContaining(others));
    expect(values({ enum: ['a', 'b'] }, 'a')).toContain('b');
    expect(values({ example: 'elm' }, 'fir')).toContain('elm');
  });

  test.each([
    [{ minLength: 0, maxLength: 5_000 }, [0, 5_000, 300, 300]],
    [{ minLength: -1, maxLength: 5_001 }, [300, 300]],
    [{ maxLength: 2n ** 60n }, [300, 300]],
  ])('of a text have at most 5,000 characters, or 300 beyond ASCII: %p', (schema, lengths) => {
    const texts = edgeCases(schema, 'a').slice(0, -1).map(String);
    expect(texts.map((text) => [...text].length)).toEqual(lengths);
  });

  test.each([
    'date-time',
    'date',
    'time',
    'duration',
    'email',
    'hostname',
    'ipv4',
    'ipv6',
    'uri',
    'uri-reference',
    'url',
    'uuid',
  ])('of a text in the format %s are valid and invalid', (format) => {
    const schema = createSchemas({}).at({ type: 'string', format }, 'sent');
    const texts = values({ format }, 'a').filter((value) => typeof value === 'string');
    expect(new Set(texts.map((text) => schema.isValid(text)))).toEqual(new Set([true, false]));
  });

  test('of a boolean and of null are the opposite and the listed values', () => {
    expect(values({ default: null }, true).slice(-2)).toEqual([null, false]);
    expect(values({}, null)).toEqual([true, '', 'text', 1.5, [], {}]);
    expect(edgeCases({ enum: [null, true] }, null)).toEqual([null, true]);
  });

  test('of a list have the lengths at and beside its bounds', () => {
    const lengths = (lists: readonly unknown[]) => lists.map((list) => Object(list).length);
    const schema = { minItems: 2, maxItems: 5 };
    expect(lengths(edgeCases(schema, ['a', 'b']))).toEqual([2, 5]);
    const others = variants(schema, ['a', 'b', 'c']).filter(
      ({ place, isEdgeCase, value }) => place === '' && !isEdgeCase && Array.isArray(value),
    );
    expect(lengths(others.map(({ value }) => value))).toEqual([0, 1, 4, 3, 6, 2]);
    expect(edgeCases({ minItems: 3 }, ['a', 'b'])).toContainEqual(['a', 'b', 'a']);
    expect(edgeCases({ minItems: 3 }, [])).toStrictEqual([[], []]);
    expect(lengths(edgeCases({ minItems: -1, maxItems: 5_001 }, ['a']))).toEqual([2]);
  });

  test('of a list with unique items have different items', () => {
    const items = { enum: ['a', 'b', 'c'] };
    const schema = { minItems: 1, maxItems: 3, uniqueItems: true, items };
    expect(edgeCases(schema, ['b'])).toEqual([['b', 'a'], ['b'], ['b', 'a', 'c']]);
    expect(edgeCases({ ...schema, uniqueItems: false }, ['b'])).toContainEqual(['b', 'b']);
    expect(edgeCases(schema, [])).toStrictEqual([[], [], []]);
    const numbers = { uniqueItems: true, items: { $ref: '#/a' } };
    const root = { a: { type: 'integer', minimum: 3, maximum: 9 } };
    const lists = variants(numbers, [{}, 3], root).filter(({ isEdgeCase }) => isEdgeCase);
    expect(lists.map(({ value }) => value)).toContainEqual([{}, 3]);
    const [pair] = variants(numbers, [5], root).filter(({ isEdgeCase }) => isEdgeCase);
    expect(pair?.value).toEqual([5, 3]);
  });

  test('of a list change its first or its second item, with the place /0 for both', () => {
    const schema = { items: { enum: ['a', 'b', 'c', 'd'] } };
    const lists = variants(schema, ['a', 'b', 'c']).filter(({ newValue }) => newValue === 'd');
    expect(lists).toEqual([
      { place: '/0', newValue: 'd', value: ['d', 'b', 'c'], isEdgeCase: true },
      { place: '/0', newValue: 'd', value: ['a', 'd', 'c'], isEdgeCase: true },
    ]);
  });

  test('of an object remove, add and change members at each level', () => {
    const schema = { properties: { a: { properties: { b: { maximum: 3 } } } } };
    const value = { a: { b: 1 }, c: 'text' };
    const objects = variants(schema, value);
    expect(objects).toContainEqual({ place: '/c', newValue: undefined, value: { a: { b: 1 } } });
    expect(objects).toContainEqual({
      place: '/undeclaredMember',
      newValue: 'text',
      value: { ...value, undeclaredMember: 'text' },
    });
    expect(objects).toContainEqual({
      place: '/a/b',
      newValue: 3,
      isEdgeCase: true,
      value: { a: { b: 3 }, c: 'text' },
    });
    expect(changes(schema, value)).toContainEqual(['/a/undeclaredMember', 'text']);
    expect(changes(schema, value)).toContainEqual(['/a/b', undefined]);
  });

  test('of an object contain a sample of each alternative', () => {
    const cat = { type: 'object', required: ['cat'], properties: { cat: { const: 1 } } };
    const dog = { type: 'object', required: ['dog'], properties: { dog: { const: 2 } } };
    const root = { components: { schemas: { Dog: dog } } };
    const schema = { oneOf: [cat, { $ref: '#/components/schemas/Dog' }] };
    const samples = variants(schema, { cat: 1 }, root).slice(6, 8);
    expect(samples).toEqual([
      { place: '', newValue: { cat: 1 }, value: { cat: 1 }, isEdgeCase: true },
      { place: '', newValue: { dog: 2 }, value: { dog: 2 }, isEdgeCase: true },
    ]);
    expect(edgeCases({ anyOf: [true, dog] }, { cat: 1 })).toEqual([{ dog: 2 }]);
  });
});

test.each([
  [0.05 * 17, 0.85],
  [0.1 + 0.2, 0.3],
  [1 / 3, 0.333333333333],
  [2 ** 60, 2 ** 60],
  [2n ** 60n, 2n ** 60n],
  ['a', 'a'],
])('%p without rounding errors is %p', (value, expected) => {
  expect(withoutRoundingErrors(value)).toBe(expected);
});

test.each([
  [undefined, 'a missing value'],
  [null, 'null'],
  ['', 'an empty string'],
  ['a', 'a string'],
  [[], 'an array'],
  [{}, 'an object'],
  [-1, 'a negative number'],
  [0, 'a number'],
  [-(2n ** 60n), 'a negative number'],
  [2n ** 60n, 'a number'],
  [true, 'a boolean'],
])('%p is described as %s', (value, kind) => {
  expect(describeKind(value)).toBe(kind);
});
