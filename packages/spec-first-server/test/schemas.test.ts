import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { documentFile, scripted, serve, withFiles } from 'test-support/documents';
import type { AnyHandler, AnyReply } from '../src/core/handlers/types.ts';
import type { Problem } from '../src/core/response/problem.ts';

type Served = Awaited<ReturnType<typeof serve>>;

const output = [
  jest.spyOn(console, 'warn'),
  jest.spyOn(console, 'error'),
  jest.spyOn(console, 'log'),
];
afterEach(() => {
  for (const written of output) expect(written).not.toHaveBeenCalled();
});

let served: Served;
const { script, handler } = scripted();
const echo: AnyHandler = ({ body }) => ({ status: 200, body });
beforeAll(async () => {
  served = await serve(documentFile('schemas.yaml'), {
    ...{
      pet: echo,
      shapes: echo,
      described: echo,
      modern: echo,
      messages: echo,
      chains: echo,
      events: echo,
    },
    ...{ account: handler, tree: handler, filled: handler },
  });
});

const MOCKED = { missing: 'mock' } as const;
const post = (path: string, body: object) => served.client.post(path).send(body);
const expectViolation = async (path: string, body: object, message: string) => {
  const response = await post(path, body);
  expect([response.status, response.body.message]).toEqual([400, message]);
};
const expectValid = async (path: string, body: object, echoed = body) => {
  const response = await post(path, body);
  expect([response.status, response.body]).toEqual([200, echoed]);
};

describe('readOnly and writeOnly', () => {
  test('a readOnly property is optional in a request and removed, also beside an allOf', async () => {
    const requests: unknown[] = [];
    const account: AnyHandler = ({ body }) => {
      requests.push(body);
      return { status: 200, body: { id: 1, name: 'a' } };
    };
    const { client } = await serve(documentFile('schemas.yaml'), { account }, MOCKED);
    const sent = { name: 'a', password: 'b' };
    for (const body of [sent, { ...sent, id: 1 }, { ...sent, id: null }])
      await client.post('/accounts').send(body).expect(200, { id: 1, name: 'a' });
    expect(requests).toEqual([sent, sent, sent]);
    await expectViolation('/accounts', { name: 'a' }, '/body/password is required');
  });

  test('a writeOnly property of a reply is removed, and a missing readOnly property becomes a 500', async () => {
    script.next = () => ({ status: 200, body: { id: 1, name: 'a', password: 'b' } });
    await post('/accounts', { name: 'a', password: 'b' }).expect(200, { id: 1, name: 'a' });
    script.next = () => ({ status: 200, body: { name: 'a' } });
    await post('/accounts', { name: 'a', password: 'b' }).expect(500);
  });
});

test('a writeOnly property of a reply is removed in a document of OpenAPI 3.0', async () => {
  const account =
    '{ type: object, properties: { name: { type: string }, password: { type: string, writeOnly: true } } }';
  const document = `openapi: 3.0.3
info: { title: Accounts, version: 1.0.0 }
paths:
  /accounts:
    get:
      operationId: list
      responses: { '200': { description: all, content: { application/json: { schema: { type: array, items: { nullable: true, allOf: [${account}] } } } } } }
`;
  const list: AnyHandler = () => ({ status: 200, body: [{ name: 'a', password: 'secret' }] });
  const { client } = await withFiles({ 'openapi.yaml': document }, (folder) =>
    serve(join(folder, 'openapi.yaml'), { list }),
  );
  await client.get('/accounts').expect(200, [{ name: 'a' }]);
});

test('writeOnly members of a reply that are not in the keyword properties are removed', async () => {
  const secret = '{ $ref: "#/components/schemas/Secret" }';
  const document = `openapi: 3.1.0
info: { title: Secrets, version: 1.0.0 }
paths:
  /others:
    get:
      operationId: others
      responses: { '200': { description: all, content: { application/json: { schema: { properties: { name: {} }, additionalProperties: ${secret} } } } } }
  /matching:
    get:
      operationId: matching
      responses: { '200': { description: all, content: { application/json: { schema: { patternProperties: { '^name$': {}, ^key: ${secret} } } } } } }
components: { schemas: { Secret: { type: string, writeOnly: true } } }
`;
  const body = { name: 'a', key1: 'secret' };
  const handler: AnyHandler = () => ({ status: 200, body });
  const { client } = await withFiles({ 'openapi.yaml': document }, (folder) =>
    serve(join(folder, 'openapi.yaml'), { others: handler, matching: handler }),
  );
  await client.get('/others').expect(200, { name: 'a' });
  await client.get('/matching').expect(200, { name: 'a' });
});

