import { Ajv2020 } from 'ajv/dist/2020.js';
import { unionOf } from '../document/discriminator.ts';
import {
  arrayAt,
  type Checked,
  type Finding,
  isObject,
  type Json,
  objectAt,
  token,
  valueAt,
} from '../document/document.ts';
import { knownFormat } from '../document/formats.ts';
import type { Operation } from '../document/operations.ts';
import { eachSchema, parts, typesOf } from '../document/schema.ts';
import { checkPatterns } from './check-patterns.ts';
import { defaultFits } from './fits.ts';

type Report = (pointer: string, message: string) => void;

/** Checks that the schemas of a document are JSON Schema 2020-12, and says what of them is not enforced. */
export function checkSchemas(root: Json, operations: readonly Operation[]): Checked {
  const ajv = new Ajv2020({ strict: false, logger: false });
  const problems: Finding[] = [];
  const notices: Finding[] = [];
  const problem: Report = (pointer, message) => problems.push({ pointer, message });
  const notice: Report = (pointer, message) => notices.push({ pointer, message });
  const formats = new Set<string>();

  checkDialect(root.jsonSchemaDialect, '/jsonSchemaDialect', notice);
  for (const { schema, pointer } of schemasOf(root, operations)) {
    const invalid = invalidity(ajv, schema);
    if (invalid !== undefined) problem(pointer + invalid.pointer, invalid.message);
    else {
      eachSchema(schema, pointer, (inner, at) => {
        checkKeywords(root, inner, at, problem, notice);
        checkPatterns(inner, at, problem, notice);
        checkEnforced(root, inner, at, notice);
        if (!defaultFits(root, inner))
          notice(`${at}/default`, 'the default does not fit its own schema: it is not filled in');
        const { format } = inner;
        if (typeof format === 'string' && !knownFormat(format) && !formats.has(format)) {
          formats.add(format);
          notice(at, `format ${format} is not known and not checked`);
        }
      });
    }
  }
  return { problems, notices };
}

/** The schemas that stand in no other one, each at the first of its places. */
export function schemasOf(root: Json, operations: readonly Operation[]): { schema: unknown; pointer: string }[] {
  const seen = new Set<unknown>([undefined]);
  const holders = operations.flatMap(({ parameters, requestBody, responses }) => [
    ...parameters,
    ...(requestBody?.media ?? []),
    ...responses.flatMap(({ media, headers }) => [...media, ...headers]),
  ]);
  return [
    ...Object.entries(objectAt(objectAt(root.components).schemas)).map(([name, schema]) => ({
      schema,
      pointer: `/components/schemas/${token(name)}`,
    })),
    ...holders.map(({ schema, pointer }) => ({ schema, pointer: `${pointer}/schema` })),
  ].filter(({ schema }) => !seen.has(schema) && seen.add(schema));
}

/** Bounds that are booleans in older versions of JSON Schema. */
const EXCLUSIVE = /\/exclusive(Minimum|Maximum)$/;

/** Why a schema is not valid JSON Schema. A name that `required` lists twice does no harm; boolean bounds are ignored. */
function invalidity(ajv: Ajv2020, schema: unknown): Finding | undefined {
  // Ajv does not know the dialect of OpenAPI, and it stops at the first error.
  const plain = isObject(schema)
    ? { ...schema, $schema: undefined }
    : schema === true || schema === false
      ? schema
      : {};
  if (ajv.validateSchema(plain)) return undefined;
  const errors = (ajv.errors ?? []).filter(({ keyword }) => !['anyOf', 'oneOf', 'if'].includes(keyword));
  const [first] = errors;
  if (first?.keyword === 'uniqueItems' && first.instancePath.endsWith('/required')) return undefined;
  if (typeof valueAt(schema, first?.instancePath ?? '') === 'boolean' && EXCLUSIVE.test(first?.instancePath ?? '')) {
    return undefined;
  }
  const message = `${first?.message ?? 'is not a schema'} (JSON Schema 2020-12)`;
  return { pointer: first?.instancePath ?? '', message };
}

