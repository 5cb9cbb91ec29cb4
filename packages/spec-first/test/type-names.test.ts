import { expect, test } from '@jest/globals';
import {
  aliasMaker,
  definitionOf,
  isIdentifier,
  kindOf,
  referencesIn,
  referenceTo,
  replaceReferences,
} from '../src/type-names.ts';

test('references in a text have a kind and a definition, and are replaced', () => {
  const text = `${referenceTo('plain a b')}[] | ${referenceTo('request $1')}`;
  expect(referencesIn(text)).toEqual(['plain a b', 'request $1']);
  expect(kindOf('plain a b')).toBe('plain');
  expect(definitionOf('plain a b')).toBe('a b');
  expect(replaceReferences(text, (key) => `$& ${definitionOf(key)}`)).toBe('$& a b[] | $& $1');
});

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

test('aliases are distinct names that TypeScript allows', () => {
  const aliasOf = aliasMaker();
  const names = ['a-b', 'aB', '1st', 'string', 'Handlers', 'Größe'];
  expect(names.map(aliasOf)).toEqual(['aB', 'aB2', 'Schema1st', 'string2', 'Handlers2', 'Größe']);
});
