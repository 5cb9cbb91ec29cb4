import { asArray, asObject, isObject, type Json, memoized, valueAt } from './document.ts';
import { walk } from './kinds.ts';

/** Calls `visit` with a schema and each schema inside it, and their pointers. Does not follow references. */
export const eachSchema = (schema: unknown, pointer: string, visit: (schema: Json, pointer: string) => void): void =>
  isObject(schema)
    ? walk(schema, 'schema', pointer, (part, kind, at) => kind === 'schema' && visit(part, at))
    : undefined;

/** A schema and the schemas that describe the same value: what it references, and its `allOf`. */
export function allOfSchemas(root: Json, schema: unknown, seen = new Set<unknown>()): Json[] {
  const at = isObject(schema) ? schema : undefined;
  if (at === undefined || seen.has(at)) return [];
  seen.add(at);
  const referenced = typeof at.$ref === 'string' ? allOfSchemas(root, valueAt(root, at.$ref), seen) : [];
  return [at, ...referenced, ...asArray(at.allOf).flatMap((part) => allOfSchemas(root, part, seen))];
}

/** `allOfSchemas`, and the alternatives that may describe the value too. */
export const alternatives = memoized((root, schema: unknown): readonly Json[] =>
  alternativesOf(root, schema, new Set()),
);

function alternativesOf(root: Json, schema: unknown, seen: Set<unknown>): Json[] {
  return allOfSchemas(root, schema, seen).flatMap((part) => [
    part,
    ...['anyOf', 'oneOf', 'then', 'else'].flatMap((key) =>
      [part[key]].flat().flatMap((item) => alternativesOf(root, item, seen)),
    ),
  ]);
}

/** The JSON types that a schema and its alternatives name for a value; empty if they name none. */
export const typesOf = memoized(
  (root, schema: unknown): ReadonlySet<string> => new Set(alternatives(root, schema).flatMap(namedTypes)),
);

const isInteger = (value: unknown): boolean => typeof value === 'bigint' || Number.isInteger(value);

const VALUES = ['enum', 'const', 'default', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'];

/** Whether an integer may be beyond ±(2^53−1): by `format: int64`, or since the schema names such a value. */
export const isWide = (schema: Json): boolean =>
  schema.format === 'int64' || VALUES.flatMap((key) => schema[key]).some((value) => typeof value === 'bigint');

/** The types in `type`. Without it, the types that the other keywords imply. */
function namedTypes(schema: Json): string[] {
  const { type } = schema;
  if (type !== undefined) return [type].flat().filter((name) => typeof name === 'string');
  const values = Object.hasOwn(schema, 'const') ? [schema.const] : asArray(schema.enum);
  const types = values.map((value) =>
    value === null ? 'null' : Array.isArray(value) ? 'array' : isInteger(value) ? 'integer' : typeof value,
  );
  if (schema.items !== undefined || schema.prefixItems !== undefined) types.push('array');
  if (schema.properties !== undefined) types.push('object');
  return types;
}

/** Whether a value is written as a list, as pairs, or as one text. */
export function shapeOf(root: Json, schema: unknown): 'array' | 'object' | 'text' {
  const types = typesOf(root, schema);
  if (['string', 'number', 'integer', 'boolean'].some((type) => types.has(type))) return 'text';
  if (types.has('array')) return 'array';
  return types.has('object') ? 'object' : 'text';
}

/** The schemas that may describe a property of an object that the schema describes. */
export const propertySchemas = (root: Json, schema: unknown, name: string): unknown[] =>
  alternatives(root, schema).flatMap(({ properties, patternProperties, ...part }) => {
    const own = Object.hasOwn(asObject(properties), name) ? [asObject(properties)[name]] : [];
    const matching = Object.entries(asObject(patternProperties)).filter(
      // A longer name stays a text. The validator matches it, within its time.
      ([pattern]) => name.length <= safeLength(pattern) && patternOf(pattern).test(name),
    );
    const named = [...own, ...matching.map(([, item]) => item)];
    return named.length > 0 ? named : [part.additionalProperties, part.unevaluatedProperties];
  });

/** The schemas that may describe an item of an array that the schema describes. */
export const itemSchemas = (root: Json, schema: unknown, index: number): unknown[] =>
  alternatives(root, schema).map((part) => asArray(part.prefixItems)[index] ?? part.items ?? part.unevaluatedItems);

/** A translated regular expression of a schema. One that is invalid with the flag u is used without. @throws {SyntaxError} */
export function patternOf(source: string): RegExp {
  const translated = translate(source);
  try {
    return new RegExp(translated, 'u');
  } catch {
    return new RegExp(translated);
  }
}

/**
 * What other languages have, as JavaScript has it: flags for the whole pattern, named groups, start and end of the text. A
 * pattern that is valid with the flag u stays the same.
 */
export const translate = (source: string): string =>
  source
    .replace(/^\(\?([ims]+)\)(.*)$/s, '(?$1:$2)')
    .replaceAll('(?P<', '(?<')
    .replace(/\\./gs, (pair) => ({ '\\A': '^', '\\Z': '$', '\\z': '$' })[pair] ?? pair);

/** How many steps a pattern may take at most without harm: some milliseconds. */
const STEPS = 1_000_000;

/** A group that matches in one way only, however often it is repeated. */
const SIMPLE = /\((?:\?:|\?<\w+>)?(?:[^()|*+?{}]|\{\d+\})*\)/g;

/**
 * The length of the longest text that a pattern surely matches within {@link STEPS}. A backtracking engine may take time
 * that is exponential where a group is repeated that matches in several ways, and a power of the length with each
 * quantifier that has no other bound.
 */
export function safeLength(pattern: string): number {
  let bare = pattern.replace(/\\./g, 'x').replace(/\[[^\]]*\]/g, 'x');
  for (let before = ''; before !== bare; bare = bare.replace(SIMPLE, 'x')) before = bare;
  if (/\)(?:[*+]|\{\d)/.test(bare) || (bare.match(/[^(]\?/g)?.length ?? 0) > 10) return 0;
  const degree = (bare.match(/[*+]|\{\d+,/g)?.length ?? 0) + (bare.startsWith('^') ? 0 : 1);
  return degree < 2 ? Number.POSITIVE_INFINITY : Math.floor(STEPS ** (1 / degree));
}

/** How Ajv compiles the patterns of schemas. `code` is for generated modules, which nothing here makes. */
export const patternEngine = Object.assign((source: string): RegExp => patternOf(source), { code: 'new RegExp' });
