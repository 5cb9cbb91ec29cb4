import { expect, test } from '@jest/globals';
import { uncompared } from '../../src/diff/uncompared.ts';
import { withDocument } from '../folder.ts';

const changesBetween = (before: object, after: object) =>
  withDocument(before, (former) => withDocument(after, (current) => uncompared(former, current)));

async function placesOf(before: unknown, after: unknown) {
  const members = (schema: unknown) => ({ components: { schemas: { A: schema } } });
  const changes = await changesBetween(members(before), members(after));
  return changes.map(({ text, pointer = '' }) => {
    const keyword = text.replace(' has changed, which may break clients', '');
    return `${pointer.replace('/components/schemas/A', '')}/${keyword}`.slice(1);
  });
}

test('a change has a level, a text and the place of its schema', async () => {
  const paths = (schema: object) => ({
    '/a': { get: { responses: { 200: { description: '', content: { 'text/a': { schema } } } } } },
  });
  expect(
    await changesBetween({ paths: paths({}) }, { paths: paths({ uniqueItems: true }) }),
  ).toEqual([
    {
      id: 'not-compared-by-oasdiff',
      level: 2,
      text: 'uniqueItems has changed, which may break clients',
      pointer: '/paths/~1a/get/responses/200/content/text~1a/schema',
    },
  ]);
});

test.each<[limit: string, value: unknown]>([
  ['multipleOf', 2],
  ['uniqueItems', true],
  ['maxItems', 5],
  ['minProperties', 1],
  ['maxProperties', 5],
  ['not', { const: 'a' }],
  ['prefixItems', [{ type: 'string' }]],
  ['unevaluatedItems', false],
  ['unevaluatedProperties', false],
  ['additionalProperties', false],
])('reports an added and a removed %s', async (limit, value) => {
  const limited = { [limit]: value };
  expect(await placesOf({}, limited)).toEqual([limit]);
  expect(await placesOf(limited, {})).toEqual([limit]);
  expect(await placesOf(limited, limited)).toEqual([]);
});

test.each<[before: unknown, after: unknown, places: string[]]>([
  [{ multipleOf: 2 }, { multipleOf: 3 }, ['multipleOf']],
  [{ prefixItems: [{ type: 'string' }] }, { prefixItems: [{ type: 'null' }] }, ['prefixItems']],
  [
    { multipleOf: JSON.rawJSON('9007199254740993') },
    { multipleOf: JSON.rawJSON('9007199254740995') },
    ['multipleOf'],
  ],
  [{ maxItems: 5, multipleOf: 2 }, { maxItems: 6, multipleOf: 3 }, ['multipleOf', 'maxItems']],
  [{ not: { subtitle: 'A' } }, { not: { subtitle: 'B' } }, ['not']],
  [{ type: 'string', maxLength: 5 }, { type: 'integer', maxLength: 6 }, []],
  [{ uniqueItems: false }, {}, []],
  [{ additionalProperties: true }, { additionalProperties: {} }, []],
  [{ not: { title: 'A' } }, { not: { description: 'B', 'x-c': 1, example: 2, examples: [] } }, []],
])('between %j and %j, reports changes of %j', async (before, after, places) => {
  expect(await placesOf(before, after)).toEqual(places);
});

test.each<[place: string, schema: (part: object) => object]>([
  ['items', (part) => ({ items: part })],
  ['additionalProperties', (part) => ({ additionalProperties: part })],
  ['properties/a', (part) => ({ properties: { a: part, b: {} } })],
  ['oneOf/1', (part) => ({ oneOf: [{}, part] })],
  ['anyOf/0', (part) => ({ anyOf: [part, {}] })],
  ['properties/a/items', (part) => ({ properties: { a: { items: part } } })],
  ['allOf/1', (part) => ({ allOf: [{}, part] })],
])('a change inside a schema is at %s', async (place, schema) => {
  expect(await placesOf(schema({}), schema({ uniqueItems: true }))).toEqual([
    `${place}/uniqueItems`,
  ]);
});

test('the schema of an added or removed property is not compared', async () => {
  const [part, whole] = [{ properties: {} }, { properties: { a: { maxItems: 1 } } }];
  expect(await placesOf(part, whole)).toEqual([]);
  expect(await placesOf(whole, part)).toEqual([]);
});

test('a schema that contains itself is compared once', async () => {
  const list = { items: { $ref: '#/components/schemas/A' } };
  expect(await placesOf(list, { ...list, uniqueItems: true })).toEqual(['uniqueItems']);
});

test('a parameter is compared with that of the same name', async () => {
  const parameter = (name: string, where: string, schema: object) => ({ name, in: where, schema });
  const version = (...parameters: object[]) => ({
    paths: { '/a': { get: { parameters, responses: {} } } },
  });
  const [limited, other] = [parameter('p', 'query', { maxItems: 5 }), { maxItems: 6 }];
  const before = version(limited, parameter('q', 'query', {}));
  expect(await changesBetween(before, version(parameter('p', 'header', {}), limited))).toEqual([]);
  const after = version(parameter('q', 'query', {}), parameter('p', 'query', other));
  expect(await changesBetween(before, after)).toMatchObject([
    { pointer: '/paths/~1a/get/parameters/1/schema' },
  ]);
});
