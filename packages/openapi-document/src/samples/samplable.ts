import { arrayAt, isObject, type Json } from '../document/document.ts';
import { eachSchema, parts, schemaAt } from '../document/schema.ts';

const known = new WeakMap<Json, boolean>();

/**
 * Whether openapi-sampler can make a value. It prints a warning for each `allOf` of different types and for each length
 * of a date, and its value would not be valid.
 */
export function isSamplable(root: Json, schema: Json): boolean {
  let found = known.get(schema);
  if (found === undefined) {
    found = ![...reachable(root, schema, new Set())].some((inner) => isBeyondIt(root, inner));
    known.set(schema, found);
  }
  return found;
}

function reachable(root: Json, schema: unknown, seen: Set<Json>): Set<Json> {
  eachSchema(schema, '', (inner) => {
    if (seen.has(inner)) return;
    seen.add(inner);
    if (typeof inner.$ref === 'string') reachable(root, schemaAt(root, inner.$ref), seen);
  });
  return seen;
}

function isBeyondIt(root: Json, schema: Json): boolean {
  const { format, minLength, maxLength } = schema;
  if (format === 'date-time' && (minLength ?? maxLength) !== undefined) return true;
  return arrayAt(schema.allOf).length > 0 && new Set(firstTypes(root, schema)).size > 1;
}

/** The type that each part of a schema has for the sampler: that of its first alternative. */
const firstTypes = (root: Json, schema: unknown): unknown[] =>
  parts(root, schema).flatMap(({ type, oneOf, anyOf }) => {
    if (type !== undefined) return [[type].flat()[0]];
    const [first] = [...arrayAt(oneOf), ...arrayAt(anyOf)];
    return isObject(first) && first.oneOf === undefined ? firstTypes(root, first) : [];
  });
