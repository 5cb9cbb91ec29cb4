import { expect, test } from '@jest/globals';
import { textOf } from 'test-support/titles';
import { parameterValueReader } from '../../src/parameters/forms.ts';
import { ParameterError } from '../../src/parameters/read-value.ts';
import { Schemas } from '../../src/schema/schemas.ts';

type Parameter = Omit<Parameters<typeof parameterValueReader>[0], 'outline'> & {
  readonly schema: unknown;
};

const integer = { type: 'integer' };
const string = { type: 'string' };
const list = { type: 'array', items: integer };
const point = { type: 'object', properties: { x: integer, y: string } };
const nested = { type: 'object', properties: { p: point, l: list } };

const DEFAULTS = { name: 'value', json: false };
const parameter = (members: Partial<Parameter>): Parameter => ({
  ...DEFAULTS,
  in: 'query',
  style: 'form',
  explode: false,
  schema: string,
  ...members,
});
const readerOf = (declared: Parameter) =>
  parameterValueReader({ ...declared, outline: new Schemas({}).outline(declared.schema) });
const reader = (members: Partial<Parameter>) => readerOf(parameter(members));
const read = (members: Partial<Parameter>, text: string | undefined) => reader(members).read(text);

const TEXTS: readonly (readonly [members: Partial<Parameter>, text: string, value: unknown])[] = [
  // Paths
  [{ in: 'path', style: 'simple', schema: list }, '', []],
  [{ in: 'path', style: 'simple', schema: point }, 'x,1,y', { x: 1, y: '' }],
  [{ in: 'path', style: 'simple', schema: point, explode: true }, 'x=1,y', { x: 1, y: '' }],
  [{ in: 'path', style: 'matrix' }, ';value', ''],
  [{ in: 'path', style: 'matrix', name: 'Größe', schema: integer }, ';Gr%c3%b6%C3%9Fe=5', 5],
  [
    { in: 'path', style: 'matrix', explode: true, schema: { properties: { value: integer } } },
    ';value=1;y=2',
    { value: 1, y: '2' },
  ],
  [{ in: 'path', style: 'matrix', schema: list, explode: true }, ';', []],
  // Headers
  [{ in: 'header', style: 'simple', schema: list }, ' 1 , 2 ', [1, 2]],
  [{ in: 'header', style: 'simple', json: true }, '{"n":9007199254740993}', { n: 2n ** 53n + 1n }],
  [{ in: 'header', style: 'simple', json: true }, '{', '{'],
  // Queries
  [{}, 'value=a+b%20c', 'a b c'],
  [{}, 'value', ''],
  [{}, 'value=value=a', 'value=a'],
  [{ schema: list, explode: true }, 'value=1&other=3&value=2', [1, 2]],
  [{ schema: { anyOf: [integer, list] }, explode: true }, 'value=1', 1],
  [{ schema: { anyOf: [integer, list] }, explode: true }, 'value=1&value=2', [1, 2]],
  [{ style: 'pipeDelimited', schema: list }, 'value=1|2%7C3%7c4', [1, 2, 3, 4]],
  [{ style: 'spaceDelimited', schema: list }, 'value=1+2%203', [1, 2, 3]],
  [{ schema: point, explode: true }, 'x=1&x=2', { x: ['1', '2'] }],
  [{ style: 'deepObject', schema: point }, 'value[x]=1&value%5By%5D=b+c', { x: 1, y: 'b c' }],
  [{ style: 'deepObject', schema: point }, 'value=1', '1'],
  // Cookies
  [{ in: 'cookie', schema: integer }, 'other=1; value=2', 2],
  [{ in: 'cookie', schema: integer }, 'value=1; value=2', 1],
  [{ in: 'cookie', schema: list, explode: true }, 'value=1; other=5; value=2,3', [1, 2, 3]],
  [{ in: 'cookie', schema: list, explode: true, json: true }, 'value=[1]; value=[2]', [1]],
  // The whole query
  [{ style: 'querystring' }, 'a=b%26c', 'a=b&c'],
];

test('a list of many empty texts is read without preparing their format for each', () => {
  const items = { type: ['string', 'null'], format: 'email' };
  const texts = Array<string>(20_000).fill('value=');
  const schema = { type: 'array', items };
  expect(read({ schema, explode: true }, texts.join('&'))).toEqual(texts.map(() => null));
});

test.each(TEXTS.map(([members, text, value]) => [members, text, textOf(value), value] as const))(
  '%j reads %j as %s',
  (members, text, _value, value) => {
    expect(read(members, text)).toEqual(value);
  },
);

test.each<[members: Partial<Parameter>, text: string, reason: string]>([
  [{}, 'value=1&value=2', 'must be given once'],
  [{ schema: list }, 'value=1&value=2', 'must be given once, with values separated by commas'],
  [
    { schema: list, style: 'pipeDelimited' },
    'value=1&value=2',
    'must be given once, with values separated by %7C',
  ],
  [{ schema: list, explode: true, json: true }, 'value=1&value=2', 'must be given once'],
  [{ schema: { anyOf: [string, list] } }, 'value=1&value=2', 'must be given once'],
  [{ json: true, schema: list }, 'value=[1', 'must be JSON (invalid at line 1, column 3)'],
  [{ in: 'path', style: 'matrix' }, ';other=1', 'must begin with ;value='],
  [{ in: 'path', style: 'matrix', schema: integer }, ';5', 'must begin with ;value='],
  [
    { in: 'path', style: 'matrix', schema: list, explode: true },
    ';value=1;other=2',
    'must begin with ;value=',
  ],
  [
    { style: 'deepObject', schema: nested },
    `value${'[p]'.repeat(257)}=1`,
    'must be nested at most 256 levels deep',
  ],
])('%j rejects %s', (members, text, reason) => {
  expect(() => read(members, text)).toThrow(
    expect.objectContaining({ parameter: 'value', reason, message: `value ${reason}` }),
  );
  expect(() => read(members, text)).toThrow(ParameterError);
});

test.each<[members: Partial<Parameter>]>([
  [{}],
  [{ in: 'path', style: 'simple' }],
  [{ in: 'cookie' }],
  [{ style: 'querystring' }],
])('percent-encoding is checked in %j', (members) => {
  const text = members.in === 'path' || members.style === 'querystring' ? '%zz' : 'value=%zz';
  expect(() => read(members, text)).toThrow(URIError);
});
