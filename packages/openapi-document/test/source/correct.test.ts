import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { withFiles } from 'test-support/files';
import { correct } from '../../src/source/correct.ts';

const HEAD = { openapi: '3.1.0', info: { title: 'A', version: '1.0.0' } };

async function corrected(members: object) {
  const { root, corrections: findings } = await correct('openapi.yaml', { ...HEAD, ...members });
  return { root: Object(root), findings };
}

async function correctedSchema(schema: object, openapi = '3.1.0') {
  const { root, findings } = await corrected({ openapi, components: { schemas: { S: schema } } });
  return { schema: root.components.schemas.S, findings };
}

const at = '/components/schemas/S';

test.each([
  ['info: {}\nopenapi: 3.3.0', '2:1 openapi must be 3.1.x, 3.0.x or 3.2.x, but it is 3.3.0'],
  ['openapi: 3.1', '1:1 openapi must be 3.1.x, 3.0.x or 3.2.x, but it is 3.1'],
  ['info: {}', '1:1 openapi must be 3.1.x, 3.0.x or 3.2.x, but it is missing'],
  [
    'info: {}\nswagger: "2.0"',
    '2:1 Swagger 2.0 is not supported. Convert it to OpenAPI 3: npx swagger2openapi --outfile openapi.json ',
  ],
])('a document with %j is rejected', async (text, message) => {
  await withFiles({ 'openapi.yaml': text }, async (folder) => {
    const file = join(folder, 'openapi.yaml');
    const source = Object.fromEntries(
      text.split('\n').map((line) => line.replaceAll('"', '').split(': ')),
    );
    const rejection = expect(correct(file, source)).rejects;
    await rejection.toThrow(expect.objectContaining({ name: 'DocumentError' }));
    await expect(correct(file, source)).rejects.toThrow(`${file}:${message}`);
  });
});

test.each(['3.0.3', '3.1.0', '3.2.0'])(
  'a valid document of version %s has no findings',
  async (openapi) => {
    const get = {
      parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
      responses: { '200': { description: 'it', headers: { A: { schema: {} } } } },
    };
    const { root, findings } = await corrected({ openapi, paths: { '/a/{id}': { get } } });
    expect(findings).toEqual([]);
    expect(root.paths['/a/{id}'].get).toEqual(get);
  },
);

test('OpenAPI 3.0 is upgraded, but its examples stay the same', async () => {
  const value = { nullable: true, exclusiveMinimum: true };
  const { root } = await corrected({
    openapi: '3.0.3',
    components: {
      schemas: {
        N: { type: 'integer', nullable: true, minimum: 1, exclusiveMinimum: true, example: 2 },
        Either: { nullable: true, oneOf: [{ type: 'integer' }, { type: 'boolean' }] },
      },
      examples: { A: { value } },
    },
  });
  expect(root.openapi).toMatch(/^3\.1\./);
  expect(root.components.schemas).toEqual({
    N: { type: ['integer', 'null'], exclusiveMinimum: 1, examples: [2] },
    Either: { anyOf: [{ oneOf: [{ type: 'integer' }, { type: 'boolean' }] }, { type: 'null' }] },
  });
  expect(root.components.examples.A.value).toEqual({ nullable: true, exclusiveMinimum: true });
});

test.each(['binary', 'byte', 'base64', 'date'])(
  'OpenAPI 3.0 is upgraded, but a string with the format %s keeps its type',
  async (format) => {
    const text = { type: 'string', format };
    const schema = { properties: { a: text, b: { type: 'array', items: text } } };
    expect(await correctedSchema(structuredClone(schema), '3.0.3')).toEqual({
      schema,
      findings: [],
    });
    expect(await correctedSchema({ ...text, nullable: true, enum: ['a'] }, '3.0.3')).toMatchObject({
      schema: { type: ['string', 'null'], format, enum: ['a', null] },
    });
  },
);

test('a missing info is added', async () => {
  expect(await corrected({ info: undefined })).toEqual({
    root: { openapi: '3.1.0', info: { title: 'API', version: '0.0.0' } },
    findings: [{ pointer: '', message: 'info is missing: add title and version' }],
  });
});

