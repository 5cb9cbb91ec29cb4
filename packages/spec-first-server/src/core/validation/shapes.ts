import { asArray, asObject, isObject, type Json, schemas } from 'openapi-document';

type Schema = schemas.LoweredSchema;

/** Returns true if a value matches an alternative. */
export type Matches = (alternative: Json, value: unknown) => boolean;

/** The members of an object, or the items of an array, as a schema declares them. */
export type Shape = ReturnType<typeof shapeFrom>;

/** Returns the shape that a schema has for a value. */
export type ShapeOf = (schema: Json, value: unknown) => Shape;

/** Keywords whose schemas apply to some values only. */
const CONDITIONAL_KEYWORDS = ['anyOf', 'oneOf', 'if', 'dependentSchemas'];

/**
 * Creates the function that finds the shape of a value. Follows references and `allOf`, and the
 * alternatives that match the value.
 */
export function createShapes(
  { $defs }: schemas.LoweredSchemas,
  direction: schemas.Direction,
  matches: Matches,
): ShapeOf {
  const root = { $defs };
  /** Shapes that are the same for all values. */
  const cache = new WeakMap<Json, Shape>();

  return (schema, value) => {
    const cached = cache.get(schema);
    if (cached !== undefined) return cached;
    const parts = schemas.allOf(root, schema);
    const isConditional = parts.some((part) =>
      CONDITIONAL_KEYWORDS.some((key) => part[key] !== undefined),
    );
    if (isConditional) return shapeFrom(root, direction, [...partsFor(schema, value)]);
    const shape = shapeFrom(root, direction, parts);
    cache.set(schema, shape);
    return shape;
  };

  function* partsFor(schema: unknown, value: unknown): Generator<Json> {
    for (const part of schemas.allOf(root, schema)) {
      yield part;
      for (const chosen of chosenBy(part, value)) yield* partsFor(chosen, value);
    }
  }

  /** Returns the conditional schemas of a part that describe an object or an array. */
  function chosenBy(part: Json, value: unknown): readonly unknown[] {
    if (typeof value !== 'object' || value === null) return [];
    const unions = [part.anyOf, part.oneOf].map(asArray);
    const chosen = unions.flatMap((list) => alternativesOf(list, part['x-tag'], value));
    if (part.if !== undefined) chosen.push(isMatch(part.if, value) ? part.then : part.else);
    const dependent = Object.entries(asObject(part.dependentSchemas));
    const present = dependent.filter(([name]) => Object.hasOwn(value, name));
    return [...chosen, ...present.map(([, schema]) => schema)];
  }

  function alternativesOf(list: readonly unknown[], tag: unknown, value: object) {
    if (tag !== undefined && isObject(value)) return selectedBy(tag as schemas.Tag, list, value);
    // Cheap check first: validating all alternatives of a recursive schema takes long.
    const type = Array.isArray(value) ? 'array' : 'object';
    const candidates = list.filter((schema) => {
      const types = schemas.typesOf(root, schema);
      return types.size === 0 || types.has(type);
    });
    if (candidates.length < 2) return candidates;
    const matching = candidates.filter((schema) => isMatch(schema, value));
    // If none matches, the validation fails and reports this.
    return matching.length > 0 ? matching : candidates;
  }

  function isMatch(schema: unknown, value: unknown): boolean {
    return isObject(schema) ? matches(schema, value) : schema !== false;
  }
}

function selectedBy({ name, values }: schemas.Tag, list: readonly unknown[], value: Json) {
  const tagValue = value[name];
  const index = values.findIndex((each) => Array.isArray(each) && each.includes(tagValue));
  // Without an alternative for other values, the validation fails.
  return [list[index < 0 ? values.indexOf('others') : index]];
}

/** @param parts schemas that describe the same value. */
function shapeFrom(root: Json, direction: schemas.Direction, parts: readonly Json[]) {
  const isRequest = direction === 'request';
  const removed = new Set(parts.flatMap((part) => asArray(part['x-dropped'])));
  const isClosed = parts.some((part) => part.properties ?? part.patternProperties);
  const schemasOf = schemas.finderIn(parts);
  const names = new Set(parts.flatMap(({ properties }) => Object.keys(asObject(properties))));
  const required = new Set(parts.flatMap((part) => asArray(part.required)));
  const members = new Map([...names].map((name) => [name, memberOf(name)]));
  const defaults = [...names.difference(removed)].flatMap((name) => {
    const source = schemasOf(name).find((schema) => Object.hasOwn(asObject(schema), 'default'));
    return source === undefined ? [] : [[name, asObject(source).default] as const];
  });
  const types = parts.flatMap((part) => [...schemas.alternatives(root, part)]);
  const hasType = (name: string) => types.some(({ type }) => [type].flat().includes(name));
  const tupleLength = Math.max(...parts.map(({ prefixItems }) => asArray(prefixItems).length), 0);
  const rest = itemOf(tupleLength);
  return {
    /** Properties with their defaults. */
    defaults: isRequest ? defaults : [],
    /** True if a `bigint` of a request becomes a number. */
    isDouble: isRequest && hasType('number') && !hasType('integer') && !types.some(schemas.isWide),
    /** True if the value is a date without a time. */
    isDay: types.some(({ format }) => format === 'date'),
    /** Returns the schema of a member; `undefined` if the member is removed. */
    member: (name: string) => (members.has(name) ? members.get(name) : otherMember(name)),
    /** Returns the schema of an item. */
    item: (index: number) => (index < tupleLength ? itemOf(index) : rest),
  };

  function memberOf(name: string): Schema | undefined {
    if (removed.has(name)) return undefined;
    return allOf(schemasOf(name).filter((schema) => schema !== false));
  }

  /**
   * Undeclared members of a reply are removed. Those of a request are valid, so they are kept.
   * `required` declares a member, too.
   */
  function otherMember(name: string): Schema | undefined {
    if (removed.has(name)) return undefined;
    const described = schemasOf(name);
    const isDeclared = described.length > 0 || required.has(name);
    const isUndeclared = described.includes(false) || (!isDeclared && isClosed);
    return isUndeclared && !isRequest ? undefined : allOf(described);
  }

  function itemOf(index: number): Schema {
    return allOf(schemas.itemsIn(parts, index).filter((schema) => schema !== undefined));
  }
}

/** Joins schemas. Returns a single one itself, since shapes are cached by schema. */
function allOf(list: readonly unknown[]): Schema {
  if (list.length > 1) return { allOf: list };
  const [schema = true] = list;
  return isObject(schema) ? schema : schema !== false;
}
