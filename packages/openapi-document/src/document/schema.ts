import { asArray, asObject, isObject, type Json, memoized, valueAt } from './document.ts';

/** Lists a schema, its `$ref` target, and the schemas in `allOf`. All describe the same value. */
export const allOfSchemas = (root: Json, schema: unknown): Json[] =>
  inPlaceSchemas(root, schema, ['allOf']);

/** Lists the schemas that may describe a value, including those in `oneOf`, `then` and `else`. */
export const alternatives = memoized((root, schema: unknown): readonly Json[] =>
  inPlaceSchemas(root, schema, ['allOf', 'anyOf', 'oneOf', 'then', 'else']),
);

function inPlaceSchemas(
  root: Json,
  schema: unknown,
  keywords: readonly string[],
  visited = new Set<unknown>(),
): Json[] {
  if (!isObject(schema) || visited.has(schema)) return [];
  visited.add(schema);
  const target = typeof schema.$ref === 'string' ? valueAt(root, schema.$ref) : undefined;
  const parts = [target, ...keywords.flatMap((keyword) => schema[keyword])];
  return [schema, ...parts.flatMap((part) => inPlaceSchemas(root, part, keywords, visited))];
}

/** Returns the JSON types that a schema names or implies, as `properties` implies `object`. */
export const typesOf = memoized(
  (root, schema: unknown): ReadonlySet<string> =>
    new Set(alternatives(root, schema).flatMap(namedTypes)),
);

const VALUES = [
  'enum',
  'const',
  'default',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
];

/** Returns true if a schema has `format: int64` or a value beyond ±(2^53−1). */
export const isWide = (schema: Json): boolean =>
  schema.format === 'int64' ||
  VALUES.flatMap((key) => schema[key]).some((value) => typeof value === 'bigint');

function typeOfValue(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'bigint' || Number.isInteger(value)) return 'integer';
  return typeof value;
}

/** The types in `type`, or else the types that other keywords imply. */
function namedTypes(schema: Json): string[] {
  const { type } = schema;
  if (type !== undefined) return [type].flat().filter((name) => typeof name === 'string');
  const values = Object.hasOwn(schema, 'const') ? [schema.const] : asArray(schema.enum);
  const types = values.map(typeOfValue);
  if (schema.items !== undefined || schema.prefixItems !== undefined) types.push('array');
  if (schema.properties !== undefined) types.push('object');
  return types;
}

/** Returns the shape of a serialized value: a list, pairs of names and values, or one string. */
export function shapeOf(root: Json, schema: unknown): 'array' | 'object' | 'text' {
  const types = typesOf(root, schema);
  if (['string', 'number', 'integer', 'boolean'].some((type) => types.has(type))) return 'text';
  if (types.has('array')) return 'array';
  return types.has('object') ? 'object' : 'text';
}

/** The schemas that may describe a property. */
export const propertySchemas = (root: Json, schema: unknown, name: string): unknown[] =>
  propertyFinder(root, schema)(name);

/** Returns a function that lists the schemas for a property. Faster for several properties. */
export const propertyFinder = (root: Json, schema: unknown): ((name: string) => unknown[]) =>
  finderIn(alternatives(root, schema));

/**
 * Returns a function that lists the schemas for a property in several parts of a schema.
 *
 * @param matches returns true if a name matches a pattern. By default, slow patterns match nothing.
 */
export function finderIn(
  parts: readonly Json[],
  matches: (pattern: string, name: string) => boolean = matchesName,
): (name: string) => unknown[] {
  const finders = parts.map((part) => finderOf(part, matches));
  const [finder = () => []] = finders;
  // Most schemas have one part.
  return finders.length < 2 ? finder : (name) => finders.flatMap((find) => find(name));
}

function finderOf(part: Json, matches: typeof matchesName): (name: string) => unknown[] {
  const properties = asObject(part.properties);
  const patterns = Object.entries(asObject(part.patternProperties));
  const others = [part.additionalProperties ?? part.unevaluatedProperties].filter(
    (schema) => schema !== undefined,
  );
  return (name) => {
    const named = Object.hasOwn(properties, name) ? [properties[name]] : [];
    for (const [pattern, schema] of patterns) if (matches(pattern, name)) named.push(schema);
    return named.length > 0 ? named : others;
  };
}

/**
 * Returns false for a pattern that may take long: unlike the validator, this function has no time
 * limit.
 */
export const matchesName = (pattern: string, name: string): boolean =>
  name.length ** patternDegree(pattern) <= MAX_STEPS && patternOf(pattern).test(name);

/** The schemas that may describe an item of an array. `undefined` allows any item. */
export const itemSchemas = (root: Json, schema: unknown, index: number): unknown[] =>
  itemsIn(alternatives(root, schema), index);

