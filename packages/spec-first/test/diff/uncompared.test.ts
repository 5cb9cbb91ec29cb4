import { expect, test } from '@jest/globals';
import { uncompared } from '../../src/diff/uncompared.ts';
import { withDocument } from '../folder.ts';

/** A document whose operation receives and sends bodies of these schemas. */
function bodies(received: unknown, sent: unknown, components: object = {}) {
  const content = (schema: unknown) => ({ 'application/json': { schema } });
  const responses = { 200: { description: 'Done.', content: content(sent) } };
  const requestBody = { content: content(received) };
  const paths = { '/a': { post: { operationId: 'a', requestBody, responses } } };
  return { paths, components };
}

const changesBetween = (before: object, after: object) =>
  withDocument(before, (former) => withDocument(after, (current) => uncompared(former, current)));

/** Returns the places of changes between two schemas of requests and replies. */
async function placesOf(before: unknown, after: unknown, declared: readonly object[] = []) {
  const [schemas = {}, newSchemas = schemas] = declared;
  const changes = await changesBetween(
    bodies(before, before, { schemas }),
    bodies(after, after, { schemas: newSchemas }),
  );
  const placesIn = (direction: string) =>
    changes.flatMap(({ text }) =>
      text.includes(`in the ${direction}`) ? text.replace(/ has changed .*/, '') : [],
    );
  return { request: placesIn('request'), reply: placesIn('reply') };
}

test('a change has a level, an operation and a text', async () => {
  const unique = { type: 'array', uniqueItems: true };
  expect(await changesBetween(bodies({ type: 'array' }, {}), bodies(unique, {}))).toEqual([
    {
      id: 'not-compared-by-oasdiff',
      level: 2,
      operation: 'POST',
      path: '/a',
      text: 'uniqueItems has changed in the request, which may break clients',
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
])('a new %s may break requests, and one that is gone may break replies', async (limit, value) => {
  const limited = { [limit]: value };
  expect(await placesOf({}, limited)).toEqual({ request: [limit], reply: [] });
  expect(await placesOf(limited, {})).toEqual({ request: [], reply: [limit] });
  expect(await placesOf(limited, limited)).toEqual({ request: [], reply: [] });
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
])('between %j and %j, %j may break requests and replies', async (before, after, places) => {
  expect(await placesOf(before, after)).toEqual({ request: places, reply: places });
});

test('a schema that allows nothing any more may break requests', async () => {
  expect(await placesOf(true, false)).toEqual({ request: ['not'], reply: [] });
});

test.each<[place: string, schema: (part: object) => object]>([
  ['items/', (part) => ({ items: part })],
  ['additionalProperties/', (part) => ({ additionalProperties: part })],
  ['properties/a/', (part) => ({ properties: { a: part, b: {} } })],
  ['oneOf/1/', (part) => ({ oneOf: [{}, part] })],
  ['anyOf/0/', (part) => ({ anyOf: [part, {}] })],
  ['properties/a/items/', (part) => ({ properties: { a: { items: part } } })],
  ['', (part) => ({ allOf: [{}, part] })],
  [
    'properties/a/',
    (part) => ({ allOf: [{ properties: { a: part } }, { properties: { b: {} } }] }),
  ],
])('a change inside a schema is at %s', async (place, schema) => {
  const after = schema({ uniqueItems: true });
  expect(await placesOf(schema({}), after)).toEqual({
    request: [`${place}uniqueItems`],
    reply: [],
  });
});

test('a part that is new or gone has no changes', async () => {
  const [part, whole] = [{ properties: {} }, { properties: { a: { maxItems: 1 } } }];
  expect(await placesOf(part, whole)).toEqual({ request: [], reply: [] });
  expect(await placesOf(whole, part)).toEqual({ request: [], reply: [] });
});

test('the keywords of a schema precede those of its allOf', async () => {
  const allOf = [{ maxItems: 5 }];
  expect(await placesOf({ maxItems: 2, allOf }, { maxItems: 2 })).toEqual({
    request: [],
    reply: [],
  });
});

const $ref = '#/components/schemas/List';

test('references are followed in each version', async () => {
  const [before, after] = [{ List: { maxItems: 5 } }, { List: { maxItems: 4 } }];
  const changed = { request: ['maxItems'], reply: ['maxItems'] };
  expect(await placesOf({ $ref }, { $ref }, [before, after])).toEqual(changed);
  expect(await placesOf({ maxItems: 5 }, { $ref }, [before])).toEqual({ request: [], reply: [] });
});

test('a schema that contains itself is compared once', async () => {
  const list = (limit: object) => ({ List: { items: { $ref }, ...limit } });
  expect(await placesOf({ $ref }, { $ref }, [list({}), list({ uniqueItems: true })])).toEqual({
    request: ['uniqueItems', 'items/uniqueItems'],
    reply: [],
  });
});

test('schemas are compared with those of the same place in the operation', async () => {
  const unique = { type: 'array', uniqueItems: true };
  const list = { type: 'array' };
  const parameter = (name: string, schema: object, where = 'query') => ({
    name,
    in: where,
    schema,
  });
  const media = (type: string, schema: object) => ({ [type]: { schema } });
  const version = (schema: object, other: object) => ({
    paths: {
      '/a': {
        post: {
          operationId: 'a',
          parameters: [parameter('p', schema), parameter('p', other, 'header')],
          requestBody: {
            content: { ...media('application/json', other), ...media('text/json', schema) },
          },
          responses: {
            200: { description: 'Done.', content: media('application/json', other) },
            201: { description: 'Made.', content: media('application/json', schema) },
          },
        },
        put: { operationId: 'b', parameters: [parameter('p', other)], responses: {} },
      },
      '/b': { post: { operationId: 'c', parameters: [parameter('p', other)], responses: {} } },
    },
  });
  const changes = await changesBetween(version(list, list), version(unique, list));
  expect(changes.map(({ operation, path, text }) => `${operation} ${path} ${text}`)).toEqual([
    'POST /a uniqueItems has changed in the request, which may break clients',
    'POST /a uniqueItems has changed in the request, which may break clients',
  ]);
  const [change] = await changesBetween(version(unique, list), version(list, list));
  expect(change?.text).toContain('in the reply');
});
