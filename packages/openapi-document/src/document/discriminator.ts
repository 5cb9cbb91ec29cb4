import {
  asArray,
  asObject,
  decoded,
  escapePointerToken,
  isObject,
  type Json,
  memoized,
  pointerTokens,
  refTo,
  valueAt,
} from './document.ts';
import { allOfSchemas } from './schema.ts';

/** The member that distinguishes the alternatives of a union. */
export interface Tag {
  readonly name: string;
  /**
   * The values that select each alternative. `'null'` is the alternative `type: null`. `'others'`
   * is the alternative that accepts all other values.
   */
  readonly values: readonly (readonly unknown[] | 'null' | 'others')[];
}

export interface UnionTag extends Tag {
  /** True if lowering adds the values to the alternatives, false if constants require them. */
  readonly isMapped: boolean;
}

/**
 * Returns the member that distinguishes the alternatives of a `oneOf` or an `anyOf`. This is a
 * required member with different constants in each alternative, or the member of the discriminator
 * (OpenAPI 3.1 §4.8.25). With `x-selects: false`, only constants distinguish them.
 */
export function tagOf(
  root: Json,
  alternatives: readonly unknown[],
  discriminator: unknown,
): UnionTag | undefined {
  const { propertyName, mapping, defaultMapping, 'x-selects': selects } = asObject(discriminator);
  const isNull = (schema: unknown) => [asObject(schema).type].flat().join() === 'null';
  const [first] = alternatives.filter((schema) => !isNull(schema));
  if (first === undefined) return undefined;
  const valuesBy = (valuesOf: (schema: unknown) => readonly unknown[] | 'others') =>
    alternatives.map((schema) => (isNull(schema) ? 'null' : valuesOf(schema)));

  const names = typeof propertyName === 'string' ? [propertyName] : requiredNames(root, first);
  for (const name of names) {
    const values = valuesBy((schema) => constantsOf(root, schema, name));
    if (areDistinct(values)) return { name, values, isMapped: false };
  }
  if (typeof propertyName !== 'string' || selects === false) return undefined;
  // `bundle` has replaced the names in `defaultMapping` and `mapping` by references.
  const isDefault = (schema: unknown) => refOf(schema) === (defaultMapping ?? '');
  const mapped = valuesBy((schema) =>
    selectingValues(root, schema, propertyName, asObject(mapping)),
  );
  if (!areDistinct(mapped)) return undefined;
  const values = mapped.map((list, index) => (isDefault(alternatives[index]) ? 'others' : list));
  return { name: propertyName, values, isMapped: true };
}

function areDistinct(values: Tag['values']): boolean {
  const lists = values.filter((list) => Array.isArray(list));
  const constants = lists.flat();
  return lists.every((list) => list.length > 0) && new Set(constants).size === constants.length;
}

/** The tag of a schema that other schemas extend by `allOf`. */
export interface ParentTag extends UnionTag {
  /**
   * The schemas that extend the parent. If the parent has its own values, it is the last item. With
   * `isBase`, the schema itself is selected, not the union of the schemas that extend it.
   */
  readonly refs: readonly { readonly ref: string; readonly isBase: boolean }[];
}

/**
 * Returns the tag of a schema with a discriminator that other schemas extend by `allOf` (OpenAPI
 * 3.1 §4.8.25.2). Returns `undefined` for a schema with `oneOf` or `anyOf`.
 */
export function tagOfParent(root: Json, ref: string): ParentTag | undefined {
  const tags = parentTags(root, root);
  if (!tags.has(ref)) tags.set(ref, parentTag(root, ref));
  return tags.get(ref);
}

const parentTags = memoized(() => new Map<string, ParentTag | undefined>());

function parentTag(root: Json, ref: string): ParentTag | undefined {
  const parent = asObject(valueAt(root, ref));
  const name = tagName(parent);
  if (name === undefined) return undefined;
  const mapping = asObject(asObject(parent.discriminator).mapping);
  const children = childrenOf(root, ref, mapping);
  if (children.length === 0) return undefined;

  const valuesOf = (child: string): readonly unknown[] => {
    const constants = constantsIn(root, { $ref: child }, name);
    return constants.length === 1 ? constants : mappedValues(mapping, child);
  };
  const childValues = children.map(valuesOf);
  const constants = constantsIn(root, { $ref: ref }, name);
  const parentValues = constants.length > 0 ? constants : mappedValues(mapping, ref);
  const baseValues = parentValues.filter((value) => !childValues.flat().includes(value));
  const values = baseValues.length > 0 ? [...childValues, baseValues] : childValues;
  if (!areDistinct(values)) return undefined;
  const refs = children.map((child) => ({
    ref: child,
    isBase: tagName(asObject(valueAt(root, child))) === name,
  }));
  return {
    name,
    values,
    isMapped: true,
    refs: [...refs, { ref, isBase: true }].slice(0, values.length),
  };
}

