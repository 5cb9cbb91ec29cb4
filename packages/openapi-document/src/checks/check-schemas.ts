import type { ErrorObject } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { unionOf } from '../document/discriminator.ts';
import { asArray, asObject, escapePointerToken, isObject, type Json, valueAt } from '../document/document.ts';
import { knownFormat } from '../document/formats.ts';
import type { Operation } from '../document/operations.ts';
import { allOfSchemas, eachSchema, typesOf } from '../document/schema.ts';
import { checkPatterns } from './check-patterns.ts';
import { describe } from './check-structure.ts';
import { checkWork } from './check-work.ts';
import { misfitOf } from './fits.ts';
import type { Report } from './report.ts';

/** Checks that the schemas of a document are JSON Schema 2020-12, and says what of them is not enforced. */
export function checkSchemas(root: Json, operations: readonly Operation[], report: Report): void {
  const ajv = new Ajv2020({ strict: false, logger: false, allErrors: true });
  const formats = new Set<string>();
  checkDialect(root.jsonSchemaDialect, '/jsonSchemaDialect', report);
  for (const { schema, pointer } of schemasOf(root, operations)) {
    const isValid = invalidities(ajv, schema).map((error) => {
      const isHarmless = HARMLESS.test(error.instancePath);
      const say = isHarmless ? report.notice : report.problem;
      say(pointer + error.instancePath, `${describe(schema, error)} (JSON Schema 2020-12)`);
      return isHarmless;
    });
    if (isValid.every(Boolean)) {
      checkWork(root, schema, pointer, report);
      eachSchema(schema, pointer, (inner, at) => {
        checkKeywords(root, inner, at, report);
        checkPatterns(inner, at, report);
        checkDefaults(root, inner, at, report);
        checkBounds(root, inner, at, report);
        const { format } = inner;
        if (typeof format !== 'string' || knownFormat(format) || formats.has(format)) return;
        formats.add(format);
        report.notice(at, `format ${format} is not known and not checked`);
      });
    }
  }
}

/** The schemas that stand in no other one, each at the first of its places. */
export function schemasOf(root: Json, operations: readonly Operation[]): { schema: unknown; pointer: string }[] {
  const seen = new Set<unknown>([undefined]);
  const media = operations.flatMap(({ requestBody, responses }) => [
    ...(requestBody?.media ?? []),
    ...responses.flatMap((response) => response.media),
  ]);
  const parameters = operations.flatMap((operation) => [
    ...operation.parameters,
    ...operation.responses.flatMap(({ headers }) => headers),
  ]);
  const holders = [...parameters, ...media];
  return [
    ...Object.entries(asObject(asObject(root.components).schemas)).map(([name, schema]) => ({
      schema,
      pointer: `/components/schemas/${escapePointerToken(name)}`,
    })),
    ...holders.map(({ schema, pointer }) => ({ schema, pointer: `${pointer}/schema` })),
    ...media.map(({ itemSchema, items, pointer }) => ({
      schema: items?.schema ?? itemSchema,
      pointer: `${pointer}/itemSchema`,
    })),
  ].filter(({ schema }) => !seen.has(schema) && seen.add(schema));
}

/** Why a schema is not valid JSON Schema. A name that `required` lists twice does no harm; boolean bounds are ignored. */
function invalidities(ajv: Ajv2020, schema: unknown): ErrorObject[] {
  // Ajv does not know the dialect of OpenAPI.
  const plain = isObject(schema) ? { ...schema, $schema: undefined } : typeof schema === 'boolean' ? schema : {};
  if (ajv.validateSchema(plain)) return [];
  const precise = ajv.errors?.filter(({ keyword, instancePath }) => {
    if (['anyOf', 'oneOf', 'if', '$dynamicRef', '$ref'].includes(keyword)) return false;
    if (keyword === 'uniqueItems') return !instancePath.endsWith('/required');
    const isBound = /\/exclusive(Minimum|Maximum)$/.test(instancePath);
    return !(isBound && typeof valueAt(schema, instancePath) === 'boolean');
  });
  const seen = new Set<string>();
  return precise?.filter(({ instancePath }) => !seen.has(instancePath) && seen.add(instancePath)) ?? [];
}

