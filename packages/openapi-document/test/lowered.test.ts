import { expect, test } from '@jest/globals';
import { lowerSchemas } from '../src/lowered.ts';

test('schemas are lowered once for each document and direction', () => {
  const root = { components: { schemas: { A: { type: 'string' } } } };
  expect(lowerSchemas(root, 'request')).toBe(lowerSchemas(root, 'request'));
  expect(lowerSchemas(root, 'request')).not.toBe(lowerSchemas(root, 'response'));
  expect(lowerSchemas({ ...root }, 'request')).not.toBe(lowerSchemas(root, 'request'));
});

test.each([
  ['request', { type: 'integer' }],
  ['response', { type: 'integer', default: 'many' }],
] as const)('in a %s, a schema whose default does not fit becomes %j', (direction, lowered) => {
  const { lower } = lowerSchemas({}, direction);
  expect(lower({ type: 'integer', default: 'many' })).toEqual(lowered);
  expect(lower({ type: 'integer', default: 5 })).toEqual({ type: 'integer', default: 5 });
});

test.each([
  ['request', ['id']],
  ['response', ['secret']],
] as const)('a %s has no members of the other direction', (direction, dropped) => {
  const properties = { id: { readOnly: true }, secret: { writeOnly: true } };
  expect(lowerSchemas({}, direction).lower({ properties })).toMatchObject({ 'x-dropped': dropped });
});
