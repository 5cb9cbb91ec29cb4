import { asArray, asObject, isObject, type Json, memoized, valueAt } from '../document/document.ts';
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
  const { format, minLength, maxLength, minItems } = schema;
  if (Number(minItems) > MOST_MEMBERS) return true;
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

/** The most members of a sample. Where many schemas reference each other, they grow with each level. */
const MOST_MEMBERS = 2_000;

/** How deep a sample may be. */
export const sampleDepth = (root: Json, schema: Json): number =>
  [5, 4, 3, 2].find((depth) => membersOf(root, schema, depth, []) <= MOST_MEMBERS) ?? 1;

/** How many members a sample of a schema has at most, down to a depth. @param known by depth and schema */
function membersOf(root: Json, schema: unknown, depth: number, known: Map<unknown, number>[]): number {
  if (depth === 0 || !isObject(schema)) return 1;
  const counts = known[depth] ?? new Map<unknown, number>();
  known[depth] = counts;
  const counted = counts.get(schema);
  if (counted !== undefined) return counted;
  const members = allOfSchemas(root, schema).flatMap(({ properties, items, oneOf }) => [
    ...Object.values(asObject(properties)),
    items,
    asArray(oneOf)[0],
  ]);
  const count = members.reduce<number>((sum, member) => sum + membersOf(root, member, depth - 1, known), 1);
  counts.set(schema, count);
  return count;
}
