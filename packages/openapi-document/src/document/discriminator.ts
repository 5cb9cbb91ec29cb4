import { asArray, asObject, isObject, type Json } from './document.ts';
import { allOfSchemas } from './schema.ts';

/**
 * How to tell the alternatives of a `oneOf` or an `anyOf` apart: by a required property with different constants, or else
 * by the schema's discriminator (OpenAPI 3.1 §4.8.25), unless it only describes them.
 *
 * @returns whether `null` is an alternative too (`orNull`), and the one for a value without the property, or with another
 * value of it (`fallback`, OpenAPI 3.2).
 */
export function unionOf(
  root: Json,
  alternatives: readonly unknown[],
  discriminator: unknown,
  reading: 'selects' | 'describes' = 'selects',
) {
  const { propertyName, mapping, defaultMapping } = asObject(discriminator);
  const schemas = alternatives.filter((schema) => asObject(schema).type !== 'null');
  if (schemas.length === 0) return undefined;
  const orNull = schemas.length < alternatives.length;
  const names = typeof propertyName === 'string' ? [propertyName] : requiredOf(root, schemas[0]);
  for (const name of names) {
    const choices = schemas.map((schema) => ({ values: constantsOf(root, schema, name), schema }));
    const values = choices.flatMap((choice) => choice.values);
    if (choices.every((choice) => choice.values.length > 0) && new Set(values).size === values.length) {
      return { propertyName: name, choices, orNull, fallback: undefined };
    }
  }
  if (typeof propertyName !== 'string' || reading === 'describes') return undefined;
  const choices = schemas.map((schema) => ({ values: mappedValues(asObject(mapping), schema), schema }));
  if (choices.some(({ values }) => values.length === 0)) return undefined;
  // Names are references by now.
  const fallback = schemas.find((schema) => refOf(schema) === (defaultMapping ?? ''));
  return { propertyName, choices, orNull, fallback };
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
  const ref = refOf(schema) ?? '';
  const values = Object.keys(mapping).filter((value) => mapping[value] === ref);
  return values.length > 0 ? values : (/^#\/components\/schemas\/([^/]+)$/.exec(ref)?.slice(1) ?? []);
}

const refOf = (schema: unknown): string | undefined =>
  isObject(schema) && typeof schema.$ref === 'string' ? schema.$ref : undefined;
