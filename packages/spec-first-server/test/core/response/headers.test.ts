import { expect, test } from '@jest/globals';
import { isHeader, SECURITY_HEADERS } from '../../../src/core/response/headers.ts';

test.each([
  ['X-Next', 'a b', true],
  ["!#$%&'*+.^`|~-_9z", '', true],
  ['X-Tab', 'a\tb', true],
  ['X-Latin', 'é\xff~', true],
  ['', 'a', false],
  ['X Next', 'a', false],
  ['X-Next:', 'a', false],
  ['X-Nächst', 'a', false],
  ['X-Next\n', 'a', false],
  ['X-Next', 'a\r\nSet-Cookie: b', false],
  ['X-Next', 'a\n', false],
  ['X-Next', '\0', false],
  ['X-Next', '\x7f', false],
  ['X-Next', 'Ā', false],
])('isHeader(%j, %j) is %j', (name, value, isSent) => {
  expect(isHeader(name, value)).toBe(isSent);
});

test('the security headers are those of an API that may be reachable by plain HTTP', () => {
  expect(Object.fromEntries(SECURITY_HEADERS)).toEqual({
    'Content-Security-Policy': "default-src 'none';frame-ancestors 'none'",
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'SAMEORIGIN',
  });
});
