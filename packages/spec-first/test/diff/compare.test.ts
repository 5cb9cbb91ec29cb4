import { expect, test } from '@jest/globals';
import { documentWith } from 'test-support/document-of';
import { differencesBetween } from '../../src/diff/compare.ts';

const ok = { 200: { description: '' } };
const json = (schema: unknown) => ({ content: { 'application/json': { schema } } });
const list = (items: object) => ({ type: 'array', items });
const get = (operation: object, others: object = {}) => ({
  paths: { '/a': { get: { responses: ok, ...operation } } },
  ...others,
});
/** A schema in requests, in responses, or in both. */
const sent = (schema: unknown) => ({
  paths: { '/a': { post: { requestBody: json(schema), responses: ok } } },
});
const received = (schema: unknown) =>
  get({ responses: { 200: { description: '', ...json(schema) } } });
const shared = (schema: unknown, schemas: object = {}) => {
  const body = json({ $ref: '#/components/schemas/Plant' });
  const operation = { requestBody: body, responses: { 200: { description: '', ...body } } };
  const paths = { '/a': { put: operation, post: operation }, '/b': { post: operation } };
  return { paths, components: { schemas: { Plant: schema, ...schemas } } };
};
const query = (parameter: object) =>
  get({ parameters: [{ name: 'q', in: 'query', ...parameter }] });
const secured = (security: unknown, scheme: object = {}, own?: unknown) => ({
  ...get(own === undefined ? {} : { security: own }),
  ...(security !== undefined && { security }),
  components: {
    securitySchemes: {
      key: { type: 'apiKey', in: 'header', name: 'X-Key', ...scheme },
      login: { type: 'oauth2', flows: {} },
    },
  },
});
const properties = (members: object, required: string[] = []) => ({
  type: 'object',
  properties: members,
  required,
});
const string = { type: 'string' };
const integer = { type: 'integer' };
const Cat = properties({ kind: { const: 'cat' } }, ['kind']);
const Dog = properties({ kind: { const: 'dog' } }, ['kind']);
const pets = (names: string[], discriminator?: object) =>
  shared(
    { oneOf: names.map((name) => ({ $ref: `#/components/schemas/${name}` })), discriminator },
    { Cat, Dog },
  );
const base = (mapping: object, cat: object) =>
  shared(
    { ...properties({ kind: string }, ['kind']), discriminator: { propertyName: 'kind', mapping } },
    { Cat: { allOf: [{ $ref: '#/components/schemas/Plant' }, cat] } },
  );
const [CAT, DOG] = ['Cat', 'Dog'].map((name) => `#/components/schemas/${name}`);
const multipart = (encoding?: object) => ({
  paths: {
    '/a': {
      post: {
        requestBody: {
          content: {
            'multipart/form-data': { schema: properties({ f: { type: 'string' } }), encoding },
          },
        },
        responses: ok,
      },
    },
  },
});
const limited = (limit?: string) => ({
  paths: {
    '/a': {
      post: {
        requestBody: { content: { 'application/json': { 'x-body-limit': limit, schema: {} } } },
        responses: ok,
      },
    },
  },
});

