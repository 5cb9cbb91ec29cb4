/** The bytes that all requests together may hold. */
const BUDGET = 64 * 1024 ** 2;

let held = 0;

/**
 * Reserves bytes of the budget that all requests share.
 *
 * @returns false if too few are left; then none are reserved.
 */
export function hold(bytes: number): boolean {
  if (held + bytes > BUDGET) return false;
  held += bytes;
  return true;
}

/** Returns reserved bytes to the budget. */
export function release(bytes: number): void {
  held -= bytes;
}

/** Returns the bytes that are left. */
export const bytesLeft = (): number => BUDGET - held;
