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

test('a text in a form that should be a list of itself is a violation', async () => {
  const form = { properties: { tree: { $ref: '#/components/schemas/Tree' } } };
  const operation = {
    operationId: 'a',
    requestBody: { content: { 'multipart/form-data': { schema: form } } },
    responses: { 200: { description: 'it', content: { 'application/json': {} } } },
  };
  const document = {
    openapi: '3.1.0',
    info: { title: 'A', version: '1.0.0' },
    paths: { '/a': { post: operation } },
    components: {
      schemas: { Tree: { type: 'array', items: { $ref: '#/components/schemas/Tree' } } },
    },
  };
  const { client } = await serving(JSON.stringify(document), ['a']);
  const { body } = await client.post('/a').field('tree', 'a').expect(400);
  expect(body.message).toBe('/body/tree must be JSON (invalid at line 1, column 1)');
});

test('a handler does not have to send headers that the server sets', async () => {
  const names = ['Content-Length', 'Date', 'Deprecation', 'X-Content-Type-Options', 'X-Request-Id'];
  const headers = Object.fromEntries(
    names.map((name) => [name, { required: true, schema: { type: 'string' } }]),
  );
  const response = { description: 'it', headers, content: { 'application/json': {} } };
  const operation = {
    operationId: 'a',
    deprecated: true,
    'x-deprecated-at': '2027-01-31',
    responses: { 200: response, default: response },
  };
  const document = {
    openapi: '3.1.0',
    info: { title: 'A', version: '1.0.0' },
    paths: { '/a': { get: operation } },
  };
  const { client, lines } = await serving(JSON.stringify(document), ['a']);
  const answers = [await client.get('/a').expect(200), await client.get('/a?b=1').expect(400)];
  for (const answer of answers) {
    for (const name of names) expect(answer.headers).toHaveProperty(name.toLowerCase());
  }
  expect(lines.map(({ level }) => level)).toEqual([30, 30]);
});

test('a security requirement that is null breaks only its operation', async () => {
  const responses = { 200: { description: 'it', content: { 'application/json': {} } } };
  const document = {
    openapi: '3.1.0',
    info: { title: 'A', version: '1.0.0' },
    paths: {
      '/a': { get: { operationId: 'a', security: [null], responses } },
      '/b': { get: { operationId: 'b', responses } },
    },
  };
  const { client } = await serving(JSON.stringify(document), ['b']);
  await client.get('/a').expect(501);
  await client.get('/b').expect(200);
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
  pattern: "{ type: string, pattern: '^a\\-b$' }",

  insensitive: '{ type: string, pattern: "(?i)^leaf\\\\z" }',
  required: '{ type: object, properties: { a: { type: string, required: true } } }',
  dynamic: "{ $dynamicRef: '#whole' }",

  nullable: '{ nullable: true, type: integer }',
  choice: '{ type: string, nullable: true, enum: [a] }',
  named: '{ $ref: "#/components/schemas/Whole", nullable: true }',
  holder: '{ properties: { nullable: { type: boolean } } }',
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
    ['a pattern without the flag u matches', { pattern: 'a-b' }, undefined],

    ['a flag inside a pattern has its effect', { insensitive: 'LEAF' }, undefined],

    ['a property with required: true is optional', { required: {} }, undefined],
    ['$dynamicRef is followed', { dynamic: 'a' }, '/body/dynamic must be integer'],
    ['nullable admits null', { nullable: null, choice: null, named: null }, undefined],
    [
      'nullable admits no value of another type',
      { nullable: 'a' },
      '/body/nullable must be integer or null',
    ],
  ])('%s', async (_title, body, message) => {
    const response = await served.client.post('/a').send(body);
    if (message === undefined) expect(response.body.body).toEqual(body);
    else expect(response.body).toEqual({ error: 400, message: expect.stringContaining(message) });
  });
});
