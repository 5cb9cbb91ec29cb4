import { expect, test } from '@jest/globals';
import { BudgetExceeded } from '../../src/schema/budget.ts';
import { createFormats } from '../../src/schema/formats.ts';
import { GRAMMARS } from '../../src/schema/grammars.ts';

const formats = createFormats({ iban: (text) => /^[A-Z]{2}\d{2}/.test(text), uuid: () => true });

const has = (name: string, text: string): boolean | undefined =>
  formats(name)?.test(text, { steps: 5_000_000 });

test.each<[format: string, valid: string, invalid: string]>([
  ['byte', 'QUJD\r\nQUI=\n', 'QUJD\n!'],
  ['byte', '', 'QUJ'],
  ['date', '2024-02-29', '2023-02-29'],
  ['date-time', '2024-02-29T23:59:60Z', '2024-02-29T12:00:00'],
  ['date-time', '2024-02-29 23:59:00Z', '2024-02-29\n12:00:00Z'],
  ['duration', 'P1Y2M3DT4H5M6S', 'P1YT'],
  ['email', '"a b"@[IPv6:::1]', 'a@[::1]'],
  ['hostname', 'a.example', `${'a'.repeat(64)}.example`],
  ['iban', 'DE89370400440532013000', 'x'],
  ['ipv4', '127.0.0.1', '127.0.0.256'],
  ['ipv6', '::ffff:127.0.0.1', '::1::'],
  ['json-pointer', '/a~0/b~1', '/a~'],
  ['regex', '^a+$', '('],
  ['time', '12:00:00.5+01:00', '12:00:00'],
  ['uri', 'https://example.org/?a#b', '/a'],
  ['uri-reference', '../a?b', 'a b'],
  ['uri-template', '/a/{b}{?c}', '/a/{b'],
  ['url', 'http://[::1]:80/a', 'http://[::1%25]/'],
])('%s accepts %j, not %j', (format, valid, invalid) => {
  expect(has(format, valid)).toBe(true);
  expect(has(format, invalid)).toBe(false);
});

test('a service may replace a format', () => {
  expect(has('uuid', 'x')).toBe(true);
  expect(createFormats()('uuid')?.test('x', { steps: 100 })).toBe(false);
});

test('formats that allow anything are known, others are not', () => {
  expect(formats('int64')?.type).toBe('number');
  expect(has('password', 'x')).toBe(true);
  for (const name of ['iri', 'constructor', '__proto__', '']) expect(formats(name)).toBeUndefined();
});

test.each([...Object.keys(GRAMMARS), 'iban'])('%s uses up a budget', (name) => {
  const text = 'A'.repeat(1_000_000);
  expect(() => formats(name)?.test(text, { steps: 100_000 })).toThrow(BudgetExceeded);
});

test.each(['date', 'date-time', 'hostname', 'ipv6', 'regex', 'time'])(
  '%s rejects a text that is too long to test',
  (name) => expect(has(name, ' '.repeat(1_000_000))).toBe(false),
);