describe('a discriminator', () => {
  test('is not needed if a required property has a different constant in each schema', async () => {
    await expectValid(
      '/messages',
      { role: 'user', text: 'a' },
      { role: 'user', text: 'a', stars: 3 },
    );
    await expectValid('/messages', { role: 'tool', call: 1 });
    await expectViolation('/messages', { role: 'tool', text: 'a' }, '/body/call is required');
    await expectViolation(
      '/messages',
      { role: 'User', text: 'a' },
      '/body/role must be equal to one of the allowed values: user, tool, other',
    );
    await expectViolation('/messages', { text: 'a' }, '/body/role is required');
    await expectViolation('/messages', [], '/body must be object');
  });

  test('selects the only schema that is validated, even if others match', async () => {
    await expectValid('/shapes', {
      list: [
        { kind: 'round', radius: 1, side: 1 },
        { kind: 'square', side: 1 },
      ],
      maybe: null,
    });
    const response = await post('/shapes', { list: [{ kind: 'round', side: 1 }] });
    expect(response.body.message).toBe('/body/list/0/radius is required');
    await expectValid('/shapes', { maybe: { kind: 'Circle', radius: 1 } });
    await expectViolation(
      '/shapes',
      { list: [{ kind: 'round' }] },
      '/body/list/0/radius is required',
    );
    await expectViolation(
      '/shapes',
      { list: [{ kind: 'oval' }] },
      '/body/list/0/kind must be equal to one of the allowed values: round, square',
    );
    await expectViolation(
      '/shapes',
      { maybe: { kind: 'Circle' } },
      '/body/maybe/radius is required',
    );
    await expectViolation('/shapes', { list: [{ radius: 1 }] }, '/body/list/0/kind is required');
  });

  test('does not select a schema with x-selects: false', async () => {
    const send = (shape: object) => post('/described', shape);
    await send({ kind: 'oval', radius: 1 }).expect(200);
    await send({ kind: 'round', side: 1 }).expect(200);
    const both = await send({ kind: 'round', radius: 1, side: 1 }).expect(400);
    expect(both.body.message).toBe('/body must match exactly one schema in oneOf');
  });

  test('may be optional, with a schema for missing and unknown values', async () => {
    const { client } = await serve(documentFile('schemas.yaml'), { events: echo }, MOCKED);
    const send = (event: object) => client.post('/events').send(event);
    await send({ type: 'made', by: 'a' }).expect(200);
    await send({ text: 'a' }).expect(200, { text: 'a', level: 1 });
    await send({ type: 'new', text: 'a' }).expect(200);
    expect((await send({ type: 'made' }).expect(400)).body.message).toBe('/body/by is required');
    expect((await send({ type: 'new' }).expect(400)).body.message).toBe('/body/text is required');
  });

  test('of a parent schema selects a schema that extends it by allOf', async () => {
    await expectValid(
      '/pets',
      { petType: 'dog', name: 'a', bark: 'wow' },
      { petType: 'dog', name: 'a', bark: 'wow', volume: 7 },
    );
    await expectValid('/pets', { petType: 'Kitten', name: 'a', lives: 9, weeks: 2 });
    await expectViolation(
      '/pets',
      { petType: 'Kitten', name: 'a', lives: 9 },
      '/body/weeks is required',
    );
    await expectViolation(
      '/pets',
      { petType: 'Cow', name: 'a' },
      '/body/petType must be equal to one of the allowed values: dog, Cat, Kitten',
    );
    await expectViolation('/pets', { name: 'a' }, '/body/petType is required');
    await post('/pets', []).expect(400);
  });
});

