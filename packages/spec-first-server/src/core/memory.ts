/** The maximum number of bytes that all requests may reserve together. */
const BUDGET = 64 * 1024 ** 2;

let reserved = 0;

/**
 * Reserves bytes of the budget that all requests share.
 *
 * @returns false if too few are left; then none are reserved.
 */
export function reserve(bytes: number): boolean {
  if (reserved + bytes > BUDGET) return false;
  reserved += bytes;
  return true;
}

export function release(bytes: number): void {
  reserved -= bytes;
}

export const bytesLeft = (): number => BUDGET - reserved;
