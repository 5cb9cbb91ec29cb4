import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseJson, stringifyJson } from 'openapi-document';
import { int64, RUNS, seen } from 'test-support/int64';

describe('JSON', () => {
  test('has exact integers of int64, which are bigints beyond 2^53', () => {
    fc.assert(
      fc.property(int64, (value) => {
        expect(parseJson(`[${value}]`)).toEqual([seen(value)]);
        expect(stringifyJson({ value })).toBe(`{"value":${value}}`);
        expect(stringifyJson(parseJson(`{"a":[${value}]}`))).toBe(`{"a":[${value}]}`);
      }),
      { numRuns: RUNS * 5 },
    );
  });

  test('has the same other values as JSON.parse', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        const exact = JSON.stringify(parseJson(text), (_key, item) =>
          typeof item === 'bigint' ? Number(item) : item,
        );
        expect(exact).toBe(JSON.stringify(JSON.parse(text)));
      }),
      { numRuns: RUNS * 5 },
    );
  });

  test.each<[string, unknown]>([
    ['1.0', 1],
    ['1e2', 100],
    ['9007199254740993.0', 9007199254740993n],
    ['90071992547409930e-1', 9007199254740993n],
    ['9.007199254740993E15', 9007199254740993n],
    ['0.5', 0.5],
    ['1e300', 1e300],
    ['9223372036854775808', 2 ** 63],
    ['-0', -0],
  ])('reads %s', (text, value) => {
    expect(parseJson(text)).toBe(value);
  });

  test.each(['01', '0x10', '', '{'])('%j is rejected', (text) => {
    expect(() => parseJson(text)).toThrow(SyntaxError);
  });

  test('nested deeper than 256 levels is rejected', () => {
    expect(parseJson('['.repeat(256) + ']'.repeat(256))).toHaveLength(1);
    expect(() => parseJson('['.repeat(257) + ']'.repeat(257))).toThrow(
      'JSON nested at most 256 levels deep',
    );
  });

  test('with many unclosed arrays is rejected, but a string of brackets is accepted', () => {
    expect(() => parseJson('["\\"", '.repeat(2) + '['.repeat(90_000))).toThrow(
      'JSON nested at most 256 levels deep',
    );
    expect(parseJson(JSON.stringify(['['.repeat(300), '"['.repeat(300)]))).toEqual([
      '['.repeat(300),
      '"['.repeat(300),
    ]);
  });

  test('has the nearest double of a fraction or an integer beyond int64', () => {
    expect(parseJson('[9007199254740992.5,-9223372036854775809]')).toEqual([
      9007199254740992,
      -(2 ** 63),
    ]);
  });
});
