import { expect, test } from '@jest/globals';
import { schemas } from '../../src/index.ts';

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

test.each([
  ['(?i)ab', ['ab', 'AB'], ['a']],
  ['^a(?i)b$', ['ab', 'aB'], ['AB', 'Ab']],
  ['^(a(?i)b|c)d$', ['aBd', 'Cd', 'cd'], ['AbD', 'aBD']],
  ['^(?i)a|b$', ['A', 'xB'], ['C']],
  ['^[(?i)]$', ['(', '?', 'i', ')'], ['I']],
  ['^\\(?i\\)$', ['i)', '(i)'], ['I)']],
])('flags apply to the rest of their group: %s', (pattern, matching, others) => {
  for (const text of matching)
    expect([text, schemas.matchesName(pattern, text)]).toEqual([text, true]);
  for (const text of others)
    expect([text, schemas.matchesName(pattern, text)]).toEqual([text, false]);
});
