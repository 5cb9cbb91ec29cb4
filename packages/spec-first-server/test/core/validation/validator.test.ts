import { describe, expect, test } from '@jest/globals';
import { createSchemas, type Formats, loadDocument, type Operation } from 'openapi-document';
import { withFiles } from 'test-support/documents';
import {
  createValidators,
  type ValidatorOptions,
  Violations,
} from '../../../src/core/validation/validator.ts';

const plant = {
  type: 'object',
  required: ['name'],
  properties: {
    name: { type: 'string' },
    size: { type: 'integer', default: 1 },
    id: { type: 'integer', readOnly: true },
  },
};
const photos = { type: 'object', properties: { photo: { type: 'string', maxLength: 3 } } };
const document = {
  openapi: '3.2.0',
  info: { title: 'A', version: '1' },
  paths: {
    '/beds/{bed}': {
      post: {
        operationId: 'plant',
        parameters: [
          { name: 'bed', in: 'path', required: true, schema: { type: 'integer' } },
          { name: 'limit', in: 'query', required: true, schema: { type: 'integer', maximum: 5 } },
          { name: 'page', in: 'query', schema: { type: 'integer', default: 1 } },
          { name: 'X-Kind', in: 'header', schema: { enum: ['a', 'b'] } },
          { name: 'session', in: 'cookie', schema: { type: 'string', minLength: 3 } },
        ],
        requestBody: {
          content: {
            'application/json': { schema: plant },
            'multipart/form-data': { schema: photos },
            'application/x-ndjson': { itemSchema: plant },
            'image/png': { schema: { type: 'string', maxLength: 1 } },
          },
        },
        responses: {
          200: {
            description: 'ok',
            headers: { 'X-Count': { required: true, schema: { type: 'integer' } } },
            content: {
              'application/json': { schema: plant },
              'application/x-ndjson': { itemSchema: plant },
              'multipart/mixed': { itemSchema: plant },
              'image/png': {},
            },
          },
        },
      },
    },
    '/plain': {
      get: {
        operationId: 'plain',
        parameters: [{ name: 'word', in: 'query', schema: { format: 'even' } }],
        responses: {},
      },
    },
  },
};

const { root, operations } = await withFiles(
  { 'openapi.json': JSON.stringify(document) },
  (folder) => loadDocument(`${folder}/openapi.json`),
);

function validatorOf(id: string, options?: ValidatorOptions, formats?: Formats) {
  const operation = operations.find((each) => each.id === id);
  if (operation === undefined) throw new Error(`no operation ${id}`);
  const response = operation.responses[0];
  const find = (type: string, media = operation.requestBody?.media) => {
    const declared = media?.find((each) => each.type === type);
    if (declared === undefined) throw new Error(`no media type ${type}`);
    return declared;
  };
  return {
    validator: createValidators(createSchemas(root, { formats }), options)(operation),
    mediaOf: (type: string) => find(type),
    replyOf: (type: string) => find(type, response?.media),
    response,
  };
}

const VALID = { path: { bed: 1 }, query: { limit: 5 }, header: {}, cookie: {} };
const COMPLETED = { ...VALID, query: { limit: 5, page: 1 } };

function messagesOf(validate: () => unknown): string[] {
  try {
    validate();
  } catch (error) {
    if (error instanceof Violations) return error.message.split('; ');
    throw error;
  }
  return [];
}

describe('request', () => {
  const { validator, mediaOf } = validatorOf('plant');

  test('is returned with its defaults', () => {
    expect(validator.parameters(structuredClone(VALID))).toEqual(COMPLETED);
    const body = { name: 'Fern', id: 5 };
    expect(validator.body(mediaOf('application/json'), body)).toEqual({ name: 'Fern', size: 1 });
  });

  test('has violations with their paths', () => {
    const wrong = {
      path: { bed: 'a' },
      query: { limit: 6 },
      header: { 'X-Kind': 'c' },
      cookie: { session: 'ab' },
    };
    expect(messagesOf(() => validator.body(mediaOf('application/json'), {}))).toEqual([
      '/body/name is required',
    ]);
    expect(messagesOf(() => validator.parameters(wrong)).sort()).toEqual([
      '/cookie/session must NOT have fewer than 3 characters',
      '/header/X-Kind must be equal to one of the allowed values: a, b',
      '/path/bed must be integer',
      '/query/limit must be <= 5',
    ]);
  });

  test('has the required parameters', () => {
    const missing = { ...VALID, query: {} };
    expect(messagesOf(() => validator.parameters(missing))).toEqual(['/query/limit is required']);
  });

  test('accepts files in forms only', () => {
    const photo = new File(['abc'], 'a');
    expect(validator.body(mediaOf('multipart/form-data'), { photo })).toEqual({ photo });
    const large = { photo: new File(['abcd'], 'a') };
    expect(messagesOf(() => validator.body(mediaOf('multipart/form-data'), large))).toEqual([
      '/body/photo must NOT have more than 3 bytes',
    ]);
    const named = { name: new File([''], 'a') };
    expect(messagesOf(() => validator.body(mediaOf('application/json'), named))).toEqual([
      '/body/name must be string',
    ]);
  });
});

test('body returns an item with its defaults', () => {
  const { validator, mediaOf } = validatorOf('plant');
  const media = mediaOf('application/x-ndjson');
  expect(validator.body(media, { name: 'Fern' })).toEqual({ name: 'Fern', size: 1 });
  expect(messagesOf(() => validator.body(media, {}))).toEqual(['/body/name is required']);
});

