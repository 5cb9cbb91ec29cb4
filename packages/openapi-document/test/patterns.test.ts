import { expect, test } from '@jest/globals';
import { schemas } from '../src/index.ts';

test.each([
  ['^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$', Infinity],
  ['^(foo|bar)?[a-z]*$', Infinity],
  ['^(?:ab)+$', Infinity],
  ['[a-z]*$', 1000],
  ['^a.*b.*c$', 1000],
  ['^(a+)+$', 0],
  ['^(a|b|ab)*$', 0],
  ['^(a?){24}a{24}$', 0],
  [`^${'a?'.repeat(24)}a{24}$`, 0],
])('the pattern %s surely matches a text of %d characters in no time to speak of', (pattern, length) => {
  expect(schemas.safeLength(pattern)).toBe(length);
});
