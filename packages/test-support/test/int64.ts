import fc from 'fast-check';

const MIN = -(2n ** 63n);
export const MAX = 2n ** 63n - 1n;

/**
 * Integers of int64. Half of them are near 0, near ±2^53, where doubles lose precision, near 2^62, or
 * near the ends of int64.
 */
export const int64 = fc.oneof(
  fc.bigInt({ min: MIN, max: MAX }),
  fc
    .tuple(
      fc.constantFrom(0n, 2n ** 53n, -(2n ** 53n), 2n ** 62n, MIN, MAX),
      fc.bigInt({ min: -2000n, max: 2000n }),
    )
    .map(([near, distance]) => near + distance)
    .filter((value) => value >= MIN && value <= MAX),
);
