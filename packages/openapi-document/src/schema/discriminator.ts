import { asObject, type Json } from '../source/document.ts';
import { Facts } from './facts.ts';
import { TYPE_BITS } from './json-types.ts';
import { IN_PLACE, subschemasOf } from './keywords.ts';
import type { Tag } from './tag.ts';
import type { SchemaTree } from './tree.ts';

/**
 * Returns the member that distinguishes the alternatives of a `oneOf` or an `anyOf`. This is a
 * required member with different constants in each alternative, or the member of the discriminator.
 */
export function tagOfUnion(
  tree: SchemaTree,
  alternatives: readonly Json[],
  discriminator: unknown,
): Tag | undefined {
  const { propertyName, mapping, defaultMapping } = asObject(discriminator);
  const isNull = ({ type }: Json) => [type].flat().join() === 'null';
  const objects = alternatives.filter((schema) => !isNull(schema));
  const [first] = objects;
  if (first === undefined) return undefined;
  const allowsNull = objects.length < alternatives.length;
  const names = typeof propertyName === 'string' ? [propertyName] : tree.facts(first).required;
  for (const name of names) {
    const values = distinctValues(objects, (schema) => requiredConstants(tree, schema, name));
    if (values !== undefined) return { name, values, others: undefined, allowsNull };
  }
  if (typeof propertyName !== 'string') return undefined;
  const isOthers = (schema: Json) => schema.$ref !== undefined && schema.$ref === defaultMapping;
  const values = distinctValues(objects, (schema) =>
    selectingValues(tree, schema, propertyName, asObject(mapping)),
  );
  return values && { name: propertyName, values, others: objects.find(isOthers), allowsNull };
}

/**
 * Returns the member that selects among the schemas that extend a base schema by `allOf` (OpenAPI
 * 3.1 §4.8.25.2). A base is abstract, so no value selects it, if its discriminator has a mapping
 * that does not name it.
 */
export function tagOfBase(tree: SchemaTree, base: Json): Tag | undefined {
  const name = baseTagName(base);
  if (name === undefined) return undefined;
  if (!tree.baseTags.has(base)) tree.baseTags.set(base, findBaseTag(tree, base, name));
  return tree.baseTags.get(base);
}

function findBaseTag(tree: SchemaTree, base: Json, name: string): Tag | undefined {
  const mapping = asObject(asObject(base.discriminator).mapping);
  const children = childrenOf(tree, base, mapping);
  if (children.length === 0) return undefined;
  const values = distinctValues(children, (child) => {
    const constants = constantsOf(tree, child, name);
    return constants.length === 1 ? constants : mappedNames(tree, mapping, child);
  });
  if (values === undefined) return undefined;
  const all = new Map<unknown, Json>(values);
  for (const value of baseValues(tree, base, name, mapping))
    if (!all.has(value)) all.set(value, base);
  return { name, values: all, others: undefined, allowsNull: false };
}

/** Lists the schemas that a base schema maps to or that extend it. */
export function childrenOf(tree: SchemaTree, base: Json, mapping: Json): readonly Json[] {
  const children = new Set([...tree.namesIn(mapping).keys(), ...tree.extensionsOf(base)]);
  children.delete(base);
  return [...children];
}

function baseValues(tree: SchemaTree, base: Json, name: string, mapping: Json): readonly unknown[] {
  const constants = constantsOf(tree, base, name);
  if (constants.length > 0) return constants;
  const names = mappedNames(tree, mapping, base);
  const isNamed = tree.namesIn(mapping).has(base) || Object.keys(mapping).length === 0;
  return isNamed ? names : [];
}

/** The name of the member that selects among the schemas that extend a schema. */
export function baseTagName({ discriminator, oneOf, anyOf }: Json): string | undefined {
  const { propertyName } = asObject(discriminator);
  const isBase = (oneOf ?? anyOf) === undefined;
  return typeof propertyName === 'string' && isBase ? propertyName : undefined;
}

/** Returns `undefined` if a schema has no value, or two schemas have the same value. */
function distinctValues(
  schemas: readonly Json[],
  valuesOf: (schema: Json) => readonly unknown[],
): ReadonlyMap<unknown, Json> | undefined {
  const owners = new Map<unknown, Json>();
  for (const schema of schemas) {
    const values = valuesOf(schema);
    if (values.length === 0 || values.some((value) => owners.has(value))) return undefined;
    for (const value of values) owners.set(value, schema);
  }
  return owners;
}

/** The constants of a required property of an object schema. */
function requiredConstants(tree: SchemaTree, schema: Json, name: string): readonly unknown[] {
  const { declaredTypes, required } = tree.facts(schema);
  if (declaredTypes !== TYPE_BITS.object || !required.has(name)) return [];
  return constantsOf(tree, schema, name);
}

/**
 * The constants that a schema allows for a property. Empty if one of them is not a string, or if
 * the property is `readOnly` or `writeOnly`.
 */
function constantsOf(tree: SchemaTree, schema: Json, name: string): readonly unknown[] {
  const schemas = tree.facts(schema).declared(name);
  const facts = new Facts(schemas.flatMap((property) => tree.applied(tree.schemaOf(property))));
  if (facts.isOneWay) return [];
  const [first = [], ...others] = facts.constantLists;
  const values = first.filter((value) => others.every((list) => list.includes(value)));
  return values.every((value) => typeof value === 'string') ? values : [];
}

/**
 * The values that select an alternative. Without a mapping, its name selects it. If its constants
 * exclude the name, they select it instead. A union with the same discriminator has no value of its
 * own.
 */
function selectingValues(
  tree: SchemaTree,
  alternative: Json,
  name: string,
  mapping: Json,
): readonly unknown[] {
  const target = tree.referenced(alternative);
  if (target === alternative && !tree.componentNames.has(target)) return [];
  const mapped = mappedNames(tree, mapping, target);
  if (tree.namesIn(mapping).has(target)) return mapped;
  const { oneOf, anyOf, discriminator } = target;
  const isUnion = (oneOf ?? anyOf) !== undefined;
  if (isUnion && asObject(discriminator).propertyName === name) return [];
  const constants = constantsOf(tree, alternative, name);
  return constants.length === 0 || mapped.some((value) => constants.includes(value))
    ? mapped
    : constants;
}

/** The values that a mapping has for a schema. Without one, the name of the component. */
function mappedNames(tree: SchemaTree, mapping: Json, schema: Json): readonly string[] {
  const names = tree.namesIn(mapping).get(schema);
  if (names !== undefined) return names;
  const name = tree.componentNames.get(schema);
  return name === undefined ? [] : [name];
}

/**
 * Lists the schemas that a schema applies to the same value, and whether it extends them: their
 * discriminators then select nothing.
 *
 * @param isBase true if another schema extends this one.
 */
export function schemasInPlace(
  tree: SchemaTree,
  schema: Json,
  isBase: boolean,
): [schema: Json, isBase: boolean][] {
  const joined = tree
    .joinedBy(schema)
    .map((part): [Json, boolean] => [part, isBase || tree.extends(schema, part)]);
  const tested = subschemasOf(schema, IN_PLACE.difference(new Set(['allOf']))).map(
    (part): [Json, boolean] => [tree.schemaOf(part), false],
  );
  const tag = isBase ? undefined : tagOfBase(tree, schema);
  const children = [...(tag?.values.values() ?? [])].filter((child) => child !== schema);
  const selected = children.map((child): [Json, boolean] => [
    child,
    baseTagName(child) === tag?.name,
  ]);
  return [...joined, ...tested, ...selected];
}
