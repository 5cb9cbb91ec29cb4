import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { int64 } from 'test-support/int64';
import { randomValues } from 'test-support/random-values';
import { parseJson, stringifyJson } from '../../src/json/exact.ts';
import { InvalidJson, parseNumber } from '../../src/json/parser.ts';

describe('parseNumber', () => {
  test.each<[text: string, value: number | bigint | undefined]>([
    ['0', 0],
    ['-0', -0],
    ['1e2', 100],
    ['-1e999999999', -Infinity],
    ['-9007199254740993', -9007199254740993n],
    ['9007199254740993.5', 9007199254740994],
    ['9.007199254740993E15', 9007199254740993n],
    ['90071992547409.93e2', 9007199254740993n],
    ['900719925474099300e-2', 9007199254740993n],
    ['900719925474099310e-2', 9007199254740994],
    ['9223372036854775807', 2n ** 63n - 1n],
    ['9223372036854775808', 2 ** 63],
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
  test('has the values that a reviver with the source of each number gives', () => {
    fc.assert(
      fc.property(jsonTexts, (text) => {
        const value = parseJson(text, { isLenient: true });
        expect(value).toEqual(slowlyParsed(text));
        expect(stringifyJson(value)).toBe(stringifyJson(slowlyParsed(text)));
      }),
      randomValues(2_000),
    );
  });

  test('has no effect on prototypes', () => {
    const value = parseJson('{"__proto__":{"id":9007199254740993},"constructor":1e16}');
    expect(Object.entries(Object(value))).toEqual([
      ['__proto__', { id: 9007199254740993n }],
      ['constructor', 10n ** 16n],
    ]);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });

  test.each<[earlier: string, text: string, value: unknown]>([
    ['{"c":0,"\\\\":1}', '{"c":0,"\\u00e9":1}', { c: 0, é: 1 }],
    ['{"c":0,"\\\\":1}', '[{"c":0,"\\"":1},{"\\\\":[1]}]', [{ c: 0, '"': 1 }, { '\\': [1] }]],
    [
      '{"c":0,"gr\\\\u0":1}',
      '{"c":0,"gr\\u00f6\\u00dfe":[9007199254740992,9007199254740993]}',
      { c: 0, größe: [9007199254740992n, 9007199254740993n] },
    ],
    [
      '{"c":0,"__proto_\\\\":1}',
      '{"c":0,"__proto_\\u005f":1}',
      JSON.parse('{"c":0,"__proto__":1}'),
    ],
  ])('after an object such as %s, the names of %s are exact', (earlier, text, value) => {
    JSON.parse(earlier);
    expect(parseJson(text)).toEqual(value);
    const duplicate = text.replace('"c"', '"c":0,"c"');
    expect(() => parseJson(duplicate)).toThrow('must be JSON without duplicate names');
  });

  test('has no duplicate names in an object', () => {
    const name = fc.oneof(fc.constantFrom('a', 'b', ':', '":', '\\'), fc.string());
    const member = fc.tuple(name, fc.constantFrom('1', '":x"', '"\\":"', '{ "a" :1}', '[{"a":1}]'));
    fc.assert(
      fc.property(fc.array(member, { maxLength: 6 }), (members) => {
        const names = members.map(([key]) => key);
        const json = `{${members.map(([key, value]) => `${JSON.stringify(key)} : ${value}`)}}`;
        const parse = () => parseJson(json);
        const value = Object.fromEntries(members.map(([key, text]) => [key, JSON.parse(text)]));
        if (new Set(names).size === names.length) expect(parse()).toEqual(value);
        else expect(parse).toThrow(/^must be JSON without duplicate names \(invalid at/);
        expect(parseJson(json, { isLenient: true })).toEqual(value);
      }),
      randomValues(500),
    );
  });

  test.each<[text: string, reason: string, value: unknown]>([
    ['{"a":1,\n "a":2}', 'without duplicate names (invalid at line 2, column 2)', { a: 2 }],
    [
      '[{"a":{},"\\u0061" :2}]',
      'without duplicate names (invalid at line 1, column 10)',
      [{ a: 2 }],
    ],
    [
      '{"a":"1e400","b":[-1e400]}',
      'with numbers up to 1.8e308 (invalid at line 1, column 19)',
      { a: '1e400', b: [-Infinity] },
    ],
  ])('%.40j is ambiguous', (text, reason, value) => {
    expect(() => parseJson(text)).toThrow(new InvalidJson(`must be JSON ${reason}`));
    expect(parseJson(text, { isLenient: true })).toEqual(value);
  });

  test.each<[text: string, line: number, column: number]>([
    ['', 1, 1],
    ['{"a":1,}', 1, 8],
    ['{"a":1\r\n,\r\n"b":}', 3, 5],
    ['[1,\n            ]', 2, 13],
    ['["a",,1]', 1, 6],
    ['[[],{},"]\\",",nulL]', 1, 15],
    ['[\u00A01]', 1, 2],
    ['["at position 7 (line 1 column 8)",x at position 7 (line 1 column 8)]', 1, 36],
    ['{"a":"\n"}', 1, 7],
    ['["\\x"]', 1, 4],
    ['[09007199254740993]', 1, 3],
  ])('%j is rejected with the place of the error', (text, line, column) => {
    const message = `must be JSON (invalid at line ${line}, column ${column})`;
    expect(() => parseJson(text)).toThrow(new InvalidJson(message));
  });
});

/** Numbers and strings that look like large integers, with white space around all tokens. */
const jsonTexts: fc.Arbitrary<string> = fc.letrec<{ value: string }>((tie) => {
  const digits = fc.stringMatching(/^[0-9]{0,20}$/);
  const number = fc
    .tuple(
      fc.constantFrom('', '-'),
      fc.oneof(
        fc.constant('0'),
        int64.map((value) => String(value).replace('-', '')),
        digits.map((text) => `9${text}`),
      ),
      fc.oneof(
        fc.constantFrom('', '.0'),
        digits.map((text) => `.${text}0`),
      ),
      fc.oneof(
        { weight: 3, arbitrary: fc.constant('') },
        fc.stringMatching(/^[eE][+-]?[0-9]{1,2}$/),
      ),
    )
    .map((parts) => parts.join(''));
  const text = fc.oneof(
    number,
    fc.string(),
    fc.constantFrom('__proto__', '1', '"', ',1e16,', '\\'),
  );
  const string = text.map((part) => JSON.stringify(part));
  const space = fc.constantFrom('', '', '', ' ', '\n\t\r');
  const list = (item: fc.Arbitrary<string>, open: string, close: string) =>
    fc.array(item, { maxLength: 5 }).map((items) => `${open}${items.join(',')}${close}`);
  // `JSON.parse` may misread names with escapes (nodejs/node#63785).
  const name = string.filter((part) => !part.includes('\\'));
  const member = fc
    .tuple(name, space, tie('value'))
    .map(([key, gap, value]) => `${key}${gap}:${value}`);
  const token = fc.oneof(
    { maxDepth: 4 },
    fc.oneof(number, string, fc.constantFrom('null', 'true')),
    list(tie('value'), '[', ']'),
    list(member, '{', '}'),
  );
  return { value: fc.tuple(space, token, space).map((parts) => parts.join('')) };
}).value;

function slowlyParsed(text: string): unknown {
  return JSON.parse(text, (_key, value, context?: { source?: string }) => {
    if (typeof value !== 'number') return value;
    const [digits = '', exponent = '0'] = (context?.source ?? '').toLowerCase().split('e');
    const fraction = digits.split('.')[1] ?? '';
    const integer = BigInt(digits.replace('.', ''));
    const shift = BigInt(exponent) - BigInt(fraction.length);
    const divisor = shift < 0n ? 10n ** -shift : 1n;
    const exact = shift < 0n ? integer / divisor : integer * 10n ** shift;
    const isInteger = integer % divisor === 0n;
    const isLarge =
      isInteger && exact === BigInt.asIntN(64, exact) && !Number.isSafeInteger(Number(exact));
    return isLarge ? exact : value;
  });
}

describe('the limit of 256 nested levels', () => {
  const tooDeep = new InvalidJson('must be JSON nested at most 256 levels deep');

  test.each<[title: string, open: string, innermost: string, close: string, depth: number]>([
    ['arrays of objects', '[{"a":', '1', '}]', 128],
    ['arrays after siblings', '[[],', '1', ']', 255],
  ])('applies to %s', (_title, open, innermost, close, depth) => {
    const nested = (count: number) => open.repeat(count) + innermost + close.repeat(count);
    expect(parseJson(nested(depth))).toBeDefined();
    expect(() => parseJson(nested(depth + 1))).toThrow(tooDeep);
  });

  test.each(['', '["\\"", ', '["\\\\", '])(
    'applies before parsing, also to a text that starts with "%s"',
    (start) => {
      expect(() => parseJson(start + '['.repeat(90_000))).toThrow(tooDeep);
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
