import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { eventually } from 'test-support/eventually';
import { codePoint, randomValues } from 'test-support/random-values';
import {
  connected,
  type Exchange,
  exchange,
  type RawResponse,
  request,
} from 'test-support/raw-http';
import { parse } from 'yaml';
import { type Service, serve, TOKEN } from './support/plant-service.ts';

const LIMIT = 100 * 1024;

const AUTHORIZED = { Authorization: `Bearer ${TOKEN}` };
const JSON_BODY = { ...AUTHORIZED, 'Content-Type': 'application/json' };
/** A plant with an id that no generated body has. */
const PLANT = '{"id":-7203685477580,"name":"a"}';
const GOOD = request('POST /plants', JSON_BODY, PLANT);

let service: Service;

beforeAll(async () => {
  service = await serve();
});

afterEach(async () => {
  const { responses } = await exchange(service.port, GOOD);
  expect(responses.map(({ status }) => status)).toEqual([200]);
});

afterAll(() => service.stop());

const { components } = parse(readFileSync(join(import.meta.dirname, '../../openapi.yaml'), 'utf8'));
const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema({ $id: 'document', components });
const isError = ajv.compile({ $ref: 'document#/components/schemas/Error' });
const isPlant = ajv.compile({ $ref: 'document#/components/schemas/Plant' });

function expectDeclared({ status, headers, body }: RawResponse): void {
  const text = body.toString();
  expect({ text, isServerError: status >= 500 }).toEqual({ text, isServerError: false });
  if (status === 100) return;
  if (status === 302) {
    expect(headers.location).toBe('docs');
    return;
  }
  // OPTIONS *
  if (status === 204) {
    expect(headers.allow).toContain('POST');
    expect(text).toBe('');
    return;
  }
  expect(headers['content-type']).toBe('application/json');
  const value: unknown = JSON.parse(text);
  const isValid = status === 200 ? isPlant(value) : isError(value);
  expect({ status, text, isValid }).toEqual({ status, text, isValid: true });
  if (status !== 200) expect(Object(value).error).toBe(status);
  if (status === 401) expect(headers['www-authenticate']).toMatch(/^Bearer/);
  if (status === 405) expect(headers).toHaveProperty('allow');
}

function expectAllDeclared({ responses, rest, closed }: Exchange, minimum = 1): void {
  expect({ rest, closed: closed || responses.some(({ status }) => status >= 200) }).toEqual({
    rest: '',
    closed: true,
  });
  expect(responses.length).toBeGreaterThanOrEqual(minimum);
  for (const response of responses) expectDeclared(response);
}

const post = (
  body: string | Uint8Array,
  headers: Readonly<Record<string, string>> = {},
): Promise<Exchange> => {
  const bytes = Buffer.from(body);
  const head = request('POST /plants', {
    ...JSON_BODY,
    'Content-Length': String(bytes.length),
    ...headers,
  });
  return exchange(service.port, Buffer.concat([Buffer.from(head, 'latin1'), bytes]));
};

const check = async <T>(
  arbitrary: fc.Arbitrary<T>,
  property: (value: T) => Promise<void>,
): Promise<void> => fc.assert(fc.asyncProperty(arbitrary, property), randomValues(15));

/** A header value without CR and LF. */
const fieldValue = fc
  .array(
    fc.oneof(
      { weight: 9, arbitrary: fc.integer({ min: 0x20, max: 0x7e }) },
      { weight: 1, arbitrary: fc.integer({ min: 0x80, max: 0xff }) },
    ),
    { maxLength: 40 },
  )
  .map((codes) => String.fromCharCode(...codes).trim());

const mediaType = fc.oneof(
  fieldValue,
  fc.constantFrom(
    'application/json',
    'APPLICATION/JSON ; charset=utf-8',
    'application/json;charset=utf-16',
    'application/json; charset="',
    'application/*',
    '*/*',
    'multipart/form-data; boundary=a',
    'multipart/form-data',
    'application/x-www-form-urlencoded',
    'text/plain',
    'application/json;'.repeat(20),
    '__proto__',
    'constructor/prototype',
  ),
);

const coding = fc.oneof(
  fieldValue,
  fc.constantFrom('gzip', 'deflate', 'br', 'zstd', 'identity', 'GZIP', 'gzip, br', 'x-gzip', ''),
);

const innerJson = fc.oneof(
  fc.json(),
  fc.json({ stringUnit: codePoint }),
  fc.constantFrom(
    '1e999',
    '-0',
    '1e-400',
    '9'.repeat(400),
    '-9223372036854775809',
    '9223372036854775808',
    '0.1e1',
    '1E400',
    '123456789012345678901234567890.5',
    'NaN',
    '01',
    '"\\ud800"',
    '"\\u0000"',
    '{"__proto__":{"name":"a"}}',
    '{"constructor":{"prototype":{"name":"a"}}}',
    '{"toString":1,"hasOwnProperty":2}',
    '[]',
    'null',
  ),
);

