import { describe, expect, test } from '@jest/globals';
import { withText } from 'test-support/titles';
import { Codecs } from '../../src/codecs/codecs.ts';
import { bodiesOf, valuesOf } from '../../src/samples/sample-values.ts';
import { Schemas } from '../../src/schema/schemas.ts';
import { documentOf, only } from '../support/operations.ts';

const integer = { type: 'integer' };
const text = { type: 'string' };
const plant = {
  type: 'object',
  required: ['name'],
  properties: {
    id: { ...integer, readOnly: true },
    key: { type: 'string', writeOnly: true },
    name: { type: 'string', example: 'Fern' },
    size: { ...integer, default: 5, minimum: 1 },
    tags: { type: 'array', items: text },
  },
};
const component = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const kind = { type: 'object', required: ['kind'], properties: { kind: text } };
const numbers = Array.from({ length: 30 }, (_, index) => index);
const linked = numbers.map((index) => {
  const links = numbers
    .slice(0, 8)
    .map((step) => [`p${step}`, component(`S${(index + step) % 30}`)]);
  return [`S${index}`, { type: 'object', properties: Object.fromEntries(links) }];
});
const root = {
  components: {
    schemas: {
      Tree: {
        type: 'object',
        required: ['value', 'children'],
        properties: { value: integer, children: { type: 'array', items: component('Tree') } },
      },
      List: {
        type: 'object',
        required: ['next'],
        properties: { next: { anyOf: [component('List'), { type: 'null' }] } },
      },
      Endless: { type: 'object', required: ['next'], properties: { next: component('Endless') } },
      'a b{': { const: 'x' },
      Base: {
        ...kind,
        discriminator: { propertyName: 'kind', mapping: { cow: '#/components/schemas/Cow' } },
      },
      Cow: { allOf: [component('Base'), { required: ['milk'], properties: { milk: integer } }] },
      Cat: { ...kind, properties: { kind: text, lives: integer } },
      Dog: { ...kind, properties: { kind: text, bark: text } },
      ...Object.fromEntries(linked),
    },
  },
};
const schemas = new Schemas(root, { formats: { iban: (value) => value === 'DE1' } });
const samples = (schema: unknown) => [...valuesOf(schemas, schema, 'request')];

test('the first value has all members of its direction, with examples and defaults', () => {
  const members = { name: 'Fern', size: 5, tags: ['text'] };
  const [request] = valuesOf(schemas, { ...plant }, 'request');
  expect(request).toEqual({ ...members, key: 'text' });
  const [response] = valuesOf(schemas, { ...plant }, 'response');
  expect(response).toEqual({ ...members, id: 1 });
});

test('an example of the schema loses the members of the other direction', () => {
  const schema = { ...plant, example: { id: 1, key: 'k', name: 'Fern', size: 2 } };
  const [response] = valuesOf(schemas, schema, 'response');
  expect(response).toEqual({ id: 1, name: 'Fern', size: 2 });
});

test('the second value has the required members only', () => {
  const [, second] = samples(plant);
  expect(second).toEqual({ name: 'Fern' });
});

test('each call yields the same list of different values', () => {
  const values = samples(plant);
  expect(samples(plant)).toEqual(values);
  expect(new Set(values.map((value) => JSON.stringify(value))).size).toBe(20);
});

