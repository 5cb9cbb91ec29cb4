import { expect, test } from '@jest/globals';
import { checkPlant, Unstorable } from '../../../src/stores/store.ts';

test.each([
  { id: 1n, name: '' },
  { id: 1n, name: 'Basil', tag: '' },
  { id: 1n, name: '\u{1f33f}', tag: 'a\0b \ufffd' },
])('a plant without lone surrogates can be stored: %o', (plant) => {
  expect(() => checkPlant(plant)).not.toThrow();
});

test.each([
  ['name', { id: 1n, name: 'a\ud83cb', tag: 'herb' }],
  ['tag', { id: 1n, name: 'Basil', tag: '\udf31\ud83c' }],
])('a lone surrogate in the %s is a 400 error that names the property', (property, plant) => {
  const message = `/body/${property} must not contain a lone surrogate, which UTF-8 cannot encode`;
  const error = expect.objectContaining({ name: 'Unstorable', status: 400, expose: true, message });
  expect(() => checkPlant(plant)).toThrow(Unstorable);
  expect(() => checkPlant(plant)).toThrow(error);
});
