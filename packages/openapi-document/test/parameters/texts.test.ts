import { describe, expect, test } from '@jest/globals';
import { coerce, coerceObject, cookiesOf, type PathText } from '../../src/parameters/texts.ts';
import { Schemas } from '../../src/schema/schemas.ts';

const schemas = new Schemas({ components: { schemas: { Count: { type: 'integer' } } } });
const integer = { type: 'integer' };
const string = { type: 'string' };

test.each<[text: string, schemas: readonly unknown[], value: unknown]>([
  ['5', [integer], 5],
  ['9007199254740993', [integer], 9007199254740993n],
  ['1.5', [{ type: 'number' }], 1.5],
  ['1.5', [integer], '1.5'],
  ['1e400', [{ type: 'number' }], '1e400'],
  ['5', [{ $ref: '#/components/schemas/Count' }], 5],
  ['5', [string, integer], 5],
  ['5', [string], '5'],
  ['5', [{ allOf: [{ type: ['integer', 'string'] }, string] }], '5'],
  ['-5', [{ type: ['integer', 'string'] }], -5],
  ['1e5', [{ type: ['integer', 'string'] }], '1e5'],
  ['1.0', [{ type: ['number', 'string'] }], '1.0'],
  ['1e5', [{ anyOf: [integer, { const: 'auto' }] }], 100_000],
  ['9007199254740993', [{ type: ['integer', 'string'] }], '9007199254740993'],
  ['9007199254740993', [{ type: ['integer', 'string'], format: 'int64' }], 2n ** 53n + 1n],
  ['9007199254740993', [{ type: ['number', 'string'] }], '9007199254740993'],
  ['1234', [{ anyOf: [{ type: 'integer', maximum: 99 }, string] }], '1234'],
  ['12', [{ anyOf: [{ type: 'integer', maximum: 99 }, string] }], 12],
  ['true', [{ anyOf: [{ const: false }, string] }], 'true'],
  ['5', [], '5'],
  ['x', [integer], 'x'],
  ['', [integer], ''],
  ['true', [{ type: 'boolean' }], true],
  ['TRUE', [{ type: 'boolean' }], 'TRUE'],
  ['', [{ type: ['integer', 'null'] }], null],
  ['', [{ type: ['string', 'null'] }], ''],
  ['null', [{ type: 'null' }], 'null'],
  ['', [{ anyOf: [{ enum: ['a', 'b'] }, { type: 'null' }] }], null],
  ['', [{ anyOf: [{ type: 'string', format: 'password' }, { type: 'null' }] }], ''],
])('%j with the schemas %j becomes %p', (text, places, value) => {
  expect(coerce(schemas.outline(...places), text)).toBe(value);
});

test('an empty text is null if a format of the service rejects it', () => {
  const formats = { iban: (text: string) => text !== '' };
  const schema = { type: ['string', 'null'], format: 'iban' };
  expect(coerce(new Schemas({}, { formats }).outline(schema), '')).toBeNull();
});

describe('an object', () => {
  const schema = {
    type: 'object',
    properties: {
      n: integer,
      list: { type: 'array', items: integer },
      rows: { type: 'array', items: { type: 'object', properties: { n: integer } } },
      inner: { type: 'object', properties: { n: integer, s: string } },
    },
    additionalProperties: { type: 'boolean' },
  };

  test.each<[entries: readonly PathText[], value: unknown]>([
    [[], {}],
    [
      [
        [['inner', 'n'], '1'],
        [['n'], '2'],
        [['inner', 's'], '3'],
      ],
      { inner: { n: 1, s: '3' }, n: 2 },
    ],
    [
      [
        [['list'], '1'],
        [['list'], '2'],
      ],
      { list: [1, 2] },
    ],
    [[[['list', ''], '1']], { list: [1] }],
    [
      [
        [['list', '10'], '1'],
        [['list', '0'], '2'],
      ],
      { list: [1, 2] },
    ],
    [[[['list', '0x'], '1']], { list: { '0x': '1' } }],
    [
      [
        [['rows', '1', 'n'], '1'],
        [['rows', '0', 'n'], '2'],
        [['rows', '1', 's'], '3'],
      ],
      { rows: [{ n: 1, s: '3' }, { n: 2 }] },
    ],
    [[[['rows', '', 'n'], '1']], { rows: { '': { n: '1' } } }],
    [
      [
        [['n'], '1'],
        [['n'], '2'],
      ],
      { n: ['1', '2'] },
    ],
    [
      [
        [['inner', 'n'], '1'],
        [['inner'], '2'],
      ],
      { inner: ['1', '2'] },
    ],
    [[[[], '1']], '1'],
  ])('of the entries %j is %j', (entries, value) => {
    expect(coerceObject(schemas.outline(schema), entries)).toEqual(value);
  });

  test('may have a member __proto__', () => {
    const value = coerceObject(schemas.outline(schema), [[['__proto__', 'polluted'], 'true']]);
    expect(Object.entries(Object(value))).toEqual([['__proto__', { polluted: 'true' }]]);
    expect(Object({}).polluted).toBeUndefined();
  });
});

test.each([
  ['a=1; b=2', { a: ['1'], b: ['2'] }],
  [' a = 1 ;b=2 ', { a: ['1'], b: ['2'] }],
  ['a=b"c"; d="', { a: ['b"c"'], d: ['"'] }],
  ['a=""; b="; c=d"', { a: [''], b: ['"'], c: ['d"'] }],
  ['a=1; a=2', { a: ['1', '2'] }],
  ['a=; b; ; c=%20+', { a: [''], c: ['%20+'] }],
  ['', {}],
  [undefined, {}],
])('the cookies of %j are %j', (header, cookies) => {
  expect(Object.fromEntries(cookiesOf(header))).toEqual(cookies);
});
