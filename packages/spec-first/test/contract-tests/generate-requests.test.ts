import { describe, expect, test } from '@jest/globals';
import { createRequestGenerator } from '../../src/contract-tests/generate-requests.ts';
import { type RequestValues, valuesByName } from '../../src/contract-tests/request-parts.ts';
import { trackResources } from '../../src/contract-tests/resources.ts';
import {
  checkedOperation,
  documentOf,
  json,
  operationIn,
  requestValues,
  responseOf,
} from './test-data.ts';

const text = { type: 'string' };
const content = (type: string, schema: unknown, members: object = {}) => ({
  [type]: { schema, ...members },
});
const parameter = (where: string, name: string, schema: object = text, members: object = {}) => ({
  ...{ name, in: where, required: where === 'path', schema },
  ...members,
});

async function requestsTo(members: object, { randomSeed = 1, path = '/a', method = 'post' } = {}) {
  const operation = { operationId: 'call', responses: {}, ...members };
  const document = await documentOf({ paths: { [path]: { [method]: operation } } });
  const { root, operations } = document;
  const call = operationIn(document, 'call');
  const resources = trackResources(root, operations);
  const checked = checkedOperation(document, call);
  const addResponse = (
    values: Readonly<Record<string, unknown>>,
    headers = {},
    body: unknown = '',
  ) => resources.addResponse(call, requestValues(call, values), responseOf(200, headers, body));
  return { ...createRequestGenerator(checked, resources, randomSeed), resources, addResponse };
}

const bodyIn = (values: RequestValues) => valuesByName(values, 'body')[''];
const bodiesOf = (requests: Iterable<{ readonly values: RequestValues }>) =>
  [...requests].map(({ values }) => bodyIn(values));
const valuesAt = (
  requests: Iterable<{ readonly values: RequestValues }>,
  where: 'path' | 'query' | 'header',
  name: string,
) => [...requests].map(({ values }) => valuesByName(values, where)[name]);

const ROOM = {
  type: 'object',
  required: ['name', 'beds'],
  properties: {
    name: { type: 'string', minLength: 2, maxLength: 9 },
    beds: { type: 'array', minItems: 1, maxItems: 3, items: { type: 'integer', minimum: 1 } },
    color: { enum: ['red', 'green'] },
  },
};
const ADD_ROOM = { requestBody: { required: true, ...json(ROOM) } };

describe('valid requests', () => {
  test('are the same for the same random seed, and others for another one', async () => {
    const bodies = async (randomSeed: number) =>
      bodiesOf((await requestsTo(ADD_ROOM, { randomSeed })).valid(10, 10));
    expect(await bodies(1)).toEqual(await bodies(1));
    expect(await bodies(2)).not.toEqual(await bodies(1));
  });

  test('vary each member', async () => {
    const { valid } = await requestsTo(ADD_ROOM);
    const rooms = bodiesOf(valid(40)).map(Object);
    for (const name of ['name', 'beds', 'color'])
      expect(new Set(rooms.map((room) => JSON.stringify(room[name]))).size).toBeGreaterThan(2);
    for (const room of rooms) expect(room.name.length).toBeGreaterThan(1);
  });

  test('have each example first, for each media type', async () => {
    const examples = (...values: unknown[]) => ({
      examples: Object.fromEntries(values.map((value, index) => [index, { value }])),
    });
    const { valid } = await requestsTo({
      parameters: [parameter('query', 'q', text, { required: true, ...examples('x', 'y', 'z') })],
      requestBody: {
        required: true,
        content: {
          ...content('application/json', text, examples('a', 'b')),
          ...content('text/plain', text, examples('c')),
        },
      },
    });
    const requests = [...valid(1)];
    expect(requests.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4, 5]);
    expect(valuesAt(requests, 'query', 'q').slice(0, 3)).toEqual(['x', 'y', 'z']);
    expect(bodiesOf(requests).slice(0, 3)).toEqual(['a', 'c', 'b']);
    const types = requests.map(({ values }) => [...values.keys()].at(-1)?.media?.type);
    expect(types.slice(0, 3)).toEqual(['application/json', 'text/plain', 'application/json']);
    expect([...valid(8)]).toHaveLength(8);
  });

  test('sometimes omit optional values', async () => {
    const { valid } = await requestsTo({
      parameters: [parameter('query', 'a'), parameter('query', 'b', text, { required: true })],
    });
    const requests = [...valid(50)];
    const missing = valuesAt(requests, 'query', 'a').filter((value) => value === undefined).length;
    expect(missing).toBeGreaterThan(2);
    expect(missing).toBeLessThan(25);
    expect(valuesAt(requests, 'query', 'b')).not.toContain(undefined);
  });

  test('end with one request for each edge case', async () => {
    const schema = { type: 'integer', minimum: 3, maximum: 900 };
    const query = [parameter('query', 'size', schema), parameter('query', 'cursor')];
    const { valid } = await requestsTo({
      parameters: query,
      requestBody: { ...json({ enum: ['a', 'b'] }) },
    });
    const edgeCases = [...valid(4, 100)].slice(4);
    const sizes = valuesAt(edgeCases, 'query', 'size');
    expect(sizes.filter((size) => size === 3 || size === 900).length).toBeGreaterThan(1);
    expect(edgeCases.length).toBeLessThan(9);
    expect(bodiesOf(edgeCases)).toEqual(expect.arrayContaining(['a', 'b']));
    expect([...valid(4, 2)]).toHaveLength(6);
    expect(valuesAt(edgeCases, 'query', 'cursor')).toEqual(edgeCases.map(() => undefined));
    for (const [part, value] of edgeCases.flatMap(({ values }) => [...values]))
      expect(part.violation(value)).toBe('');
    for (const { values } of edgeCases)
      expect([...values.keys()].filter((part) => part.in === 'body')).toHaveLength(1);
  });
});

