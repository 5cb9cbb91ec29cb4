import { describe, expect, jest, test } from '@jest/globals';
import {
  decoded,
  directPointer,
  encodedPath,
  escapePointerToken,
  onFirstUse,
  pointerTokens,
  refTo,
  resolveRef,
  valueAt,
} from '../../src/source/document.ts';

test.each([
  ['a~b', 'a~0b'],
  ['/plants/{id}', '~1plants~1{id}'],
  ['~1', '~01'],
  ['~~//', '~0~0~1~1'],
])('the key %s is the reference token %s', (key, token) => {
  expect(escapePointerToken(key)).toBe(token);
  expect(pointerTokens(`/a/${token}/b`)).toEqual(['a', key, 'b']);
});

test.each([
  ['caf%C3%A9', 'café'],
  ['100%', '100%'],
  ['%ff', '%ff'],
])('%s is decoded as %s', (text, expected) => {
  expect(decoded(text)).toBe(expected);
});

test.each([
  ['/a b/{id}/é', '/a%20b/{id}/%C3%A9'],
  ['/%20/{x y}', '/%20/{x%20y}'],
  ["/a-b_c.~!$&'()*+,;=:@", "/a-b_c.~!$&'()*+,;=:@"],
  ['/"<>^`|\\', '/%22%3C%3E%5E%60%7C%5C'],
])('the path %s is encoded as %s', (template, expected) => {
  expect(encodedPath(template)).toBe(expected);
});

test.each([
  ['', '#'],
  ['/a b/~1c', '#/a%20b/~1c'],
  ['/Größe/100%/#1', '#/Gr%C3%B6%C3%9Fe/100%25/%231'],
])('the $ref to %j is %s', (pointer, ref) => {
  expect(refTo(pointer)).toBe(ref);
});

describe('valueAt', () => {
  const root = { a: { 'b/c': [10, 20] }, 'd e': 'text', '': 0, '100%': 1 };

  test.each([
    ['', root],
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

describe('resolveRef', () => {
  const chain = {
    ...Object.fromEntries(
      Array.from({ length: 100 }, (_, index) => [`a${index}`, { $ref: `#/a${index + 1}` }]),
    ),
    a100: { title: 'target' },
    text: 'text',
  };

  test.each([
    [{ title: 'object' }, { title: 'object' }],
    [{ $ref: 5 }, { $ref: 5 }],
    [{ $ref: '#/a1', title: 'reference' }, { title: 'target' }],
    [{ $ref: '#/text' }, undefined],
    [{ $ref: '#/none' }, undefined],
    ['text', undefined],
    [[], undefined],
  ])('of %j returns %j', (value, target) => {
    expect(resolveRef(chain, value)).toEqual(target);
  });

  test('rejects a circular reference, or more than 100 references', () => {
    expect(() => resolveRef(chain, { $ref: '#/a0' })).toThrow('$ref: #/a100 is circular');
    const root = { a: { $ref: '#/b' }, b: { $ref: '#/a' } };
    expect(() => resolveRef(root, root.a)).toThrow('$ref: #/b is circular');
  });
});

describe('directPointer', () => {
  const root = {
    a: { $ref: '#/b%20b' },
    'b b': { n: { $ref: '#/list/0' }, '/': 1 },
    list: [{ m: 1 }],
    loop: { $ref: '#/loop' },
    sibling: { $ref: '#/list', m: 2 },
  };

  test.each([
    ['', ''],
    ['/list/0/m', '/list/0/m'],
    ['/a/~1', '/b b/~1'],
    ['/a/n', '/b b/n'],
    ['/a/n/m', '/list/0/m'],
    ['/sibling/m', '/sibling/m'],
    ['/a/none/x', '/b b/none/x'],
    ['/loop/x', '/loop/x'],
  ])('of %j is %j', (pointer, direct) => {
    expect(directPointer(root, pointer)).toBe(direct);
  });
});

describe('onFirstUse', () => {
  test('creates each value once, when it is first used', () => {
    const create = jest.fn((name: string) => ({ name }));
    const lookUp = onFirstUse(create);
    expect(create).not.toHaveBeenCalled();
    const first = lookUp('a');
    expect(first).toEqual({ name: 'a' });
    expect(lookUp('b')).toEqual({ name: 'b' });
    expect(lookUp('a')).toBe(first);
    expect(create.mock.calls).toEqual([['a'], ['b']]);
  });

  test('creates a value again if that has failed', () => {
    const create = jest
      .fn(() => 'a')
      .mockImplementationOnce(() => {
        throw new Error('not yet');
      });
    const lookUp = onFirstUse(create);
    expect(() => lookUp(1)).toThrow('not yet');
    expect(lookUp(1)).toBe('a');
  });
});
