import { describe, expect, test } from '@jest/globals';
import type { Document } from 'openapi-document';
import { createEffectCheck, readerOf } from '../../src/contract-tests/check-effect.ts';
import { createCheckRunner } from '../../src/contract-tests/check-runner.ts';
import type { ReceivedResponse, SerializedRequest } from '../../src/contract-tests/client.ts';
import {
  checkedOperation,
  documentOf,
  json,
  operationIn,
  requestValues,
  responseOf,
  secretOf,
} from './test-data.ts';

const JSON_TYPE = { 'content-type': 'application/json' };
const text = { type: 'string' };
const roomId = { name: 'roomId', in: 'path', required: true, schema: { type: 'integer' } };

const roomsOf = (properties: object) => {
  const response = { description: '', ...json({ type: 'object', properties }) };
  const operation = (operationId: string, members: object = {}) => ({
    operationId,
    requestBody: json({}),
    responses: { 200: response, 202: { description: '', content: { 'text/plain': {} } } },
    ...members,
  });
  const view = { name: 'view', in: 'query', required: true, schema: { enum: ['all', 'some'] } };
  const mode = {
    ...{ name: 'mode', in: 'query', required: true, example: 'a' },
    schema: { type: 'string', pattern: '^(?=a)b?a$' },
  };
  const color = { name: 'color', in: 'query', schema: { enum: ['red'] } };
  return documentOf({
    paths: {
      '/rooms': { post: operation('add'), get: operation('list') },
      '/roofs/{roofId}': {
        parameters: [{ ...roomId, name: 'roofId' }],
        get: operation('roof'),
      },
      '/rooms/{roomId}/{part}': { parameters: [roomId], get: operation('part') },
      '/rooms/{roomId}': {
        parameters: [roomId],
        get: operation('get', { parameters: [view, mode, color] }),
        put: operation('replace'),
        patch: operation('change'),
        delete: operation('remove'),
      },
      '/rooms/{roomId}/beds': { parameters: [roomId], put: operation('putBeds') },
    },
  });
};

function checksOf(
  document: Document,
  id: string,
  respond: (sent: SerializedRequest) => ReceivedResponse,
) {
  const { operations } = document;
  const sent: SerializedRequest[] = [];
  const client = {
    base: 'http://rooms',
    send: async (request: SerializedRequest) => {
      sent.push(request);
      return { ...respond(request), url: `http://rooms/v1${request.url}` };
    },
  };
  const targetOf = (operation = operationIn(document, id)) => ({
    ...checkedOperation(document, operation),
    client,
    // Each operation has its own credential.
    secrets: [secretOf(operation.id)],
  });
  const operation = operationIn(document, id);
  const reader = readerOf(operation, operations);
  const target = { ...targetOf(), reader: reader && targetOf(reader) };
  const runner = createCheckRunner(target, 1);
  const check = createEffectCheck(target, runner);
  return {
    sent,
    check: (
      values: Readonly<Record<string, unknown>>,
      response: ReceivedResponse,
      subject?: object,
    ) =>
      check(
        requestValues(operation, values),
        response,
        new Map(subject && [['/rooms/{roomId}', { ...subject }]]),
      ),
    failedChecks: async () =>
      (await runner.failedChecks()).map(({ error }) => `${error.check}: ${error.message}`),
  };
}

const stored = (body: unknown, status = 200) => responseOf(status, JSON_TYPE, body);

async function differences(properties: object, body: unknown, response: ReceivedResponse) {
  const document = await roomsOf(properties);
  const { check, failedChecks } = checksOf(document, 'putBeds', () => responseOf(404));
  await check({ 'path roomId': 7, body }, response);
  return failedChecks();
}

