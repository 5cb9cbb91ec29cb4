export const euros = (cents: number): string => (cents / 100).toFixed(2);

/** Parses euros with exactly two decimals. */
export const centsOf = (money: string): number => Number(money.replace('.', ''));
