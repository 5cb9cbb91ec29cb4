import fc from 'fast-check';

/**
 * Parameters of `fc.assert()`: the number of values and the seed. The values are the same in each
 * run, so only a change can make a test fail. `FUZZ_RUNS` sets the number, `FUZZ_SEED` (an integer)
 * selects other values.
 */
export const randomValues = (runs: number) => ({
  numRuns: Number(process.env.FUZZ_RUNS ?? runs),
  seed: Number(process.env.FUZZ_SEED ?? 1),
});

/** Any code point but a surrogate. fast-check needs 2 s of CPU time to create its unit `binary`. */
export const codePoint = fc
  .nat(0x10f7ff)
  .map((nth) => String.fromCodePoint(nth < 0xd800 ? nth : nth + 0x800));
