import { describe, expect, test } from '@jest/globals';
import { BudgetExceeded } from '../../src/schema/budget.ts';
import { compilePattern } from '../../src/schema/patterns.ts';

const LONG = 100_000;

const words = Array.from({ length: 1_000 }, (_, index) => `w${(index * 7919).toString(36)}x`);

/** Returns the verdict, and the steps of a budget that it takes. */
function run(pattern: string, text: string) {
  const budget = { steps: 5_000_000 };
  const verdict = compilePattern(pattern).test(text, budget);
  return { verdict, steps: 5_000_000 - budget.steps };
}

describe('a text of 100 kB takes a limited number of steps', () => {
  test.each<[pattern: string, text: string, verdict: boolean]>([
    ['^(\\w+\\s?)*$', 'a'.repeat(LONG), true],
    ['^(\\w+\\s?)*$', `${'a'.repeat(LONG)}!`, false],
    ['(a+)+$', `${'a'.repeat(LONG)}!`, false],
    [`^${'(?:a|a)'.repeat(24)}$`, `${'a'.repeat(23)}b`, false],
    ['.+\\S{10}(.){10}$', `${'a b'.repeat(LONG / 3)}\n`, false],
    ['^([a-z]+\\d?)*@', `${'abc1'.repeat(LONG / 4)}!`, false],
    ['^(?i)(\\p{L}+ ?)+$', `${'aÄ'.repeat(LONG / 2)}!`, false],
    ['\\d+x', '1'.repeat(LONG), false],
    ['^(?=.*\\d)(?=.*[a-z])(?=.*[A-Z]).{8,}$', 'a1'.repeat(LONG / 2), false],
    ['^(?!.*--)[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$', 'a-'.repeat(LONG / 2), false],
    [`^(?:${words.join('|')})$`, 'w'.repeat(LONG), false],
    [words.join('|'), 'w1x'.repeat(LONG / 3), false],
    [words.join('|'), `${'w1x'.repeat(LONG / 3)}${words.at(-1)}`, true],
  ])('%.30s', (pattern, text, verdict) => {
    const result = run(pattern, text);
    expect(result.verdict).toBe(verdict);
    expect(result.steps).toBeLessThanOrEqual(17 * LONG);
  });

  test('also one that would overflow the stack of the native engine', () => {
    const text = 'abcd'.repeat(2_500_000);
    const budget = { steps: 5 * text.length };
    expect(compilePattern('^(?:[a-z]{4})*$').test(text, budget)).toBe(true);
    expect(compilePattern('^(?:[a-z]{4})*!$').test(text, budget)).toBe(false);
  });

  test('or ends with an error, if an expression has too many states', () => {
    const text = 'a'.repeat(LONG);
    expect(() => run('[a-z]{1000}!', text)).toThrow(BudgetExceeded);
    expect(() => run('^(?:a{0,30}){0,30}$', text)).toThrow(BudgetExceeded);
  });
});

test('equal texts take equal steps, whatever was matched before', () => {
  const pattern = compilePattern('^(\\p{L}+ ?)*$');
  const stepsOf = (text: string) => {
    const budget = { steps: 1_000_000 };
    pattern.test(text, budget);
    return 1_000_000 - budget.steps;
  };
  const steps = stepsOf('aä öü');
  for (let code = 0xa0; code < 0x2_000; code += 1) stepsOf(`a ${String.fromCharCode(code)}`);
  expect(stepsOf('aä öü')).toBe(steps);
});

test.each(['^(\\w+\\s?)*$', '^(?=.*\\d).*$', '^\\d+$'])(
  'the pattern %s has no limit',
  (pattern) => {
    expect(compilePattern(pattern).notice).toBeUndefined();
  },
);

test.each<[pattern: string, text: string]>([
  ['^(?!.*--)([a-z]+-?)*$', 'abc'],
  ['^(a+)\\1$', 'aa'],
  ['^(?=.*[A-Z].*[A-Z]).*$', 'AB'],
])('a slow pattern with look-around or a back reference tests short texts: %s', (pattern, text) => {
  const compiled = compilePattern(pattern);
  const [, limit] = /more than (\d+) characters are rejected/.exec(compiled.notice ?? '') ?? [];
  expect(Number(limit)).toBeGreaterThan(15);
  const budget = { steps: 1_000_000 };
  expect(compiled.test(text, budget)).toBe(true);
  expect(() => compiled.test('a'.repeat(Number(limit) + 1), budget)).toThrow(BudgetExceeded);
});

test('flags at the start, and syntax of other languages, have the same meaning as elsewhere', () => {
  expect(run('(?i)^a\\Z', 'A').verdict).toBe(true);
  expect(run('^[\\w-.]+$', 'a-b.c').verdict).toBe(true);
  expect(run('^(\\w+)+\\c$', 'a\\c').verdict).toBe(true);
  expect(() => compilePattern('(')).toThrow(SyntaxError);
});