describe('the response to a change', () => {
  const list = (items: object) => ({ type: 'array', items });
  const object = (properties: object) => ({ type: 'object', properties });
  test.each([
    ['a text', text, 'a', 'a'],
    ['another number type', { type: 'integer' }, 2 ** 60, 2n ** 60n],
    ['a time that does not exist', text, '2024-02-30T99:00:00Z', '2024-02-30T99:00:00Z'],
    ['no members without a schema', { additionalProperties: true }, { a: 1 }, {}],
    ['an exact integer', { type: 'integer' }, 2n ** 60n, 2n ** 60n],
    ['a boolean', { type: 'boolean' }, true, true],
    ['null', {}, null, null],
    ['nothing in place of null', {}, null, undefined],
    ['another time zone', text, '2024-01-01T12:00:00Z', '2024-01-01T13:00:00.000+01:00'],
    ['an object in place of a text', {}, 'a', { name: 'a' }],
    ['a list in place of a text', {}, 'a', ['a']],
    ['a text in place of a list', {}, ['a'], 'a'],
    ['an object in place of a list', {}, ['a'], { a: 1 }],
    ['equal items', list(text), ['a', 'b'], ['a', 'b']],
    ['equal members', object({ a: text }), { a: 'b' }, { a: 'b', c: 1 }],
    ['no undeclared members', object({ a: text }), { b: 'c' }, {}],
    ['no undeclared members in items', list(object({ a: text })), [{ b: 1 }], [{}]],
    [
      'no members that only requests have',
      object({ a: { ...text, writeOnly: true } }),
      { a: 'b' },
      {},
    ],
    [
      'other members that only responses have',
      object({ a: { allOf: [{ readOnly: true }] } }),
      { a: 'b' },
      { a: 'c' },
    ],
  ])('may have %s', async (_name, schema, sent, received) => {
    expect(await differences({ m: schema }, { m: sent }, stored({ m: received }))).toEqual([]);
  });

  test.each([
    ['another text', text, 'a', 'b', '/m was sent as "a", and is "b"'],
    ['no text', text, 'a', undefined, '/m was sent as "a", and is missing'],
    ['null', text, 'a', null, '/m was sent as "a", and is null'],
    ['a value in place of null', {}, null, 'a', '/m was sent as null, and is "a"'],
    ['a text in place of a number', {}, 1, '1', '/m was sent as 1, and is "1"'],
    [
      'a rounded integer',
      {},
      2n ** 60n + 1n,
      2n ** 60n,
      '/m was sent as 1152921504606846977, and is 1152921504606846976',
    ],
    ['another time', text, '2024-01-01T12:00:00Z', '2024-01-01T12:00:00+01:00', '/m was sent as'],
    ['a date in place of a time', text, '2024-01-01T00:00:00Z', '2024-01-01', '/m was sent as'],
    ['a time in place of a date', text, '2024-01-01', '2024-01-01T00:00:00Z', '/m was sent as'],
    ['fewer items', list(text), ['a', 'b'], ['a'], '/m was sent as ["a","b"], and is ["a"]'],
    ['another item', list(text), ['a', 'b'], ['a', 'c'], '/m/1 was sent as "b", and is "c"'],
    ['a text in place of an object', {}, { a: 1 }, 'a', '/m was sent as {"a":1}, and is "a"'],
    ['a list in place of an object', {}, { a: 1 }, [1], '/m was sent as {"a":1}, and is [1]'],
    ['null in place of a list', {}, ['a'], null, '/m was sent as ["a"], and is null'],
    ['no list', {}, ['a'], undefined, '/m was sent as ["a"], and is missing'],
    [
      'another member',
      list(object({ a: {}, b: {} })),
      [{ a: 1, b: 2 }],
      [{ a: 1, b: 3 }],
      '/m/0/b was sent as 2',
    ],
    ['an empty text', text, 'x'.repeat(200), '', `/m was sent as "${'x'.repeat(99)}, and is ""`],
    [
      'a shortened text',
      text,
      'x'.repeat(200),
      'x'.repeat(199),
      `/m was sent as "…${'x'.repeat(21)}", and is "…${'x'.repeat(20)}"`,
    ],
    [
      'a long text with a difference far from its start',
      text,
      `${'x'.repeat(200)}abc`,
      `${'x'.repeat(200)}ade`,
      `/m was sent as "…${'x'.repeat(19)}abc", and is "…${'x'.repeat(19)}ade"`,
    ],
  ])('cannot have %s', async (_name, schema, sent, received, message) => {
    const failedChecks = await differences({ m: schema }, { m: sent }, stored({ m: received }));
    expect(failedChecks).toEqual([expect.stringContaining(`a change is stored: ${message}`)]);
    expect(failedChecks[0]).toMatch(/ in the response$/);
  });

  test.each([
    ['in another media type', responseOf(202, { 'content-type': 'text/plain' }, '{"m":2}')],
    ['without a media type', responseOf(200, {}, '{"m":2}')],
    ['with an undeclared status', stored({ m: 2 }, 201)],
    ['with a list', stored([{ m: 2 }])],
  ])('is not compared %s', async (_name, response) => {
    expect(await differences({ m: {} }, { m: 1 }, response)).toEqual([]);
    expect(await differences({ m: {} }, [{ m: 1 }], response)).toEqual([]);
  });
});

