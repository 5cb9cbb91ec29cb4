import { describe, expect, test } from '@jest/globals';
import { withText } from 'test-support/titles';
import { misfitOf } from '../../src/checks/fits.ts';
import { bodiesOf, valuesOf } from '../../src/samples/sample-values.ts';
import { createSchemas } from '../../src/schema/schemas.ts';
import { documentOf, only } from '../support/operations.ts';

const integer = { type: 'integer' };
const plant = {
  type: 'object',
  required: ['name'],
  properties: {
    id: { ...integer, readOnly: true },
    key: { type: 'string', writeOnly: true },
    name: { type: 'string', example: 'Fern' },
    size: { ...integer, default: 5, minimum: 1 },
    tags: { type: 'array', items: { type: 'string' } },
  },
};
const root = {
  components: {
    schemas: {
      Tree: {
        type: 'object',
        required: ['value'],
        properties: { value: integer, next: { $ref: '#/components/schemas/Tree' } },
      },
      List: {
        type: 'object',
        required: ['next'],
        properties: { next: { anyOf: [{ $ref: '#/components/schemas/List' }, { type: 'null' }] } },
      },
      'a b{': { const: 'x' },
    },
  },
};
const samples = (schema: unknown) => [...valuesOf(root, schema, 'request')];

test('the first value has all members, with examples and defaults', () => {
  const members = { name: 'Fern', size: 5, tags: [expect.any(String)] };
  const [request] = valuesOf(root, { ...plant }, 'request');
  expect(request).toEqual({ ...members, key: expect.any(String) });
  const [response] = valuesOf(root, { ...plant }, 'response');
  expect(response).toEqual({ ...members, id: expect.any(Number) });
});

test('the second value has the required members only', () => {
  const [, second] = samples(plant);
  expect(second).toEqual({ name: expect.any(String) });
});

test('each call yields the same list of different values', () => {
  const values = samples(plant);
  expect(samples(plant)).toEqual(values);
  expect(values).toHaveLength(20);
  expect(new Set(values.map((value) => JSON.stringify(value))).size).toBeGreaterThan(10);
});

test.each(
  withText<Readonly<Record<string, unknown>>, []>([
    [plant],
    [{ $ref: '#/components/schemas/List' }],
    [{ type: 'array', minItems: 1, items: { $ref: '#/components/schemas/a%20b%7B' } }],
    [{ type: 'array', minItems: 2_000, items: { const: 1 } }],
    [{ type: 'integer', minimum: 2n ** 60n, maximum: 2n ** 60n + 4_096n }],
    [{ type: 'integer', exclusiveMinimum: 2n ** 53n, multipleOf: 2n }],
    [{ const: 2n ** 60n }],
    [{ type: 'string', format: 'url' }],
    [{ type: 'string', format: 'iso-time' }],
    [{ type: 'string', format: 'iso-date-time' }],
    [{ type: 'object', required: ['format'], properties: { format: { const: 'url' } } }],
    [{ const: { format: 'url', $ref: '%41', minItems: 5_000, minimum: 1n } }],
  ]),
)('the first value of %s is valid', (_text, schema) => {
  const [first] = valuesOf(root, schema, 'request');
  expect(misfitOf(createSchemas(root), schema, first)).toBeUndefined();
});

test('most values of recursive schemas are valid', () => {
  for (const name of ['Tree', 'List']) {
    const schema = { $ref: `#/components/schemas/${name}` };
    const values = samples(schema).filter(
      (value) => misfitOf(createSchemas(root), schema, value) === undefined,
    );
    expect(values.length).toBeGreaterThan(10);
  }
});

test.each([true, false, undefined])('the sample of the schema %p is an empty object', (schema) => {
  expect(samples(schema)).toEqual([{}]);
});

test('an unrealistic minItems is ignored', () => {
  const lengths = samples({ type: 'array', minItems: 2_001, items: integer }).map(
    (value) => Object(value).length,
  );
  expect(Math.max(...lengths)).toBeLessThan(100);
});

test('only two large values are generated', () => {
  const row = { type: 'array', minItems: 110, items: { const: 1 } };
  expect(samples({ type: 'array', minItems: 1_000, items: row })).toHaveLength(2);
});

describe('the bodies of a response', () => {
  const bodies = async (type: string, schema: object) => {
    const responses = { 200: { description: '', content: { [type]: { schema } } } };
    const document = await documentOf({ '/a': { get: { responses } } });
    const [media] = only(document.operations).responses.flatMap((response) => response.media);
    if (media === undefined) throw new Error('the response has no body');
    return [...bodiesOf(document.root, type, media)];
  };
  const list = { type: 'array', minItems: 2, maxItems: 2, items: { const: 1 } };

  test.each<[type: string, schema: object, body: unknown]>([
    ['application/json; charset=utf-8', { const: { a: 1 } }, { a: 1 }],
    ['text/plain', { const: 'a' }, 'a'],
    ['application/jsonl', { const: { a: 1 } }, '{"a":1}\n'],
    ['application/json-seq', list, '\x1e1\n\x1e1\n'],
    ['application/xml; a=b', { const: 'a' }, 'a mock of application/xml'],
    ['text/csv', list, 'a mock of text/csv'],
  ])('%s are serialized if their format is known', async (type, schema, body) => {
    expect(await bodies(type, schema)).toContainEqual(body);
  });
});