/** JSON like that of a plant: valid and invalid members, duplicate keys, keys of Object.prototype. */
const plantLike = fc
  .array(
    fc.tuple(
      fc.constantFrom(
        'id',
        'name',
        'tag',
        '__proto__',
        'constructor',
        'prototype',
        'toString',
        '',
        'length',
        'toJSON',
        '\\u0069d',
      ),
      innerJson,
    ),
    { maxLength: 8 },
  )
  .map((members) => `{${members.map(([key, value]) => `"${key}":${value}`).join(',')}}`);

const body = fc.oneof(
  fc.uint8Array({ maxLength: 300 }),
  plantLike,
  innerJson,
  fc.string({ unit: codePoint, maxLength: 100 }),
);

describe('a random body', () => {
  test('as JSON gets a declared response', async () => {
    await check(fc.oneof(body, plantLike), async (bytes) => expectAllDeclared(await post(bytes)));
  });

  test('of any media type and encoding gets a declared response', async () => {
    await check(fc.tuple(body, mediaType, coding), async ([bytes, type, encoding]) =>
      expectAllDeclared(await post(bytes, { 'Content-Type': type, 'Content-Encoding': encoding })),
    );
  });

  test('in any chunks gets a declared response', async () => {
    const chunked = request('POST /plants', { ...JSON_BODY, 'Transfer-Encoding': 'chunked' });
    const chunk = fc.tuple(
      fc.uint8Array({ minLength: 1, maxLength: 30 }),
      fc.boolean(),
      fc.integer({ min: 0, max: 20 }),
    );
    await check(fc.array(chunk, { maxLength: 8 }), async (chunks) => {
      const sent = chunks.map(([bytes, isRight, excess]) => {
        const size = (isRight ? bytes.length : bytes.length + excess).toString(16);
        return `${size}\r\n${Buffer.from(bytes).toString('latin1')}\r\n`;
      });
      expectAllDeclared(
        await exchange(service.port, `${chunked}${sent.join('')}0\r\n\r\n`, { end: true }),
      );
    });
  });

  test('of valid, deeply nested JSON gets a declared response', async () => {
    for (const depth of [1_000, 51_000]) {
      const nested = '['.repeat(depth) + ']'.repeat(depth);
      for (const large of ['', ',"y":9007199254740993']) {
        for (const text of [
          `{"id":1,"name":"a"${large},"x":${nested}}`,
          `{"id":1,"name":${nested}${large}}`,
          `{"id":${nested}${large}}`,
          nested,
        ]) {
          const answer = await post(text.slice(0, LIMIT));
          expectAllDeclared(answer);
        }
      }
    }
  });

  test('with thousands of violations or members gets a short response', async () => {
    const members = Array.from({ length: 9_000 }, (_, at) => `"k${at}":1`).join(',');
    for (const text of [
      `[${'{},'.repeat(30_000)}{}]`,
      `{${members}}`,
      `{"id":1,"name":{${members}}}`,
      `{"id":${'9'.repeat(90_000)},"name":1}`,
      `{"id":1e${'9'.repeat(90_000)},"name":1}`,
      `{"id":0.${'0'.repeat(90_000)}1,"name":1}`,
      `{"id":1.${'0'.repeat(90_000)}1,"name":1}`,
    ]) {
      const answer = await post(text);
      expectAllDeclared(answer);
      expect(answer.responses[0]?.body.length).toBeLessThan(5_000);
    }
  });

  test('with the keys of Object.prototype changes no other object', async () => {
    await post(
      '{"id":7,"name":"a","__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}',
    );
    expect(Object(null).polluted).toBeUndefined();
    const { responses } = await post('{"id":8,"__proto__":{"name":"a"}}');
    expect(responses[0]?.status).toBe(400);
  });
});

