import { arrayAt, type Json, objectAt, token, valueAt } from './document.ts';

/** What a Discriminator Object (OpenAPI 3.1 §4.8.25) chooses among. */
export interface Choices {
  readonly propertyName: string;
  /** The keyword that lists the schemas; `undefined` where they are those that have this one in their `allOf`. */
  readonly key: 'oneOf' | 'anyOf' | undefined;
  /** By the values of the property; `undefined` for the schema itself. */
  readonly schemas: ReadonlyMap<string, string | undefined>;
  readonly orNull: boolean;
}

/** The schemas that a schema's discriminator tells apart; `undefined` if it has none, or one that cannot be followed. */
export function choicesOf(root: Json, schema: Json): Choices | undefined {
  const { propertyName, mapping } = objectAt(schema.discriminator);
  if (typeof propertyName !== 'string') return undefined;
  const key = Array.isArray(schema.oneOf) ? 'oneOf' : Array.isArray(schema.anyOf) ? 'anyOf' : undefined;
  const schemas = new Map<string, string | undefined>();
  const add = (ref: string): boolean => {
    const name = COMPONENT.exec(ref)?.[1];
    const mapped = Object.entries(objectAt(mapping)).filter(([, target]) => target === ref);
    for (const [value] of mapped) schemas.set(value, ref);
    if (mapped.length === 0 && name !== undefined) schemas.set(name, ref);
    return mapped.length > 0 || name !== undefined;
  };
  if (key === undefined) {
    const [own] = Object.entries(objectAt(objectAt(root.components).schemas)).find(([, item]) => item === schema) ?? [];
    if (own === undefined) return undefined;
    add(`#/components/schemas/${token(own)}`);
    for (const value of schemas.keys()) schemas.set(value, undefined);
    const inherits = heirsOf(root, schema).every((ref) => add(ref));
    return inherits && schemas.size > 1 ? { propertyName, key, schemas, orNull: false } : undefined;
  }
  let orNull = false;
  for (const item of arrayAt(schema[key]).map(objectAt)) {
    if (item.type === 'null') orNull = true;
    else if (typeof item.$ref !== 'string' || !add(item.$ref)) return undefined;
  }
  return { propertyName, key, schemas, orNull };
}

const COMPONENT = /^#\/components\/schemas\/([^/]+)$/;

/** The components with a schema in their `allOf`, and those that have these, as references. */
function heirsOf(root: Json, base: Json, seen = new Set<unknown>([base])): string[] {
  return Object.entries(objectAt(objectAt(root.components).schemas)).flatMap(([name, schema]) => {
    if (seen.has(schema) || !basesOf(root, schema).includes(base)) return [];
    seen.add(schema);
    return [`#/components/schemas/${token(name)}`, ...heirsOf(root, objectAt(schema), seen)];
  });
}

const basesOf = (root: Json, schema: unknown): unknown[] =>
  arrayAt(objectAt(schema).allOf).flatMap((part) => {
    const { $ref } = objectAt(part);
    return typeof $ref === 'string' ? [valueAt(root, $ref)] : [];
  });

const knownInheritors = new WeakMap<Json, ReadonlySet<unknown>>();

/** The components that have one with a discriminator of its own in their `allOf`, or one that has. */
export function inheritors(root: Json): ReadonlySet<unknown> {
  let found = knownInheritors.get(root);
  if (found === undefined) {
    const schemas = Object.values(objectAt(objectAt(root.components).schemas)).map(objectAt);
    const bases = schemas.filter(({ discriminator, oneOf, anyOf }) => discriminator !== undefined && !oneOf && !anyOf);
    found = new Set(bases.flatMap((base) => heirsOf(root, base)).map((ref) => valueAt(root, ref)));
    knownInheritors.set(root, found);
  }
  return found;
}
