import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { randomValues } from 'test-support/random-values';
import { parseExpression } from '../../src/schema/expression.ts';
import { LinearMatcher } from '../../src/schema/linear-matcher.ts';

const matches = (expression: RegExp, text: string): boolean =>
  new LinearMatcher(parseExpression(expression, Number.POSITIVE_INFINITY)).test(text, {
    steps: Number.POSITIVE_INFINITY,
  });

const escapes = [
  ...['\\d', '\\D', '\\w', '\\W', '\\s', '\\S', '\\p{L}', '\\P{Lu}', '\\n', '\\t', '\\0', '\\cA'],
  ...['\\.', '\\-', '\\x62', '\\u0061', '\\u{1F600}', '\\ud83d\\ude00', '\\u2028'],
];
const classes = [
  ...['.', '[ab]', '[^a]', '[]', '[^]', '[^\\s]', '[\\]a]', '[\\w-]', '[a-c_]', '[\\p{L}\\d]'],
  ...['[é-ü]', '[😀-😃]', '[\\u2028]'],
];
const characters = ['a', 'b', 'c', '_', ' ', '-', '@', '{', '}', ']', 'é', '😀', 'K', 'ſ'];
const conditions = ['^', '$', '\\b', '\\B'];
const quantifiers = ['*', '+', '?', '{2}', '{1,3}', '{0,2}', '{2,}', '{0}', '*?', '+?', '??'];

const sources = fc.letrec<{ source: string }>((tie) => {
  const atom = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...characters) },
    { weight: 5, arbitrary: fc.constantFrom(...escapes, ...classes) },
    { weight: 1, arbitrary: fc.constantFrom(...conditions) },
  );
  const quantifier = fc.constantFrom('', ...quantifiers);
  const group = fc
    .tuple(fc.constantFrom('(', '(?:', '(?<n>'), tie('source'))
    .map(([open, inner]) => `${open}${inner})`);
  const term = fc
    .tuple(fc.oneof({ maxDepth: 3 }, atom, group), quantifier)
    .map((parts) => parts.join(''));
  const alternative = fc.array(term, { maxLength: 4 }).map((terms) => terms.join(''));
  const source = fc
    .array(alternative, { minLength: 1, maxLength: 3 })
    .map((alternatives) => alternatives.join('|'));
  return { source };
}).source;

const texts = fc.string({
  unit: fc.constantFrom(
    ...[...characters, 'A', 'k', 's', '1', '.', 'ü', '😁', '\ud83d', '\ude00', '\0', '\t'],
    ...['\n', '\r', '\u2028', '\u00A0'],
  ),
  maxLength: 9,
});

test('has the same results as RegExp', () => {
  fc.assert(
    fc.property(
      sources,
      fc.constantFrom('u', 'u', '', 'iu', 'i', 'su', 'mu', 'm'),
      fc.array(texts, { minLength: 1, maxLength: 8 }),
      (source, flags, list) => {
        const expression = compiled(source, flags);
        // V8 also tries `\b` and `\B` inside of a surrogate pair.
        const isAscii = /\\b/i.test(source);
        for (const text of list)
          if (expression && !(isAscii && /[^\0-\uffff]/u.test(text)))
            expect([source, text, matches(expression, text)]).toEqual([
              source,
              text,
              expression.test(text),
            ]);
      },
    ),
    randomValues(2_000),
  );
});

/** Returns `undefined` for a random source that is invalid. */
function compiled(source: string, flags: string): RegExp | undefined {
  try {
    return new RegExp(source, flags);
  } catch {
    return undefined;
  }
}

test.each<[source: string, flags: string, text: string, verdict: boolean]>([
  ['^(?:a?){24}a{24}$', 'u', 'a'.repeat(24), true],
  ['^(?:a?){24}a{24}$', 'u', 'a'.repeat(23), false],
  ['^[^]{3}$', 'u', '😀\n\ud83d', true],
  // Without the flag u, an emoji is two characters.
  ['^[😀]$', '', '\ude00', true],
  ['^(?:(?:x{0,20}){0,20}y)+$', 'u', `${'x'.repeat(400)}y`, true],
])('/%s/%s on a long or special text', (source, flags, text, verdict) => {
  const expression = new RegExp(source, flags);
  expect(expression.test(text)).toBe(verdict);
  expect(matches(expression, text)).toBe(verdict);
});
