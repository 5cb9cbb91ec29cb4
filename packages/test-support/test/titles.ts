import { inspect } from 'node:util';

/**
 * Returns a value as JavaScript in one line. Jest's `%p` omits nested values, and its `%j` writes
 * bigints as strings.
 */
export const textOf = (value: unknown): string =>
  inspect(value, { depth: null, breakLength: Infinity, compact: true });

/**
 * Moves the first value of each row of a table of tests to the end, and puts its text in its place,
 * for `%s` in the title.
 */
export const withText = <First, Rest extends readonly unknown[]>(
  rows: readonly (readonly [First, ...Rest])[],
) => rows.map(([first, ...rest]) => [textOf(first), ...rest, first] as const);
