import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { documentWith } from 'test-support/document-of';
import { type Difference, differencesBetween } from '../../src/diff/compare.ts';
import { findOasdiff, LEVELS, rate } from '../../src/diff/oasdiff.ts';

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
const header = (schema: object) =>
  get({ responses: { 200: { description: '', headers: { 'X-A': { schema } } } } });
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
    'a limit that oasdiff ignores',
    shared({ type: 'integer' }),
    shared({ type: 'integer', multipleOf: 2 }),
    'warning Plant: multipleOf (2) was added (3)',
  ],
  [
    'a stricter request',
    sent({ maxLength: 6 }),
    sent({ maxLength: 5 }),
    'error POST /a requestBody application/json: maxLength changed from 6 to 5',
  ],
  [
    'a laxer request',
    sent({ maxLength: 5 }),
    sent({ maxLength: 6 }),
    'info POST /a requestBody application/json: maxLength changed from 5 to 6',
  ],
  [
    'a stricter response, on which oasdiff is silent',
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
    'an inline schema that becomes a component',
    shared(properties({ a: list(Cat) })),
    shared(properties({ a: list({ $ref: CAT }) }), { Cat }),
  ],
  [
    'nullable that becomes anyOf',
    shared({ type: ['string', 'null'] }),
    shared({ anyOf: [string, { type: 'null' }] }),
  ],
  ['const that becomes enum', shared({ const: 'a' }), shared({ enum: ['a'] })],
  [
    'defaults that are written',
    shared({}),
    shared({ uniqueItems: false, minItems: 0, additionalProperties: true }),
  ],
  [
    'a property that is required in an allOf',
    shared({ allOf: [properties({ a: string })] }),
    shared({ allOf: [properties({ a: string }), { required: ['a'] }] }),
    'error Plant: property a changed from optional to required (3)',
  ],
  [
    'a tighter part of an allOf',
    shared({ allOf: [{ maxLength: 9 }, { maxLength: 8 }] }),
    shared({ allOf: [{ maxLength: 9 }, { maxLength: 7 }] }),
    'error Plant: maxLength changed from 8 to 7 (3)',
  ],
  [
    'new properties',
    sent(properties({})),
    sent(properties({ a: string, b: string }, ['b'])),
    'error POST /a requestBody application/json: property b (required) was added',
    'info POST /a requestBody application/json: property a was added',
  ],
  [
    'a removed property of a response',
    received(properties({ a: string }, ['a'])),
    received(properties({})),
    'error GET /a 200 application/json: property a (required) was removed',
  ],
  [
    'values of an enum',
    shared({ enum: ['a', 'b'] }),
    shared({ enum: ['b', 'c'] }),
    'error Plant: value a was removed (3)',
    'warning Plant: value c was added (3)',
  ],
  [
    'a new enum',
    sent({ type: 'string' }),
    sent({ type: 'string', enum: ['a', 'b'] }),
    'error POST /a requestBody application/json: enum (a, b) was added',
  ],
  [
    'a schema that contains itself',
    shared(properties({ next: { $ref: '#/components/schemas/Plant' } })),
    shared({ ...properties({ next: { $ref: '#/components/schemas/Plant' } }), minProperties: 1 }),
    'warning Plant: minProperties (1) was added (3)',
  ],
  [
    'closed objects',
    sent(properties({})),
    sent({ ...properties({}), additionalProperties: false }),
    'warning POST /a requestBody application/json: additionalProperties (false) was added',
  ],
  [
    'schemas of other members',
    shared({ additionalProperties: string }),
    shared({ additionalProperties: integer }),
    'error Plant additionalProperties: type changed from string to integer (3)',
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
    'invalid values',
    shared({ maxLength: '5', minimum: [] }),
    shared({ maxLength: '6', minimum: {} }),
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
    'items of parameters',
    query({ schema: list({ enum: ['a', 'b'] }) }),
    query({ schema: list({ enum: ['b'] }) }),
    'error GET /a query q items: value a was removed',
  ],
  [
    'explode',
    query({ schema: list(string) }),
    query({ schema: list(string), explode: false }),
    'warning GET /a query q: serialization changed from q=a&q=b to q=a,b',
  ],
  ['explode of a string', query({ schema: string }), query({ schema: string, explode: false })],
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
    'a shared parameter',
    {
      paths: {
        '/a': {
          get: { parameters: [{ $ref: '#/components/parameters/Q' }] },
          put: { parameters: [{ $ref: '#/components/parameters/Q' }] },
        },
      },
      components: { parameters: { Q: { name: 'q', in: 'query', schema: string } } },
    },
    {
      paths: {
        '/a': {
          get: { parameters: [{ $ref: '#/components/parameters/Q' }] },
          put: { parameters: [{ $ref: '#/components/parameters/Q' }] },
        },
      },
      components: { parameters: { Q: { name: 'q', in: 'query', schema: string, required: true } } },
    },
    'error Q: parameter query q changed from optional to required (1)',
    'error Q: parameter query q changed from optional to required (1)',
  ],
  [
    'headers of responses',
    header({ enum: ['a'] }),
    header({ enum: ['a', 'b'] }),
    'warning GET /a 200 x-a: value b was added',
  ],
  [
    'a response',
    get({ responses: { ...ok, 404: { description: '' } } }),
    get({}),
    'info GET /a: response 404 was removed',
  ],
  [
    'a media type',
    sent({}),
    { paths: { '/a': { post: { requestBody: { content: { 'text/csv': {} } }, responses: ok } } } },
    'error POST /a requestBody: media type application/json was removed',
    'info POST /a requestBody: media type text/csv was added',
  ],
  [
    'encodings',
    multipart({ f: { contentType: 'image/png' } }),
    multipart({ f: { contentType: 'image/gif' } }),
    'warning POST /a requestBody multipart/form-data: encoding f changed from {"contentType":"image/png"} to {"contentType":"image/gif"}',
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
    'warning base path /v1 was removed (1)',
  ],
  [
    'base paths of operations',
    get({}, { servers: [{ url: '/v1' }] }),
    get({ servers: [{ url: '/v2' }] }, { servers: [{ url: '/v1' }] }),
    'warning base path /v1 was removed (1)',
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
    'warning security scheme key changed from apikey header x-key to apikey header x-token',
  ],
  ['the case of a header', secured([{ key: [] }]), secured([{ key: [] }], { name: 'x-key' })],
  ['new credentials', get({}), secured([{ key: [] }]), 'warning credentials none was removed (1)'],
  [
    'a further choice of credentials',
    secured([{ key: [] }]),
    secured([{ key: [] }, { login: ['a'] }]),
  ],
  [
    'an added scope',
    secured(undefined, {}, [{ login: ['a'] }]),
    secured(undefined, {}, [{ login: ['a', 'b'] }]),
    'warning GET /a: credentials login a was removed',
  ],
  ['a removed scope', secured([{ login: ['a', 'b'] }]), secured([{ login: ['a'] }])],
  [
    'alternatives of one scheme',
    { ...secured([{ login: ['a'] }, { login: ['b'] }]), ...get({ summary: 'a' }) },
    { ...secured([{ login: ['b'] }, { login: ['a'] }]), ...get({ summary: 'b' }) },
  ],
  ['public operations', secured([{ key: [] }]), secured([])],

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
  [
    'an operation after its end',
    get({ deprecated: true, 'x-sunset': '2020-01-01' }),
    { paths: {} },
    'info GET /a was removed',
  ],
];

const results = new Map<string, string[]>();
const folder = mkdtempSync(join(tmpdir(), 'compare-test-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Rates all cases in one run of oasdiff. */
beforeAll(async () => {
  const all: (readonly [what: string, difference: Difference])[] = [];
  for (const [what, before, after] of CASES)
    for (const difference of differencesBetween(
      await documentWith(before),
      await documentWith(after),
    ))
      all.push([what, difference]);
  const differences = all.map(([, difference]) => difference);
  const ratings = await rate(
    await findOasdiff(),
    differences,
    folder,
    new AbortController().signal,
  );
  all.forEach(([what, { text, operations }], index) => {
    const level = LEVELS[ratings[index]?.level ?? 0];
    const users = operations.length > 0 ? ` (${operations.length})` : '';
    results.set(what, [...(results.get(what) ?? []), `${level} ${text}${users}`]);
  });
});

test.each(CASES)('compares %s', (what, _before, _after, ...lines) => {
  expect(results.get(what)?.toSorted() ?? []).toEqual(lines.toSorted());
});
