import { asArray, asObject, isObject, type Json } from './document.ts';
import { allOfSchemas } from './schema.ts';

/** Alternatives that the value of one property tells apart. */
export interface Union {
  readonly propertyName: string;
  readonly choices: readonly { readonly values: readonly unknown[]; readonly schema: unknown }[];
  /** Whether `null` is an alternative too. */
  readonly orNull: boolean;
  /** Whether the schemas themselves exclude each other by this property. Then its value decides what is valid. */
  readonly exclusive: boolean;
}

/**
 * How to tell the alternatives of a `oneOf` or an `anyOf` apart: by a required property with different constants, or else
 * by the schema's discriminator (OpenAPI 3.1 §4.8.25). A discriminator never changes what is valid.
 */
export function unionOf(root: Json, alternatives: readonly unknown[], discriminator: unknown): Union | undefined {
  const { propertyName, mapping } = asObject(discriminator);
  const schemas = alternatives.filter((schema) => asObject(schema).type !== 'null');
  if (schemas.length === 0) return undefined;
  const orNull = schemas.length < alternatives.length;
  const names = typeof propertyName === 'string' ? [propertyName] : requiredOf(root, schemas[0]);
  for (const name of names) {
    const choices = schemas.map((schema) => ({ values: constantsOf(root, schema, name), schema }));
    const values = choices.flatMap((choice) => choice.values);
    if (choices.every((choice) => choice.values.length > 0) && new Set(values).size === values.length) {
      return { propertyName: name, choices, orNull, exclusive: true };
    }
  }
  if (typeof propertyName !== 'string') return undefined;
  const choices = schemas.map((schema) => ({ values: mappedValues(asObject(mapping), schema), schema }));
  return choices.every(({ values }) => values.length > 0)
    ? { propertyName, choices, orNull, exclusive: false }
    : undefined;
}

const requiredOf = (root: Json, schema: unknown): string[] =>
  allOfSchemas(root, schema).flatMap(({ required }) => asArray(required).map(String));

/** The values that an object schema demands of a property; empty if it is not required or has no constants. */
function constantsOf(root: Json, schema: unknown, name: string): readonly unknown[] {
  const all = allOfSchemas(root, schema);
  if (!all.some(({ type }) => type === 'object') || !requiredOf(root, schema).includes(name)) return [];
  const property = all.flatMap(({ properties }) => allOfSchemas(root, asObject(properties)[name]));
  if (property.some(({ readOnly, writeOnly }) => readOnly === true || writeOnly === true)) return [];
  const lists = property.map((part) => (Object.hasOwn(part, 'const') ? [part.const] : asArray(part.enum)));
  const values = lists.find((list) => list.length > 0) ?? [];
  return values.every((value) => typeof value === 'string') ? values : [];
}

/** The values that a discriminator maps to a referenced schema: those of its mapping, or the schema's name. */
function mappedValues(mapping: Json, schema: unknown): readonly string[] {
  const ref = isObject(schema) ? schema.$ref : undefined;
  if (typeof ref !== 'string') return [];
  const values = Object.keys(mapping).filter((value) => mapping[value] === ref);
  const name = /^#\/components\/schemas\/([^/]+)$/.exec(ref)?.[1];
  return values.length > 0 || name === undefined ? values : [name];
}
