import { generateSync, type JsonSchema } from 'json-schema-faker';
import { isObject, type Json, mapMembers, memoized } from '../document/document.ts';
import { type Direction, reachedFrom } from '../document/lower.ts';
import type { MediaType } from '../document/media.ts';
import { essenceOf } from '../document/media-types.ts';
import { lowerSchemas } from '../lowered.ts';
import { mapKeyword } from '../schema/keywords.ts';

/** The maximum number of values for one schema. */
const MAX_VALUES = 20;

/**
 * No further value is generated after this many strings, numbers, arrays and objects. The first two
 * values are always generated.
 */
const MAX_PARTS = 100_000;

/** Options of the first value: all members, with the examples and defaults of the schemas. */
const FULL_OPTIONS = {
  useExamplesValue: true,
  useDefaultValue: true,
  alwaysFakeOptionals: true,
  maxDepth: 5,
  maxItems: 1,
};

/**
 * Generates values from a schema, the most complete first. Each call yields the same values.
 * Callers must validate them, since the library does not support all of JSON Schema.
 */
export function* valuesOf(root: Json, schema: unknown, direction: Direction): Generator<unknown> {
  const lowered = lowerSchemas(root, direction);
  const source = lowered.lower(schema);
  if (!isObject(source)) return yield {};
  // Wrapped in an array, since the library would treat `$defs` as a member of an object.
  const list: JsonSchema = {
    type: 'array',
    items: plain(root, source),
    minItems: 1,
    maxItems: 1,
    $defs: Object.fromEntries(
      [...reachedFrom(lowered.$defs, source)].map((name) => [
        name,
        plain(root, lowered.$defs[name]),
      ]),
    ),
  };
  // Limits the parts instead of the time, so that the values do not depend on the machine.
  let parts = 0;
  const outputTransform = (value: unknown) => {
    parts += 1;
    return value;
  };
  for (let seed = 0; seed < MAX_VALUES && (seed < 2 || parts < MAX_PARTS); seed += 1) {
    // Required members only. Optional members of a recursive schema often reach the depth limit,
    // where the library returns invalid values.
    const required = {
      optionalsProbability: 0,
      maxDepth: seed < 10 ? 14 : 60,
      ...(seed >= 10 && { maxItems: 1 }),
    };
    const shallow = { maxDepth: 6 };
    const partial = seed % 2 === 1 ? required : shallow;
    const options = seed === 0 ? FULL_OPTIONS : partial;
    try {
      const values = generateSync(list, { ...options, seed, outputTransform });
      if (Array.isArray(values)) yield values[0];
    } catch {
      // The library does not support the schema.
    }
  }
}

const GENERATOR_FORMATS: Readonly<Record<string, string>> = {
  url: 'uri',
  'iso-date-time': 'date-time',
  'iso-time': 'time',
};

const BOUND_KEYWORDS = /^((exclusiveM|m)(in|ax)imum|multipleOf)$/;

/** Converts a schema for the generator. */
const plain = memoized(
  (_root, schema: unknown): JsonSchema =>
    typeof schema === 'boolean' ? schema : Object(plainSchema(schema)),
);

const plainSchema = (schema: unknown): unknown =>
  isObject(schema) ? mapMembers(schema, plainKeyword) : schema;

function plainKeyword(value: unknown, key: string): unknown {
  if (key === '$ref' && typeof value === 'string') return decodeURIComponent(value);
  if (key === 'format' && typeof value === 'string') return GENERATOR_FORMATS[value] ?? value;
  if (typeof value === 'bigint' && BOUND_KEYWORDS.test(key)) return Number(value);
  // Ignores an unrealistic `minItems`.
  if (key === 'minItems' && Number(value) > 2_000) return 0;
  return mapKeyword(key, value, plainSchema);
}

/**
 * Generates bodies of a response from the schema of its media type: JSON, text, JSON Lines and JSON
 * Text Sequences. For any other media type, generates one short text.
 */
export function* bodiesOf(root: Json, type: string, media: MediaType): Generator<unknown> {
  const { kind, schema, sequence } = media;
  const essence = essenceOf(type);
  if (sequence === 'lines' || sequence === 'records') {
    const { write } = media.itemWriter(type);
    for (const value of valuesOf(root, schema, 'response'))
      yield [value].flat().map(write).join('');
  } else if (kind === 'json' || kind === 'text' || essence === 'application/json') {
    yield* valuesOf(root, schema, 'response');
  } else {
    yield `a mock of ${essence}`;
  }
}
