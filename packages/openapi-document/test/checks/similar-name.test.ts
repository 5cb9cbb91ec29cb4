import { expect, test } from '@jest/globals';
import { similarName } from '../../src/checks/similar-name.ts';

const NAMES = ['minLength', 'maxLength', 'required', '🌱plant'];

test.each([
  ['requird', 'a missing character', 'required'],
  ['requieed', 'another character', 'required'],
  ['requireds', 'one character more', 'required'],
  ['requierd', 'two swapped characters', 'required'],
  ['maxlength', 'a difference of case', 'maxLength'],
  ['required', 'no difference', 'required'],
  ['🌱plano', 'another character at the end, after an emoji', '🌱plant'],
])('%s, with %s, is similar to %s', (name, _title, similar) => {
  expect(similarName(name, NAMES)).toBe(similar);
});

test.each([
  ['rqird', 'two differences'],
  ['unit', 'no resemblance'],
])('%s, with %s, is similar to no name', (name) => {
  expect(similarName(name, NAMES)).toBeUndefined();
});
