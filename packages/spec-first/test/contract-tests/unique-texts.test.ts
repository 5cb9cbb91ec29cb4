import { describe, expect, test } from '@jest/globals';
import { createSchemas } from 'openapi-document';
import { withUniqueTexts } from '../../src/contract-tests/unique-texts.ts';

const optionsOf = (key: string, isValid: (changed: unknown) => boolean = () => true) => ({
  ...{ key, isValid, isAnyTextChanged: false },
});

const outlineOf = (schema: object, root = {}) => createSchemas(root).outline(schema);

const text = (format: string) => ({ type: 'string', format });

test.each([
  ['email', 'first.last+tag@example.com', '0a1b.first.last+tag@example.com'],
  ['hostname', 'example.com', '0a1b.example.com'],
  ['uri', 'https://example.com/a', 'https://example.com/a0a1b'],
  ['url', 'https://example.com/a', 'https://example.com/a0a1b'],
  ['uuid', '123e4567-e89b-12d3-a456-426614174000', '123e4567-e89b-12d3-a456-426614170a1b'],
])('a string of the format %s gets a unique part', (format, value, unique) => {
  expect(withUniqueTexts(outlineOf(text(format)), value, optionsOf('0a1b'))).toBe(unique);
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
  expect(withUniqueTexts(outlineOf(schema, root), value, optionsOf('f0'))).toEqual({
    to: ['f0.a@b.example'],
    from: 'f0.c@d.example',
    date: '2024-02-29',
    name: 'x',
    count: 1,
  });
});

describe('a string without a format', () => {
  const unique = (value: unknown, schema: object = {}, isValid = (_changed: unknown) => true) =>
    withUniqueTexts(outlineOf(schema), value, { key: '12345678', isAnyTextChanged: true, isValid });

  test('keeps its length and the kinds of its characters', () => {
    expect(unique('My parcel')).toBe('Na tfxjmm');
    expect(unique('Room AB-09')).toBe('Sqrq GI-11');
    expect(unique('PO-12')).toBe('QQ-57');
    expect(unique('x'.repeat(10))).toBe('xxyzabcdef');
  });

  test('is not changed if it has fewer than four letters and digits', () => {
    for (const text of ['', 'a-b-c', 'EUR', '漢字漢字漢字']) expect(unique(text)).toBe(text);
  });

  test('is not changed if the schema lists its values, nor is a date', () => {
    expect(unique('green', { enum: ['green', 'blue'] })).toBe('green');
    expect(unique('green', { const: 'green' })).toBe('green');
    expect(unique('2024-02-29', { format: 'date' })).toBe('2024-02-29');
  });

  test('has fewer new characters if the pattern matches only then', () => {
    const startsWithOrder = (changed: unknown) => /^ORDER-/.test(String(changed));
    expect(unique('ORDER-123456', {}, startsWithOrder)).toBe('ORDER-246802');
    expect(unique('ORDER-1234', {}, startsWithOrder)).toBe('ORDER-2468');
    expect(unique('ORDER-12', {}, startsWithOrder)).toBe('ORDER-12');
  });
});

test('an invalid change of one member is not made', () => {
  const schema = { properties: { mail: text('email'), list: { items: text('email') } } };
  const isValid = (changed: unknown) => !JSON.stringify(changed).includes('f0.first');
  const value = { mail: 'first@b.example', list: ['first@c.example', 'd@e.example'] };
  expect(withUniqueTexts(outlineOf(schema), value, optionsOf('f0', isValid))).toEqual({
    mail: 'first@b.example',
    list: ['first@c.example', 'f0.d@e.example'],
  });
});
