import { describe, expect, test } from '@jest/globals';
import { textOf } from 'test-support/titles';
import {
  type FormEncoding,
  type Styled,
  writeForm,
  writeParameter,
} from '../../src/parameters/write-parameter.ts';

const COLOURS = ['blue', 'black, white'];
const POINT = { x: 1, y: 'b c' };

const DEFAULTS = { name: 'value', explode: false, json: false };

const PARAMETERS: readonly (readonly [parameter: Partial<Styled>, value: unknown, text: string])[] =
  [
    // OpenAPI 3.1 §4.8.12.6
    [{ in: 'path', style: 'simple' }, 'a/b', 'a%2Fb'],
    [{ in: 'path', style: 'simple' }, POINT, 'x,1,y,b%20c'],
    [{ in: 'path', style: 'simple', explode: true }, POINT, 'x=1,y=b%20c'],
    [{ in: 'path', style: 'label' }, 'a.b', '.a.b'],
    [{ in: 'path', style: 'label', explode: true }, COLOURS, '.blue.black%2C%20white'],
    [{ in: 'path', style: 'label', explode: true }, POINT, '.x=1.y=b%20c'],
    [{ in: 'path', style: 'matrix', name: 'Größe' }, 5, ';Gr%C3%B6%C3%9Fe=5'],
    [{ in: 'path', style: 'matrix', explode: true }, ['a', 'b'], ';value=a;value=b'],
    [{ in: 'path', style: 'matrix' }, POINT, ';value=x,1,y,b%20c'],
    [{ in: 'path', style: 'matrix', explode: true }, POINT, ';x=1;y=b%20c'],
    [{ in: 'query', style: 'form' }, COLOURS, 'value=blue,black%2C%20white'],
    [{ in: 'query', style: 'form', explode: true }, { 'x&': [1, 2] }, 'x%26=1&x%26=2'],
    [{ in: 'query', style: 'spaceDelimited' }, ['a', 'b'], 'value=a%20b'],
    [{ in: 'query', style: 'pipeDelimited', explode: true }, ['a', 'b'], 'value=a&value=b'],
    [
      { in: 'query', style: 'deepObject', explode: true },
      { a: { b: [1, { c: null }] } },
      'value%5Ba%5D%5Bb%5D%5B0%5D=1&value%5Ba%5D%5Bb%5D%5B1%5D%5Bc%5D=',
    ],
    [{ in: 'query', style: 'form' }, [null, 2n ** 60n, 0.5], 'value=,1152921504606846976,0.5'],
    [{ in: 'header', style: 'simple', json: true }, { x: 'é🌵' }, '{"x":"\\u00e9\\ud83c\\udf35"}'],
    [{ in: 'cookie', style: 'form', explode: true }, ['a', 'b'], 'value=a,b'],
    [{ in: 'cookie', style: 'form', explode: true }, POINT, 'value=x=1,y=b%20c'],
    [{ in: 'query', style: 'querystring' }, 'a&b', 'a%26b'],
  ];

test.each(
  PARAMETERS.map(([parameter, value, text]) => [parameter, textOf(value), text, value] as const),
)('%j with the value %s is written as %s', (parameter, _value, text, value) => {
  expect(writeParameter({ ...DEFAULTS, in: 'path', style: 'simple', ...parameter }, value)).toBe(
    text,
  );
});

test.each<[where: Styled['in'], text: string]>([
  ['query', "value=a/b?c%3Dd%26e%23f%2Bg:h@i!j$k'l(m)n*o,p;q%5Br%5Ds%25t%20u"],
  ['path', "a%2Fb%3Fc%3Dd%26e%23f%2Bg:h@i!j$k'l(m)n*o,p;q%5Br%5Ds%25t%20u"],
])('allowReserved in a %s does not encode characters that are safe there', (where, text) => {
  const style = where === 'query' ? 'form' : 'simple';
  const parameter = { ...DEFAULTS, in: where, style, allowReserved: true };
  expect(writeParameter(parameter, "a/b?c=d&e#f+g:h@i!j$k'l(m)n*o,p;q[r]s%t u")).toBe(text);
});

describe('a whole query', () => {
  const parameter = { ...DEFAULTS, in: 'query', style: 'querystring' } as const;

  const type = 'application/x-www-form-urlencoded';

  test.each<[type: string, value: unknown, text: string]>([
    [type, { a: [1, 2], b: { c: 3 } }, 'a=1&a=2&b=%7B%22c%22%3A3%7D'],
    [type, 'a=1', 'a%3D1'],
    ['application/json', { a: 1 }, '%7B%22a%22%3A1%7D'],
    ['text/plain', 'a b', 'a%20b'],
  ])('of the media type %s with the value %j is %s', (mediaType, value, text) => {
    const json = mediaType === 'application/json';
    expect(writeParameter({ ...parameter, json, media: { type: mediaType } }, value)).toBe(text);
  });
});

test.each<[fields: object, text: string]>([
  [{ a: 1, b: undefined, c: null, 'd&': 'e f' }, 'a=1&c=&d%26=e%20f'],
  [{ a: [1, { b: 2 }], c: [] }, 'a=1&a=%7B%22b%22%3A2%7D'],
])('the form %j without an encoding is %s', (fields, text) => {
  expect(writeForm(fields)).toBe(text);
});

test.each<[fields: object, encoding: FormEncoding, text: string]>([
  [{ a: [1, 2] }, { a: { style: 'spaceDelimited' } }, 'a=1%202'],
  [{ a: [], b: 1, c: {} }, { a: { style: 'form' }, c: { explode: true } }, 'b=1'],
  [{ a: { b: 1 } }, { a: { style: 'deepObject', explode: true } }, 'a%5Bb%5D=1'],
  [{ a: [1, 2] }, { a: { contentType: 'application/json' } }, 'a=%5B1%2C2%5D'],
  [{ a: 'x' }, { a: { contentType: 'application/JSON; charset=utf-8' } }, 'a=%22x%22'],
  [{ a: [1, 2] }, { a: { contentType: 'application/json', explode: false } }, 'a=1,2'],
])('the form %j with the encoding %j is %s', (fields, encoding, text) => {
  expect(writeForm(fields, encoding)).toBe(text);
});
