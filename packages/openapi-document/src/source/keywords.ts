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

/** The limits of numbers (JSON Schema 2020-12, Validation §6.2). */
export const NUMBER_LIMITS = [
  ...(['minimum', 'exclusiveMinimum', 'maximum', 'exclusiveMaximum', 'multipleOf'] as const),
];

/** The sizes that `min` and `max` limit. */
export const SIZES = ['Length', 'Items', 'Contains', 'Properties'] as const;

/** The limits of sizes, such as `minLength`. */
export const SIZE_LIMITS = SIZES.flatMap((of) => [`min${of}`, `max${of}`] as const);

export type LimitKeyword = (typeof NUMBER_LIMITS | typeof SIZE_LIMITS)[number];

/** The keywords that restrict values of one type only, by that type. */
export const KEYWORDS_OF_TYPES = {
  string: ['minLength', 'maxLength', 'pattern', 'format'],
  number: NUMBER_LIMITS,
  array: [
    ...['items', 'prefixItems', 'unevaluatedItems', 'contains', 'uniqueItems'],
    ...['minItems', 'maxItems', 'minContains', 'maxContains'],
  ],
  object: [
    ...['properties', 'patternProperties', 'additionalProperties', 'unevaluatedProperties'],
    ...['required', 'propertyNames', 'minProperties', 'maxProperties'],
    ...['dependentRequired', 'dependentSchemas'],
  ],
} as const;