describe('a random head', () => {
  const token = fc.string({
    unit: fc.constantFrom(...'abcXYZ019-_.!#$%&*+^`|~'),
    minLength: 1,
    maxLength: 20,
  });
  const standard = fc.constantFrom(
    'Authorization',
    'Content-Type',
    'Content-Encoding',
    'Accept',
    'Expect',
    'Connection',
    'Host',
    'Cookie',
    'X-Request-Id',
    'Upgrade',
    'TE',
    'Trailer',
    'Range',
    'If-None-Match',
    'If-Modified-Since',
    'Accept-Encoding',
    'Prefer',
    'Forwarded',
    'X-Forwarded-Host',
    'X-HTTP-Method-Override',
    '__proto__',
    'constructor',
  );
  const header = fc.tuple(fc.oneof(standard, token), fieldValue);

  test('with any headers, also repeated, gets a declared response', async () => {
    await check(fc.array(header, { maxLength: 12 }), async (headers) => {
      const fields = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
      const [line = '', rest = ''] = [
        GOOD.slice(0, GOOD.indexOf('\r\n') + 2),
        GOOD.slice(GOOD.indexOf('\r\n') + 2),
      ];
      expectAllDeclared(await exchange(service.port, line + fields + rest));
    });
  });

  test('with any invalid credentials gets 401 or 400', async () => {
    const similar = fc.constantFrom(
      TOKEN,
      `Bearer ${TOKEN}`,
      'Bearer',
      'Bearer ',
      `bearer\t${TOKEN}`,
      TOKEN.toUpperCase(),
      `${TOKEN}=`,
      `"${TOKEN}"`,
    );
    await check(
      fc.tuple(fc.constantFrom('', 'Bearer ', 'Basic ', 'bearer  '), fc.oneof(fieldValue, similar)),
      async ([scheme, value]) => {
        fc.pre(
          !/^bearer +/i.test(scheme + value) ||
            (scheme + value).replace(/^bearer +/i, '').trim() !== TOKEN,
        );
        const answer = await post(PLANT, { Authorization: scheme + value });
        expectAllDeclared(answer);
        expect([400, 401]).toContain(answer.responses[0]?.status);
      },
    );
  });

  test('with any target gets a declared response', async () => {
    const segment = fc.oneof(
      fc.constantFrom(
        'plants',
        '%2f',
        '%2F',
        '..',
        '.',
        '%2e%2e',
        '%2e',
        '%00',
        '%',
        '%zz',
        '%c0%af',
        '%ff',
        ';a=b',
        '*',
        ':id',
        '{id}',
        '__proto__',
        'constructor',
        '%70lants',
        'plants%20',
        '',
        '\\',
        '%5c',
        '[',
        '"',
        '(',
        '$',
      ),
      token,
    );
    const query = fc.array(
      fc.oneof(
        token,
        fc.constantFrom(
          '=',
          '&',
          '%',
          '%ff=1',
          '__proto__=1',
          '__proto__[a]=1',
          'constructor[prototype][a]=1',
          'a[]=1',
          '[',
          '?',
          '#',
          '+',
        ),
      ),
      { maxLength: 4 },
    );
    const target = fc.tuple(
      fc.constantFrom(
        '/',
        '//',
        'http://localhost/',
        'https://a:1/',
        'http://',
        '*',
        '',
        '/plants/',
        '/plants?',
      ),
      fc.array(segment, { maxLength: 5 }),
      query,
    );
    const method = fc.constantFrom(
      'GET',
      'POST',
      'PUT',
      'DELETE',
      'PATCH',
      'OPTIONS',
      'TRACE',
      'PROPFIND',
      'SEARCH',
      'QUERY',
    );
    await check(fc.tuple(method, target), async ([verb, [start, segments, pairs]]) => {
      const path = `${start}${segments.join('/')}${pairs.length > 0 ? `?${pairs.join('&')}` : ''}`;
      expectAllDeclared(await exchange(service.port, request(`${verb} ${path}`, JSON_BODY, PLANT)));
    });
  });
});

describe('random bytes', () => {
  test('get declared responses, and the connection is closed', async () => {
    const piece = fc.oneof(
      fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
      fc.constantFrom(
        GOOD,
        'POST /plants HTTP/1.1\r\n',
        'Host: a\r\n',
        '\r\n',
        '\r\n\r\n',
        'Content-Length: 3\r\n',
        'Transfer-Encoding: chunked\r\n',
        '0\r\n\r\n',
        'GET / HTTP/1.0\r\n\r\n',
        'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n',
        '\0',
        'Expect: 100-continue\r\n',
        'Connection: close\r\n',
        'Upgrade: websocket\r\nConnection: upgrade\r\n',
      ),
    );
    await check(fc.array(piece, { minLength: 1, maxLength: 6 }), async (pieces) => {
      const answer = await exchange(service.port, pieces.join(''), {
        end: true,
        responses: Number.POSITIVE_INFINITY,
      });
      expect(answer.closed).toBe(true);
      expectAllDeclared(answer, 0);
    });
  });

  test('that end in the middle of a request leak no connection', async () => {
    await check(
      fc.tuple(fc.integer({ min: 0, max: GOOD.length - 1 }), fc.boolean()),
      async ([length, isReset]) => {
        if (!isReset)
          return expectAllDeclared(
            await exchange(service.port, GOOD.slice(0, length), { end: true }),
            0,
          );
        const socket = await connected(service.port);
        socket.write(GOOD.slice(0, length));
        socket.resetAndDestroy();
      },
    );
    await eventually(async () => (await service.connections()) === 0);
  });
});
