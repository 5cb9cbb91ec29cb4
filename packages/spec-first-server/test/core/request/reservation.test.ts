import { afterEach, expect, test } from '@jest/globals';
import { bytesLeft, release, reserve } from '../../../src/core/memory.ts';
import { createReservation } from '../../../src/core/request/reservation.ts';

const MIB = 1024 ** 2;

afterEach(() => expect(bytesLeft()).toBe(64 * MIB));

test('a reservation grows, shrinks and is released once', () => {
  const memory = createReservation();
  memory.resize(7);
  expect(bytesLeft()).toBe(64 * MIB - 7);
  memory.resize(100);
  expect(bytesLeft()).toBe(64 * MIB - 100);
  memory.resize(1);
  expect(bytesLeft()).toBe(64 * MIB - 1);
  memory.release();
  memory.release();
});

test('a reservation is at most 16 MiB', () => {
  const memory = createReservation();
  memory.resize(32 * MIB);
  expect(bytesLeft()).toBe(48 * MIB);
  memory.resize(16 * MIB - 1);
  expect(bytesLeft()).toBe(48 * MIB + 1);
  memory.release();
});

test('a reservation that exceeds the budget is a 503, and stays as it was', () => {
  const memory = createReservation();
  memory.resize(10);
  const others = bytesLeft() - 5;
  expect(reserve(others)).toBe(true);
  expect(() => memory.resize(16)).toThrow(
    expect.objectContaining({ status: 503, headers: { 'Retry-After': 1 }, expected: true }),
  );
  expect(bytesLeft()).toBe(5);
  memory.resize(15);
  expect(bytesLeft()).toBe(0);
  memory.release();
  release(others);
});
