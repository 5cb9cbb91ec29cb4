import { arrayAt, isObject, type Json, objectAt, token, valueAt } from './document.ts';

/** Keywords whose value is a schema, a list of schemas, or a map of schemas (JSON Schema 2020-12 §10, §11). */
export const ONE = [
  'not',
  'if',
  'then',
  'else',
  'items',
  'contains',
  'additionalProperties',
  'propertyNames',
  'unevaluatedItems',
  'unevaluatedProperties',
];
export const LIST = ['allOf', 'anyOf', 'oneOf', 'prefixItems'];
export const MAP = ['properties', 'patternProperties', 'dependentSchemas', '$defs'];

/**
 * Calls `visit` with a schema and each schema inside it. Does not follow references.
 *
 * @param pointer where the schema stands, for messages.
 */
export function eachSchema(schema: unknown, pointer: string, visit: (schema: Json, pointer: string) => void): void {
  if (!isObject(schema)) return;
  visit(schema, pointer);
  for (const key of ONE) eachSchema(schema[key], `${pointer}/${key}`, visit);
  for (const key of LIST) {
    for (const [index, item] of arrayAt(schema[key]).entries()) eachSchema(item, `${pointer}/${key}/${index}`, visit);
  }
  for (const key of MAP) {
    for (const [name, item] of Object.entries(objectAt(schema[key]))) {
      eachSchema(item, `${pointer}/${key}/${token(name)}`, visit);
    }
  }
}

/** The schema that a `$ref` leads to; `undefined` if there is none. */
export const schemaAt = (root: Json, ref: string): unknown => valueAt(root, ref);

/** A schema and the schemas that describe the same value: what it references, and its `allOf`. */
export function parts(root: Json, schema: unknown, seen = new Set<unknown>()): Json[] {
  const at = isObject(schema) ? schema : undefined;
  if (at === undefined || seen.has(at)) return [];
  seen.add(at);
  const referenced = typeof at.$ref === 'string' ? parts(root, schemaAt(root, at.$ref), seen) : [];
  return [at, ...referenced, ...arrayAt(at.allOf).flatMap((part) => parts(root, part, seen))];
}

/** Results of `alternatives` and `typesOf`, which are used for each request. Schemas do not change. */
const knownAlternatives = new WeakMap<object, readonly Json[]>();
const knownTypes = new WeakMap<object, ReadonlySet<string>>();

/** `parts`, and the alternatives that may describe the value too. */
export function alternatives(root: Json, schema: unknown): readonly Json[] {
  if (!isObject(schema)) return [];
  let found = knownAlternatives.get(schema);
  if (found === undefined) {
    found = alternativesOf(root, schema, new Set());
    knownAlternatives.set(schema, found);
  }
  return found;
}

function alternativesOf(root: Json, schema: unknown, seen: Set<unknown>): Json[] {
  return parts(root, schema, seen).flatMap((part) => [
    part,
    ...['anyOf', 'oneOf', 'then', 'else'].flatMap((key) =>
      (Array.isArray(part[key]) ? arrayAt(part[key]) : [part[key]]).flatMap((item) => alternativesOf(root, item, seen)),
    ),
  ]);
}

/** The JSON types that a schema and its alternatives name for a value; empty if they name none. */
export function typesOf(root: Json, schema: unknown): ReadonlySet<string> {
  if (!isObject(schema)) return new Set();
  let found = knownTypes.get(schema);
  if (found === undefined) {
    found = new Set(alternatives(root, schema).flatMap(namedTypes));
    knownTypes.set(schema, found);
  }
  return found;
}

/** The types in `type`. Without it, the types that the other keywords imply. */
function namedTypes(schema: Json): string[] {
  const { type } = schema;
  if (type !== undefined) return (Array.isArray(type) ? type : [type]).filter((name) => typeof name === 'string');
  const values = Object.hasOwn(schema, 'const') ? [schema.const] : arrayAt(schema.enum);
  const types = values.map((value) =>
    value === null ? 'null' : Array.isArray(value) ? 'array' : Number.isInteger(value) ? 'integer' : typeof value,
  );
  if (schema.items !== undefined || schema.prefixItems !== undefined) types.push('array');
  if (schema.properties !== undefined) types.push('object');
  return types;
}

/** The schemas that may describe a property of an object that the schema describes. */
export function propertySchemas(root: Json, schema: unknown, name: string): unknown[] {
  return alternatives(root, schema).flatMap((part) => {
    const properties = objectAt(part.properties);
    const matching = Object.entries(objectAt(part.patternProperties)).filter(([p]) => patternOf(p).test(name));
    if (Object.hasOwn(properties, name)) return [properties[name], ...matching.map(([, item]) => item)];
    return matching.length > 0
      ? matching.map(([, item]) => item)
      : [part.additionalProperties, part.unevaluatedProperties];
  });
}

/** The schemas that may describe an item of an array that the schema describes. */
export function itemSchemas(root: Json, schema: unknown, index: number): unknown[] {
  return alternatives(root, schema).map(
    (part) => arrayAt(part.prefixItems)[index] ?? part.items ?? part.unevaluatedItems,
  );
}

/** Whether a schema demands more than any text. If so, a body that passes as it is, is not checked fully. */
export function saysMoreThanString(root: Json, schema: unknown): boolean {
  if (!isObject(schema)) return schema === false;
  return alternatives(root, schema).some((part) =>
    Object.entries(part).some(
      ([key, value]) =>
        CHECKED.has(key) && !(key === 'type' && value === 'string') && !(key === 'format' && value === 'binary'),
    ),
  );
}

const CHECKED = new Set([
  ...['type', 'format', 'enum', 'const', 'pattern', 'minLength', 'maxLength', 'properties', 'required', 'items', 'not'],
]);

/** A regular expression of a schema. One that is invalid with the flag u is used without. */
export function patternOf(source: string): RegExp {
  try {
    return new RegExp(source, 'u');
  } catch {
    return new RegExp(source);
  }
}
