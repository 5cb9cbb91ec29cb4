import { inspect } from 'node:util';

/** Returns a value as JavaScript in one line. Jest's `%p` omits nested values, `%j` bigints. */
export const textOf = (value: unknown): string =>
  inspect(value, { depth: null, breakLength: Infinity });

/** Adds the text of the first value to each row of a table of tests, for `%s` in the title. */
export const withText = <Row extends readonly [unknown, ...unknown[]]>(rows: readonly Row[]) =>
  rows.map((row) => [textOf(row[0]), ...row] as const);
