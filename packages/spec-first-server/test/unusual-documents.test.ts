import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { AnyReply } from 'spec-first-server';
import { documentFile, echo, serve, withFiles } from 'test-support/documents';

const HEAD = 'info: { title: A, version: 1.0.0 }\n';

const serving = (document: string, ids: readonly string[]) =>
  withFiles({ 'openapi.yaml': document }, (folder) =>
    serve(join(folder, 'openapi.yaml'), Object.fromEntries(ids.map((id) => [id, echo]))),
  );

/** The messages of the notices at the start. */
const notices = (lines: readonly Record<string, unknown>[]) =>
  [lines[0]?.locations ?? []].flat().map((line) => String(line).replace(/^\S+ /, ''));

test('a parameter may be the whole query string (OpenAPI 3.2)', async () => {
  const content =
    '{ application/json: { schema: { type: object, required: [a], properties: { a: { type: integer } } } } }';
  const { client, lines } = await serving(
    `openapi: 3.2.0\n${HEAD}paths:
  /a:
    get:
      operationId: a
      parameters:
        - { name: filter, in: querystring, required: true, content: ${content} }
        - { name: n, in: header, schema: { type: integer } }
      responses: { '200': { description: it, content: { application/json: { schema: true } } } }
`,
    ['a'],
  );
  expect(notices(lines)).toEqual([]);
  await client
    .get(`/a?${encodeURIComponent('{"a":1}')}`)
    .set('n', '1')
    .expect(200);
  await client.get(`/a?${encodeURIComponent('{"a":"b"}')}`).expect(400);
  await client.get('/a?a=1').expect(400);
  await client.get('/a').expect(400);
});

test('an enum of 150,000 long values loads, and is enforced', async () => {
  const values = Array.from(
    { length: 150_000 },
    (_, index) => `${'a-long-value-'.repeat(4)}${index}`,
  );
  const document = {
    openapi: '3.1.0',
    info: { title: 'A', version: '1.0.0' },
    paths: {
      '/a': {
        get: {
          operationId: 'a',
          parameters: [{ name: 'of', in: 'query', schema: { $ref: '#/components/schemas/Of' } }],
          responses: { 200: { description: 'it', content: { 'application/json': {} } } },
        },
      },
    },
    components: { schemas: { Of: { type: 'string', enum: values } } },
  };
  const { client } = await serving(JSON.stringify(document), ['a']);
  await client.get(`/a?of=${values[149_999]}`).expect(200);
  await client.get('/a?of=b').expect(400);
});

