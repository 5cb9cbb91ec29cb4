import { afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { documentFile, scripted, serve } from 'test-support/documents';
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

describe('JSON Schema 2020-12', () => {
  test('defaults are filled in, as copies', async () => {
    const received: unknown[] = [];
    const keep: AnyHandler = ({ body }) => {
      received.push(structuredClone(body));
      // Later requests get a default of their own.
      Object(body).w.push(2);
      return { status: 200, body: {} };
    };
    const { client } = await serve(documentFile('schemas.yaml'), { filled: keep }, MOCKED);
    await client.post('/filled').send({}).expect(200);
    await client.post('/filled').send({}).expect(200);
    await client
      .post('/filled')
      .send({ z: { n: 5 } })
      .expect(200);
    expect(received).toEqual([
      { x: null, z: { n: 2 }, d: 1, w: [1] },
      { x: null, z: { n: 2 }, d: 1, w: [1] },
      { x: null, z: { n: 5 }, d: 1, w: [1] },
    ]);
  });

  test('a member of a reply that is undefined is missing', async () => {
    script.next = () => ({ status: 200, body: { a: { b: 1, c: undefined }, b: undefined } });
    await post('/filled', {}).expect(200, { a: { b: 1 } });
    script.next = () => ({ status: 200, body: { a: { b: 1, c: null }, d: 2 } });
    await post('/filled', {}).expect(200, { a: { b: 1 } });
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