/** The name of the member that selects among the schemas that extend a schema. */
function tagName({ discriminator, oneOf, anyOf }: Json): string | undefined {
  const { propertyName, 'x-selects': selects } = asObject(discriminator);
  const selectsChildren = (oneOf ?? anyOf) === undefined && selects !== false;
  return typeof propertyName === 'string' && selectsChildren ? propertyName : undefined;
}

/** Lists the references to the schemas that a base schema maps to or that extend it. */
export function childrenOf(root: Json, ref: string, mapping: Json): string[] {
  const mapped = Object.values(mapping).filter(
    (target) => typeof target === 'string' && target !== ref && valueAt(root, target) !== undefined,
  );
  return [...new Set([...mapped, ...descendantsOf(root, ref)].map(String))];
}

const descendantsOf = (root: Json, ref: string): string[] =>
  Object.entries(asObject(asObject(root.components).schemas)).flatMap(([name, schema]) => {
    const parents = asArray(asObject(schema).allOf).flatMap((part) => allOfSchemas(root, part));
    const component = refTo(`/components/schemas/${escapePointerToken(name)}`);
    return component !== ref && parents.some(({ $ref }) => $ref === ref) ? [component] : [];
  });

const requiredNames = (root: Json, schema: unknown): string[] =>
  allOfSchemas(root, schema).flatMap(({ required }) => asArray(required).map(String));

/** The constants of a required property of an object schema. */
function constantsOf(root: Json, schema: unknown, name: string): readonly unknown[] {
  const isObjectSchema = allOfSchemas(root, schema).some(({ type }) => type === 'object');
  if (!isObjectSchema || !requiredNames(root, schema).includes(name)) return [];
  return constantsIn(root, schema, name);
}

/**
 * The constants that a schema allows for a property. Empty if one of them is not a string, or if
 * the property is `readOnly` or `writeOnly`.
 */
export function constantsIn(root: Json, schema: unknown, name: string): readonly unknown[] {
  const property = allOfSchemas(root, schema).flatMap(({ properties }) =>
    allOfSchemas(root, asObject(properties)[name]),
  );
  if (property.some(({ readOnly, writeOnly }) => readOnly === true || writeOnly === true))
    return [];
  const lists = property
    .map((part) => (Object.hasOwn(part, 'const') ? [part.const] : asArray(part.enum)))
    .filter((list) => list.length > 0);
  const [first = [], ...others] = lists;
  const values = first.filter((value) => others.every((list) => list.includes(value)));
  return values.every((value) => typeof value === 'string') ? values : [];
}

/**
 * The values that select an alternative. Without a mapping, its name selects it. If its constants
 * exclude the name, they select it instead. A union with the same discriminator has no value of its
 * own.
 */
export function selectingValues(
  root: Json,
  schema: unknown,
  name: string,
  mapping: Json,
): readonly unknown[] {
  const ref = refOf(schema);
  if (ref === undefined) return [];
  const mapped = mappedValues(mapping, ref);
  if (Object.values(mapping).includes(ref)) return mapped;
  const { oneOf, anyOf, discriminator } = asObject(valueAt(root, ref));
  const isUnion = (oneOf ?? anyOf) !== undefined;
  if (isUnion && asObject(discriminator).propertyName === name) return [];
  const constants = constantsIn(root, schema, name);
  return constants.length === 0 || mapped.some((value) => constants.includes(value))
    ? mapped
    : constants;
}

/** The values that a discriminator maps to a schema. Without a mapping, the name of the schema. */
function mappedValues(mapping: Json, ref: string | undefined): readonly string[] {
  if (ref === undefined) return [];
  const values = Object.keys(mapping).filter((value) => mapping[value] === ref);
  if (values.length > 0) return values;
  const [name, ...rest] = pointerTokens(decoded(ref.replace('#/components/schemas', '')));
  const isComponent = ref.startsWith('#/components/schemas/') && rest.length === 0;
  return isComponent && name !== undefined ? [name] : [];
}

export const refOf = (schema: unknown): string | undefined =>
  isObject(schema) && typeof schema.$ref === 'string' ? schema.$ref : undefined;