describe('with a notice at the start, the server', () => {
  test('reads schemas of another dialect as JSON Schema 2020-12', async () => {
    const { client, lines } = await serving(
      `openapi: 3.1.0\n${HEAD}jsonSchemaDialect: https://json-schema.org/draft/2019-09/schema
paths:
  /a:
    post:
      operationId: a
      requestBody: { content: { application/json: { schema: { $schema: 'http://json-schema.org/draft-07/schema#', type: integer } } } }
      responses: { '200': { description: it, content: { application/json: { schema: true } } } }
`,
      ['a'],
    );
    expect(notices(lines)).toEqual([
      'https://json-schema.org/draft/2019-09/schema is read as JSON Schema 2020-12',
      'http://json-schema.org/draft-07/schema# is read as JSON Schema 2020-12',
    ]);
    await client.post('/a').send('1').type('json').expect(200);
    await client.post('/a').send('"b"').type('json').expect(400);
  });

  test('ignores paths with a query or a fragment', async () => {
    const get = (id: string) =>
      `{ get: { operationId: ${id}, parameters: [{ name: id, in: path, required: true, schema: { type: string } }], responses: { '200': { description: it, content: { application/json: { schema: true } } } } } }`;
    const { client, lines } = await serving(
      `openapi: 3.1.0\n${HEAD}paths:\n  '/a/{id}#one': ${get('one')}\n  '/a/{id}?two': ${get('two')}\n  '/a/{id}': ${get('a')}\n`,
      ['one', 'two', 'a'],
    );
    const notice = 'a path cannot contain ? or #: declare query parameters instead';
    expect(notices(lines)).toEqual([notice, notice]);
    const { body } = await client.get('/a/1').expect(200);
    expect(body.path).toEqual({ id: '1' });
  });

  test('ignores a mapping of a discriminator to a missing schema', async () => {
    const variant = (name: string) =>
      `{ type: object, required: [kind, n], properties: { kind: { const: ${name} }, n: { type: integer } } }`;
    const { client, lines } = await serving(
      `openapi: 3.1.0\n${HEAD}paths:
  /a:
    post:
      operationId: a
      requestBody: { content: { application/json: { schema: { $ref: '#/components/schemas/Any' } } } }
      responses: { '200': { description: it, content: { application/json: { schema: true } } } }
components:
  schemas:
    Any:
      oneOf: [{ $ref: '#/components/schemas/One' }, { $ref: '#/components/schemas/Two' }]
      discriminator: { propertyName: kind, mapping: { one: models/one.yml, two: '#/components/schemas/Three' } }
    One: ${variant('one')}
    Two: ${variant('two')}
`,
      ['a'],
    );
    expect(notices(lines)).toEqual([
      'the mapping is ignored, since the schema models/one.yml does not exist',
      'the mapping is ignored, since the schema #/components/schemas/Three does not exist',
    ]);
    await client.post('/a').send({ kind: 'one', n: 1 }).expect(200);
    await client.post('/a').send({ kind: 'two', n: 'b' }).expect(400);
  });
});

test.each(['', 'operationId: it, '])(
  'an operation that two paths share has an id for each path (%s)',
  async (id) => {
    const operation = `{ ${id}responses: { '200': { description: it, content: { application/json: { schema: true } } } } }`;
    const names = id === '' ? ['getA', 'getB'] : ['it', 'it2'];
    const { client } = await serving(
      `openapi: 3.1.0\n${HEAD}paths:
  /a: { $ref: '#/components/pathItems/Shared' }
  /b: { $ref: '#/components/pathItems/Shared' }
components: { pathItems: { Shared: { get: ${operation} } } }
`,
      names,
    );
    await client.get('/a').expect(200);
    await client.get('/b').expect(200);
  },
);

test('an operation that declares no responses answers with any status, without a body', async () => {
  const answers: AnyReply[] = [{ status: 204 }, { status: 404 }, { status: 200, body: 1 }];
  const { client, lines } = await serve(documentFile('silent.yaml'), {
    silent: () => answers.shift() ?? { status: 500 },
  });
  expect(notices(lines)).toEqual([
    'operation silent declares no response: its handler may use any status, without a body',
  ]);
  await client.get('/a').expect(204);
  await client.get('/a').expect(404, '');
  await client.get('/a').expect(500);
});

const MEMBERS = {
  empty: '{ enum: [] }',
  twice: '{ type: object, required: [a, a], properties: { a: { type: string } } }',
  pattern: "{ type: string, pattern: '^a\\-b$' }",
  names:
    "{ type: object, patternProperties: { '^\\-': { type: integer } }, additionalProperties: false }",
  insensitive: '{ type: string, pattern: "(?i)^leaf\\\\z" }',
  required: '{ type: object, properties: { a: { type: string, required: true } } }',
  dynamic: "{ $dynamicRef: '#whole' }",
  anchored: "{ $ref: '#whole' }",
  identified: '{ $id: https://host.example/s, type: integer }',
  preset: '{ type: integer, default: many }',
  unknown: '{ myKeyword: 5, type: integer }',
  nullable: '{ nullable: true, type: integer }',
  choice: '{ type: string, nullable: true, enum: [a] }',
  named: '{ $ref: "#/components/schemas/Whole", nullable: true }',
  holder: '{ properties: { nullable: { type: boolean } } }',
  exclusive: '{ type: integer, minimum: 1, exclusiveMinimum: true }',
  any: 'true',
};
const PROPERTIES = Object.entries(MEMBERS).map(([name, schema]) => `        ${name}: ${schema}\n`);