describe('response', () => {
  test.each(['application/json', 'application/x-ndjson'])(
    'returns a body or an item of %s without undeclared members',
    (type) => {
      const dropped: unknown[] = [];
      const onDrop = ({ id }: Operation, name: string) => void dropped.push([id, name]);
      const { validator, replyOf } = validatorOf('plant', { onDrop });
      const media = replyOf(type);
      const reply = { name: 'Fern', id: 5, column: 1 };
      expect(validator.response(media, reply)).toEqual({ name: 'Fern', id: 5 });
      expect(dropped).toEqual([['plant', 'column']]);
      expect(messagesOf(() => validator.response(media, { name: 5 }))).toEqual([
        '/body/name must be string',
      ]);
    },
  );

  test('removes undeclared members also without a listener', () => {
    const { validator, replyOf } = validatorOf('plant');
    const reply = { name: 'Fern', column: 1 };
    expect(validator.response(replyOf('application/json'), reply)).toEqual({ name: 'Fern' });
  });

  test('accepts files as parts only', () => {
    const { validator, replyOf } = validatorOf('plant');
    const file = new File(['abc'], 'a');
    for (const type of ['application/json', 'application/x-ndjson', 'multipart/mixed'])
      expect(messagesOf(() => validator.response(replyOf(type), { name: file }))).toEqual(
        type === 'multipart/mixed' ? [] : ['/body/name must be string'],
      );
  });

  test('keeps undeclared members if it was received', () => {
    const { validator, replyOf } = validatorOf('plant', { forClient: true });
    const reply = { name: 'Fern', column: 1 };
    expect(validator.response(replyOf('application/json'), reply)).toBe(reply);
  });
});

test('responseHeaders validates headers by their names', () => {
  const { validator, response } = validatorOf('plant');
  if (response === undefined) throw new Error('no response');
  const [name = ''] = response.headers.map((header) => header.name);
  expect(messagesOf(() => validator.responseHeaders(response, { [name]: 5, other: 'a' }))).toEqual(
    [],
  );
  expect(messagesOf(() => validator.responseHeaders(response, { [name]: 'a' }))).toEqual([
    `/headers/${name} must be integer`,
  ]);
  expect(messagesOf(() => validator.responseHeaders(response, {}))).toEqual([
    `/headers/${name} is required`,
  ]);
});

test.each([
  ['unevaluatedItems', 'integer', []],
  ['x-other', 'integer', []],
  ['unevaluatedItems', 'null', ['/body/1 must be null']],
])('contains with %s of the type %s has the violations %j', (keyword, type, messages) => {
  const schema = { contains: { type: 'string' }, minContains: 1, [keyword]: { type } };
  const content = { 'application/json': { schema } };
  const paths = { '/a': { post: { operationId: 'a', requestBody: { content } } } };
  return withFiles({ 'openapi.json': JSON.stringify({ ...document, paths }) }, async (folder) => {
    const loaded = await loadDocument(`${folder}/openapi.json`);
    const [operation] = loaded.operations;
    if (operation === undefined) throw new Error('no operation');
    const validator = createValidators(createSchemas(loaded.root))(operation);
    const media = operation.requestBody?.media[0];
    if (media === undefined) throw new Error('no body');
    const violations = messagesOf(() => validator.body(media, ['a', 1]));
    expect(violations.sort()).toEqual(messages);
  });
});

test('schemas may form a long chain of references', () => {
  const names = Array.from({ length: 2_000 }, (_, index) => `S${index}`);
  const chain = names.map((name, index) => {
    const next = { $ref: `#/components/schemas/${names[index + 1] ?? 'S0'}` };
    return [name, { type: 'object', properties: { next } }];
  });
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/S0' } } };
  const chained = {
    ...document,
    components: { schemas: Object.fromEntries(chain) },
    paths: {
      '/a': {
        post: { requestBody: { content }, responses: { 200: { description: '', content } } },
      },
    },
  };
  return withFiles({ 'openapi.json': JSON.stringify(chained) }, async (folder) => {
    const { root: chainRoot, operations: chainOperations } = await loadDocument(
      `${folder}/openapi.json`,
    );
    const [operation] = chainOperations;
    const request = operation?.requestBody?.media[0];
    const reply = operation?.responses[0]?.media[0];
    if (operation === undefined || request === undefined || reply === undefined)
      throw new Error('no operation');
    const validator = createValidators(createSchemas(chainRoot))(operation);
    const wrong = { next: { next: 1 } };
    const messages = ['/body/next/next must be object'];
    expect(messagesOf(() => validator.body(request, { next: {} }))).toEqual([]);
    expect(messagesOf(() => validator.body(request, wrong))).toEqual(messages);
    expect(validator.response(reply, { next: { id: 1 } })).toEqual({ next: {} });
    expect(messagesOf(() => validator.response(reply, wrong))).toEqual(messages);
  });
});

test('formats of the service are checked', () => {
  const formats = { even: (text: string) => text.length % 2 === 0 };
  const query = { word: 'odd' };
  const messages = (serviceFormats?: Formats) =>
    messagesOf(() =>
      validatorOf('plain', {}, serviceFormats).validator.parameters({ ...VALID, query }),
    );
  expect(messages(formats)).toEqual(['/query/word must match format "even"']);
  expect(messages()).toEqual([]);
});
