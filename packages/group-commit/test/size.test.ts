import { expect, test } from '@jest/globals';
import { sizeOf } from '../src/size.ts';

test.each<[unknown, number]>([
  ['', 0],
  ['moss', 4],
  [12345, 0],
  [null, 0],
  [undefined, 0],
  [new Uint16Array(3), 6],
  [new ArrayBuffer(5), 5],
  [Buffer.from('äö'), 4],
  [['add', { id: 1, text: 'moss' }], 7],
  [{ tags: { first: 'a', second: 'bc' } }, 3],
  [[[['inside the third level']]], 22],
  [[[[['inside the fourth level']]]], 0],
])('the size of %j is %d', (value, size) => {
  expect(sizeOf(value)).toBe(size);
});
