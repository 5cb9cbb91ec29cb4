import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { randomValues } from 'test-support/random-values';
import { textOf, withText } from 'test-support/titles';
import { keywords, NUMBER_ASSERTIONS } from '../../../src/core/validation/keywords.ts';

const requests = new Ajv2020({ strict: false, keywords: keywords(true), allErrors: true });
const replies = new Ajv2020({ strict: false, keywords: keywords(false), allErrors: true });

function violationsOf(keyword: string, schema: unknown, value: unknown, ajv = requests): string[] {
  const validate = ajv.compile({ [keyword]: schema });
  const isValid = validate(value);
  const violations = (validate.errors ?? []).map((error) => `${error.keyword}: ${error.message}`);
  expect(violations.length === 0).toBe(isValid);
  return violations;
}

const SAFE = 'must be an integer from -9007199254740991 to 9007199254740991';
const INT64 = 'must be an integer from -9223372036854775808 to 9223372036854775807';
const INT32 = 'must be an integer from -2147483648 to 2147483647';

describe('numeric, in a request', () => {
  const integer = { type: ['integer'] };
  const int64 = { ...integer, format: 'int64' };
  const int32 = { ...integer, format: 'int32' };
  const number = { type: ['number'] };

  test.each<[unknown, object, string[]]>([
    [1, integer, []],
    [-0, integer, []],
    [1n, integer, []],
    [1.5, integer, ['type: must be integer']],
    ['1', integer, ['type: must be integer']],
    [null, integer, ['type: must be integer']],
    [Number.NaN, integer, ['type: must be integer']],
    [Infinity, integer, ['type: must be integer']],
    [2 ** 53 - 1, integer, []],
    [-(2 ** 53) + 1, integer, []],
    [2 ** 53, integer, [`type: ${SAFE}`]],
    [2n ** 53n, integer, [`type: ${SAFE}`]],
    [-(2n ** 53n), integer, [`type: ${SAFE}`]],
    [2n ** 63n - 1n, int64, []],
    [-(2n ** 63n), int64, []],
    [2n ** 63n, int64, [`format: ${INT64}`]],
    [-(2n ** 63n) - 1n, int64, [`format: ${INT64}`]],
    // A large integer is parsed as a bigint, so this number was rounded.
    [2 ** 53, int64, [`format: ${INT64}`]],
    [2 ** 31 - 1, int32, []],
    [-(2 ** 31), int32, []],
    [2 ** 31, int32, [`format: ${INT32}`]],
    [-(2 ** 31) - 1, int32, [`format: ${INT32}`]],
    [2n ** 31n, int32, [`format: ${INT32}`]],
    [1.5, number, []],
    [1e300, number, []],
    [2n ** 70n, number, []],
    [Infinity, number, ['type: must be number']],
    [Number.NaN, number, ['type: must be number']],
    ['1', number, ['type: must be number']],
    [1.5, { type: ['integer', 'number'] }, []],
    [2n ** 70n, { type: ['integer', 'number'] }, []],
    [null, { type: ['integer', 'null'] }, []],
    [[], { type: ['integer', 'array'] }, []],
    [{}, { type: ['integer', 'array'] }, ['type: must be integer,array']],
    [[], { type: ['integer', 'object'] }, ['type: must be integer,object']],
    [true, { type: ['integer', 'boolean'] }, []],
    ['text', { format: 'int64' }, []],
    [1.5, { format: 'int64' }, ['type: must be integer']],
    [1.5, { minimum: 1 }, []],
    [Infinity, { minimum: 1 }, []],
  ])('the value %p with %j has the violations %j', (value, schema, violations) => {
    expect(violationsOf('numeric', schema, value)).toEqual(violations);
  });
});

test.each<[unknown, object, string[]]>([
  [2n ** 63n - 1n, { type: ['integer'] }, []],
  [2n ** 63n, { type: ['integer'] }, [`type: ${INT64}`]],
  [2 ** 63, { type: ['integer'] }, [`type: ${INT64}`]],
  [2 ** 60, { type: ['integer'] }, []],
  [2 ** 31, { type: ['integer'], format: 'int32' }, [`format: ${INT32}`]],
  [1.5, { type: ['integer'] }, ['type: must be integer']],
])(
  'in a reply, the value %p with numeric %j has the violations %j',
  (value, schema, violations) => {
    expect(violationsOf('numeric', schema, value, replies)).toEqual(violations);
  },
);