describe('nullable', () => {
  test.each<[schema: object, result: object]>([
    [{ type: 'string', nullable: true }, { type: ['string', 'null'] }],
    [{ type: ['string', 'null'], nullable: true }, { type: ['string', 'null'] }],
    [{ enum: ['a'], nullable: true }, { enum: ['a', null] }],
    [{ anyOf: [{}], nullable: true }, { anyOf: [{}, { type: 'null' }] }],
    [{ oneOf: [{}], nullable: true }, { anyOf: [{ oneOf: [{}] }, { type: 'null' }] }],
    [
      { oneOf: [{}], discriminator: {}, nullable: true },
      { oneOf: [{}, { type: 'null' }], discriminator: {} },
    ],
    [
      { $ref: '#/A', nullable: true, title: 'T' },
      { anyOf: [{ $ref: '#/A' }, { type: 'null' }], title: 'T' },
    ],
    [
      { allOf: [{}], nullable: true, title: 'T' },
      { anyOf: [{ allOf: [{}] }, { type: 'null' }], title: 'T' },
    ],
    [
      { type: 'object', allOf: [{}], anyOf: [{}], nullable: true },
      {
        type: ['object', 'null'],
        anyOf: [{ allOf: [{}], anyOf: [{}, { type: 'null' }] }, { type: 'null' }],
      },
    ],
    [
      { type: 'string', nullable: 'yes' },
      { type: 'string', nullable: 'yes' },
    ],
  ])('in %j: the result is %j', async (schema, result) => {
    expect(await correctedSchema(structuredClone(schema))).toEqual({
      schema: result,
      findings: [],
    });
  });

  test('is replaced in the schemas inside a schema, but not in data', async () => {
    const { schema } = await correctedSchema({
      items: { type: 'string', nullable: true },
      default: { type: 'string', nullable: true },
    });
    expect(schema).toEqual({
      items: { type: ['string', 'null'] },
      default: { type: 'string', nullable: true },
    });
  });
});

test.each<[type: unknown, result: unknown]>([
  [[null], ['null']],
  [
    ['object', null],
    ['object', 'null'],
  ],
])('in the type %j, null is read as a name', async (type, result) => {
  expect(await correctedSchema({ type })).toEqual({
    schema: { type: result },
    findings: [
      { pointer: `${at}/type`, message: "null has no quotation marks: it is read as 'null'" },
    ],
  });
});

test('a bigint in the limit of a size becomes a number', async () => {
  const { schema } = await correctedSchema({ maxLength: 2n ** 63n, maximum: 2n ** 63n });
  expect(schema).toEqual({ maxLength: 2 ** 63, maximum: 2n ** 63n });
});

describe('a parameter', () => {
  const TEXT = { schema: { type: 'string' } };
  const correctedParameter = async (parameter: object) => {
    const { root, findings } = await corrected({ components: { parameters: { P: parameter } } });
    return {
      parameter: root.components.parameters.P,
      messages: findings.map(({ message }) => message),
    };
  };

  test.each<[title: string, parameter: object, message: string]>([
    [
      'without a schema',
      { name: 'q', in: 'query' },
      'schema is missing: the value is read as a string',
    ],
    [
      'with the schema null',
      { name: 'q', in: 'query', schema: null },
      'schema is missing: the value is read as a string',
    ],
  ])('%s is read as a string', async (_title, parameter, message) => {
    expect(await correctedParameter({ ...parameter })).toEqual({
      parameter: { ...parameter, ...TEXT },
      messages: [message],
    });
  });

  test.each<[parameter: object]>([
    [{ $ref: '#/components/parameters/Q' }],
    [{ name: 'q', in: 'query', content: { 'text/plain': {} } }],
    [{ name: 'q', in: 'query', schema: {} }],
  ])('stays the same: %j', async (parameter) => {
    expect(await correctedParameter({ ...parameter })).toEqual({ parameter, messages: [] });
  });

  test('that is in the path, but not declared, is read as a string', async () => {
    const Id = { name: 'id', in: 'path', required: true, schema: { type: 'integer' } };
    const name = { ...Id, name: 'name' };
    const { root, findings } = await corrected({
      paths: {
        '/a/{id}/{name}': {
          parameters: [{ $ref: '#/components/parameters/Id' }],
          get: { parameters: [name] },
          put: { parameters: [{ ...name, in: 'query' }] },
          post: {},
        },
      },
      components: { parameters: { Id } },
    });
    const added = { name: 'name', in: 'path', required: true, ...TEXT };
    const { get, put, post } = root.paths['/a/{id}/{name}'];
    expect(get.parameters).toEqual([name]);
    expect(put.parameters).toEqual([{ ...name, in: 'query' }, added]);
    expect(post.parameters).toEqual([added]);
    const message = 'path parameter name is not declared: it is read as a string';
    expect(findings).toEqual([
      { pointer: '/paths/~1a~1{id}~1{name}/put', message },
      { pointer: '/paths/~1a~1{id}~1{name}/post', message },
    ]);
  });

  test.each([{}, { required: false }])('of a path with %j becomes required', async (members) => {
    const parameter = { name: 'id', in: 'path', schema: {} };
    expect(await correctedParameter({ ...parameter, ...members })).toEqual({
      parameter: { ...parameter, required: true },
      messages: ['a path parameter is always required: add required: true'],
    });
  });

  test('that is a response header without a schema is read as a string', async () => {
    const { root, findings } = await corrected({
      components: { headers: { H: { required: true } } },
    });
    expect(root.components.headers.H).toEqual({ required: true, ...TEXT });
    expect(findings).toEqual([
      {
        pointer: '/components/headers/H',
        message: 'schema is missing: the value is read as a string',
      },
    ]);
  });
});
