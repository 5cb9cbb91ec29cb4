import { asArray, asObject, isObject, type Json, schemas } from 'openapi-document';

type Schema = schemas.LoweredSchema;

export type Matches = (alternative: Json, value: unknown) => boolean;

/** The members of an object, or the items of an array, as a schema declares them. */
export type Shape = ReturnType<typeof shapeFrom>;

export type ShapeOf = (schema: Json, value: unknown) => Shape;

/** Returns the schemas of one keyword that apply to an object or an array. */
type Select = (value: object) => readonly unknown[];

/**
 * The maximum number of cached shapes of schemas with alternatives. Limits the memory: clients
 * choose the combinations of alternatives.
 */
const MAX_COMBINATIONS = 1_000;

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
  const partsOf = onFirstObject((schema) => {
    const parts = schemas.allOf(root, schema);
    return { parts, selectors: parts.flatMap(selectorsOf) };
  });
  const join = createListCache((list: readonly unknown[]): Schema => ({ allOf: list }));
  const shapeOfList = createListCache((list: readonly Json[]) => {
    const parts = list.flatMap((schema) => partsOf(schema).parts);
    return shapeFrom(root, direction, parts, join);
  });
  /** Shapes that are the same for all values. */
  const shapeOfSchema = onFirstObject((schema) =>
    shapeFrom(root, direction, partsOf(schema).parts, join),
  );

  return (schema, value) => {
    if (partsOf(schema).selectors.length === 0) return shapeOfSchema(schema);
    const list: Json[] = [];
    addSchemas(list, schema, value);
    return shapeOfList(list);
  };

  function addSchemas(list: Json[], schema: unknown, value: unknown): void {
    if (!isObject(schema)) return;
    list.push(schema);
    if (typeof value !== 'object' || value === null) return;
    for (const select of partsOf(schema).selectors) {
      for (const selected of select(value)) addSchemas(list, selected, value);
    }
  }

  /** Prepares the keywords whose schemas apply to some values only. */
  function selectorsOf(part: Json): Select[] {
    const { anyOf, oneOf, if: condition, dependentSchemas } = part;
    const selectors = [anyOf, oneOf].flatMap((list) =>
      Array.isArray(list) ? unionSelector(list, part['x-tag'] as schemas.Tag | undefined) : [],
    );
    if (condition !== undefined)
      selectors.push((value) => (isMatch(condition, value) ? [condition, part.then] : [part.else]));
    for (const [name, schema] of Object.entries(asObject(dependentSchemas)))
      selectors.push((value) => (Object.hasOwn(value, name) ? [schema] : []));
    return selectors;
  }

  function unionSelector(list: readonly unknown[], tag: schemas.Tag | undefined): Select {
    // Cheap check first: validating all alternatives of a recursive schema takes long.
    const forObjects = alternativesFor(root, list, 'object');
    const forArrays = alternativesFor(root, list, 'array');
    return (value) => {
      if (tag !== undefined && isObject(value)) return selectedBy(tag, list, value);
      const candidates = Array.isArray(value) ? forArrays : forObjects;
      if (candidates.length < 2) return candidates;
      const matching = candidates.filter((schema) => isMatch(schema, value));
      // If none matches, the validation fails and reports this.
      return matching.length > 0 ? matching : candidates;
    };
  }

  function isMatch(schema: unknown, value: unknown): boolean {
    return isObject(schema) ? matches(schema, value) : schema !== false;
  }
}

export const alternativesFor = (
  root: Json,
  list: readonly unknown[],
  type: 'object' | 'array',
): readonly unknown[] =>
  list.filter((schema) => {
    const types = schemas.typesOf(root, schema);
    return types.size === 0 || types.has(type);
  });

/** Caches the result of `create` for each object. */
function onFirstObject<Value>(create: (key: Json) => Value): (key: Json) => Value {
  const values = new WeakMap<Json, Value>();
  return (key) => {
    const existing = values.get(key);
    if (existing !== undefined) return existing;
    const value = create(key);
    values.set(key, value);
    return value;
  };
}

/** A node of a tree of lists. Lists that begin with the same items share nodes. */
interface ListNode<Item, Value> {
  value?: Value;
  readonly next: Map<Item, ListNode<Item, Value>>;
}