describe('the bounds of numeric', () => {
  test.each<[object, unknown, string[]]>([
    [{ minimum: 5 }, 5, []],
    [{ minimum: 5 }, 4, ['minimum: must be >= 5']],
    [{ maximum: 5 }, 5, []],
    [{ maximum: 5 }, 6n, ['maximum: must be <= 5']],
    [{ exclusiveMinimum: 5 }, 6, []],
    [{ exclusiveMinimum: 5 }, 5, ['exclusiveMinimum: must be > 5']],
    [{ exclusiveMaximum: 5 }, 4, []],
    [{ exclusiveMaximum: 5 }, 5n, ['exclusiveMaximum: must be < 5']],
    [{ maximum: 2n ** 53n + 1n }, 2n ** 53n + 1n, []],
    [{ maximum: 2n ** 53n + 1n }, 2n ** 53n + 2n, ['maximum: must be <= 9007199254740993']],
    [
      { minimum: 5, multipleOf: 3 },
      4,
      ['minimum: must be >= 5', 'multipleOf: must be multiple of 3'],
    ],
    [{ minimum: '5', exclusiveMinimum: true }, 0, []],
    [{ minLength: 5, title: 5 }, 0, []],
  ])('%p: the value %p has the violations %j', (bounds, value, violations) => {
    expect(violationsOf('numeric', bounds, value)).toEqual(violations);
  });

  test('are the keywords of JSON Schema for numbers', () => {
    const names = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'];
    expect(Object.keys(NUMBER_ASSERTIONS)).toEqual(names);
  });

  test.each<[number | bigint, number | bigint, boolean]>([
    [6, 3, true],
    [7, 3, false],
    [0, 3, true],
    [-6, 3, true],
    [19.99, 0.01, true],
    [19.995, 0.01, false],
    [0.3, 0.1, true],
    [1e20, 1e10, true],
    [1.5, 0.5, true],
    [1.25, 0.5, false],
    [3, 1.5, true],
    [1.5, 3, false],
    [1.5, 2n ** 60n, false],
    [2, 1.5, false],
    [2n ** 60n, 2, true],
    [2n ** 60n + 1n, 2, false],
    [2n ** 60n + 1n, 2n ** 60n + 1n, true],
    [9007199254740993n, 9007199254740992, false],
    [6n, 3, true],
    [2n ** 60n, 0.5, true],
    [1.0000000000000002, 1, false],
    [3.0000000000000004, 1, false],
    [1125899906842624.5, 1, false],
    [1125899906842624.5, 3, false],
    [1125899906842624.5, 0.5, true],
    [1125899906842624.5, 1n, false],
    [5n * 2n ** 60n, 2.5, true],
    [2n ** 53n + 2n, 0.01, true],
  ])('the value %p is a multiple of %p: %s', (value, divisor, isMultiple) => {
    const violations = violationsOf('numeric', { multipleOf: divisor }, value);
    expect(violations.length === 0).toBe(isMultiple);
  });
});

describe.each(['enumValues', 'constValues'])('%s', (keyword) => {
  const CASES: readonly (readonly [values: unknown[], value: unknown, isAllowed: boolean])[] = [
    [[1, 2], 2, true],
    [[1, 2], 3, false],
    [[1], 1n, true],
    [[2n ** 53n + 1n], 2n ** 53n + 1n, true],
    [[2n ** 53n + 1n], 2 ** 53, false],
    [[2.5], 2.5, true],
    [['1'], 1, false],
    [['a'], 'a', true],
    [[null], null, true],
    [[null], undefined, false],
    [[0], -0, true],
    [[Number.NaN], Number.NaN, true],
    [[{ a: [1] }], { a: [1] }, true],
    [[{ a: [1] }], { a: [2] }, false],
    [[[1, 2]], [1, 2], true],
    [[[1, 2]], [2, 1], false],
    [[true], 1, false],
    [[{ a: 1, b: [{}] }], { b: [{}], a: 1n }, true],
    [['[1]', '\0[1]'], [1], false],
    [[[1]], '\0[1]', false],
    [['\0a'], '\0a', true],
  ];

  test.each(
    CASES.map(
      ([values, value, isAllowed]) =>
        [textOf(values), textOf(value), isAllowed, values, value] as const,
    ),
  )('%s allows %s: %s', (_values, _value, isAllowed, values, value) => {
    expect(violationsOf(keyword, values, value).length === 0).toBe(isAllowed);
  });

  test('names the allowed values', () => {
    const validate = requests.compile({ [keyword]: [null, 2.5, 'big'] });
    expect(validate(3)).toBe(false);
    expect(validate.errors).toMatchObject([
      {
        keyword: 'enum',
        message: 'must be equal to one of the allowed values',
        params: { allowedValues: [null, 2.5, 'big'] },
      },
    ]);
    expect(violationsOf(keyword, [], 3)).toEqual(['enum: must not be present: its enum is empty']);
  });
});