const CASES: readonly (readonly [
  what: string,
  before: object,
  after: object,
  ...lines: string[],
])[] = [
  ['nothing', shared(properties({ tag: string })), shared(properties({ tag: string }))],
  [
    'annotations',
    shared({ title: 'a', description: 'b' }),
    shared({ title: 'c', 'x-a': 1, example: 2 }),
  ],
  [
    'one cause in six messages',
    shared(properties({ tag: string })),
    shared(properties({ tag: integer })),
    'error Plant.tag: type changed from string to integer (3)',
  ],
  [
    'a limit of both directions',
    shared({ type: 'integer' }),
    shared({ type: 'integer', multipleOf: 2 }),
    'error Plant: multipleOf (2) was added (3)',
  ],
  [
    'a stricter request',
    sent({ maxLength: 6 }),
    sent({ maxLength: 5 }),
    'error POST /a requestBody application/json: maxLength changed from 6 to 5',
  ],

  [
    'a stricter response',
    received({ minimum: 5 }),
    received({ minimum: 6 }),
    'info GET /a 200 application/json: minimum changed from 5 to 6',
  ],
  [
    'a refactoring into allOf',
    shared(properties({ a: string, b: string }, ['a'])),
    shared({ allOf: [properties({ a: string }), { properties: { b: string }, required: ['a'] }] }),
  ],

  [
    'nullable that becomes anyOf',
    shared({ type: ['string', 'null'] }),
    shared({ anyOf: [string, { type: 'null' }] }),
  ],

  [
    'a property that is required in an allOf',
    shared({ allOf: [properties({ a: string })] }),
    shared({ allOf: [properties({ a: string }), { required: ['a'] }] }),
    'error Plant: property a changed from optional to required (3)',
  ],

  [
    'new properties',
    sent(properties({})),
    sent(properties({ a: string, b: string }, ['b'])),
    'error POST /a requestBody application/json: property b (required) was added',
    'info POST /a requestBody application/json: property a was added',
  ],

  [
    'values of an enum',
    shared({ enum: ['a', 'b'] }),
    shared({ enum: ['b', 'c'] }),
    'error Plant: value a was removed (3)',
    'warning Plant: value c was added (3)',
  ],

  [
    'a schema that contains itself',
    shared(properties({ next: { $ref: '#/components/schemas/Plant' } })),
    shared({ ...properties({ next: { $ref: '#/components/schemas/Plant' } }), minProperties: 1 }),
    'error Plant: minProperties (1) was added (3)',
  ],
  [
    'keywords beside a reference',
    shared({ $ref: '#/components/schemas/Cat' }, { Cat }),
    shared({ $ref: '#/components/schemas/Cat', minProperties: 2 }, { Cat }),
    'error Plant: minProperties (2) was added (3)',
  ],
  [
    'closed objects',
    sent(properties({})),
    sent({ ...properties({}), additionalProperties: false }),
    'error POST /a requestBody application/json: additionalProperties (false) was added',
  ],

  [
    'a property that no value may have any more',
    sent(properties({ a: true })),
    sent(properties({ a: false })),
    'error POST /a requestBody application/json.a: type (nothing) was added',
  ],
  [
    'prefixItems and not',
    shared({ prefixItems: [string], not: { const: 1 } }),
    shared({ prefixItems: [integer], not: { const: 2 } }),
    'error Plant 0: type changed from string to integer (3)',
    'error Plant not: value 1 was removed (3)',
    'warning Plant not: value 2 was added (3)',
  ],
  [
    '64-bit integers',
    shared({ maximum: JSON.rawJSON('9007199254740993') }),
    shared({ maximum: JSON.rawJSON('9007199254740995') }),
    'error Plant: maximum changed from 9007199254740993 to 9007199254740995 (3)',
  ],
  [
    'an alternative of a oneOf',
    pets(['Cat', 'Dog']),
    pets(['Cat']),
    'error Plant: alternative Dog was removed (3)',
  ],
  [
    'a discriminator',
    pets(['Cat', 'Dog'], { propertyName: 'kind', mapping: { cat: CAT, dog: DOG } }),
    pets(['Cat', 'Dog'], { propertyName: 'kind', mapping: { cat: DOG, dog: DOG } }),
    'error Plant: discriminator value cat: Cat was removed (3)',
    'warning Plant: discriminator value cat: Dog was added (3)',
  ],
  [
    'a schema that extends a base',
    base({ cat: CAT }, properties({})),
    base({ cat: CAT }, properties({ a: string }, ['a'])),
    'error Cat: property a (required) was added (3)',
  ],

  [
    'a parameter',
    query({ required: false }),
    get({}),
    'warning GET /a: parameter query q was removed',
  ],
  [
    'a parameter that becomes required',
    query({ schema: string }),
    query({ schema: string, required: true }),
    'error GET /a: parameter query q changed from optional to required',
  ],

  [
    'explode',
    query({ schema: list(string) }),
    query({ schema: list(string), explode: false }),
    'error GET /a query q: serialization changed from q=a&q=b to q=a,b',
  ],

  [
    'names of path parameters',
    {
      paths: {
        '/a/{x}': {
          get: { parameters: [{ name: 'x', in: 'path', required: true, schema: string }] },
        },
      },
    },
    {
      paths: {
        '/a/{y}': {
          get: { parameters: [{ name: 'y', in: 'path', required: true, schema: string }] },
        },
      },
    },
  ],

  [
    'a response',
    get({ responses: { ...ok, 404: { description: '' } } }),
    get({}),
    'info GET /a: response 404 was removed',
  ],

  [
    'the form of a header',
    get({ responses: { 200: { description: '', headers: { A: { schema: {} } } } } }),
    get({ responses: { 200: { description: '', headers: { A: { explode: true, schema: {} } } } } }),
    'error GET /a 200 a: explode (true) was added',
  ],
  [
    'encodings',
    multipart({ f: { contentType: 'image/png' } }),
    multipart({ f: { contentType: 'image/gif' } }),
    'error POST /a requestBody multipart/form-data: encoding f changed from {"contentType":"image/png"} to {"contentType":"image/gif"}',
  ],
  [
    'the limit of a body',
    limited('2mb'),
    limited('1mb'),
    'warning POST /a requestBody application/json: x-body-limit changed from 2mb to 1mb',
  ],

  [
    'base paths',
    get({}, { servers: [{ url: 'https://a.test/v1' }] }),
    get({}, { servers: [{ url: 'https://b.test/v2' }] }),
    'error base path /v1 was removed (1)',
  ],

  [
    'base paths that operations get by themselves',
    get({ servers: [{ url: '/v1' }] }, { servers: [{ url: '/v2' }] }),
    get({}, { servers: [{ url: '/v1' }] }),
  ],
  [
    'hosts',
    get({}, { servers: [{ url: 'https://a.test/v1' }] }),
    get({}, { servers: [{ url: 'https://b.test/v1' }, { url: '/v2' }] }),
  ],
  [
    'where a key is sent',
    secured([{ key: [] }]),
    secured([{ key: [] }], { name: 'X-Token' }),
    'error security scheme key changed from apikey header x-key to apikey header x-token',
  ],

  ['new credentials', get({}), secured([{ key: [] }]), 'error credentials none was removed (1)'],

  [
    'an added scope',
    secured(undefined, {}, [{ login: ['a'] }]),
    secured(undefined, {}, [{ login: ['a', 'b'] }]),
    'error GET /a: credentials login a was removed',
  ],

  [
    'an operation',
    get({}),
    { paths: { '/a': { put: { responses: ok } } } },
    'error GET /a was removed',
    'info PUT /a was added',
  ],
  ['a deprecated operation', get({ deprecated: true }), { paths: {} }, 'info GET /a was removed'],
  [
    'an operation before its end',
    get({ deprecated: true, 'x-sunset': '2999-01-01' }),
    { paths: {} },
    'error GET /a was removed',
  ],
];

