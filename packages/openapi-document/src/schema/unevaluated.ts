import type { Json } from '../source/document.ts';
import type { Membership } from './model.ts';

type Schemas = ReadonlyMap<Json, Membership>;

/** Lists a schema of a set, and the schemas that it adds, directly or through others. */
export function within(schemas: Schemas, start: Json): ReadonlySet<Json> {
  const found = new Set([start]);
  for (const schema of found) for (const added of schemas.get(schema)?.adds ?? []) found.add(added);
  return found;
}

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