describe('distinctItems', () => {
  const identical = (first: number, second: number) => [
    `uniqueItems: must NOT have duplicate items (items ## ${first} and ${second} are identical)`,
  ];
  test.each(
    withText<unknown, [string[]]>([
      [[], []],
      [[1, '1', true, 'true', null, 'null', [1], ['1'], '[1]', {}, '{}', []], []],
      ['aa', []],
      [[1, 2, 1], identical(0, 2)],
      [[0, -0], identical(0, 1)],
      [[1, 1n], identical(0, 1)],
      [[2 ** 60, 2n ** 60n], identical(0, 1)],
      [[2n ** 60n, 2n ** 60n + 1n], []],
      [[{ a: [2 ** 60] }, { a: [2n ** 60n] }], identical(0, 1)],
      [['a', null, 'b', null], identical(1, 3)],
      [
        [
          { a: 1, b: { c: 2 } },
          { b: { c: 2 }, a: 1 },
        ],
        identical(0, 1),
      ],
      [[{ a: 1 }, { a: 1, b: undefined }], identical(0, 1)],
      [[{ a: 1 }, { a: '1' }, { a: null }, { a: { b: 1 } }, {}], []],
      [[[1, 2], [2, 1], '[1,2]', [1, 2]], identical(0, 3)],
      [[{ 'a":1,"b': 1 }, { a: 1, b: 1 }], []],
      [[['a,b'], ['a', 'b']], []],
    ]),
  )('%s has the violations %j', (_text, violations, value) => {
    expect(violationsOf('distinctItems', true, value)).toEqual(violations);
  });

  test('compares files by identity', () => {
    const file = new Blob(['abc']);
    expect(violationsOf('distinctItems', true, [file, new Blob(['abc'])])).toEqual([]);
    expect(violationsOf('distinctItems', true, [file, file])).toEqual(identical(0, 1));
  });

  test('rejects the arrays of JSON that have equal items', () => {
    const item = fc.oneof(fc.jsonValue({ maxDepth: 1 }), fc.constantFrom(0, '', [], {}, [0], null));
    fc.assert(
      fc.property(fc.array(item), (items) => {
        const received: unknown[] = JSON.parse(JSON.stringify(items));
        const isDistinct = received.every((one, at) =>
          received.every((other, position) => at === position || !isDeepStrictEqual(one, other)),
        );
        expect(violationsOf('distinctItems', true, items).length === 0).toBe(isDistinct);
      }),
      randomValues(100),
    );
  });
});

test.each<[object | false, string, string[], unknown]>([
  [{}, 'a Blob', [], new Blob(['abc'])],
  [{}, 'a Buffer', [], Buffer.from('abc')],
  [{}, 'a File', [], new File([], 'a')],
  [{}, 'a string', ['type: must be a file'], 'abc'],
  [{}, 'an object with a size', ['type: must be a file'], { size: 3 }],
  [{ minLength: 3, maxLength: 3 }, 'a Blob of abc', [], new Blob(['abc'])],
  [{ minLength: 3, maxLength: 3 }, 'a Buffer of abc', [], Buffer.from('abc')],
  [
    { minLength: 4 },
    'a Blob of abc',
    ['minLength: must NOT have fewer than 4 bytes'],
    new Blob(['abc']),
  ],
  [
    { maxLength: 2 },
    'a Blob of abc',
    ['maxLength: must NOT have more than 2 bytes'],
    new Blob(['abc']),
  ],
  [{ maxLength: 3 }, 'a Blob of äb', [], new Blob(['äb'])],
  [
    { maxLength: 2 },
    'a Blob of äb',
    ['maxLength: must NOT have more than 2 bytes'],
    new Blob(['äb']),
  ],
  [
    { maxLength: 0 },
    'a Buffer of a',
    ['maxLength: must NOT have more than 0 bytes'],
    Buffer.from('a'),
  ],
  [false, 'an empty Blob', ['type: must not be a file'], new Blob([])],
  [false, 'an empty Buffer', ['type: must not be a file'], Buffer.from('')],
  [false, 'a string', [], 'abc'],
])('file %j: %s has the violations %j', (bounds, _title, violations, value) => {
  expect(violationsOf('file', bounds, value)).toEqual(violations);
});