describe('the response to a change of a union', () => {
  const kind = (value: string, properties: object) => ({
    ...{ type: 'object', required: ['kind'] },
    properties: { kind: { const: value }, ...properties },
  });
  const cat = kind('cat', { lives: { type: 'integer' } });
  const dog = kind('dog', { tricks: { type: 'integer' } });
  const a = { type: 'object', required: ['a'], properties: { a: text } };
  const b = { type: 'object', required: ['b'], properties: { b: { type: 'integer' } } };
  const identified = { type: 'object', required: ['id'], properties: { id: text } };
  const closed = (schema: object) => ({ ...schema, additionalProperties: false });
  const born = { born: { type: ['string', 'null'], format: 'date' } };
  const pets = [kind('cat', born), kind('bird', { ...born, wing: { type: 'integer' } })];
  const nullable = { oneOf: pets.map((pet) => ({ ...pet, required: ['kind', 'born'] })) };
  const lives = { kind: 'dog', lives: 9 };

  test.each([
    ['oneOf', { oneOf: [cat, dog] }, lives, { kind: 'dog' }],
    ['anyOf', { anyOf: [cat, dog] }, lives, { kind: 'dog' }],
    ['oneOf with closed objects', { oneOf: [closed(cat), closed(dog)] }, lives, { kind: 'dog' }],
    ['oneOf without a constant', { oneOf: [a, b] }, { a: 'x', b: 'x' }, { a: 'x' }],
    ['anyOf without a constant', { anyOf: [a, b] }, { a: 'x', b: 'x' }, { a: 'x' }],
    ['nested unions', { oneOf: [{ anyOf: [cat, a] }, dog] }, lives, { kind: 'dog' }],
    [
      'a required member that is null',
      nullable,
      { kind: 'cat', born: null, wing: 43 },
      { kind: 'cat', born: null },
    ],
    [
      'a response with further members',
      { allOf: [identified, { oneOf: [cat, dog] }] },
      lives,
      { kind: 'dog', id: '1' },
    ],
    [
      'a list',
      { type: 'array', items: { oneOf: [cat, dog] } },
      [lives, { kind: 'cat', lives: 1 }],
      [{ kind: 'dog' }, { kind: 'cat', lives: 1 }],
    ],
  ])('may lack members of other alternatives: %s', async (_name, schema, sent, received) => {
    expect(await differences({ m: schema }, { m: sent }, stored({ m: received }))).toEqual([]);
  });

  test.each([
    ['of its alternative', { oneOf: [cat, dog] }, { kind: 'dog', tricks: 1 }, { kind: 'dog' }],
    ['of all its alternatives', { anyOf: [a, b] }, { a: 'x', b: 1 }, { a: 'x' }],
    ['if it has another alternative', { oneOf: [a, b] }, { a: 'x' }, { b: 1 }],
    ['if it selects another alternative', { oneOf: [cat, dog] }, { kind: 'dog' }, { kind: 'cat' }],
    [
      'of nested unions',
      { oneOf: [{ anyOf: [cat, a] }, dog] },
      { kind: 'cat', lives: 1 },
      { kind: 'cat' },
    ],
    ['if it is invalid', { oneOf: [cat, dog] }, { kind: 'dog', tricks: 1 }, {}],
  ])('must have the sent members %s', async (_name, schema, sent, received) => {
    const failedChecks = await differences({ m: schema }, { m: sent }, stored({ m: received }));
    expect(failedChecks).toEqual([
      expect.stringMatching(/a change is stored: .* in the response$/),
    ]);
  });

  test('may lack members of a schema that a mapping does not select', async () => {
    const pet = (name: string) => ({
      ...{ type: 'object', required: ['kind'] },
      properties: { kind: text, [name]: { type: 'integer' } },
    });
    const schema = { $ref: '#/components/schemas/Pet' };
    const schemas = {
      Cat: pet('lives'),
      Dog: pet('tricks'),
      Pet: {
        oneOf: [{ $ref: '#/components/schemas/Cat' }, { $ref: '#/components/schemas/Dog' }],
        discriminator: { propertyName: 'kind' },
      },
    };
    const responses = { 200: { description: '', ...json(schema) } };
    const add = { operationId: 'add', requestBody: json(schema), responses };
    const document = await documentOf({
      paths: { '/pets': { post: add } },
      components: { schemas },
    });
    const sent = { kind: 'Dog', lives: 9, tricks: 1 };
    const failedChecksOf = async (response: object) => {
      const { check, failedChecks } = checksOf(document, 'add', () => responseOf(404));
      await check({ body: sent }, stored(response));
      return failedChecks();
    };
    expect(await failedChecksOf({ kind: 'Dog', tricks: 1 })).toEqual([]);
    expect(await failedChecksOf({ kind: 'Dog', lives: 9 })).toEqual([
      'a change is stored: /tricks was sent as 1, and is missing in the response',
    ]);
  });
});

