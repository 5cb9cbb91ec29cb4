import { describe, expect, test } from '@jest/globals';
import { describeError } from '../../src/core/describe-error.ts';

const LONG = 'x'.repeat(16_385);
const CUT = `${'x'.repeat(16_384)}…`;

test('an error is described by its type, message, code and stack', () => {
  const error = Object.assign(new TypeError('no such file'), { code: 'ENOENT', row: 'secret' });
  expect(describeError(error)).toEqual({
    type: 'TypeError',
    message: 'no such file',
    code: 'ENOENT',
    stack: error.stack,
    cause: undefined,
  });
});

test.each<[unknown, unknown]>([
  ['text', 'text'],
  [undefined, 'undefined'],
  [404n, '404'],
  [Symbol('a'), 'Symbol(a)'],
  [{ password: 'secret' }, '[object Object]'],
  [Object.create(null), 'a value that cannot be read'],
  [LONG, CUT],
  [LONG.slice(1), LONG.slice(1)],
])('the thrown value %p is described as a string', (value, text) => {
  expect(describeError(value)).toBe(text);
});

test('each long string of an error is cut', () => {
  const error = Object.assign(new Error(LONG), { name: LONG, code: LONG, stack: LONG });
  expect(describeError(error)).toMatchObject({ type: CUT, message: CUT, code: CUT, stack: CUT });
});

describe('the stack', () => {
  const cause = new Error('cause');

  test('is left out for an expected error, which has a status, and for its causes', () => {
    const expected = Object.assign(new Error('conflict', { cause }), { status: 409 });
    expect(describeError(expected)).toMatchObject({
      message: 'conflict',
      stack: undefined,
      cause: { message: 'cause', stack: undefined },
    });
  });

  test('is included for the cause of an unexpected error', () => {
    const error = new Error('outer', { cause });
    expect(describeError(error)).toMatchObject({ cause: { stack: cause.stack } });
  });
});
