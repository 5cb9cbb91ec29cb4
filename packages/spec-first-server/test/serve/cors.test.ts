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

const PREFLIGHT = {
  origin: APP,
  'access-control-request-method': 'GET',
  'access-control-request-headers': 'authorization,content-type',
};

describe('a preflight', () => {
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

test('the answers to two calls do not share headers', () => {
  const headersFor = crossOrigin([APP], operations);
  const call = { method: 'GET', path: '/a' };
  headersFor({ ...call, headers: { origin: APP } });
  expect(headersFor({ ...call, headers: {} })).not.toHaveProperty('Access-Control-Allow-Origin');
});