describe('a resource', () => {
  const response = stored({ name: 'a' });
  const document = () => roomsOf({ name: text });

  test.each(['add', 'replace', 'change'])('is read after %s', async (id) => {
    const { check, failedChecks, sent } = checksOf(await document(), id, () =>
      stored({ name: 'b' }),
    );
    await check({ body: { name: 'a' } }, response, { roomId: 7 });
    expect(sent.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'GET /rooms/7?view=all&mode=a',
    ]);
    expect(sent.map(({ headers }) => headers['X-Key'])).toEqual(['get']);
    expect(await failedChecks()).toEqual([
      'a change is stored: /name was sent as "a", and is "b" in GET /rooms/{roomId}',
    ]);
  });

  test.each([404, 410])('must not be missing after a creation: %i', async (status) => {
    const { check, failedChecks } = checksOf(await document(), 'add', () => responseOf(status));
    await check({ body: { name: 'a' } }, response, { roomId: 7 });
    expect(await failedChecks()).toEqual([
      `a change is stored: GET /v1/rooms/7 has the status ${status} for a stored resource`,
    ]);
  });

  test.each([
    [
      200,
      ['a deleted resource is gone: GET after the deletion has the status 200, not 404 or 410'],
    ],
    [
      403,
      ['a deleted resource is gone: GET after the deletion has the status 403, not 404 or 410'],
    ],
    [404, []],
    [410, []],
    [500, []],
  ])('must be gone after a deletion: %i', async (status, expected) => {
    const { check, failedChecks, sent } = checksOf(await document(), 'remove', () =>
      responseOf(status),
    );
    await check({ 'path roomId': 8 }, responseOf(204));
    expect(sent.map(({ url }) => url)).toEqual(['/rooms/8?view=all&mode=a']);
    expect(await failedChecks()).toEqual(expected);
  });

  test('is read at most ten times', async () => {
    const { check, sent } = checksOf(await document(), 'add', () => response);
    for (let index = 0; index < 15; index += 1)
      await check({ body: { name: 'a' } }, response, { roomId: index });
    expect(sent).toHaveLength(10);
  });

  test.each([
    ['its path is unknown', 'add', undefined],
    ['the operation does not change it', 'get', { roomId: 7 }],
    ['it has no GET operation', 'putBeds', { roomId: 7 }],
  ])('is not read: %s', async (_name, id, subject) => {
    const { check, failedChecks, sent } = checksOf(await document(), id, () => responseOf(404));
    await check({ body: { name: 'a' } }, response, subject);
    expect([sent, await failedChecks()]).toEqual([[], []]);
  });
});

test.each([
  ['add', 'get'],
  ['replace', 'get'],
  ['remove', 'get'],
  ['list', 'list'],
])('the resource of the operation %s is read by %s', async (id, reader) => {
  const document = await roomsOf({});
  expect(readerOf(operationIn(document, id), document.operations)?.id).toBe(reader);
});

test('the resource of the operation putBeds is read by no operation', async () => {
  const document = await roomsOf({});
  expect(readerOf(operationIn(document, 'putBeds'), document.operations)).toBeUndefined();
});
