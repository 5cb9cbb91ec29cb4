import { describe, expect, test } from '@jest/globals';
import { encodedPath, resolveRef, valueAt } from '../../src/source/document.ts';

test.each([
  ['/a b/{id}/é', '/a%20b/{id}/%C3%A9'],
  ['/%20/{x y}', '/%20/{x%20y}'],
  ["/a-b_c.~!$&'()*+,;=:@", "/a-b_c.~!$&'()*+,;=:@"],
  ['/"<>^`|\\', '/%22%3C%3E%5E%60%7C%5C'],
])('the path %s is encoded as %s', (template, expected) => {
  expect(encodedPath(template)).toBe(expected);
});

describe('valueAt', () => {
  const root = { a: { 'b/c': [10, 20] }, 'd e': 'text', '': 0, '100%': 1 };

  test.each([
    ['#', root],
    ['/a/b~1c/1', 20],
    ['#/a/b~1c/1', 20],
    ['#/d%20e', 'text'],
    ['/d%20e', undefined],
    ['/', 0],
    ['#/100%', 1],
    ['a', undefined],
    ['#a', undefined],
    ['/a/b~1c/2', undefined],
    ['/a/constructor', undefined],
    ['/d e/length', undefined],
    ['/a/none/x', undefined],
  ])('returns the value at %j', (pointer, value) => {
    expect(valueAt(root, pointer)).toBe(value);
  });
});

test('a circular reference, or a chain of more than 100 references, is rejected', () => {
  const links = Array.from({ length: 101 }, (_, at) => [`a${at}`, { $ref: `#/a${at + 1}` }]);
  const root = { ...Object.fromEntries(links), b: { $ref: '#/b' } };
  expect(() => resolveRef(root, { $ref: '#/a0' })).toThrow('$ref: #/a100 is circular');
  expect(() => resolveRef(root, root.b)).toThrow('$ref: #/b is circular');
});
