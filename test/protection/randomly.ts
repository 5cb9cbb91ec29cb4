import fc from 'fast-check';
import { randomValues } from 'test-support/random-values';
import { type Schema, schemas } from './schemas.ts';
import { type Draw, valueNear } from './values.ts';

/**
 * Compares the answers for random schemas and values. A failure stops after a minute, with the
 * smallest schema that was found.
 *
 * @param adapt changes each random schema.
 * @param prepare returns a function that compares the answers to one value.
 * @param runs the number of schemas.
 */
export async function randomly(
  adapt: (schema: Schema) => Schema,
  prepare: (schema: Schema, draw: Draw) => Promise<(value: unknown) => Promise<void>>,
  runs = 20,
): Promise<void> {
  const property = fc.asyncProperty(schemas.map(adapt), fc.gen(), async (schema, draw) => {
    const compare = await prepare(schema, draw);
    for (let count = 0; count < 6; count += 1) await compare(valueNear(schema, draw));
  });
  await fc.assert(property, { ...randomValues(runs), interruptAfterTimeLimit: 60_000 });
}