describe('existing resources', () => {
  const path = '/rooms/{roomId}';
  const roomId = parameter('path', 'roomId', { type: 'integer', minimum: 1 });
  const withRooms = async (members: object = {}, options: object = {}) => {
    const requests = await requestsTo({ parameters: [roomId], ...members }, { path, ...options });
    for (const id of [1_000_001, 1_000_002, 1_000_003]) requests.addResponse({ 'path roomId': id });
    return requests;
  };
  const isExisting = (id: unknown) => Number(id) > 1_000_000 && Number(id) < 1_000_004;

  test.each([
    ['call', [true, false, true, false, true, false, true, false]],
    ['closeRoom', [true, false, true, true, true, false, true, true]],
  ])(
    'are in every second request, or in three of four if the operation ends them: %s',
    async (operationId, expected) => {
      const operation = { operationId, parameters: [roomId], responses: {} };
      const document = await documentOf({ paths: { [path]: { post: operation } } });
      const { root, operations } = document;
      const call = operationIn(document, operationId);
      const resources = trackResources(root, operations);
      resources.addResponse(
        call,
        requestValues(call, { 'path roomId': 1_000_001 }),
        responseOf(200),
      );
      const { valid } = createRequestGenerator(checkedOperation(document, call), resources, 1);
      expect(valuesAt(valid(8), 'path', 'roomId').map(isExisting)).toEqual(expected);
    },
  );

  test('are mostly the newest ones, and sometimes older ones', async () => {
    const { valid } = await withRooms();
    const ids = valuesAt(valid(60), 'path', 'roomId').filter(isExisting);
    const count = (id: number) => ids.filter((other) => other === id).length;
    expect(count(1_000_001)).toBeGreaterThan(0);
    expect(count(1_000_003)).toBeGreaterThan(count(1_000_001));
  });

  test('are called from the newest to the oldest', async () => {
    const { existing } = await withRooms();
    const requests = [...existing(6)];
    expect(valuesAt(requests, 'path', 'roomId').map((id) => Number(id) % 10)).toEqual([
      3, 3, 2, 2, 1, 1,
    ]);
    expect(requests.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4, 5]);
  });

  test('have their ids in queries and at each level of bodies, if these are valid there', async () => {
    const integer = { type: 'integer', minimum: 1 };
    const properties = {
      roomId: integer,
      list: {
        type: 'array',
        minItems: 1,
        items: { type: 'object', required: ['room_id'], properties: { room_id: integer } },
      },
    };
    const { existing } = await withRooms({
      parameters: [
        roomId,
        parameter('query', 'room_id', integer, { required: true }),
        parameter('query', 'roomID', text, { required: true }),
      ],
      requestBody: {
        required: true,
        ...json({ type: 'object', required: ['roomId', 'list'], properties }),
      },
    });
    for (const { values } of existing(5)) {
      const query = valuesByName(values, 'query');
      const body = Object(bodyIn(values));
      expect([query.room_id, body.roomId, body.list[0].room_id].every(isExisting)).toBe(true);
      expect(typeof query.roomID).toBe('string');
    }
  });

  test('do not replace an edge case in the path', async () => {
    const { valid } = await withRooms();
    const edgeCases = valuesAt([...valid(2, 10)].slice(2), 'path', 'roomId');
    expect(edgeCases).toContain(1);
  });

  test('have their ids in bodies of edge cases', async () => {
    const properties = { roomId: { type: 'integer' }, size: { type: 'integer', maximum: 5 } };
    const schema = { type: 'object', required: ['roomId', 'size'], properties };
    const { valid } = await withRooms({ requestBody: { required: true, ...json(schema) } });
    const edgeCases = bodiesOf([...valid(2, 40)].slice(2)).map(Object);
    const atBound = edgeCases.filter(({ size }) => size === 5);
    expect(atBound.length).toBeGreaterThan(0);
    expect(atBound.every((body) => isExisting(body.roomId))).toBe(true);
  });

  test('have their entity tags in If-Match', async () => {
    const header = (name: string) => parameter('header', name, text, { required: true });
    const { existing, addResponse } = await requestsTo(
      { parameters: [roomId, header('if-match'), header('If-None-Match')] },
      { path },
    );
    addResponse({ 'path roomId': 7 }, { etag: '"v1"' });
    const requests = [...existing(3)];
    expect(valuesAt(requests, 'header', 'if-match')).toEqual(['"v1"', '"v1"', '"v1"']);
    expect(valuesAt(requests, 'header', 'If-None-Match')).not.toContain('"v1"');
  });
});