const DOCUMENT = `openapi: 3.2.0
info: { title: Served with notices, version: 1.0.0, unknown: 1 }
paths:
  /a:
    post:
      operationId: an operation
      requestBody: { content: { application/json: { schema: { $ref: '#/components/schemas/S' } } } }
      responses: { '200': { description: it, content: { application/json: { schema: true } } } }
components:
  schemas:
    Whole: { $dynamicAnchor: whole, type: integer }
    S:
      type: object
      properties:
${PROPERTIES.join('')}`;

describe('in a document with members that are not enforced', () => {
  let served: Awaited<ReturnType<typeof serve>>;
  beforeAll(async () => {
    served = await withFiles({ 'openapi.yaml': DOCUMENT }, (folder) =>
      serve(join(folder, 'openapi.yaml'), { 'an operation': echo }),
    );
  });

  test.each<[string, object, string | undefined]>([
    ['a default that does not fit is not filled in', {}, undefined],
    [
      'an empty enum has no value',
      { empty: 1 },
      '/body/empty must not be present: its enum is empty',
    ],
    ['a name that is required twice is required', { twice: {} }, '/body/twice/a is required'],
    ['a pattern without the flag u matches', { pattern: 'a-b' }, undefined],
    [
      'a pattern without the flag u is checked',
      { pattern: 'a' },
      '/body/pattern must match pattern "^a\\-b$"',
    ],
    ['a flag inside a pattern has its effect', { insensitive: 'LEAF' }, undefined],
    [
      'a pattern with a flag inside is checked',
      { insensitive: 'LEAFS' },
      '/body/insensitive must match pattern',
    ],
    ['a property with required: true is optional', { required: {} }, undefined],
    ['$dynamicRef is followed', { dynamic: 'a' }, '/body/dynamic must be integer'],
    ['nullable admits null', { nullable: null, choice: null, named: null }, undefined],
    [
      'nullable admits no value of another type',
      { nullable: 'a' },
      '/body/nullable must be integer or null',
    ],
    [
      'a property may be named nullable',
      { holder: { nullable: 5 } },
      '/body/holder/nullable must be boolean',
    ],
  ])('%s', async (_title, body, message) => {
    const response = await served.client.post('/a').send(body);
    if (message === undefined) expect(response.body.body).toEqual(body);
    else expect(response.body).toEqual({ error: 400, message: expect.stringContaining(message) });
  });
});

test('an asterisk in a parameter of a media type does not make it a range', async () => {
  const json = 'application/json; p="*"';
  const parts = 'multipart/mixed; boundary="a*b"';
  const document = `openapi: 3.2.0\n${HEAD}paths:
  /json:
    post:
      operationId: json
      requestBody: { content: { '${json}': { schema: { type: integer } } } }
      responses: { '200': { description: it, content: { '${json}': {} } } }
  /parts:
    post:
      operationId: parts
      requestBody: { content: { '${parts}': { itemSchema: { type: integer } } } }
      responses: { '200': { description: it, content: { '${json}': {} } } }
`;
  const { client } = await withFiles({ 'openapi.yaml': document }, (folder) =>
    serve(join(folder, 'openapi.yaml'), {
      json: ({ body }) => ({ status: 200, body }),
      parts: async ({ body }) => ({ status: 200, body: await Array.fromAsync(Object(body)) }),
    }),
  );
  await client.post('/json').type(json).send('1').expect('Content-Type', json).expect(200, '1');
  await client.post('/json').type(json).send('"a"').expect(400);
  const body = '--a*b\r\nContent-Type: application/json\r\n\r\n1\r\n--a*b--\r\n';
  await client.post('/parts').type(parts).send(body).expect(200, '[1]');
});
