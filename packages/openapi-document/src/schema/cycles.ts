import type { Json } from '../source/document.ts';
import { schemasInPlace } from './discriminator.ts';
import type { SchemaTree } from './tree.ts';

/** The position of a schema that has been left. */
const LEFT = -1;

/**
 * Lists the cycles in which a value would be validated without end: each schema applies the next
 * one to the same value. A base schema selects the schemas that extend it, but they apply it
 * without selecting again. Takes time in proportion to the references.
 */
export function cyclesFrom(tree: SchemaTree, starts: Iterable<Json>): Json[][] {
  const cycles: Json[][] = [];
  const found = new Set<Json>();
  /** The schemas from the start to the current one. */
  const path: Json[] = [];
  /** The positions in the path, by role. */
  const positions = { whole: new Map<Json, number>(), base: new Map<Json, number>() };
  const visit = (schema: Json, isBase: boolean): void => {
    const positionOf = isBase ? positions.base : positions.whole;
    const position = positionOf.get(schema);
    if (position === LEFT || (position !== undefined && found.has(schema))) return;
    if (position !== undefined) {
      const cycle = path.slice(position);
      for (const part of cycle) found.add(part);
      cycles.push(cycle);
      return;
    }
    positionOf.set(schema, path.length);
    path.push(schema);
    for (const [part, role] of schemasInPlace(tree, schema, isBase)) visit(part, role);
    path.pop();
    positionOf.set(schema, LEFT);
  };
  for (const start of starts) {
    visit(start, false);
    visit(start, true);
  }
  return cycles;
}
