import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { asReceived, int64 } from 'test-support/int64';
import { randomValues } from 'test-support/random-values';
import { parseJson, parseNumber, stringifyJson } from '../../src/json/exact.ts';

describe('parseNumber', () => {
  test.each<[text: string, value: number | bigint | undefined]>([
    ['0', 0],
    ['-0', -0],
    ['1.0', 1],
    ['1e2', 100],
    ['0.5', 0.5],
    ['-12.5e-1', -1.25],
    ['1e300', 1e300],
    ['-1e999999999', -Infinity],
    ['9007199254740991', 2 ** 53 - 1],
    ['9007199254740992', 2n ** 53n],
    ['-9007199254740993', -9007199254740993n],
    ['9007199254740993.0', 9007199254740993n],
    ['9007199254740993.5', 9007199254740994],
    ['9.007199254740993E15', 9007199254740993n],
    ['9.007199254740993e+15', 9007199254740993n],
    ['90071992547409.93e2', 9007199254740993n],
    ['9007199254740.993e4', 90071992547409930n],
    ['90071992547409930e-1', 9007199254740993n],
    ['90071992547409931e-1', 9007199254740994],
    ['900719925474099300e-2', 9007199254740993n],
    ['900719925474099310e-2', 9007199254740994],
    ['9223372036854775807', 2n ** 63n - 1n],
    ['9223372036854775808', 2 ** 63],
    ['-9223372036854775808', -(2n ** 63n)],
    ['-9223372036854775809', -(2 ** 63)],
  ])('reads %s', (text, value) => {
    expect(parseNumber(text)).toBe(value);
  });

  test.each(['', ' 1', '1 ', '+1', '01', '-', '.5', '1.', '1e', '0x10', '1_000', 'NaN', '1\n'])(
    'returns undefined for %j',
    (text) => {
      expect(parseNumber(text)).toBeUndefined();
    },
  );
});

describe('JSON', () => {
  test('has exact integers of int64, which are bigints beyond 2^53', () => {
    fc.assert(
      fc.property(int64, (value) => {
        expect(parseJson(`[${value}]`)).toEqual([asReceived(value)]);
        expect(stringifyJson({ value })).toBe(`{"value":${value}}`);
        expect(stringifyJson(parseJson(`{"a":[${value}]}`))).toBe(`{"a":[${value}]}`);
      }),
      randomValues(250),
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
      randomValues(250),
    );
  });

  test.each<[text: string, value: unknown]>([
    ['9007199254740993', 9007199254740993n],
    ['[9.007199254740993e15]', [9007199254740993n]],
    ['[1e16,2E+16]', [10n ** 16n, 2n * 10n ** 16n]],
    [
      '{"a":9007199254740993,"b":"9007199254740993"}',
      { a: 9007199254740993n, b: '9007199254740993' },
    ],
    ['[9007199254740992.5,-9223372036854775809]', [2 ** 53, -(2 ** 63)]],
  ])('%s is parsed exactly', (text, value) => {
    expect(parseJson(text)).toEqual(value);
  });

  test.each(['01', '0x10', '', '{', '[9007199254740993'])('%j is rejected', (text) => {
    expect(() => parseJson(text)).toThrow(SyntaxError);
  });
});

describe('the limit of 256 nested levels', () => {
  test.each<[title: string, open: string, innermost: string, close: string, depth: number]>([
    ['arrays', '[', '', ']', 256],
    ['objects', '{"a":', '1', '}', 256],
    ['arrays of objects', '[{"a":', '1', '}]', 128],
    ['arrays after siblings', '[[],', '1', ']', 255],
  ])('applies to %s', (_title, open, innermost, close, depth) => {
    const nested = (count: number) => open.repeat(count) + innermost + close.repeat(count);
    expect(parseJson(nested(depth))).toBeDefined();
    expect(() => parseJson(nested(depth + 1))).toThrow(
      new RangeError('JSON nested at most 256 levels deep'),
    );
  });

  test.each(['', '["\\"", ', '["\\\\", '])(
    'applies before parsing, also to a text that starts with "%s"',
    (start) => {
      expect(() => parseJson(start + '['.repeat(90_000))).toThrow(RangeError);
    },
  );

  test.each<[title: string, value: unknown]>([
    ['brackets in strings', ['['.repeat(300), `"${'['.repeat(300)}`, '\\['.repeat(300)]],
    ['many values beside each other', Array.from({ length: 300 }, () => [{}])],
  ])('does not count %s', (_title, value) => {
    expect(parseJson(JSON.stringify(value))).toEqual(value);
  });
});

function toText(this: bigint): string {
  return this.toString();
}

function toDouble(this: bigint): number {
  return Number(this);
}

describe('stringifyJson', () => {
  test.each<[text: string, value: unknown]>([
    ['9223372036854775808', 2n ** 63n],
    ['{"a":[1,"1n",null,"1970-01-01T00:00:00.000Z"]}', { a: [1n, '1n', null, new Date(0)] }],
  ])('writes %s', (text, value) => {
    expect(stringifyJson(value)).toBe(text);
  });

  test('returns undefined for undefined, a function, and a toJSON that returns it', () => {
    const unwritable = { toJSON: () => undefined };
    const texts: readonly (string | undefined)[] = [
      stringifyJson(undefined),
      // @ts-expect-error it may be undefined
      stringifyJson(() => 1) satisfies string,
      // @ts-expect-error it may be undefined
      stringifyJson(unwritable) satisfies string,
    ];
    expect(texts).toEqual([undefined, undefined, undefined]);
  });

  test('has the type string for values that JSON can represent', () => {
    interface Row {
      readonly id: bigint;
    }
    const row: Row = { id: 1n };
    const texts: readonly string[] = [
      stringifyJson(row),
      stringifyJson({ ids: [1n] }),
      stringifyJson(1n),
      stringifyJson('a'),
      stringifyJson(true),
      stringifyJson(null),
    ];
    expect(texts).toEqual(['{"id":1}', '{"ids":[1]}', '1', '"a"', 'true', 'null']);
  });

  test('indents by a number of spaces', () => {
    expect(stringifyJson({ a: 1 }, 2)).toBe('{\n  "a": 1\n}');
    expect(stringifyJson({ a: 1n }, 2)).toBe('{\n  "a": 1\n}');
  });

  test.each<[title: string, convert: (this: bigint) => unknown]>([
    ['returns a string', toText],
    ['returns a double', toDouble],
  ])('writes bigints as exact numbers, even if BigInt.prototype.toJSON %s', (_title, convert) => {
    const value = { a: [2n ** 60n, 1], at: new Date(0), b: { toJSON: () => 2n ** 60n } };
    const text =
      '{"a":[1152921504606846976,1],"at":"1970-01-01T00:00:00.000Z","b":1152921504606846976}';
    const toJSON = { configurable: true, value: convert };
    expect(stringifyJson(value)).toBe(text);
    Object.defineProperty(BigInt.prototype, 'toJSON', toJSON);
    try {
      expect(stringifyJson(value)).toBe(text);
      expect(stringifyJson(2n ** 63n)).toBe('9223372036854775808');
    } finally {
      Reflect.deleteProperty(BigInt.prototype, 'toJSON');
    }
  });

  test('throws for a circular object', () => {
    const circular: Record<string, unknown> = { a: 1n };
    circular.self = circular;
    expect(() => stringifyJson(circular)).toThrow(TypeError);
  });
});
