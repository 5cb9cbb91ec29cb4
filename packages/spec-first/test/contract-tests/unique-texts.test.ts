import { expect, test } from '@jest/globals';
import { withUniqueTexts } from '../../src/contract-tests/unique-texts.ts';

const text = (format: string) => ({ type: 'string', format });

test.each([
  ['email', 'first.last+tag@example.com', '0a1b.first.last+tag@example.com'],
  ['hostname', 'example.com', '0a1b.example.com'],
  ['uri', 'https://example.com/a', 'https://example.com/a0a1b'],
  ['url', 'https://example.com/a', 'https://example.com/a0a1b'],
  ['uuid', '123e4567-e89b-12d3-a456-426614174000', '123e4567-e89b-12d3-a456-426614170a1b'],
])('a string of the format %s gets a unique part', (format, value, unique) => {
  expect(withUniqueTexts({}, [text(format)], value, '0a1b')).toBe(unique);
});

test('unique strings are made inside lists, objects and alternatives', () => {
  const root = { components: { schemas: { Mail: text('email') } } };
  const mail = { $ref: '#/components/schemas/Mail' };
  const schema = {
    properties: {
      to: { type: 'array', items: mail },
      from: { oneOf: [mail, { type: 'null' }] },
      date: text('date'),
      name: { type: 'string' },
      count: text('email'),
    },
  };
  const value = {
    to: ['a@b.example'],
    from: 'c@d.example',
    date: '2024-02-29',
    name: 'x',
    count: 1,
  };
  expect(withUniqueTexts(root, [schema], value, 'f0')).toEqual({
    to: ['f0.a@b.example'],
    from: 'f0.c@d.example',
    date: '2024-02-29',
    name: 'x',
    count: 1,
  });
});
