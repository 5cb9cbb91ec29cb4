import fc from 'fast-check';
import type { Operation } from 'openapi-document';
import { CheckError } from './check-response.ts';
import { resourcePathOf } from './names.ts';
import { isMock } from './send.ts';
import { type Failure, idNamesIn, Run, type Target, type World } from './world.ts';

/** The number of attempts to find a shorter sequence that fails. */
const MAX_SHRINKS = 60;

/** The time for the random requests of one test, in milliseconds. */
const MAX_TIME = 15_000;

const CHOICE = fc.noBias(fc.nat());

/** The choices of one request. Fewer and smaller ones lead to shorter values. */
const CHOICES = fc.array(CHOICE, { maxLength: 80, size: 'max' });

/** The creator and the values of a resource, then an operation and values for each step. */
const STEPS = fc.array(fc.tuple(CHOICE, CHOICE), { minLength: 1, maxLength: 9, size: 'max' });

/** Returns choices from a list, and zeros after them. */
function choicesFrom(choices: readonly number[]): () => number {
  let index = 0;
  return () => {
    index += 1;
    return choices[index - 1] ?? 0;
  };
}

/** Sends random requests. Shrinks the first failure to a short request. */
export const testRandomly = (
  world: World,
  numRuns: number,
  body: (run: Run, next: () => number) => Promise<void>,
): Promise<Failure | undefined> =>
  findFailure(world, CHOICES, numRuns, (run, choices) => body(run, choicesFrom(choices)));

async function findFailure<T>(
  world: World,
  arbitrary: fc.Arbitrary<T>,
  numRuns: number,
  body: (run: Run, value: T) => Promise<void>,
): Promise<Failure | undefined> {
  let last: Failure | undefined;
  let shrinks = 0;
  const property = fc.asyncProperty(arbitrary, async (value) => {
    if (last !== undefined) shrinks += 1;
    if (shrinks > MAX_SHRINKS) return;
    const run = new Run(world);
    try {
      await body(run, value);
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

/**
 * Sends sequences of valid requests to related operations: each one needs an id that an earlier one
 * created. Then reads all resources of the sequence.
 */
export async function testSequences(
  world: World,
  operations: readonly Operation[],
  numRuns: number,
): Promise<Failure | undefined> {
  const targets = operations.flatMap((operation) => world.targetOf(operation) ?? []);
  const needs = new Map(targets.map((target) => [target, neededKeys(target)]));
  const creators = targets.filter(({ operation: { path, method } }) => {
    const item = world.knowledge.itemOf(path) ?? (method === 'put' ? path : undefined);
    return /^(post|put)$/.test(method) && item !== undefined;
  });
  if (creators.length === 0) return undefined;

  return findFailure(world, STEPS, numRuns, async (run, [first, ...steps]) => {
    const created = new Set<string>();
    run.usesNewest = true;
    const call = async (target: Target, seed: number, isNew = false) => {
      const chosen = target.requests.choose(seed === 0 ? () => 0 : randomFrom(seed));
      const values = await run.values(target, chosen, { isNew });
      const response = await run.sendAndCheck(target, { values });
      if (isMock(response)) return;
      const { paths, names } = run.learn(target, values, response);
      for (const key of [...paths.keys(), ...names]) created.add(key);
    };
    const [creator, seedOfCreator] = first ?? [0, 0];
    await call(creators[creator % creators.length] as Target, seedOfCreator, true);
    for (const [choice, seed] of steps) {
      const possible = targets.filter((target) =>
        needs.get(target)?.some((key) => created.has(key)),
      );
      const target = possible[choice % possible.length];
      // Most sequences continue with a resource that exists.
      const isDeletion = target?.operation.method === 'delete' && seed % 3 > 0;
      if (target !== undefined && !isDeletion) await call(target, seed);
    }
    for (const target of targets) {
      const { method, path } = target.operation;
      if (method === 'get' && created.has(path)) await call(target, 0);
    }
  });
}

/** Lists the path templates and the names of the ids that an operation needs. */
function neededKeys({ operation, requests }: Target): readonly string[] {
  const template = resourcePathOf(operation.path);
  return [...(template === '' ? [] : [template]), ...idNamesIn(requests.fullest.body)];
}
