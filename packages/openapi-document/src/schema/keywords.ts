import { asArray, entriesOf, type Json } from '../source/document.ts';
import { NUMBER_LIMITS, SIZE_LIMITS, SUBSCHEMAS } from '../source/keywords.ts';
import { TYPE_BITS } from './json-types.ts';

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
  const members = entriesOf(value);
  return Object.fromEntries(members.map(([name, schema]) => [name, replace(schema)]));
}

/** Lists the schemas in the keywords of a schema. */
export function subschemasOf(schema: Json, keywords: Iterable<string>): unknown[] {
  const found: unknown[] = [];
  for (const key of keywords)
    if (schema[key] !== undefined) mapKeyword(key, schema[key], (inner) => found.push(inner));
  return found;
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

/** The schema of a schema, without its keywords. */
export const SUBSCHEMA = { type: ['object', 'boolean'] };

const TEXT = { type: 'string' };
const FLAG = { type: 'boolean' };
const SIZE = { type: 'integer', minimum: 0 };
const NAMES = { type: 'array', items: TEXT, uniqueItems: true };
const TYPE = { enum: Object.keys(TYPE_BITS).toSorted() };

const named = (names: readonly string[], schema: object): Json =>
  Object.fromEntries(names.map((name) => [name, schema]));

/** The schemas of the values of all keywords, each without the schemas inside it. */
export const KEYWORDS: Json = {
  ...named([...SUBSCHEMAS.one, 'contentSchema'], SUBSCHEMA),
  ...named(SUBSCHEMAS.list, { type: 'array', minItems: 1, items: SUBSCHEMA }),
  ...named(SUBSCHEMAS.named, { type: 'object', additionalProperties: SUBSCHEMA }),
  ...named(['$id', '$schema', '$ref', '$anchor', '$dynamicRef', '$dynamicAnchor'], TEXT),
  ...named(['$comment', 'title', 'description'], TEXT),
  ...named(['format', 'pattern', 'contentEncoding', 'contentMediaType'], TEXT),
  ...named(['uniqueItems', 'readOnly', 'writeOnly', 'deprecated'], FLAG),
  ...named(SIZE_LIMITS, SIZE),
  ...named(NUMBER_LIMITS, { type: 'number' }),
  ...named(['enum', 'examples'], { type: 'array' }),
  multipleOf: { type: 'number', exclusiveMinimum: 0 },
  required: NAMES,
  dependentRequired: { type: 'object', additionalProperties: NAMES },
  type: {
    if: { type: 'array' },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { items: TYPE, minItems: 1, uniqueItems: true },
    else: TYPE,
  },
};
