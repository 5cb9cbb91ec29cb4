import { describe, expect, test } from '@jest/globals';
import { copyStart, measureValue } from '../../../src/core/validation/size.ts';

describe('measureValue', () => {
  const none = { members: 0, longest: 0, steps: 0, depth: 0, hasBigint: false };

  test.each<[string, unknown, Partial<typeof none>]>([
    ['null', null, {}],
    ['a number', 5, {}],
    ['undefined', undefined, {}],
    ['a bigint', 5n, { hasBigint: true }],
    ['a string', 'abc', { longest: 3, steps: 9 }],
    ['an empty object', {}, {}],
    ['an empty array', [], {}],
    ['an object', { ab: 1, c: 'def' }, { members: 2, longest: 3, steps: 4 + 1 + 9, depth: 1 }],
    ['an array', ['a', 'bcd', 1], { members: 3, longest: 3, steps: 1 + 9, depth: 1 }],
    ['an array in an array', [[], [[1n]]], { members: 4, depth: 3, hasBigint: true }],
    [
      'a branch and a deeper one',
      { a: { b: 1 }, c: 1 },
      { members: 3, longest: 1, steps: 3, depth: 2 },
    ],
    ['bytes', new Uint8Array(1000), {}],
    ['bytes in an object', { a: Buffer.alloc(9) }, { members: 1, longest: 1, steps: 1, depth: 1 }],
    [
      'a file in an object',
      { a: new Blob(['abc']) },
      { members: 1, longest: 1, steps: 1, depth: 1 },
    ],
  ])('measures %s', (_title, value, size) => {
    expect(measureValue(value, 2)).toEqual({ ...none, ...size });
  });

  test.each([
    [1, 5],
    [2, 13],
    [3, 35],
  ])('a pattern of degree %i takes %i steps for two strings', (degree, steps) => {
    expect(measureValue(['ab', 'cde'], degree).steps).toBe(steps);
  });
});

describe('copyStart', () => {
  test.each<[string, unknown, number, unknown, string[]]>([
    ['a string', 'abc', 0, 'abc', []],
    ['null', null, 0, null, []],
    ['an object', { a: 1, b: 2, c: 3 }, 2, { a: 1, b: 2 }, ['/body']],
    ['as many members as allowed', { a: 1, b: 2 }, 2, { a: 1, b: 2 }, []],
    ['an array', [1, 2, 3], 2, [1, 2], ['/body']],
    ['the first members, level by level', { a: [1, 2], b: [3] }, 3, { a: [1, 2] }, ['/body']],
    ['nothing', { a: 1 }, 0, {}, ['/body']],
    [
      'several incomplete parts',
      { 'a/b': [1, 2], c: 1 },
      2,
      { 'a/b': [1] },
      ['/body/a~1b', '/body'],
    ],
    ['an empty part', { a: {}, b: [] }, 2, { a: {}, b: [] }, []],
  ])('copies %s', (_title, source, most, value, incomplete) => {
    const start = copyStart(source, most, '/body');
    expect(start.value).toEqual(value);
    expect([...start.incomplete]).toEqual(incomplete);
  });

  test('does not copy bytes and files', () => {
    const source = { bytes: Buffer.from('abc'), file: new File(['abc'], 'a') };
    const { value } = copyStart(source, 2, '');
    expect(Object(value).bytes).toBe(source.bytes);
    expect(Object(value).file).toBe(source.file);
  });
});