/** Lists the schema of an item in each part of a schema: `undefined` if a part has none. */
export const itemsIn = (parts: readonly Json[], index: number): unknown[] =>
  parts.map((part) => asArray(part.prefixItems)[index] ?? part.items ?? part.unevaluatedItems);

/**
 * Uses the flag u, unless the pattern is invalid with it.
 *
 * @throws {SyntaxError}
 */
export function patternOf(pattern: string): RegExp {
  const { source, flags } = translate(pattern);
  try {
    return new RegExp(source, `u${flags}`);
  } catch {
    return new RegExp(source, flags);
  }
}

/** Syntax of other languages, with its equivalent in ECMAScript. */
const SYNONYMS: Readonly<Record<string, string>> = {
  '\\A': '^',
  '\\Z': '$',
  '\\z': '$',
  '(?P<': '(?<',
};

/** Matches escapes, character classes, flags, and the start of named groups. */
const PATTERN_PARTS = /\\.|\[(?:\\.|[^\]])*\]|\(\?([ims]+)\)|\(\?P</gs;

/**
 * Translates syntax of other languages: named groups, `\A`, `\Z`, `\z`, and flags such as `(?i)`,
 * which apply to the whole pattern. A pattern that is valid with the flag u stays the same.
 */
export function translate(pattern: string): { readonly source: string; readonly flags: string } {
  const flags = new Set<string>();
  const source = pattern.replace(PATTERN_PARTS, (part, letters = '') => {
    for (const letter of letters) flags.add(letter);
    return letters === '' ? (SYNONYMS[part] ?? part) : '';
  });
  return { source, flags: [...flags].join('') };
}

/** The maximum steps of a regular expression without a time limit. They take milliseconds. */
const MAX_STEPS = 1_000_000;

/** Matches a group that is safe to repeat, since it can match a string in only one way. */
const SIMPLE_GROUP = /\((?:\?:|\?<\w+>)?(?:[^()|*+?{}]|\{\d+\})*\)/;

/** Matches a group without groups in it. */
const INNER_GROUP = /\([^()]*\)/;

/** The result of `patternDegree` for a pattern that may take exponential time. */
const EXPONENTIAL = 64;

/** The maximum of a range, such as `{64}` or `{1,63}`, above which it counts as unbounded. */
const WIDE_RANGE = 16;

/** The maximum number of combinations of short ranges and optional parts. More are exponential. */
const MAX_CHOICES = 1024;

/**
 * Estimates the exponent `n` for which matching a string takes about `length ** n` steps. Each
 * unbounded quantifier, wide range and back reference adds 1. A pattern adds 1 if its match may
 * begin at any position. A repeated group that can match in several ways, and many optional parts,
 * take exponential time.
 */
export function patternDegree(pattern: string): number {
  let bare = pattern
    .replace(/\\(?:[1-9]\d*|k<\w+>|.)/gs, (part) => (/^\\[1-9k]/.test(part) ? 'x+' : 'x'))
    .replace(/\[[^\]]*\]/g, 'x');
  const ranges = Array.from(bare.matchAll(/\{(\d+)(?:,(\d+))?\}/g), ([, min, max = min]) => ({
    max: Number(max),
    choices: 1 + Number(max) - Number(min),
  }));
  while (SIMPLE_GROUP.test(bare)) bare = bare.replace(SIMPLE_GROUP, 'x');
  const isRepeatedGroup = /\)(?:[*+]|\{\d)/.test(bare);
  const optionalParts = bare.match(/[^(]\?/g)?.length ?? 0;
  const choices = ranges
    .map((range) => range.choices)
    .filter((count) => count <= WIDE_RANGE)
    .reduce((product, count) => product * count, 2 ** optionalParts);
  if (isRepeatedGroup || choices > MAX_CHOICES) return EXPONENTIAL;
  const unbounded = bare.match(/[*+]|\{\d+,\}/g)?.length ?? 0;
  const wideRanges = [...ranges.map(({ max }) => max), choices].filter(
    (count) => count > WIDE_RANGE,
  ).length;
  return Math.max(1, unbounded + wideRanges + (isAnchored(bare) ? 0 : 1));
}

/** Returns true if a match can only begin at the start of the string. */
function isAnchored(bare: string): boolean {
  // With the flag m, `^` also matches after a line break.
  if (/\(\?[a-z]*m/.test(bare)) return false;
  let alternatives = bare;
  while (INNER_GROUP.test(alternatives)) alternatives = alternatives.replace(INNER_GROUP, 'x');
  return alternatives.split('|').every((alternative) => alternative.startsWith('^'));
}

/** Compiles patterns for Ajv. Ajv requires `code`, but uses it only for standalone modules. */
export const patternEngine = Object.assign((source: string): RegExp => patternOf(source), {
  code: 'new RegExp',
});
