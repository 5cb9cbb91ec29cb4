import { describe, expect, test } from '@jest/globals';
import type { ErrorObject } from 'ajv';
import {
  isUndeclared,
  type Violation,
  Violations,
  violationsOf,
} from '../../../src/core/validation/violations.ts';

const violation = (path: string, message = 'must be string'): Violation => ({
  path,
  message,
  keyword: 'type',
});
const numbered = (count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => violation(`/body/${from + index}`));

describe('Violations', () => {
  test('is an error whose message lists the violations', () => {
    const list = [violation('/body/a'), violation('', 'must be an object')];
    const error = new Violations(list);
    expect(error).toBeInstanceOf(Error);
    expect([error.name, error.message]).toEqual([
      'Violations',
      '/body/a must be string; must be an object',
    ]);
    expect(error.violations).toEqual(list);
  });

  test('may be empty', () => {
    expect(new Violations([])).toMatchObject({ message: '', violations: [] });
  });

  test('contains a repeated violation once', () => {
    const { message, violations } = new Violations([...numbered(2), ...numbered(3)]);
    expect(message).toBe('/body/0 must be string; /body/1 must be string; /body/2 must be string');
    expect(violations).toEqual(numbered(3));
  });

  test('contains at most 20 violations', () => {
    expect(new Violations(numbered(20)).message).not.toContain('and more');
    const { message, violations } = new Violations(numbered(21));
    expect(violations).toEqual(numbered(20));
    expect(message).toMatch(/\/body\/19 must be string; and more$/);
    expect(new Violations([...numbered(20), ...numbered(20)]).message).not.toContain('and more');
  });

  test('compares at most 100 violations', () => {
    let read = 0;
    function* repeated() {
      for (; read < 1000; read += 1) yield violation('/body');
    }
    const { message, violations } = new Violations(repeated());
    expect(violations).toHaveLength(1);
    expect(message).toBe('/body must be string; and more');
    expect(read).toBe(100);
  });

  test.each<[keyof Violation, number]>([
    ['path', 200],
    ['message', 1000],
  ])('has the start and the end of a long %s', (key, longest) => {
    const shorten = (text: string) =>
      new Violations([{ ...violation('/'), [key]: text }]).violations[0]?.[key];
    const text = `${'a'.repeat(longest / 2)}${'b'.repeat(longest / 2)}`;
    expect(shorten(text)).toBe(text);
    expect(shorten(`${text}b`)).toBe(`${'a'.repeat(longest / 2)}…${'b'.repeat(longest / 2)}`);
  });
});

test.each([
  ['additionalProperties', true],
  ['unevaluatedProperties', true],
  ['properties', false],
  ['additionalPropertiesOf', false],
  ['noadditionalProperties', false],
])('isUndeclared for the keyword %s is %s', (keyword, expected) => {
  expect(isUndeclared({ keyword })).toBe(expected);
});

test.each<[string, object, string, string]>([
  ['type', {}, '/body/a', 'must be x'],
  ['required', { missingProperty: 'b/c~d' }, '/body/a/b~1c~0d', 'is required'],
  [
    'dependentRequired',
    { missingProperty: 'b', property: 'c' },
    '/body/a/b',
    'is required if c is present',
  ],
  ['additionalProperties', { additionalProperty: 'b' }, '/body/a/b', 'must be x'],
  ['unevaluatedProperties', { unevaluatedProperty: 'b' }, '/body/a/b', 'must be x'],
  ['type', { missingProperty: '' }, '/body/a/', 'must be x'],
])('violationsOf converts an error of %s with %j', (keyword, params, path, message) => {
  const error: ErrorObject = {
    keyword,
    params,
    instancePath: '/body/a',
    schemaPath: '#',
    message: 'must be x',
  };
  const failedIf: ErrorObject = { ...error, keyword: 'if', params: { failingKeyword: 'then' } };
  expect([...violationsOf([failedIf, error, failedIf])]).toEqual([{ path, message, keyword }]);
});