test('a cursor is only sent if a response contained it', async () => {
  const { valid, addResponse } = await requestsTo(
    {
      parameters: [
        parameter('query', 'cursor'),
        parameter('query', 'after', { ...text, format: 'date' }),
      ],
    },
    { method: 'get' },
  );
  expect(new Set(valuesAt(valid(9), 'query', 'cursor'))).toEqual(new Set([undefined]));
  expect(valuesAt(valid(9), 'query', 'after').filter((date) => date !== undefined)).not.toEqual([]);
  addResponse({}, {}, { next: 'page-2' });
  expect(new Set(valuesAt(valid(9), 'query', 'cursor'))).toEqual(new Set(['page-2']));
});

describe('invalid requests', () => {
  const labelsOf = async (members: object, runs = 400) =>
    (await requestsTo(members)).invalid(runs).map(({ label }) => label);

  test('violate each rule of a body and of parameters', async () => {
    const labels = await labelsOf({
      parameters: [
        parameter('query', 'limit', { type: 'integer', maximum: 9 }, { required: true }),
        parameter('header', 'X-A', text, { required: true }),
      ],
      requestBody: { required: true, ...json({ ...ROOM, required: ['name', 'beds', 'color'] }) },
    });
    expect(labels).toEqual(
      expect.arrayContaining([
        'a request without the query parameter limit',
        'a request without the header parameter X-A',
        'a request without a body',
        'a wrong media type',
        'a body that is not JSON',
        'an undeclared query parameter',
      ]),
    );
    for (const violation of [
      /^a missing value where \/body\/name is required/,
      /^a (number|boolean) where \/body\/name must be string/,
      /^a string where \/body\/name must NOT have more than 9/,
      /^a string where \/body\/name must NOT have fewer than 2/,
      /^an array where \/body\/beds must NOT have more than 3/,
      /^an array where \/body\/beds must NOT have fewer than 1/,
      /^a negative number where \/body\/beds\/0 must be >= 1/,
      /^a string where \/body\/color must be equal to one of/,
      /^an array where \/body must be object/,
      /^an empty string where \/body must be object/,
      /where \/query\/limit must be <= 9/,
    ])
      expect(labels).toContainEqual(expect.stringMatching(violation));
  });

  test('differ from a valid request in one place', async () => {
    const { invalid } = await requestsTo({
      parameters: [
        parameter('query', 'a'),
        parameter('query', 'limit', { type: 'integer' }, { required: true }),
      ],
      ...ADD_ROOM,
    });
    for (const { label, values, rawBody, contentType, undeclaredQuery, violation } of invalid(
      400,
    )) {
      const wrong = [...values].filter(([part, value]) => part.violation(value) !== '');
      const names = [...values.keys()].map(({ name }) => name);
      expect([label, names.includes('limit')]).toEqual([
        label,
        label !== 'a request without the query parameter limit',
      ]);
      const isDeviation = [rawBody, contentType, undeclaredQuery].some(
        (deviation) => deviation !== undefined,
      );
      if (label.startsWith('a request without')) expect(wrong).toEqual([]);
      else expect([label, wrong.length]).toEqual([label, isDeviation ? 0 : 1]);
      expect(violation === undefined).toBe(isDeviation || label.startsWith('a request without'));
      if (violation === undefined) continue;
      expect(label).toContain(` where ${violation}`);
      // Optional parameters could hide the mistake.
      expect(names).not.toContain('a');
    }
  });

  test.each([
    [1, 1],
    [8, 4],
    [400, 6],
  ])('for %i runs contain the same mistake %i times', async (runs, count) => {
    expect(await labelsOf({}, runs)).toEqual(Array(count).fill('an undeclared query parameter'));
  });

  test('do not omit a part that is optional', async () => {
    const requestBody = json({ type: 'object' });
    const labels = await labelsOf({ parameters: [parameter('query', 'a')], requestBody });
    expect(labels.filter((label) => label.startsWith('a request without'))).toEqual([]);
  });

  test('have distinct mistakes first', async () => {
    expect(new Set(await labelsOf(ADD_ROOM, 12)).size).toBe(12);
  });

  test.each([
    ['application/*', []],
    ['*/*', []],
    ['text/plain; note=*', ['a wrong media type']],
  ])(
    'have a wrong media type, unless the document declares a range: %s',
    async (type, expected) => {
      const labels = await labelsOf({
        requestBody: { required: true, content: content(type, text) },
      });
      expect(labels.filter((label) => label === 'a wrong media type').slice(0, 1)).toEqual(
        expected,
      );
    },
  );

  test('have no wrong media type without a body, or if one of several is a range', async () => {
    const query = await labelsOf({ parameters: [parameter('query', 'q', { type: 'integer' })] });
    expect(query.length).toBeGreaterThan(1);
    expect(query).not.toContain('a wrong media type');
    const both = { ...content('application/json', text), ...content('image/*', text) };
    const labels = await labelsOf({ requestBody: { required: true, content: both } });
    expect(labels).not.toContain('a wrong media type');
  });

  test('have an undeclared parameter, unless a query parameter is an object', async () => {
    const query = (schema: object) => ({
      parameters: [parameter('query', 'q', schema, { required: true })],
    });
    expect(await labelsOf(query(text))).toContain('an undeclared query parameter');
    const object = { type: 'object', required: ['a'], properties: { a: text } };
    const parameters = [...query(object).parameters, parameter('query', 'other')];
    expect(await labelsOf({ parameters })).not.toContain('an undeclared query parameter');
    const map = { type: 'object', additionalProperties: text };
    const optional = { parameters: [parameter('query', 'q', map)] };
    expect(await labelsOf(optional)).not.toContain('an undeclared query parameter');
  });

  test('do not change bodies of text', async () => {
    const labels = await labelsOf({
      requestBody: { required: true, content: content('text/plain', { ...text, maxLength: 3 }) },
    });
    expect(new Set(labels)).toEqual(
      new Set(['a request without a body', 'a wrong media type', 'an undeclared query parameter']),
    );
  });

  test.each(['application/x-www-form-urlencoded', 'multipart/form-data'])(
    'violate each rule of a form: %s',
    async (type) => {
      const schema = {
        type: 'object',
        required: ['size', 'name'],
        properties: {
          size: { type: 'integer', maximum: 9 },
          name: { type: 'string', maxLength: 5 },
          tags: { type: 'array', items: text, maxItems: 3 },
          photo: { type: 'string', format: 'binary', maxLength: 1 },
        },
        additionalProperties: false,
      };
      const example = { size: 1, name: 'a', tags: ['b'], photo: 'c' };
      const labels = await labelsOf({
        requestBody: { required: true, content: content(type, schema, { example }) },
      });
      const violations = labels.filter((label) => label.includes(' where '));
      for (const violation of [
        /^a missing value where \/body\/size is required/,
        /^a string where \/body.* must NOT have additional properties/,
        /^a string where \/body\/size must be integer/,
        /^a number where \/body\/size must be <= 9/,
        /^a string where \/body\/name must NOT have more than 5/,
        /^an array where \/body\/tags must NOT have more than 3/,
      ])
        expect(violations).toContainEqual(expect.stringMatching(violation));
      // Each field is text, or a file in `multipart/form-data`.
      const wrong = /(name|tags|tags\/\d) must be (string|array)/;
      expect(violations.filter((label) => wrong.test(label))).toEqual([]);
      const unit = type === 'multipart/form-data' ? 'bytes' : 'characters';
      expect(violations).toContainEqual(
        `a string where /body/photo must NOT have more than 1 ${unit}`,
      );
    },
  );

  test('have invalid items of a stream', async () => {
    const media = { 'application/jsonl': { itemSchema: { type: 'integer' } } };
    const labels = await labelsOf({ requestBody: { required: true, content: media } });
    expect(labels).toContainEqual(expect.stringMatching(/^a string where \/body/));
  });
});