describe('JSON Schema 2020-12', () => {
  test.each([
    [{ maybe: null, fixed: 1, tuple: [1, 'a'], described: 'abc', extra: 'a' }],
    [{ when: '2024-02-29T12:00:00Z', day: '2024-02-29' }],
    [{ size: 2.5 }],
    [{ set: [1, '1', null, 'null', true, 'true', [], {}] }],
    [{ mixed: 1 }],
    [{ mixed: 'ab' }],
    [{ mixed: null }],
    [{ open: 'a' }],
    [{ held: ['a', 1, true, 2] }],
    [
      {
        set: [
          { a: 1, b: [2] },
          { b: [2], a: 2 },
        ],
      },
    ],
  ])('%j is valid', async (body) => {
    await expectValid('/modern', body, { ...body, loose: 'a-b' });
  });

  test.each<[object, string]>([
    [{ maybe: 'a' }, '/body/maybe must NOT have fewer than 2 characters'],
    [{ fixed: 2 }, '/body/fixed must be equal to one of the allowed values: 1'],
    [{ size: 2 }, '/body/size must be equal to one of the allowed values: 1, 2.5, big'],
    [{ tuple: ['a'] }, '/body/tuple/0 must be integer'],
    [{ tuple: [1, 'a', 2] }, '/body/tuple/2 must not be present'],
    [{ unknown: 1 }, '/body/unknown must NOT have unevaluated properties'],
    [{ described: 'abcd' }, '/body/described must NOT have more than 3 characters'],
    [{ when: 'yesterday' }, '/body/when must match format "date-time"'],
    [{ day: '2023-02-29' }, '/body/day must match format "date"'],
    [{ never: 1 }, '/body/never must not be present'],
    [
      {
        set: [
          { a: 1, b: [2] },
          { b: [2], a: 1 },
        ],
      },
      '/body/set must NOT have duplicate items (items ## 0 and 1 are identical)',
    ],
    [{ mixed: 0 }, '/body/mixed must be >= 1'],
    [{ mixed: 'a' }, '/body/mixed must NOT have fewer than 2 characters'],
    [{ mixed: [] }, '/body/mixed must be integer or string or null'],
    [{ open: 11 }, '/body/open must be <= 10'],
    [{ loose: 'a-c' }, '/body/loose must match pattern "^a\\-b$"'],
    [{ none: 1 }, '/body/none must not be present: its enum is empty'],
    [{ misfit: 'ten' }, '/body/misfit must be integer'],
    [{ held: ['a', 1, 'b'] }, '/body/held/2 must be boolean'],
  ])('%j has the violation %j', async (body, message) => {
    await expectViolation('/modern', body, message);
  });

  test('a default is filled in if it matches its schema', async () => {
    await expectValid('/modern', {}, { loose: 'a-b' });
  });

  test('defaults are filled in after the validation, which does not reject them', async () => {
    const received: unknown[] = [];
    const keep: AnyHandler = ({ body }) => {
      received.push(body);
      return { status: 200, body: {} };
    };
    const { client } = await serve(documentFile('schemas.yaml'), { filled: keep }, MOCKED);
    await client.post('/filled').send({}).expect(200);
    await client
      .post('/filled')
      .send({ z: { n: 5 } })
      .expect(200);
    expect(received).toEqual([
      { x: null, z: { n: 2 }, d: 1 },
      { x: null, z: { n: 5 }, d: 1 },
    ]);
    await client.post('/filled').send({ d: 1 }).expect(400);
  });

  test('a member of a reply that is undefined is missing', async () => {
    script.next = () => ({ status: 200, body: { a: { b: 1, c: undefined }, b: undefined } });
    await post('/filled', {}).expect(200, { a: { b: 1 } });
    script.next = () => ({ status: 200, body: { a: { b: 1, c: null }, d: 2 } });
    await post('/filled', {}).expect(200, { a: { b: 1 } });
  });

  test('a default of an alternative that does not match is not filled in', async () => {
    await expectValid('/modern', { either: { b: 1 } }, { either: { b: 1 }, loose: 'a-b' });
  });

  test('schemas may be recursive', async () => {
    const tree = { value: 1, children: [{ value: 2, children: [] }] };
    script.next = () => ({ status: 200, body: tree });
    await expectValid('/trees', tree);
    const wrong = { value: 1, children: [{}] };
    await expectViolation('/trees', wrong, '/body/children/0/value is required');
    script.next = () => ({ status: 200, body: wrong });
    await post('/trees', tree).expect(500);
  });
});

test('the error body gets the path, the message, the keyword and the values of each violation', async () => {
  const errorBody = { mediaType: 'application/json', make: ({ errors }: Problem) => ({ errors }) };
  const { client } = await serve(
    documentFile('schemas.yaml'),
    { modern: echo },
    { ...MOCKED, errorBody },
  );
  const errorsOf = async (body: object, query = '') =>
    (await client.post(`/modern${query}`).send(body).expect(400)).body.errors;
  expect(
    await errorsOf({ maybe: 'a', tuple: ['a'], 'x/y~z': 1, set: [1, 1], mixed: 0, size: 3 }),
  ).toEqual(
    expect.arrayContaining([
      {
        path: '/body/maybe',
        message: 'must NOT have fewer than 2 characters',
        keyword: 'minLength',
        params: expect.anything(),
      },
      {
        path: '/body/tuple/0',
        message: 'must be integer',
        keyword: 'type',
        params: expect.anything(),
      },
      {
        path: '/body/x~1y~0z',
        message: 'must NOT have unevaluated properties',
        keyword: 'unevaluatedProperties',
        params: expect.anything(),
      },
      {
        path: '/body/set',
        message: expect.stringContaining('duplicate items'),
        keyword: 'uniqueItems',
        params: expect.anything(),
      },
      {
        path: '/body/mixed',
        message: 'must be >= 1',
        keyword: 'minimum',
        params: expect.anything(),
      },
      {
        path: '/body/size',
        message: expect.stringContaining('allowed values: 1, 2.5, big'),
        keyword: 'enum',
        params: expect.anything(),
      },
    ]),
  );
  expect(await errorsOf({}, '?unknown=1')).toEqual([
    {
      path: '/query/unknown',
      message: 'is not a parameter of this operation',
      keyword: 'additionalProperties',
    },
  ]);
  const many = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`x${index}`, 1]));
  expect(await errorsOf(many)).toHaveLength(20);
});

