import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { randomValues } from 'test-support/random-values';
import { open, useFolder } from './support.ts';

useFolder();

/** A call, and what it does to the ids that are stored: it adds some, or fails with a code. */
interface Step {
  readonly call: readonly [name: string, ...args: unknown[]];
  readonly adds?: readonly number[];
  readonly error?: string;
}

const note = (id: number) => ({ id, text: 'a' });
const id = fc.nat(30);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: id.map((id): Step => ({ call: ['add', note(id)], adds: [id] })) },
  fc.tuple(id, id).map(([a, b]): Step => ({ call: ['addBoth', note(a), note(b)], adds: [a, b] })),
  fc.constantFrom<Step>(
    { call: ['bytes', 2] },
    { call: ['fail', 'tea'], error: 'NO_NAME' },
    { call: ['later'], error: 'TypeError' },
    { call: ['remove'], error: 'TypeError' },
    { call: ['toString'], error: 'TypeError' },
    { call: ['dropWhileReading'], error: 'ERR_SQLITE_ERROR' },
    { call: ['addUncloneable', 97], error: 'DataCloneError' },
    { call: ['add', { id: Symbol('id'), text: 'a' }], error: 'not cloned' },
    // Its trigger ends the transaction.
    { call: ['add', { id: 96, text: 'end' }], error: '23000' },
    { call: ['endQuietly'], error: 'TypeError' },
    // Its foreign key is checked at the commit.
    { call: ['exec', 'INSERT INTO replies VALUES (95)'], error: '23503' },
    { call: ['exec', 'COMMIT'], error: 'Error' },
    { call: ['exec', 'ROLLBACK'], error: 'Error' },
    { call: ['exec', 'BEGIN'], error: 'Error' },
  ),
);

/** Runs a call in the model: adds its ids to those that are stored, or returns its error. */
function run({ adds = [], error }: Step, stored: Set<number>): string | undefined {
  if (error !== undefined) return error;
  if (adds.some((id) => stored.has(id)) || new Set(adds).size < adds.length) return '23505';
  for (const id of adds) stored.add(id);
  return undefined;
}

const RESET = "DELETE FROM notes; INSERT INTO notes VALUES (50, 'a')";

test.each([
  ['in memory', ':memory:', 'ERR_INVALID_ARG_TYPE'],
  ['in a file', undefined, 'DataCloneError'],
])(
  'calls that share a commit %s have the outcomes of separate calls',
  async (_place, file, code) => {
    let batches: number[] = [];
    const options = { onBatch: (calls: number) => batches.push(calls) };
    const database = await open({ ...options, ...(file && { file }) });
    const outcomeOf = ({ call: [name, ...args] }: Step): Promise<unknown> =>
      Reflect.apply(database.write, database, [name, ...args]).then(
        () => undefined,
        ({ code, name }: { code?: string; name: string }) => code ?? name,
      );
    const property = async (steps: readonly (readonly Step[])[]): Promise<void> => {
      await database.write('exec', RESET);
      batches = [];
      const stored = new Set([50]);
      for (const calls of steps) {
        const outcomes = await Promise.all(calls.map(outcomeOf));
        const expected = calls.map((each) => run(each, stored));
        expect(outcomes).toEqual(expected.map((error) => (error === 'not cloned' ? code : error)));
        const rows = await database.read('list');
        expect(rows.map(({ id }) => Number(id))).toEqual([...stored].sort((a, b) => a - b));
      }
      expect(batches).toEqual(steps.map(({ length }) => length));
      expect(database.stats().waiting).toBe(0);
    };
    const batch = fc.array(step, { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(fc.array(batch, { minLength: 1, maxLength: 8 }), property),
      randomValues(25),
    );
  },
);
