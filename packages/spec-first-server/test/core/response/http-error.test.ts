import { describe, expect, test } from '@jest/globals';
import { Forbidden, HttpError } from '../../../src/core/response/http-error.ts';

describe('an HttpError', () => {
  test('keeps its options, and the first 100 violations', () => {
    const errors = Array.from({ length: 101 }, (_, index) => ({
      path: `/body/${index}`,
      message: 'must be integer',
      keyword: 'type',
    }));
    const options = {
      type: '/problems/stopping',
      headers: { 'Retry-After': 5 },
      reason: 'a stop',
      expected: true,
      cause: 'SIGTERM',
    };
    const error = new HttpError(503, 'try again', { ...options, errors });
    expect(error).toMatchObject(options);
    expect(error.errors).toEqual(errors.slice(0, 100));
  });

  test.each([
    [{ 'X-Next': 'a\nb' }, 'X-Next'],
    [{ 'X Next': 1 }, 'X Next'],
  ])('rejects the headers %j', (headers, name) => {
    expect(() => new HttpError(400, 'a', { headers })).toThrow(
      new TypeError(`the header ${name} contains an invalid character`),
    );
  });

  test('for a wrong method names the allowed ones', () => {
    expect(HttpError.notAllowed('PUT', ['GET', 'HEAD'])).toMatchObject({
      status: 405,
      message: 'PUT is not a method of this path; allowed: GET, HEAD',
      headers: { Allow: 'GET, HEAD' },
    });
  });
});

describe('Forbidden', () => {
  test.each([
    [
      'the default message',
      undefined,
      'The token lacks a scope: this operation needs a:read ä"\ud800',
    ],
    ['another message', 'ask an administrator', 'ask an administrator'],
  ])('with %s names the scopes in the challenge', (_title, message, expected) => {
    const error = new Forbidden(['a:read', 'ä"\ud800'], message);
    expect([error.status, error.message, error.headers]).toEqual([
      403,
      expected,
      {
        'WWW-Authenticate': 'Bearer error="insufficient_scope", scope="a:read %C3%A4%22%EF%BF%BD"',
      },
    ]);
  });
});
