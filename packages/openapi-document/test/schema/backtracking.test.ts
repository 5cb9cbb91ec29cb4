import { expect, test } from '@jest/globals';
import { Alphabet } from '../../src/schema/alphabet.ts';
import { stepsByLength, stepsPerCharacter } from '../../src/schema/backtracking.ts';
import { parseExpression } from '../../src/schema/expression.ts';

function stepsOf(source: string): number | undefined {
  const expression = parseExpression(new RegExp(source, 'u'), 16);
  return stepsPerCharacter(expression, new Alphabet(expression));
}

test.each([
  '',
  '[a-z]+',
  '^\\p{L}+$',
  '^.{1,5000}$',
  '^[\\w.-]+@[\\w-]+\\.[a-z]+$',
  '^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$',
  '^(?:[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\\.)+[A-Za-z]{2,}$',
  '^(?=.*\\d)(?=.*[a-z])(?!.*\\s).{8,}$',
  '^(?<!-)[a-z]+$',
  '^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$',
  '\\bfoo\\b|ba[rz]$',
])('%s takes few steps for each character', (source) => {
  expect(stepsOf(source)).toBeLessThanOrEqual(128);
});

test.each([
  // Exponential time.
  '^(\\w+\\s?)*$',
  '(a*)*b',
  '^(?:a|a)*$',
  '^(?:\\w|[a-f])+!',
  `^${'(?:a|a)'.repeat(24)}$`,
  `^${'a?'.repeat(24)}$`,
  'a(?:(b+)+c)*',
  '^(?=(a+)+b)',
  '^a(?<=(a+)+)$',
  '^(a+)+\\1$',
  // Quadratic time.
  '\\d+x',
  '^.*@.*$',
  '\\p{Lu}\\p{L}*!',
  '[a-z]*[^a-z]',
  '^.*\\b.*!',
])('%s may take many steps', (source) => {
  expect(stepsOf(source)).toBeUndefined();
});

test('the steps of short texts have an upper limit', () => {
  const expression = parseExpression(/^(?:a|a)*$/u, 16);
  const steps = stepsByLength(expression, new Alphabet(expression), 1_000);
  // 2 ** (n - 1) ways to the n-th character, with 5 steps each.
  expect(steps.slice(0, 4)).toEqual([3, 8, 18, 38]);
  expect(steps.at(-1)).toBeLessThanOrEqual(1_000);
});
