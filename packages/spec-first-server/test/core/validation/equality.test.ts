import { expect, test } from '@jest/globals';
import { keyOf } from '../../../src/core/validation/equality.ts';

test.each<[string, unknown, unknown]>([
  ['a number and the bigint of the same value', 5, 5n],
  ['-0 and 0', { a: -0 }, { a: 0 }],
  ['objects whose members have another order', { a: 1, b: [2n] }, { b: [2], a: 1 }],
  ['a member that is undefined and a missing one', { a: undefined }, {}],
  ['a Date and its text in a list', [new Date(0)], ['1970-01-01T00:00:00.000Z']],
  ['an unsafe number and its bigint', 2 ** 60, 2n ** 60n],
])('%s have equal keys', (_title, a, b) => {
  expect(new Set([keyOf(a), keyOf(b)]).size).toBe(1);
});

test.each<[string, unknown, unknown]>([
  ['neighbours beyond 2^53', 9007199254740992n, 9007199254740993n],
  ['a list and its text', [1], '[1]'],
  ['a list and a text that begins like its key', [1], '\0[1]'],
  ['an object and its text', { a: 1 }, '{"a":1}'],
  ['a list of a text and a list of a number', ['1'], [1]],
  ['null and its text', null, 'null'],
  ['true and 1', true, 1],
  ['nested lists', [[1], 2], [1, [2]]],
])('%s have different keys', (_title, a, b) => {
  expect(new Set([keyOf(a), keyOf(b)]).size).toBe(2);
});
