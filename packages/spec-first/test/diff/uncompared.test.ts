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

/** Lists the texts of changes, without their common end, and their pointers. */
async function textsOf(before: object, after: object) {
  const changes = await changesBetween(before, after);
  return changes.map(({ text, pointer }) => [
    text.replace(', which may break clients', ''),
    pointer,
  ]);
}

test.each<[before: object[], after: object[], texts: string[]]>([
  [[{ url: '/v2' }], [{ url: '/v3' }], ['the base path /v2 has changed to /v3']],
  [[], [{ url: '/v1' }], ['the base path / has changed to /v1']],
  [[{ url: '/a' }, { url: '/b' }], [{ url: '/a' }], ['the base path /b has changed to /a']],
  [[{ url: '/a' }], [{ url: '/b' }, { url: '/c' }], ['the base path /a has changed to /b or /c']],
  [[{ url: '/a' }], [{ url: '/b' }, { url: '/a/' }], []],
  [[{ url: 'https://one.test/v2' }], [{ url: 'http://two.test:80/v2' }], []],
])('between the servers %j and %j, reports %j', async (before, after, texts) => {
  expect(await textsOf({ servers: before }, { servers: after })).toEqual(
    texts.map((text) => [text, '/servers']),
  );
});

const apiKey = { type: 'apiKey', in: 'header', name: 'X-Key' };
const bearer = { type: 'http', scheme: 'bearer' };

test.each<[before: object, after: object, texts: string[]]>([
  [apiKey, { ...apiKey, name: 'X-Token' }, ['name of K has changed from X-Key to X-Token']],
  [apiKey, { ...apiKey, in: 'query' }, ['in of K has changed from header to query']],
  [bearer, { ...bearer, scheme: 'basic' }, ['scheme of K has changed from bearer to basic']],
  [bearer, { ...bearer, scheme: 'Bearer', bearerFormat: 'JWT' }, []],
  [apiKey, { ...apiKey, name: 'x-key' }, []],
  // oasdiff reports the type.
  [apiKey, bearer, []],
])('between the security schemes %j and %j, reports %j', async (before, after, texts) => {
  const version = (scheme: object) => ({ components: { securitySchemes: { K: scheme } } });
  expect(await textsOf(version(before), version(after))).toEqual(
    texts.map((text) => [
      `${text.replace('of', 'of the security scheme')}`,
      `/components/securitySchemes/K/${text.split(' ')[0]}`,
    ]),
  );
});

const list = { type: 'array', items: { type: 'string' } };
const object = { type: 'object', additionalProperties: { type: 'string' } };
const inQuery = { name: 'p', in: 'query', schema: list };
const inPath = { name: 'p', in: 'path', required: true, schema: list };

test.each<[before: object, after: object, text?: string]>([
  [inQuery, { ...inQuery, explode: false }, 'p=a&p=b to p=a,b'],
  [inQuery, { ...inQuery, style: 'spaceDelimited' }, 'p=a&p=b to p=a%20b'],
  [
    { ...inQuery, schema: object },
    { ...inQuery, schema: object, style: 'deepObject' },
    'a=b to p%5Ba%5D=b',
  ],
  [inPath, { ...inPath, style: 'label' }, 'a,b to .a,b'],
  [{ ...inPath, schema: object }, { ...inPath, schema: object, explode: true }, 'a,b to a=b'],
  [{ ...inPath, schema: {} }, { ...inPath, schema: {}, style: 'matrix' }, 'a to ;p=a'],
  [inQuery, { ...inQuery, style: 'form', explode: true }],
  [
    { ...inQuery, schema: {} },
    { ...inQuery, schema: {}, explode: false },
  ],
  [inQuery, { ...inQuery, schema: { type: 'string' }, explode: false }],
])('compares how the parameters %j and %j are sent', async (before, after, ...[text]) => {
  const version = (parameter: object) => ({
    paths: { '/{p}': { get: { parameters: [parameter], responses: {} } } },
  });
  const changes = await changesBetween(version(before), version(after));
  expect(changes).toEqual(
    text === undefined
      ? []
      : [
          expect.objectContaining({
            text: `the parameter p has changed from ${text} (style or explode), which may break clients`,
            pointer: '/paths/~1{p}/get/parameters/0',
          }),
        ],
  );
});

test.each<[before: object, after: object, keywords: string[]]>([
  [{ enum: ['a', 'b'] }, { enum: ['b'] }, ['enum']],
  [{}, { enum: ['a'] }, ['enum']],
  [{ enum: ['a'] }, { enum: ['b', 'a'] }, []],
  [{ enum: ['a'] }, {}, []],
  [{ pattern: 'a' }, { pattern: 'b', maxLength: 5 }, ['pattern', 'maxLength']],
  [{ $ref: '#/components/schemas/Old' }, { $ref: '#/components/schemas/New' }, ['minimum']],
  [{ title: 'a', maxLength: 5 }, { title: 'b', maxLength: 5 }, []],
  // oasdiff reports the type.
  [{ type: 'string' }, { type: 'integer' }, []],
])('between the items %j and %j of a parameter, reports %j', async (before, after, keywords) => {
  const version = (items: object) => ({
    paths: { '/a': { get: { parameters: [{ ...inQuery, schema: { type: 'array', items } }] } } },
    components: { schemas: { Old: { minimum: 1 }, New: { minimum: 2 } } },
  });
  expect(await textsOf(version(before), version(after))).toEqual(
    keywords.map((keyword) => [
      `${keyword} of the items of the parameter p has changed`,
      '/paths/~1a/get/parameters/0',
    ]),
  );
});