/** Keywords that a value is validated without. */
const HARMLESS =
  /\/(title|description|deprecated|examples?|\$comment|\$recursive(Anchor|Ref)|readOnly|writeOnly|format)$/;

/** What `$schema` may be in OpenAPI 3.1 (§4.8.24.5). */
const DIALECTS = new Set([
  'https://spec.openapis.org/oas/3.1/dialect/base',
  'https://json-schema.org/draft/2020-12/schema',
]);

function checkDialect(dialect: unknown, pointer: string, { notice }: Report): void {
  if (dialect === undefined || DIALECTS.has(String(dialect))) return;
  notice(pointer, `${dialect} is read as JSON Schema 2020-12`);
}

/** Keywords that are read otherwise than written, or not at all. */
const REMARKS = {
  $dynamicRef: '$dynamicRef is read as $ref',
  $id: '$id is ignored: a $ref is relative to its file',
  dependencies: 'dependencies is not checked: use dependentRequired or dependentSchemas',
  contentEncoding: 'contentEncoding is not checked',
  contentSchema: 'contentSchema is not checked',
};

function checkKeywords(root: Json, schema: Json, pointer: string, report: Report): void {
  const { problem, notice } = report;
  if (schema.$ref === '#') {
    problem(pointer, '$ref: "#" is the whole OpenAPI document: name the schema, as #/components/schemas/…');
  }
  checkDialect(schema.$schema, `${pointer}/$schema`, report);
  for (const [keyword, message] of Object.entries(REMARKS)) if (schema[keyword] !== undefined) notice(pointer, message);
  if (Array.isArray(schema.enum) && schema.enum.length === 0) notice(pointer, 'enum is empty: no value is valid');
  for (const [value, target] of Object.entries(asObject(asObject(schema.discriminator).mapping))) {
    if (String(target).startsWith('#') && valueAt(root, String(target)) !== undefined) continue;
    const place = `${pointer}/discriminator/mapping/${escapePointerToken(value)}`;
    notice(place, `the mapping is ignored: there is no schema ${target}`);
  }
  const twice = asArray(schema.required).find((name, index, names) => names.indexOf(name) < index);
  if (twice !== undefined) notice(`${pointer}/required`, `required lists ${twice} twice`);
  for (const keyword of ['exclusiveMinimum', 'exclusiveMaximum']) {
    if (typeof schema[keyword] !== 'boolean') continue;
    notice(`${pointer}/${keyword}`, `${keyword} is a number in JSON Schema 2020-12: ${schema[keyword]} is ignored`);
  }
}

function checkDefaults(root: Json, schema: Json, pointer: string, { notice }: Report): void {
  const misfit = schema.default === undefined ? undefined : misfitOf(root, schema, schema.default);
  if (misfit !== undefined) {
    notice(`${pointer}/default`, `the default is not filled in: it does not fit its own schema: ${misfit}`);
  }
  for (const alternatives of [asArray(schema.anyOf), asArray(schema.oneOf)]) {
    if (!hasDefaults(root, alternatives) || unionOf(root, alternatives, schema.discriminator) !== undefined) continue;
    notice(pointer, 'defaults inside anyOf and oneOf are filled in only where a discriminator tells them apart');
  }
}

const hasDefaults = (root: Json, alternatives: readonly unknown[]): boolean =>
  alternatives
    .flatMap((alternative) => allOfSchemas(root, alternative))
    .flatMap(({ properties }) => Object.values(asObject(properties)))
    .some((property) => allOfSchemas(root, property).some((part) => Object.hasOwn(part, 'default')));

const BOUNDS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'const', 'enum', 'default'];

/** Whether a bound of integers rounds to that of its neighbours. Bounds at the ends of int64 and beyond hold anyway. */
const isInexact = (value: unknown): boolean =>
  Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(Number(value)) < 2 ** 63;

function checkBounds(root: Json, schema: Json, pointer: string, { notice }: Report): void {
  for (const key of BOUNDS) {
    if (![schema[key]].flat().some(isInexact) || !typesOf(root, schema).has('integer')) continue;
    notice(pointer, `${key} is checked only to the nearest double beyond ±(2^53-1)`);
  }
}
