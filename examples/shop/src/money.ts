/** Writes cents as euros with two decimals. */
export const euros = (cents: number): string => (cents / 100).toFixed(2);

/** Reads euros with two decimals. */
export const centsOf = (money: string): number => Number(money.replace('.', ''));
