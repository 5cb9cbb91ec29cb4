import fc from 'fast-check';
import { CheckError } from './check-response.ts';
import { type Failure, Run, type World } from './world.ts';

/** The number of attempts to find a shorter sequence that fails. */
const MAX_SHRINKS = 60;

/** The time for the random requests of one test, in milliseconds. */
const MAX_TIME = 15_000;

/** The choices of one request. Fewer and smaller ones lead to shorter values. */
const CHOICES = fc.array(fc.noBias(fc.nat()), { maxLength: 80, size: 'max' });

/** Returns choices from a list, and zeros after them. */
function choicesFrom(choices: readonly number[]): () => number {
  let index = 0;
  return () => {
    index += 1;
    return choices[index - 1] ?? 0;
  };
}

/** Sends random requests. Shrinks the first failure to a short request. */
export async function testRandomly(
  world: World,
  numRuns: number,
  body: (run: Run, next: () => number) => Promise<void>,
): Promise<Failure | undefined> {
  let last: Failure | undefined;
  let shrinks = 0;
  const property = fc.asyncProperty(CHOICES, async (choices) => {
    if (last !== undefined) shrinks += 1;
    if (shrinks > MAX_SHRINKS) return;
    const run = new Run(world);
    try {
      await body(run, choicesFrom(choices));
    } catch (error) {
      if (error instanceof CheckError) last = { error, exchanges: run.exchanges };
      throw error;
    }
  });
  const { errorInstance } = await fc.check(property, {
    seed: world.randomSeed,
    numRuns,
    interruptAfterTimeLimit: MAX_TIME,
  });
  if (last === undefined && errorInstance !== undefined && errorInstance !== null)
    throw errorInstance;
  return last;
}

/** Returns random integers. The same seed gives the same integers. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    // mulberry32
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 1;
  };
}
