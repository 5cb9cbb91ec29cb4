import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Operation } from 'openapi-document';
import { documentOf } from 'test-support/document-of';
import { crossOrigin, isPreflight } from '../../src/serve/cors.ts';

const DOCUMENT = `openapi: 3.1.0
info: { title: A, version: 1.0.0 }
paths:
  /a:
    get:
      operationId: get
      responses: { '204': { description: done, headers: { X-Left: { schema: { type: integer } } } } }
    options: { operationId: options, responses: { '204': { description: done } } }
  /b: { get: { operationId: other, responses: { '204': { description: done } } } }
`;
const APP = 'https://app.example';

let operations: readonly Operation[];
beforeAll(async () => {
  operations = (await documentOf(DOCUMENT)).operations;
});

const answerTo = (
  origins: '*' | readonly string[],
  method: string,
  headers: Readonly<Record<string, string>>,
) => crossOrigin(origins, operations)({ method, path: '/a', headers });

const EXPOSED = 'x-request-id,www-authenticate,retry-after,allow,accept,etag,x-left';
const PREFLIGHT = {
  origin: APP,
  'access-control-request-method': 'GET',
  'access-control-request-headers': 'authorization,content-type',
};

test('a listed origin may send credentials, and read the declared headers', () => {
  expect(answerTo(['https://other.example', APP], 'GET', { origin: APP })).toEqual({
    'Access-Control-Allow-Origin': APP,
    'Access-Control-Allow-Credentials': 'true',
    'Access-Control-Expose-Headers': EXPOSED,
    Vary: 'Origin',
  });
});

describe('a preflight', () => {
  test('is answered with the methods of the document', () => {
    expect(isPreflight({ method: 'OPTIONS', path: '/a', headers: PREFLIGHT })).toBe(true);
    expect(answerTo([APP], 'OPTIONS', PREFLIGHT)).toMatchObject({
      'Access-Control-Allow-Origin': APP,
      'Access-Control-Allow-Credentials': 'true',
      'Access-Control-Allow-Methods': 'GET,OPTIONS',
      'Access-Control-Allow-Headers': 'authorization,content-type',
      'Access-Control-Max-Age': '600',
      Vary: 'Origin, Access-Control-Request-Headers',
    });
  });

  test.each([
    ['another method than OPTIONS', 'GET', PREFLIGHT],
    ['OPTIONS without a requested method', 'OPTIONS', { origin: APP }],
  ])('is not %s', (_title, method, headers) => {
    expect(isPreflight({ method, path: '/a', headers })).toBe(false);
  });
});

test.each(['https://evil.example', 'null', `${APP}.evil.example`, 'http://app.example'])(
  'the origin %s is not allowed if it is not listed',
  (origin) => {
    for (const method of ['GET', 'OPTIONS']) {
      const headers = answerTo([APP], method, { ...PREFLIGHT, origin });
      expect(headers).not.toHaveProperty('Access-Control-Allow-Origin');
    }
  },
);

test('* allows all origins, without credentials', () => {
  expect(answerTo('*', 'GET', { origin: APP })).toEqual({
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Expose-Headers': EXPOSED,
  });
});

test('the answers to two calls do not share headers', () => {
  const headersFor = crossOrigin([APP], operations);
  const call = { method: 'GET', path: '/a' };
  headersFor({ ...call, headers: { origin: APP } });
  expect(headersFor({ ...call, headers: {} })).not.toHaveProperty('Access-Control-Allow-Origin');
});
