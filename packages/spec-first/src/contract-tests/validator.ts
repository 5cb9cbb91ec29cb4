import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import {
  allOfSchemas,
  asArray,
  asObject,
  Inexact,
  isObject,
  type Json,
  patternEngine,
  resolveRef,
  unionOf,
} from 'openapi-document';

/** Which way a value goes: members that are `readOnly` or `writeOnly` go one way only. */
export type Direction = 'request' | 'response';

/** Returns what is wrong with a value, or `undefined`. */
export type Check = (value: unknown) => string | undefined;

/** Makes a check of a schema. */
export type Checks = (schema: unknown, direction: Direction) => Check;

const DOCUMENT = 'document';

/** Checks values against the schemas of a document, with Ajv alone. The server has its own validator. */
export function createChecks(root: Json): Checks {
  const instances = { request: createAjv(root, 'request'), response: createAjv(root, 'response') };
  const known = { request: new Map<unknown, Check>(), response: new Map<unknown, Check>() };
  return (schema, direction) => {
    let check = known[direction].get(schema);
    if (check === undefined) {
      check = compile(instances[direction], root, schema, direction);
      known[direction].set(schema, check);
    }
    return check;
  };
}

function compile(ajv: Ajv2020, root: Json, schema: unknown, direction: Direction): Check {
  if (!isObject(schema)) return () => (schema === false ? 'no value is allowed' : undefined);
  const validate = ajv.compile(asObject(directed(root, schema, direction)));
  return (value) => {
    if (validate(plain(value))) return undefined;
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`.trim()).join(', ');
  };
}

function createAjv(root: Json, direction: Direction): Ajv2020 {
  const ajv = new Ajv2020({
    strict: false,
    validateSchema: false,
    multipleOfPrecision: 6,
    ownProperties: true,
    logger: false,
    code: { regExp: patternEngine },
  });
  addFormats.default(ajv);
  const integer = (bits: number) => ({
    type: 'number' as const,
    validate: (value: number) => Number.isInteger(value) && value >= -(2 ** bits) && value < 2 ** bits,
  });
  ajv.addFormat('int32', integer(31));
  ajv.addFormat('int64', integer(63));
  ajv.addSchema(asObject(directed(root, root, direction)), DOCUMENT);
  return ajv;
}

/**
 * A copy whose references lead into the document, and whose members of the other direction are not allowed.
 *
 * @param hidden names of such members in a schema that has this one in its `allOf`.
 */
function directed(root: Json, value: unknown, direction: Direction, hidden: readonly string[] = []): unknown {
  if (Array.isArray(value)) return value.map((item) => directed(root, item, direction, hidden));
  if (!isObject(value)) return value;
  const own = isSchema(value) ? [...hidden, ...oneWayNames(root, value, direction)] : [];
  const copy = (key: string, item: unknown): unknown => {
    if (key === '$ref' && typeof item === 'string' && item.startsWith('#')) return DOCUMENT + item;
    if (key === 'required' && Array.isArray(item)) return [...new Set(item)].filter((name) => !own.includes(name));
    if (key === 'properties' && isObject(item)) {
      const members = Object.entries(item).map(([name, schema]) => [
        name,
        !isOneWay(root, schema, direction) && directed(root, schema, direction),
      ]);
      return Object.fromEntries(members);
    }
    // These have a meaning in older versions only. The server ignores them, too.
    if (typeof item === 'boolean' && /^(nullable|exclusiveM(in|ax)imum)$/.test(key)) return undefined;
    return directed(root, item, direction, key === 'allOf' ? own : []);
  };
  // Ajv does not compile an empty list, which no value satisfies.
  if (Array.isArray(value.enum) && value.enum.length === 0) return false;
  const selected = selectedBy(root, value);
  if (selected !== undefined) return directed(root, selected, direction, hidden);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, copy(key, item)]));
}

/** A schema with a discriminator, each alternative with the values that select it. The server validates that one alone. */
function selectedBy(root: Json, { discriminator, ...schema }: Json): Json | undefined {
  const key = ['oneOf', 'anyOf'].find((name) => Array.isArray(schema[name]));
  const union = key === undefined ? undefined : unionOf(root, asArray(schema[key]), discriminator);
  if (discriminator === undefined || key === undefined || union === undefined) return undefined;
  const { propertyName, choices, orNull, fallback } = union;
  const named = (values: readonly unknown[]) => ({
    required: [propertyName],
    properties: { [propertyName]: { enum: values } },
  });
  const all = choices.flatMap(({ values }) => values);
  const alternatives = [
    ...choices.map(({ values, schema: choice }) => ({ allOf: [choice, named(values)] })),
    ...(orNull ? [{ type: 'null' }] : []),
    ...(fallback === undefined ? [] : [{ allOf: [fallback], not: named(all) }]),
  ];
  return { ...schema, [key]: alternatives };
}

const isSchema = ({ required, allOf, properties }: Json): boolean =>
  Array.isArray(required) || Array.isArray(allOf) || isObject(properties);

const oneWayNames = (root: Json, schema: Json, direction: Direction): string[] =>
  allOfSchemas(root, schema).flatMap(({ properties }) =>
    Object.entries(asObject(properties)).flatMap(([name, member]) => (isOneWay(root, member, direction) ? [name] : [])),
  );

function isOneWay(root: Json, schema: unknown, direction: Direction): boolean {
  const keyword = direction === 'request' ? 'readOnly' : 'writeOnly';
  return asObject(schema)[keyword] === true || resolveRef(root, schema)?.[keyword] === true;
}

/** The largest double within int64. Each `bigint` is within it, but the nearest double of some is 2⁶³. */
const LARGEST = 2 ** 63 - 1024;

/** A value with doubles in place of exact numbers, which Ajv does not know. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return Math.min(Number(value), LARGEST);
  if (value instanceof Inexact) return value.double;
  if (Array.isArray(value)) return value.map(plain);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item)]));
}