/** What `$schema` may be in OpenAPI 3.1 (§4.8.24.5). */
const DIALECTS = new Set([
  'https://spec.openapis.org/oas/3.1/dialect/base',
  'https://json-schema.org/draft/2020-12/schema',
]);

function checkDialect(dialect: unknown, pointer: string, notice: Report): void {
  if (dialect !== undefined && !DIALECTS.has(String(dialect)))
    notice(pointer, `${dialect} is read as JSON Schema 2020-12`);
}

function checkKeywords(root: Json, schema: Json, pointer: string, problem: Report, notice: Report): void {
  if (schema.$ref === '#') {
    problem(pointer, '$ref: "#" is the whole OpenAPI document: name the schema, as #/components/schemas/…');
  }
  checkDialect(schema.$schema, `${pointer}/$schema`, notice);
  if (schema.$dynamicRef !== undefined) notice(pointer, '$dynamicRef is read as $ref');
  if (schema.$id !== undefined) notice(pointer, '$id is ignored: a $ref is relative to its file');
  if (schema.nullable !== undefined) {
    notice(pointer, 'nullable has no meaning in OpenAPI 3.1: use type: [..., "null"]');
  }
  if (Array.isArray(schema.enum) && schema.enum.length === 0) notice(pointer, 'enum is empty: no value is valid');
  for (const [value, target] of Object.entries(objectAt(objectAt(schema.discriminator).mapping))) {
    if (String(target).startsWith('#') && valueAt(root, String(target)) !== undefined) continue;
    const place = `${pointer}/discriminator/mapping/${token(value)}`;
    notice(place, `the mapping leads to nothing: ${target}; it is ignored`);
  }
  const required = arrayAt(schema.required);
  if (new Set(required).size < required.length) notice(`${pointer}/required`, 'required has a name twice');
  for (const keyword of ['exclusiveMinimum', 'exclusiveMaximum']) {
    if (typeof schema[keyword] !== 'boolean') continue;
    notice(`${pointer}/${keyword}`, `${keyword} is a number in JSON Schema 2020-12: ${schema[keyword]} is ignored`);
  }
  for (const keyword of ['contentEncoding', 'contentSchema']) {
    if (schema[keyword] !== undefined) notice(pointer, `${keyword} is not checked`);
  }
}

const INTEGER_BOUNDS = [
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'const', 'enum', 'default'],
];

/** Whether a bound of integers rounds to that of its neighbours. Bounds at the ends of int64 and beyond hold anyway. */
const isInexact = (value: number): boolean =>
  !Number.isSafeInteger(value) && Number.isInteger(value) && Math.abs(value) < 2 ** 63;

function checkEnforced(root: Json, schema: Json, pointer: string, notice: Report): void {
  for (const alternatives of [arrayAt(schema.anyOf), arrayAt(schema.oneOf)]) {
    if (hasDefaults(root, alternatives) && unionOf(root, alternatives, schema.discriminator) === undefined) {
      notice(pointer, 'defaults inside anyOf and oneOf are not filled in');
    }
  }
  for (const key of INTEGER_BOUNDS) {
    const values: readonly unknown[] = Array.isArray(schema[key]) ? schema[key] : [schema[key]];
    const beyond = values.some((value) => typeof value === 'number' && isInexact(value));
    if (beyond && typesOf(root, schema).has('integer')) {
      notice(pointer, `${key} is checked only to the nearest double beyond ±(2^53-1)`);
    }
  }
}

const hasDefaults = (root: Json, alternatives: readonly unknown[]): boolean =>
  alternatives
    .flatMap((alternative) => parts(root, alternative))
    .flatMap(({ properties }) => Object.values(objectAt(properties)))
    .some((property) => parts(root, property).some((part) => Object.hasOwn(part, 'default')));