/** Caches the result of `create` by the items of a list, in their order. */
function createListCache<Item, Value>(
  create: (list: readonly Item[]) => Value,
): (list: readonly Item[]) => Value {
  const createNode = (): ListNode<Item, Value> => ({ next: new Map() });
  let first = createNode();
  let size = 0;
  return (list) => {
    let node = first;
    for (const item of list) {
      const next = node.next.get(item) ?? createNode();
      node.next.set(item, next);
      node = next;
    }
    if (node.value !== undefined) return node.value;
    const value = create(list);
    node.value = value;
    size += 1;
    if (size > MAX_COMBINATIONS) {
      first = createNode();
      size = 0;
    }
    return value;
  };
}

function selectedBy({ name, values }: schemas.Tag, list: readonly unknown[], value: Json) {
  const tagValue = value[name];
  const index = values.findIndex((each) => Array.isArray(each) && each.includes(tagValue));
  // Without an alternative for other values, the validation fails.
  return [list[index < 0 ? values.indexOf('others') : index]];
}

/**
 * @param parts schemas that describe the same value.
 * @param join returns an `allOf` of schemas: the same one for the same schemas, since shapes are
 *   cached by schema.
 */
function shapeFrom(
  root: Json,
  direction: schemas.Direction,
  parts: readonly Json[],
  join: (list: readonly unknown[]) => Schema,
) {
  const isRequest = direction === 'request';
  const removed = new Set(parts.flatMap((part) => asArray(part['x-dropped'])));
  const isSealed = parts.some((part) => part.unevaluatedProperties === false);
  const schemasOf = schemas.finderIn(
    // `unevaluatedProperties: false` rejects only members that no part declares.
    parts.map((part) =>
      part.unevaluatedProperties === false ? { ...part, unevaluatedProperties: undefined } : part,
    ),
    // Matches slow patterns, too: the validation matches the same names.
    (pattern, name) => schemas.patternEngine(pattern).test(name),
  );
  const names = new Set(parts.flatMap(({ properties }) => Object.keys(asObject(properties))));
  const patterns = parts.flatMap((part) => Object.keys(asObject(part.patternProperties)));
  // A schema that declares no members allows any.
  const isClosed = isSealed || names.size + removed.size + patterns.length > 0;
  const required = new Set(parts.flatMap((part) => asArray(part.required)));
  const members = new Map([...names].map((name) => [name, memberOf(name)]));
  const defaults = [...names.difference(removed)].flatMap((name) => {
    const source = schemasOf(name).find((schema) => Object.hasOwn(asObject(schema), 'default'));
    return source === undefined ? [] : [[name, asObject(source).default] as const];
  });
  const alternatives = parts.map((part) => [...schemas.alternatives(root, part)]);
  const types = alternatives.flat();
  const hasType = (name: string) => types.some(({ type }) => [type].flat().includes(name));
  const tupleLength = Math.max(...parts.map(({ prefixItems }) => asArray(prefixItems).length), 0);
  const rest = itemOf(tupleLength);
  return {
    /** Names and defaults of the members that have one. Empty for a reply. */
    defaults: isRequest ? defaults : [],
    /** True if a `bigint` of a request becomes a number. */
    isDouble: isRequest && hasType('number') && !hasType('integer') && !types.some(schemas.isWide),
    /** True if the value is a date without a time. */
    isDay: alternatives.some((list) => {
      const formats = list.map(({ format }) => format);
      return formats.includes('date') && !formats.includes('date-time');
    }),
    /** Returns the schema of a member; `undefined` if the member is removed. */
    member: (name: string) => (members.has(name) ? members.get(name) : memberOf(name)),
    item: (index: number) => (index < tupleLength ? itemOf(index) : rest),
  };

  /**
   * Undeclared members of a reply are removed. Those of a request are valid, so they are kept.
   * `required` declares a member, too.
   */
  function memberOf(name: string): Schema | undefined {
    if (removed.has(name)) return undefined;
    const memberSchemas = schemasOf(name);
    if (names.has(name)) return allOf(memberSchemas.filter((schema) => schema !== false));
    const isDeclared = memberSchemas.length > 0 || required.has(name);
    const isUndeclared = memberSchemas.includes(false) || (!isDeclared && isClosed);
    return isUndeclared && !isRequest ? undefined : allOf(memberSchemas);
  }

  function itemOf(index: number): Schema {
    return allOf(schemas.itemsIn(parts, index).filter((schema) => schema !== undefined));
  }

  function allOf(list: readonly unknown[]): Schema {
    if (list.length > 1) return join(list);
    const [schema = true] = list;
    return isObject(schema) ? schema : schema !== false;
  }
}