test('a response names the first 20 violations of a value with thousands', async () => {
  const small = Array.from({ length: 100 }, () => ({}));
  const missing = await post('/trees', { value: 1, children: small }).expect(400);
  expect(missing.body.message).toMatch(/; and more$/);
  const large = Array.from({ length: 3000 }, () => ({}));
  const many = await post('/trees', { value: 1, children: large }).expect(400);
  expect(many.body.message).toMatch(/^\/body\/children\/0\/value is .*; and more$/);
  script.next = () => ({ status: 200, body: { value: 1, children: large } });
  await post('/trees', { value: 1 }).expect(500);
});

describe('a recursive oneOf', () => {
  const nested = (depth: number): string => {
    let body = '{"kind":"a","end":9007199254740993}';
    for (let level = 0; level < depth; level += 1) body = `{"kind":"b","next":${body}}`;
    return body;
  };
  let deepReply: unknown;
  let client: Served['client'];
  beforeAll(async () => {
    const chains: AnyHandler = ({ body }) => ({ status: 200, body: deepReply ?? body });
    ({ client } = await serve(documentFile('schemas.yaml'), { chains }, MOCKED));
  });
  const send = (body: string) =>
    client.post('/chains').set('Content-Type', 'application/json').responseType('blob').send(body);

  test('keeps large integers exact', async () => {
    expect(String((await send(nested(4)).expect(200)).body)).toBe(nested(4));
  });

  test('is answered if it is deep', async () => {
    expect(String((await send(nested(60)).expect(200)).body)).toBe(nested(60));
    deepReply = JSON.parse(nested(60));
    await send(nested(1)).expect(200);
  });
});

describe('the time of a validation', () => {
  let client: Served['client'];
  let lines: Served['lines'];
  let reply: AnyReply = { status: 204 };
  beforeAll(async () => {
    ({ client, lines } = await serve(
      documentFile('costly.yaml'),
      { costly: () => reply },
      { bodyLimit: 500_000 },
    ));
  });
  const post = (body: object, query = '') => client.post(`/costly${query}`).send(body);

  test.each<[string, object, string]>([
    ['a cubic pattern', { email: '@'.repeat(100_000) }, '/body is too expensive to validate'],
    ['a quadratic pattern', { word: 'ab'.repeat(100_000) }, '/body is too expensive to validate'],
    ['an exponential pattern', { group: `${'a'.repeat(40)}b` }, '/body/group must match pattern'],
    [
      'an exponential pattern of alternatives',
      { choices: `${'a'.repeat(19)}b` },
      '/body/choices must match pattern',
    ],
    [
      'an exponential pattern whose groups are counted',
      { counted: 'a'.repeat(81) },
      '/body/counted must match pattern',
    ],
    [
      'a format whose time is quadratic',
      { link: `http://a/?${'::'.repeat(60_000)}` },
      '/body/link must match format',
    ],
    ['an exponential pattern of names', { names: { [`${'a'.repeat(40)}b`]: 'a' } }, ''],
  ])('is short for %s', async (_what, body, message) => {
    const answer = await post(body);
    expect(String(answer.body.message ?? '')).toContain(message);
    const inQuery = await post({}, `?q=${'a'.repeat(40)}b`).expect(400);
    expect(inQuery.body.message).toContain('/query/q must match pattern');
  });

  test('is short for a reply: it becomes a 500', async () => {
    reply = { status: 200, body: 'ab'.repeat(100_000) };
    await post({}).expect(500);
    reply = { status: 204 };
    expect(JSON.stringify(lines.at(-1))).toContain('/body is too expensive to validate');
  });

  test('a long value that is quick to validate is accepted, and its violations are named', async () => {
    await post({ email: `${'a'.repeat(100)}@example.com`, group: 'a'.repeat(10_000) }).expect(204);
    await post({ list: Array.from({ length: 3000 }, () => 1) }).expect(204);
    const response = await post({ list: Array.from({ length: 3000 }, () => 1), word: '' }).expect(
      400,
    );
    expect(response.body.message).toBe('/body/word must match pattern "^a.*b.*c$"');
  });
});
