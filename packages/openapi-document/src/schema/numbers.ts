import { type Budget, spend } from './budget.ts';

/** An integer of any size, or a double. JavaScript compares the two types exactly. */
export type Exact = number | bigint;

export const isExact = (value: unknown): value is Exact =>
  typeof value === 'number' || typeof value === 'bigint';

/** Returns the highest of some lower limits, or the lowest of some upper limits. */
export const tightest = (limits: readonly unknown[], isLower: boolean): Exact | undefined =>
  limits
    .filter(isExact)
    .reduce<Exact | undefined>(
      (best, limit) =>
        best === undefined || (isLower ? limit > best : limit < best) ? limit : best,
      undefined,
    );

/** Returns a safe integer as a number, and any other integer as a bigint. */
export function exactNumber(value: Exact): Exact {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? BigInt(value) : value;
}

/** The integers that a JavaScript number represents exactly. */
export const SAFE_RANGE = [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER] as const;

/** The ranges of the integer formats (OpenAPI 3.1 §4.4). */
export const INTEGER_RANGES: Readonly<Record<string, readonly [min: Exact, max: Exact]>> = {
  int32: [-(2 ** 31), 2 ** 31 - 1],
  int64: [-(2n ** 63n), 2n ** 63n - 1n],
};

/** Returns the digits and the exponent of the shortest decimal that is this number. */
function decimalOf(value: Exact): { readonly digits: bigint; readonly exponent: number } {
  const [mantissa = '', exponent = '0'] = String(value).split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length };
}

/**
 * Returns a test for `multipleOf` that is exact in decimals: 19.99 is a multiple of 0.01, 19.999 is
 * not (JSON Schema 2020-12, Validation §6.2.1).
 */
export function multipleOf(divisor: Exact): (value: Exact, budget: Budget) => boolean {
  const step = decimalOf(divisor);
  const unit = Number(step.digits);
  const factor = 10 ** -step.exponent;
  const isFactorExact = factor >= 1 && factor <= MAX_FACTOR;
  return (value, budget) => {
    if (isFactorExact && typeof value === 'number') {
      const scaled = Math.round(value * factor);
      // A decimal of at most 15 digits is the shortest one of the double that is closest to it.
      if (Math.abs(scaled) < MAX_SCALED && scaled / factor === value) return scaled % unit === 0;
    }
    // JSON can contain 1e400, which JavaScript parses as Infinity.
    if (typeof value === 'number' && !Number.isFinite(value)) return false;
    const { digits, exponent } = decimalOf(value);
    const shift = Math.min(exponent, step.exponent);
    // Multiplies by up to 10^600.
    spend(budget, (exponent + step.exponent - 2 * shift) / 16);
    const scaled = digits * 10n ** BigInt(exponent - shift);
    return scaled % (step.digits * 10n ** BigInt(step.exponent - shift)) === 0n;
  };
}

/** Powers of ten up to this one are exact. */
const MAX_FACTOR = 1e22;

const MAX_SCALED = 1e15;