describe('the first value of a schema', () => {
  const a = { type: 'object', properties: { a: text }, required: ['a'] };
  const ab = { type: 'object', properties: { a: text, b: integer }, required: ['a'] };
  const named = (...names: string[]) => ({ properties: { name: { enum: names } } });

  test.each(
    withText<unknown, [value: unknown]>([
      [true, {}],
      // Recursion
      [component('Tree'), { value: 1, children: [{ value: 1, children: [] }] }],
      [component('List'), { next: { next: null } }],
      [{ anyOf: [component('Endless'), { const: 1 }] }, 1],
      [component('S29'), expect.objectContaining({ p0: expect.anything() })],
      // Unions, conditions and discriminators
      [{ oneOf: [a, ab] }, { a: 'text', b: null }],
      [
        { oneOf: [a, ab, { ...a, properties: { a: text, c: text } }] },
        { a: 'text', b: null, c: null },
      ],
      [{ oneOf: [named('a', 'b'), named('b', 'c'), named('b', 'd')] }, { name: 'a' }],
      [{ oneOf: [{ type: 'number' }, integer] }, 1.5],
      [
        {
          oneOf: [
            { ...integer, multipleOf: 3 },
            { ...integer, not: { const: 6 } },
          ],
        },
        6,
      ],
      [
        { properties: { a: text, b: text }, oneOf: [{ required: ['a'] }, { required: ['b'] }] },
        { a: 'text' },
      ],
      [
        { oneOf: [component('Cat'), component('Dog')], discriminator: { propertyName: 'kind' } },
        { kind: 'Cat', lives: 1 },
      ],
      [component('Base'), { kind: 'cow', milk: 1 }],
      [
        {
          properties: { a: { const: 1 }, b: integer },
          if: { required: ['a'] },
          // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
          then: { properties: { b: { minimum: 9 } } },
        },
        { a: 1, b: 9 },
      ],
      [
        { ...ab, dependentSchemas: { a: { required: ['c'] } } },
        { a: 'text', b: 1, c: {} },
      ],
      // Objects
      [
        { ...ab, minProperties: 3, additionalProperties: integer },
        { a: 'text', b: 1, key: 1 },
      ],
      [
        { patternProperties: { '^x-[a-z]$': integer }, minProperties: 2 },
        { 'x-a': 1, 'x-c': 1 },
      ],
      [{ additionalProperties: integer, propertyNames: { minLength: 5 } }, { texta: 1 }],
      [{ type: 'object', required: ['__proto__'] }, JSON.parse('{"__proto__":{}}')],
      // Arrays
      [{ type: 'array', minItems: 2, items: component('a%20b%7B') }, ['x', 'x']],
      [
        {
          type: 'array',
          uniqueItems: true,
          minItems: 3,
          items: { ...integer, maximum: 2, minimum: 0 },
        },
        [1, 2, 0],
      ],
      [{ type: 'array', contains: { const: 7 }, items: integer, minItems: 2 }, [7, 2]],
      // Texts
      [{ type: 'string', pattern: '^[A-Z]{3}-[0-9]{4}$' }, 'AAA-0000'],
      [{ type: 'string', pattern: String.raw`^[\p{L}\p{N} ]{3}$` }, 'aaa'],
      [
        { type: 'string', pattern: '^(?=.*[A-Z])(?=.*[0-9]).{8,}$' },
        expect.stringMatching(/^\w{8,}$/),
      ],
      [{ type: 'string', pattern: '(ä|ö)+', minLength: 3 }, expect.stringMatching(/^[äö]{3}$/)],
      [{ type: 'string', not: { enum: ['text'] } }, 'Aa1!Aa1!Aa1!'],
      [{ type: 'string', format: 'iban', examples: ['DE2', 'DE1'] }, 'DE1'],
      // Numbers
      [{ type: 'number', multipleOf: 0.01, minimum: 111848.175 }, 111848.18],
      [{ type: 'number', minimum: 0.05, exclusiveMaximum: 0.3, multipleOf: 0.1 }, 0.1],
      [{ allOf: [{ type: 'integer', multipleOf: 4 }, { multipleOf: 6 }] }, 12],
      [{ type: 'integer', exclusiveMinimum: 2n ** 53n, multipleOf: 2n }, 2n ** 53n + 2n],
    ]),
  )('%s', (_text, value, schema) => {
    const [first] = samples(schema);
    expect(first).toEqual(value);
  });
});

test('standard formats have different texts', () => {
  const formats = `date time date-time iso-time iso-date-time duration uri uri-reference uri-template
    url email hostname ipv4 ipv6 regex uuid json-pointer json-pointer-uri-fragment
    relative-json-pointer byte`;
  const counts = formats
    .split(/\s+/)
    .map((format) => [format, samples({ type: 'string', format }).length > 5]);
  expect(counts.filter(([, hasSeveral]) => !hasSeveral)).toEqual([]);
});

test.each(
  withText<unknown, []>([
    [false],
    [{ type: 'integer', minimum: 3, maximum: 2 }],
    [component('Endless')],
    [{ type: 'array', minItems: 10 ** 9, items: integer }],
    [{ type: 'array', minItems: 1_000, items: { type: 'array', minItems: 1_000, items: {} } }],
  ]),
)('no value of %s is generated', (_text, schema) => {
  expect(samples(schema)).toEqual([]);
});

describe('the bodies of a response', () => {
  const bodies = async (type: string, schema: object) => {
    const responses = { 200: { description: '', content: { [type]: { schema } } } };
    const document = await documentOf({ '/a': { get: { responses } } });
    const [media] = only(document.operations).responses.flatMap((response) => response.media);
    if (media === undefined) throw new Error('the response has no body');
    return [...bodiesOf(new Schemas(document.root), new Codecs(), type, media)];
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
