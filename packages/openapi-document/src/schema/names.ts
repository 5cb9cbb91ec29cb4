import { asArray, asObject, type Json } from '../source/document.ts';
import type { SchemaTree } from './tree.ts';

/** Lists the required names that `additionalProperties: false` forbids. */
export function impossibleNames(tree: SchemaTree, schema: Json): string[] {
  const parts = tree.applied(schema);
  const closed = parts.filter((part) => part.additionalProperties === false);
  if (closed.length === 0) return [];
  const required = new Set(parts.flatMap((part) => asArray(part.required)).map(String));
  return [...required].filter((name) => closed.some((part) => !declares(part, name)));
}

/** Patterns count as declarations of all names. */
export const declares = ({ properties, patternProperties }: Json, name: string): boolean =>
  patternProperties !== undefined || Object.hasOwn(asObject(properties), name);

/** Lists properties with a default, such as `address.city`. Patches replace arrays as a whole. */
export function namesWithDefault(
  tree: SchemaTree,
  schema: Json,
  prefix = '',
  visited = new Set<unknown>(),
): string[] {
  const parts = tree.possible(schema).filter((part) => !visited.has(part));
  for (const part of parts) visited.add(part);
  const properties = parts.flatMap((part) => Object.entries(asObject(part.properties)));
  return properties.flatMap(([name, property]) => {
    const inner = tree.schemaOf(property);
    const same = tree.applied(inner);
    // Read-only properties are removed from requests.
    if (same.some(({ readOnly }) => readOnly === true)) return [];
    const path = prefix + name;
    const names = namesWithDefault(tree, inner, `${path}.`, visited);
    return same.some((part) => Object.hasOwn(part, 'default')) ? [path, ...names] : names;
  });
}
