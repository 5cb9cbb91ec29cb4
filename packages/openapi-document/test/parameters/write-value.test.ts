import { expect, test } from '@jest/globals';
import { formParts, writeForm, writeParameter } from '../../src/parameters/forms.ts';
import type { FormEncoding, Styled } from '../../src/parameters/write-value.ts';

const DEFAULTS = { name: 'value', explode: false, json: false };

test.each<[where: Styled['in'], text: string]>([
  ['query', "value=a/b?c%3Dd%26e%23f%2Bg:h@i!j$k'l(m)n*o,p;q%5Br%5Ds%25t%20u"],
  ['path', "a%2Fb%3Fc%3Dd%26e%23f%2Bg:h@i!j$k'l(m)n*o,p;q%5Br%5Ds%25t%20u"],
])('allowReserved in a %s does not encode characters that are safe there', (where, text) => {
  const style = where === 'query' ? 'form' : 'simple';
  const parameter = { ...DEFAULTS, in: where, style, allowReserved: true };
  expect(writeParameter(parameter, "a/b?c=d&e#f+g:h@i!j$k'l(m)n*o,p;q[r]s%t u")).toBe(text);
});

test.each<[fields: object, encoding: FormEncoding, text: string]>([
  [{ a: 1, b: undefined, c: null, 'd&': 'e f' }, {}, 'a=1&c=&d%26=e%20f'],
  [{ a: [1, 2] }, { a: { style: 'spaceDelimited' } }, 'a=1%202'],
  [{ a: [], b: 1, c: {} }, { a: { style: 'form' }, c: { explode: true } }, 'b=1'],
  [{ a: [1, 2] }, { a: { contentType: 'application/json', explode: false } }, 'a=1,2'],
])('the form %j with the encoding %j is %s', (fields, encoding, text) => {
  expect(writeForm(fields, encoding)).toBe(text);
});

test('the parts of a multipart form are not percent-encoded', () => {
  const parts = formParts({ a: ['1', '%20'] }, { a: { style: 'spaceDelimited' } }, true);
  expect(parts).toEqual([{ name: 'a', text: '1 %20' }]);
});
