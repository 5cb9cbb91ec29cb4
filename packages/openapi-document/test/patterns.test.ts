import { expect, test } from '@jest/globals';
import { schemas } from '../src/index.ts';

test.each([
  ['^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$', 1],
  ['^(foo|bar)?[a-z]*$', 1],
  ['^(?:ab)+$', 1],
  ['[a-z]*$', 2],
  ['^a.*b.*c$', 2],
  ['^(a+)+$', 64],
  ['^(a|b|ab)*$', 64],
  ['^(a?){24}a{24}$', 64],
  [`^${'a?'.repeat(24)}a{24}$`, 64],
])('matching %s takes at most length ** %d steps', (pattern, degree) => {
  expect(schemas.patternDegree(pattern)).toBe(degree);
});
