/**
 * Parameters of `fc.assert()`: the number of values and the seed. The values are the same in each
 * run, so only a change can make a test fail. `FUZZ_RUNS` sets the number, `FUZZ_SEED` (an integer)
 * selects other values.
 */
export const randomValues = (runs: number) => ({
  numRuns: Number(process.env.FUZZ_RUNS ?? runs),
  seed: Number(process.env.FUZZ_SEED ?? 1),
});
