import { asArray, asObject, isObject, type Json, schemas } from 'openapi-document';
import { alternativesFor } from './shapes.ts';

/** Properties of a schema that limit how long a validation can take. */
export type Cost = ReturnType<typeof costOf>;

/** Keywords whose values are not schemas. */
const DATA_KEYWORDS = new Set(['enum', 'const', 'default', 'example', 'examples']);

/** Adds up the costs of a lowered schema and of all schemas that it needs. */
export function costOf(source: schemas.LoweredSchema, $defs: Json) {
  const cost = {
    /** The number of schemas and of required members. */
    schemas: 0,
    /**
     * Matching a text of length n against a format or a regular expression takes at most
     * n ** degree steps.
     */
    degree: 1,
    /** True if a value may be validated against several alternatives. */
    hasAlternatives: false,
    /** True if valid values are changed: defaults are added, or members removed. */
    changesValues: false,
    /** The alternatives that values are matched against when they are changed. */
    matched: [] as Json[],
    /** The number of schemas with several alternatives for one object or array. */
    unions: 0,
    /** The largest number of such alternatives in one schema. */
    branches: 1,
    /** True if a schema contains itself. */
    isRecursive: false,
  };
  /** The references of each definition. */
  const references = new Map<string, Set<string>>();
  const pending = measureAll(source);
  // Grows during the loop.
  for (const ref of pending) {
    if (references.has(ref)) continue;
    const targets = measureAll($defs[schemas.definitionName(ref)]);
    references.set(ref, targets);
    for (const target of targets) pending.add(target);
  }
  cost.isRecursive = hasCycle(references);
  return cost;

  /** Returns the references in a schema. */
  function measureAll(schema: unknown): Set<string> {
    const targets = new Set<string>();
    measure(schema, targets);
    return targets;
  }

  function measure(part: unknown, targets: Set<string>): void {
    if (Array.isArray(part)) for (const item of part) measure(item, targets);
    if (!isObject(part)) return;
    const { $ref, format, pattern, required, patternProperties } = part;
    cost.schemas += 1 + asArray(required).length;
    const patterns = [pattern, ...Object.keys(asObject(patternProperties))];
    const degrees = patterns.filter((text) => typeof text === 'string').map(schemas.patternDegree);
    // Some formats of strings take quadratic time.
    const isText = typeof format === 'string' && !/^(int|float|double)/.test(format);
    cost.degree = Math.max(cost.degree, isText ? 2 : 1, ...degrees);
    cost.hasAlternatives ||= (part.anyOf ?? part.oneOf ?? part.if ?? part.not) !== undefined;
    cost.changesValues ||= part['x-dropped'] !== undefined || Object.hasOwn(part, 'default');
    measureUnion(part);

    for (const [key, value] of Object.entries(part))
      if (!DATA_KEYWORDS.has(key)) measure(value, targets);
    if (typeof $ref === 'string') targets.add($ref);
  }

  function measureUnion(part: Json): void {
    const lists = part['x-tag'] === undefined ? [part.anyOf, part.oneOf].map(asArray) : [];
    const unions = lists
      .flatMap((list) => [
        alternativesFor({ $defs }, list, 'object'),
        alternativesFor({ $defs }, list, 'array'),
      ])
      .filter((list) => list.length > 1);
    // A condition counts as two alternatives: its `if` and one branch.
    if (part.if !== undefined) unions.push([part.if, part.then ?? part.else]);
    if (unions.length === 0) return;
    cost.unions += 1;
    cost.branches = Math.max(cost.branches, ...unions.map((list) => list.length));
    cost.matched.push(...unions.flat().filter(isObject));
  }
}

function hasCycle(references: ReadonlyMap<string, ReadonlySet<string>>): boolean {
  const remaining = new Map(references);
  let sizeBefore: number;
  do {
    sizeBefore = remaining.size;
    // A reference is listed before its targets, so the reverse order removes a chain in one round.
    for (const [ref, targets] of [...remaining].reverse())
      if (![...targets].some((target) => remaining.has(target))) remaining.delete(ref);
  } while (remaining.size < sizeBefore);
  return remaining.size > 0;
}

/**
 * Returns the maximum number of times that one value is validated: alternatives inside one another
 * multiply.
 */
export const repeatsOf = ({ branches, unions, isRecursive }: Cost, depth: number): number =>
  branches ** (isRecursive ? depth : Math.min(depth, unions));
