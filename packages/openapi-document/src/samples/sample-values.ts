import { generateSync } from 'json-schema-faker';
import { asObject, isObject, type Json, memoized } from '../document/document.ts';
import type { MediaType } from '../document/media.ts';
import { essenceOf } from '../document/media-types.ts';
import { stringifyJson } from '../json/exact.ts';

/** How many values are made for a schema that asks for more than the first one has. */
const ATTEMPTS = 20;

/** How long values are made for one schema, with what the caller does meanwhile, after the two simplest ways. Milliseconds. */
const LONGEST = 500;

/** With the examples and defaults of the schemas, and all members. */
const FULL = { useExamplesValue: true, useDefaultValue: true, alwaysFakeOptionals: true, maxDepth: 5, maxItems: 1 };

/**
 * Values made from a schema, the most complete one first. They are the same at each call. The library does not know all of
 * JSON Schema, so the caller validates them.
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
  const outputTransform = (value: unknown, of: unknown) => (isObject(of) && of[skipped] === true ? undefined : value);
  // As an item of a list, since the generator would take the components for members of an object.
  const list = { type: 'array', items: plain(root, schema), minItems: 1, maxItems: 1, ...definitionsOf(root, root) };
  for (let seed = 0; seed < ATTEMPTS && (seed < 2 || performance.now() < end); seed += 1) {
    // Required members only: with optional ones, a recursive schema soon ends at the depth limit with a wrong value.
    const required = { optionalsProbability: 0, maxDepth: seed < 10 ? 14 : 60, ...(seed >= 10 && { maxItems: 1 }) };
    const options = seed === 0 ? FULL : seed % 2 === 1 ? required : { maxDepth: 6 };
    try {
      const made = generateSync(list, { ...options, seed, outputTransform });
      if (Array.isArray(made)) yield made[0];
    } catch {
      // The library does not understand the schema.
    }
  }
}

/** What references may lead to: components, and paths if a schema references one. */
const definitionsOf = memoized((root, _document: Json) => ({
  components: plain(root, asObject(root.components)),
  ...(stringifyJson(root)?.includes('"$ref":"#/paths/') && { paths: plain(root, asObject(root.paths)) }),
}));

/** Formats that the generator knows by another name. */
const SAME: Readonly<Record<string, string>> = { url: 'uri', 'iso-date-time': 'date-time', 'iso-time': 'time' };

const BOUNDS = /^((exclusiveM|m)(in|ax)imum|multipleOf)$/;

const plain = memoized((_root, value: unknown): Json => asObject(plainValue(value, '')));

function plainValue(value: unknown, key: string): unknown {
  if (Array.isArray(value)) return value.map((item) => plainValue(item, ''));
  if (isObject(value))
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, plainValue(item, name)]));
  if (typeof value === 'string') {
    return key === '$ref' ? decodeURIComponent(value) : key === 'format' ? (SAME[value] ?? value) : value;
  }
  if (typeof value === 'bigint' && BOUNDS.test(key)) return Number(value);
  // No value has so many.
  return key === 'minItems' && Number(value) > 2_000 ? 0 : value;
}

export function* bodiesOf(root: Json, type: string, media: MediaType): Generator<unknown> {
  const { kind, schema, sequence } = media;
  if (sequence === 'lines' || sequence === 'records') {
    const { write } = media.itemWriter(type);
    for (const value of valuesOf(root, schema)) yield [value].flat().map(write).join('');
  } else if (kind === 'json' || kind === 'text' || essenceOf(type) === 'application/json') {
    yield* valuesOf(root, schema);
  }
  yield '';
}
