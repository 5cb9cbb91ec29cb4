import { expect, test } from '@jest/globals';
import { bytesLeft, release, reserve } from '../../src/core/memory.ts';

const MIB = 1024 ** 2;

test('the budget is 64 MiB', () => {
  expect(bytesLeft()).toBe(64 * MIB);
  expect(reserve(64 * MIB)).toBe(true);
  expect(bytesLeft()).toBe(0);
  release(64 * MIB);
  expect(bytesLeft()).toBe(64 * MIB);
});

test('bytes beyond the budget are not reserved', () => {
  expect(reserve(64 * MIB - 1)).toBe(true);
  expect(reserve(2)).toBe(false);
  expect(bytesLeft()).toBe(1);
  expect([reserve(1), reserve(1)]).toEqual([true, false]);
  release(64 * MIB);
});
