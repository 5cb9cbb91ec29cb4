import { generateSync } from 'json-schema-faker';
import { sample } from 'openapi-sampler';
import { isObject, type Json } from '../document/document.ts';
import { essenceOf, type MediaType } from '../document/media-types.ts';
import { definitionsOf, plain } from './plain-schemas.ts';
import { isSamplable, sampleDepth } from './samplable.ts';

/** How many values are made at random for a schema that asks for more than the first one has. */
const ATTEMPTS = 20;

/** How long values are made for one schema, with what the caller does meanwhile. Milliseconds. */
const LONGEST = 500;

const SAMPLE = { quiet: true };

/**
 * Values made from a schema, the most readable one first. Neither tool knows all of JSON Schema, so the caller validates
 * them. The random values are the same at each call.
 *
 * @param skipped marks the members that are left out: those of the other direction.
 */
export function* valuesOf(
  root: Json,
  schema: unknown,
  skipped: 'readOnly' | 'writeOnly' = 'writeOnly',
): Generator<unknown> {
  if (!isObject(schema)) return yield {};
  const end = performance.now() + LONGEST;
  const maxSampleDepth = sampleDepth(root, schema);
  const options = {
    ...SAMPLE,
    maxSampleDepth,
    skipReadOnly: skipped === 'readOnly',
    skipWriteOnly: skipped === 'writeOnly',
  };
  if (isSamplable(root, schema)) yield attempt(() => sample(schema, options, root));
  const definitions = definitionsOf(root);
  for (let seed = 1; seed <= ATTEMPTS && performance.now() < end; seed += 1) {
    // Required members first: with optional ones, a recursive schema soon ends at the depth limit with a wrong value.
    const required = { optionalsProbability: 0, maxDepth: seed < 10 ? 14 : 60, ...(seed >= 10 && { maxItems: 1 }) };
    const depth = seed % 2 === 1 ? required : { maxDepth: 6 };
    const outputTransform = (value: unknown, of: unknown) => (isObject(of) && of[skipped] === true ? undefined : value);
    // As an item of a list, since the generator would take the components for members of an object.
    const list = { type: 'array', items: plain(schema), minItems: 1, maxItems: 1, ...definitions };
    const made = attempt(() => generateSync(list, { seed, ...depth, outputTransform }));
    if (Array.isArray(made)) yield made[0];
  }
}

/** Bodies of a media type, made from its schema. */
export function* bodiesOf(root: Json, type: string, { kind, schema }: MediaType): Generator<unknown> {
  const essence = essenceOf(type);
  if (LINES.test(essence)) for (const value of valuesOf(root, schema)) yield lines(value);
  else if (kind === 'json' || kind === 'text' || essence === 'application/json') yield* valuesOf(root, schema);
  else if (/[/+]xml$/.test(essence) && isObject(schema)) {
    yield attempt(() =>
      sample(
        schema,
        { ...SAMPLE, maxSampleDepth: sampleDepth(root, schema), skipWriteOnly: true, format: 'xml' },
        root,
      ),
    );
  } else if (essence === 'image/png') yield PIXEL;
  yield '';
}

const LINES = /^application\/(x-)?(ndjson|jsonl|json-lines|json-seq)$/;

const lines = (value: unknown): string =>
  (Array.isArray(value) ? value : [value]).map((item) => `${JSON.stringify(item)}\n`).join('');

/** A grey image of one pixel (PNG). */
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNoAAAAggCB2kUIOwAAAABJRU5ErkJggg==',
  'base64',
);

/** `undefined` where a tool does not understand a schema. */
function attempt(make: () => unknown): unknown {
  try {
    return make();
  } catch {
    return undefined;
  }
}
