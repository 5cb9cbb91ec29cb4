import { asArray, isObject, type Json, memoized, valueAt } from '../document/document.ts';
import { allOfSchemas, eachSchema } from '../document/schema.ts';

/**
 * Whether openapi-sampler can make a value. It prints a warning for each `allOf` of different types and for each length
 * of a date, and its value would not be valid.
 */
export const isSamplable = memoized(
  (root, schema) => ![...reachable(root, schema, new Set())].some((inner) => isBeyondIt(root, inner)),
);

function reachable(root: Json, schema: unknown, seen: Set<Json>): Set<Json> {
  eachSchema(schema, '', (inner) => {
    if (seen.has(inner)) return;
    seen.add(inner);
    if (typeof inner.$ref === 'string') reachable(root, valueAt(root, inner.$ref), seen);
  });
  return seen;
}

function isBeyondIt(root: Json, schema: Json): boolean {
  const { format, minLength, maxLength } = schema;
  if (format === 'date-time' && (minLength ?? maxLength) !== undefined) return true;
  return asArray(schema.allOf).length > 0 && new Set(firstTypes(root, schema)).size > 1;
}

/** The type that each part of a schema has for the sampler: that of its first alternative. */
const firstTypes = (root: Json, schema: unknown): unknown[] =>
  allOfSchemas(root, schema).flatMap(({ type, oneOf, anyOf }) => {
    if (type !== undefined) return [[type].flat()[0]];
    const [first] = [...asArray(oneOf), ...asArray(anyOf)];
    return isObject(first) && first.oneOf === undefined ? firstTypes(root, first) : [];
  });