async function changesBetween(before: object, after: object) {
  return differencesBetween(await documentWith(before), await documentWith(after));
}

test.each(CASES)('compares %s', async (_, before, after, ...lines) => {
  const changes = await changesBetween(before, after);
  const texts = changes.map(({ level, text, operations: { length } }) =>
    length > 0 ? `${level} ${text} (${length})` : `${level} ${text}`,
  );
  expect(texts.toSorted()).toEqual(lines.toSorted());
});

/** The levels of a change in requests and in responses, and of the opposite change. */
const RATED: readonly (readonly [before: object, after: object, levels: string])[] = [
  [string, integer, 'error error, error error'],
  [string, {}, 'info error, error info'],
  [string, { type: ['string', 'null'] }, 'info error, error info'],
  [integer, { type: 'number' }, 'info error, error info'],
  [{ maxLength: 5 }, { maxLength: 6 }, 'info error, error info'],
  [{ minLength: 5 }, { minLength: 6 }, 'error info, info error'],
  [{}, { maximum: 6 }, 'error info, info error'],
  [{}, { multipleOf: 2 }, 'error info, info error'],
  [{ pattern: 'a' }, { pattern: 'b' }, 'error error, error error'],
  [string, { ...string, format: 'email' }, 'error info, info error'],
  [list({}), { ...list({}), uniqueItems: true }, 'error info, info error'],
  [properties({}), { ...properties({}), additionalProperties: false }, 'error info, info error'],
  [{ items: false }, { items: string }, 'info error, error info'],
  [{ enum: [1] }, { enum: [1, 2] }, 'info warning, error info'],
  [integer, { ...integer, enum: [1, 2] }, 'error info, info error'],
  [{ oneOf: [string] }, { oneOf: [string, integer] }, 'info error, error info'],
  [{}, { oneOf: [string, integer] }, 'error info, info error'],
  [{ prefixItems: [string] }, { prefixItems: [string, string] }, 'error info, info error'],
  [{}, { not: { const: 1 } }, 'error info, info error'],
  [{}, { dependentRequired: { a: ['b'] } }, 'error info, info error'],
  [properties({}), properties({ a: {} }), 'info info, warning warning'],
  [properties({}), properties({ a: {} }, ['a']), 'error info, warning error'],
  [properties({ a: {} }), properties({ a: {} }, ['a']), 'error info, info error'],
  [{ default: 1 }, { default: 2 }, 'warning info, warning info'],
  [{}, { default: 2 }, 'info info, warning info'],
  [{}, { readOnly: true }, 'warning info, info info'],
  [{}, { writeOnly: true }, 'info warning, info info'],
  [{}, { deprecated: true }, 'info info, info info'],
];

test.each(RATED)('rates a change from %j to %j: %s', async (before, after, levels) => {
  const levelsOf = async (one: object, other: object) => {
    const changes = await Promise.all(
      [sent, received].map((wrap) => changesBetween(wrap(one), wrap(other))),
    );
    return changes.flat().map(({ level }) => level);
  };
  const both = await Promise.all([levelsOf(before, after), levelsOf(after, before)]);
  expect(both.map((each) => each.join(' ')).join(', ')).toBe(levels);
});

test.each([
  ['a whole query that is a text', { content: { 'text/plain': { schema: list({}) } } }],
  ['a parameter that may be a text', { schema: { type: ['string', 'array'] }, explode: false }],
])('%s may have a list as its schema', async (_title, parameter) => {
  const where = 'content' in parameter ? 'querystring' : 'query';
  const documentOf = (required: boolean) =>
    documentWith({ openapi: '3.2.0', ...query({ in: where, required, ...parameter }) });
  const [before, after] = await Promise.all([documentOf(false), documentOf(true)]);
  expect(differencesBetween(before, after)).toHaveLength(1);
});
