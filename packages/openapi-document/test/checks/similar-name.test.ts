import { expect, test } from '@jest/globals';
import { similarName } from '../../src/checks/similar-name.ts';

test.each([
  ['requird', 'a missing character', 'required'],
  ['requieed', 'another character', 'required'],
  ['requireds', 'one character more', 'required'],
  ['requierd', 'two swapped characters', 'required'],
  ['maxlength', 'a difference of case', 'maxLength'],
  ['required', 'no difference', 'required'],
  ['🌱plano', 'another character at the end, after an emoji', '🌱plant'],
  ['rqird', 'two differences', undefined],
  ['unit', 'no resemblance', undefined],
])('%s is similar to a name with %s: %s', (name, _title, similar) => {
  expect(similarName(name, ['minLength', 'maxLength', 'required', '🌱plant'])).toBe(similar);
});
