import type { Json } from '../source/document.ts';
import { schemasInPlace } from './discriminator.ts';
import type { SchemaTree } from './tree.ts';

/** Returns true if a value may be validated without end. Takes linear time. */
export function hasCycle(tree: SchemaTree, starts: Iterable<Json>): boolean {
  // A schema is true while it is open, and false when it is closed.
  const states = { whole: new Map<Json, boolean>(), base: new Map<Json, boolean>() };
  const visit = (schema: Json, isBase: boolean): boolean => {
    const isOpen = isBase ? states.base : states.whole;
    const known = isOpen.get(schema);
    if (known !== undefined) return known;
    isOpen.set(schema, true);
    const inner = schemasInPlace(tree, schema, isBase);
    if (inner.some(([part, role]) => visit(part, role))) return true;
    isOpen.set(schema, false);
    return false;
  };
  return [...starts].some((schema) => visit(schema, false) || visit(schema, true));
}

/**
 * Lists the schemas that a value is validated against because of a schema. The schema is circular
 * if it is one of them in the same role: a base schema selects the schemas that extend it, but they
 * apply it without selecting again.
 */
export function reachedBy(tree: SchemaTree, start: Json) {
  const [whole, base] = [false, true].map((role) => {
    const visited = { whole: new Set<Json>(), base: new Set<Json>() };
    const pending = schemasInPlace(tree, start, role);
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      const [schema, isBase] = next;
      const schemas = isBase ? visited.base : visited.whole;
      if (schemas.has(schema)) continue;
      schemas.add(schema);
      pending.push(...schemasInPlace(tree, schema, isBase));
    }
    return visited;
  });
  return {
    schemas: new Set([...(whole?.whole ?? []), ...(whole?.base ?? [])]),
    isCircular: whole?.whole.has(start) === true || base?.base.has(start) === true,
  };
}
