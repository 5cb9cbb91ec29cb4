import { generateSync } from 'json-schema-faker';
import { asArray, asObject, isObject, type Json } from '../document/document.ts';

const known = new WeakMap<Json, Json>();
const definitions = new WeakMap<Json, Json>();

/**
 * The components or a schema, rewritten for the generator of random values: without `\p{…}` in patterns, and with names
 * for the properties that `minProperties` asks for. Values that fit the result fit the original.
 */
export function plain(value: Json): Json {
  const made: Json = known.get(value) ?? JSON.parse(JSON.stringify(value), (_key, item) => plainOne(item));
  known.set(value, made);
  return made;
}

/** What references may lead to: components, and paths if a schema references one. */
export function definitionsOf(root: Json): Json {
  const { components, paths } = root;
  const made: Json = definitions.get(root) ?? {
    components: plain(asObject(components)),
    ...(JSON.stringify(root).includes('"$ref":"#/paths/') && { paths: plain(asObject(paths)) }),
  };
  definitions.set(root, made);
  return made;
}

/** Formats that the generator knows by another name. */
const SAME: Readonly<Record<string, string>> = { url: 'uri', 'iso-date-time': 'date-time', 'iso-time': 'time' };

function plainOne(item: unknown): unknown {
  if (!isObject(item)) return item;
  const { pattern, minProperties } = item;
  const made: Record<string, unknown> = { ...item };
  // The generator would make a member of this name.
  if (typeof made.nullable === 'boolean') delete made.nullable;
  // No value has so many.
  if (Number(made.minItems) > 2_000) delete made.minItems;
  if (typeof made.$ref === 'string') made.$ref = decodeURIComponent(made.$ref);
  if (typeof made.format === 'string') made.format = SAME[made.format] ?? made.format;
  try {
    if (typeof pattern === 'string' && pattern.includes('\\p{')) made.pattern = withoutClasses(pattern);
    if (typeof minProperties === 'number') Object.assign(made, withNames(item, minProperties));
  } catch {
    // A pattern that is not a regular expression. The start says so.
  }
  return made;
}

/** Replaces classes of Unicode by those of their members that are in ASCII. */
function withoutClasses(pattern: string): string {
  const ascii = Array.from({ length: 94 }, (_, index) => String.fromCharCode(33 + index));
  return pattern.replace(/\[[^\]]*\]|\\p\{[^}]*\}/g, (part) =>
    part.startsWith('[') ? part.replace(/\\p\{[^}]*\}/g, members) : `[${members(part)}]`,
  );
  function members(source: string): string {
    const test = new RegExp(source, 'u');
    return ascii
      .filter((character) => test.test(character))
      .map((character) => character.replace(/\W/, '\\$&'))
      .join('');
  }
}

/** As many required properties as there must be: declared ones, then some of the names that the schema allows. */
function withNames({ properties, patternProperties, propertyNames, ...schema }: Json, count: number) {
  const declared = asObject(properties);
  const patterns = Object.entries(asObject(patternProperties));
  const [pattern, of = schema.additionalProperties ?? true] = patterns[0] ?? [];
  const names = new Set([...asArray(schema.required).map(String), ...Object.keys(declared)]);
  const allowed = pattern === undefined ? asObject(propertyNames) : { pattern };
  const added: Record<string, unknown> = {};
  for (let seed = 1; (pattern !== undefined || isObject(propertyNames)) && names.size < count && seed < 50; seed += 1) {
    const name = String(generateSync({ type: 'string', ...Object(plainOne(allowed)) }, { seed }));
    if (!names.has(name)) added[name] = of;
    names.add(name);
  }
  return {
    properties: { ...declared, ...added },
    required: [...names].slice(0, Math.max(count, asArray(schema.required).length)),
  };
}
