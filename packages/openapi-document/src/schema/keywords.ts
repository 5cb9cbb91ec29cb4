import { asArray, asObject, type Json } from '../document/document.ts';

/**
 * Keywords whose value is one schema, a list of schemas, or schemas by name (JSON Schema 2020-12
 * §10, §11).
 */
export const SUBSCHEMAS = {
  one: [
    ...['not', 'if', 'then', 'else', 'items', 'contains', 'propertyNames'],
    ...['additionalProperties', 'unevaluatedItems', 'unevaluatedProperties'],
  ],
  list: ['allOf', 'anyOf', 'oneOf', 'prefixItems'],
  named: ['properties', 'patternProperties', 'dependentSchemas', '$defs'],
};

/** Returns the value of a keyword with each schema in it replaced. */
export function mapKeyword(
  key: string,
  value: unknown,
  replace: (schema: unknown) => unknown,
): unknown {
  const { one, list, named } = SUBSCHEMAS;
  if (one.includes(key)) return replace(value);
  if (list.includes(key)) return asArray(value).map(replace);
  if (!named.includes(key)) return value;
  const members = Object.entries(asObject(value));
  return Object.fromEntries(members.map(([name, schema]) => [name, replace(schema)]));
}

/** Lists the alternatives of a schema: a value may match them, but does not have to. */
export const alternativesIn = ({ anyOf, oneOf, then, else: otherwise }: Json): unknown[] => [
  ...asArray(anyOf),
  ...asArray(oneOf),
  ...[then, otherwise].filter((schema) => schema !== undefined),
];

/** Keywords with schemas that apply to the same value, not to a member of it. */
export const IN_PLACE: ReadonlySet<string> = new Set([
  ...['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'dependentSchemas'],
]);
