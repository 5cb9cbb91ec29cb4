import { expect, test } from '@jest/globals';
import { isIdentifier } from '../src/type-names.ts';

test.each([
  ['plant', true],
  ['_$1', true],
  ['größe', true],
  ['1st', false],
  ['a-b', false],
  ['', false],
])('%j is an identifier: %p', (name, expected) => {
  expect(isIdentifier(name)).toBe(expected);
});
