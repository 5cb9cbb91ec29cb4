import { expect, test } from '@jest/globals';
import { findingsIn } from '../../scripts/check-style.ts';

test('a docstring that begins with a question word is reported, in one line or in several', () => {
  const text =
    '/** Whether it rains. */\nconst a = 1;\n/**\n * How it rains.\n */\n/** Returns rain. */\n';
  expect(findingsIn('a.ts', text)).toEqual([
    'a.ts:1 begins a docstring with a question word: start with a verb or the name',
    'a.ts:4 begins a docstring with a question word: start with a verb or the name',
  ]);
});

test('a question word inside a docstring is not reported', () => {
  expect(findingsIn('a.ts', '/**\n * Returns rain.\n * Where it rains, it pours.\n */\n')).toEqual(
    [],
  );
});

test('a line of more than 100 columns is reported', () => {
  const line = 'x'.repeat(101);
  expect(findingsIn('a.ts', `${line}\n${line.slice(1)}\n`)).toEqual([
    'a.ts:1 has 101 columns, the limit is 100',
  ]);
});
