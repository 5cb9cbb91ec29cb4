import { beforeAll, describe, expect, test } from '@jest/globals';
import { documentFile, scripted, serve } from 'test-support/documents';
import { MAX } from 'test-support/int64';
import type { AnyHandler, AnyRequest } from '../src/core/handlers/types.ts';

const OUTSIDE = 'must be an integer from -9223372036854775808 to 9223372036854775807';

describe('over HTTP', () => {
  let client: Awaited<ReturnType<typeof serve>>['client'];
  const { script, handler } = scripted();
  const last: { request?: AnyRequest } = {};
  beforeAll(async () => {
    const integers: AnyHandler = (request) => {
      last.request = request;
      return handler(request);
    };
    ({ client } = await serve(documentFile('integers.yaml'), { integers, large: handler }));
  });
  const post = (body: string, target = '/integers/1') =>
    client.post(target).set('Content-Type', 'application/json').responseType('blob').send(body);
  const reply = (body: unknown, headers = {}) => {
    script.next = () => ({ status: 200, headers, body: { body } });
  };

  test.each<[string, string]>([
    ['1e300', OUTSIDE],
    ['9223372036854775808', OUTSIDE],
    ['-9223372036854775809', OUTSIDE],
    ['9007199254740992.5', OUTSIDE],
    ['0.5', 'must be integer'],
    ['1e-1', 'must be integer'],
  ])('%s is not an int64 in path, query or body', async (number, message) => {
    reply({});
    for (const [body, target, path] of [
      [`{"integer":${number}}`, '/integers/1', '/body/integer'],
      [`{"plain":${number}}`, '/integers/1', '/body/plain'],
      ['{}', `/integers/${number}`, '/path/id'],
      ['{}', `/integers/1?q=${number}`, '/query/q'],
      ['{}', `/integers/1?list=1,${number}`, '/query/list/1'],
    ] as const) {
      const response = await post(body, target).expect(400);
      expect(JSON.parse(String(response.body)).message).toContain(`${path} ${message}`);
    }
  });

  test('an integer without a format must be a safe integer in a request, and an int64 in a reply', async () => {
    reply({});
    for (const safe of [Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]) {
      await post(`{"safe":${safe}}`).expect(200);
      expect(last.request?.body).toEqual({ safe });
    }
    for (const unsafe of ['9007199254740992', '-9007199254740992', '1e20']) {
      const response = await post(`{"safe":${unsafe}}`).expect(400);
      const { message } = JSON.parse(String(response.body));
      expect(message).toMatch(
        /^\/body\/safe must be (an integer from -9007199254740991 to 9007199254740991|integer)$/,
      );
    }
    reply({ safe: MAX });
    expect(String((await post('{}').expect(200)).body)).toBe(`{"body":{"safe":${MAX}}}`);
  });

  test('a number of any size reaches the handler as the nearest double', async () => {
    reply({});
    await post('{"number":9007199254740993}', '/integers/1?number=9007199254740993').expect(200);
    expect(last.request?.body).toEqual({ number: 9007199254740992 });
    expect(last.request?.query).toEqual({ number: 9007199254740992 });
    await post('{"number":9007199254740992.5}').expect(200);
    expect(last.request?.body).toEqual({ number: 9007199254740992 });
    await post('{"number":1e300}').expect(200);
    expect(last.request?.body).toEqual({ number: 1e300 });
  });

  test('a default beyond 2^53 is exact', async () => {
    reply({});
    await post('{"filled":{}}').expect(200);
    expect(last.request?.body).toEqual({
      filled: { most: 2n ** 63n - 1n, all: [{ n: 9007199254740993n }] },
    });
  });

  test('the served document has exact numbers', async () => {
    for (const path of ['/openapi.json', '/openapi.yaml']) {
      const { text, body } = await client.get(path).expect(200);
      expect(text ?? String(body)).toContain('9007199254740993');
    }
  });

  test('a mock has exact values beyond 2^53', async () => {
    const { client } = await serve(documentFile('integers.yaml'), {}, { missing: 'mock' });
    const { text } = await client.get('/large').expect(200);
    expect(text).toBe(
      '{"only":9007199254740993,"first":9007199254740995,"shown":9007199254740997}',
    );
  });

  test.each<[unknown]>([[2n ** 63n], [-(2n ** 63n) - 1n], [2 ** 63], [0.5], [Number.NaN], ['1']])(
    'a reply with %p as an integer becomes a 500',
    async (value) => {
      reply({ integer: value });
      await post('{}').expect(500);
    },
  );

  test('a reply may contain any integer as a bigint', async () => {
    reply({ integer: 1n, number: 2n, unique: [MAX, MAX - 1n] });
    const response = await post('{}').expect(200);
    expect(String(response.body)).toBe(
      `{"body":{"integer":1,"number":2,"unique":[${MAX},${MAX - 1n}]}}`,
    );
  });
});