test.each<[before: object, after: object, keywords: string[]]>([
  [{ type: 'integer' }, { type: 'string', maxLength: 5 }, ['type', 'maxLength']],
  [{ enum: ['a'] }, { enum: ['a', 'b'] }, ['enum']],
  [{ enum: ['a'] }, {}, ['enum']],
  [{ enum: ['a', 'b'] }, { enum: ['b'] }, []],
  [{ description: 'a' }, { description: 'b' }, []],
])('between the schemas %j and %j of a header, reports %j', async (before, after, keywords) => {
  const version = (schema: object) => ({
    paths: {
      '/a': { get: { responses: { 200: { description: '', headers: { 'X-A': { schema } } } } } },
    },
  });
  expect(await textsOf(version(before), version(after))).toEqual(
    keywords.map((keyword) => [
      `${keyword} of the response header x-a has changed`,
      '/paths/~1a/get/responses/200/headers/X-A',
    ]),
  );
});

test.each<[kind: string, members: (parameter: object) => object]>([
  ['the path item', (parameter) => ({ paths: { '/a': { parameters: [parameter], get: {} } } })],
  [
    'a component',
    (parameter) => ({
      paths: { '/a': { get: { parameters: [{ $ref: '#/components/parameters/P' }] } } },
      components: { parameters: { P: parameter } },
    }),
  ],
])('a change of a parameter of %s names the operation', async (_kind, members) => {
  const after = members({ ...inQuery, explode: false });
  expect(await changesBetween(members(inQuery), after)).toMatchObject([
    { id: 'not-compared-by-oasdiff', level: 2, operation: 'GET', path: '/a' },
  ]);
});

const formOf = (properties: object, encoding?: object) => ({
  'multipart/form-data': { schema: { type: 'object', properties }, encoding },
});
const files = { f: { type: 'string', format: 'binary' } };
const typed = (contentType: string) => formOf(files, { f: { contentType } });
const limited = (limit?: unknown, type = 'application/json', schema: object = {}) => ({
  [type]: { schema, 'x-body-limit': limit },
});

test.each<[before: object, after: object, text?: string, pointer?: string]>([
  [
    typed('image/png, image/jpeg'),
    typed('image/png'),
    'the contentType of the part f has changed from image/png, image/jpeg to image/png',
    'multipart~1form-data/encoding/f/contentType',
  ],
  [
    typed('image/*'),
    typed('image/png'),
    'the contentType of the part f has changed from image/* to image/png',
    'multipart~1form-data/encoding/f/contentType',
  ],
  [
    formOf(files),
    typed('image/png'),
    'the contentType of the part f has changed from */* to image/png',
    'multipart~1form-data/encoding/f/contentType',
  ],
  [typed('image/png'), typed('image/jpeg,IMAGE/PNG')],
  [typed('image/png'), typed('image/*')],
  [typed('image/png'), formOf(files)],
  // No client sends a new part.
  [formOf({}), typed('image/png')],
  [
    limited('1mb'),
    limited('10kb'),
    'x-body-limit has changed from 1mb to 10kb',
    'application~1json/x-body-limit',
  ],
  [
    limited(),
    limited(500),
    'x-body-limit has changed from 100kb (the default of BODY_LIMIT) to 500',
    'application~1json/x-body-limit',
  ],
  [
    limited('1mb'),
    limited(),
    'x-body-limit has changed from 1mb to 100kb (the default of BODY_LIMIT)',
    'application~1json/x-body-limit',
  ],
  [limited('1mb'), limited('1024kb')],
  [limited('1mb'), limited('2mb')],
  [limited(), limited('1mb')],
  [limited('none'), limited('1mb')],
  [limited('1mb'), limited('none')],
  // oasdiff reports `maxLength`.
  [
    limited(undefined, 'image/a', { maxLength: 9 }),
    limited(undefined, 'image/a', { maxLength: 8 }),
  ],
])(
  'between the request bodies %j and %j, reports %j',
  async (before, after, ...[text, pointer]) => {
    const version = (content: object) => ({
      paths: { '/a': { post: { requestBody: { content }, responses: {} } } },
    });
    expect(await textsOf(version(before), version(after))).toEqual(
      text === undefined ? [] : [[text, `/paths/~1a/post/requestBody/content/${pointer}`]],
    );
  },
);

test('operations are compared with those of the same method and URL', async () => {
  const version = (path: string, method: string, explode: boolean) => ({
    paths: { [path]: { [method]: { parameters: [{ ...inQuery, explode }], responses: {} } } },
  });
  const before = version('/a/{x}', 'get', true);
  expect(await changesBetween(before, version('/a/{y}', 'get', false))).toHaveLength(1);
  expect(await changesBetween(before, version('/a/{x}', 'put', false))).toEqual([]);
  expect(await changesBetween(before, version('/b/{x}', 'get', false))).toEqual([]);
});
