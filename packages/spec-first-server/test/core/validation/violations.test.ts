import { describe, expect, test } from '@jest/globals';
import { type Violation, Violations } from '../../../src/core/validation/violations.ts';

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

  test('says that there are more', () => {
    expect(new Violations(numbered(20)).message).not.toContain('and more');
    for (const error of [new Violations(numbered(20), false), new Violations(numbered(21))]) {
      expect(error.message).toMatch(/\/body\/19 must be string; and more$/);
      expect(error.isComplete).toBe(false);
    }
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
