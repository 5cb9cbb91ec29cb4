import type { Json } from '../source/document.ts';
import type { Membership } from './model.ts';
import { reachable } from './tree.ts';

type Schemas = ReadonlyMap<Json, Membership>;

/** Lists a schema of a set, and the schemas that it adds, directly or through others. */
export const within = (schemas: Schemas, start: Json): readonly Json[] =>
  reachable(start, (schema) => schemas.get(schema)?.adds ?? []);

/** Lists the schemas of a set, each after the schemas that it adds. */
export function innerFirst(schemas: Schemas): readonly Json[] {
  const order = new Set<Json>();
  const visited = new Set<Json>();
  const visit = (schema: Json): void => {
    if (visited.has(schema)) return;
    visited.add(schema);
    for (const added of schemas.get(schema)?.adds ?? []) visit(added);
    order.add(schema);
  };
  for (const schema of schemas.keys()) visit(schema);
  return [...order];
}
