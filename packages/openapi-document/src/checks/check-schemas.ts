import { diff } from 'node:util';
import type { ErrorObject } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { asArray, asObject, escapePointerToken, isObject, type Json, memoized, valueAt } from '../document/document.ts';
import { SUBSCHEMAS, walk } from '../document/kinds.ts';
import { eachSchema, patternOf, translate } from '../document/schema.ts';
import { describe, isAnnotation, type Report } from './check-structure.ts';
import { knownFormat, misfitOf } from './fits.ts';

/** Checks that the schemas of a document are JSON Schema 2020-12, and says what of them is not enforced. */
export function checkSchemas(root: Json, report: Report): void {
  const ajv = new Ajv2020({ strict: false, logger: false, allErrors: true });
  const formats = new Set<string>();
  const known = new Set<Json>();
  walk(root, 'document', '', (schema, kind, pointer) => {
    // OpenAPI 3.1 §4.8.24.5
    const place = kind === 'document' ? 'jsonSchemaDialect' : '$schema';
    const dialect = String(schema[place] ?? 'draft/2020-12');
    if (!/oas\/3\.[12]\/dialect|draft\/2020-12/.test(dialect)) {
      report.notice(`${pointer}/${place}`, `${dialect} is read as JSON Schema 2020-12`);
    }
    if (kind !== 'schema') return;
    if (!known.has(schema)) {
      eachSchema(schema, pointer, (inner) => known.add(inner));
      for (const error of invalidities(ajv, schema)) {
        const say = isAnnotation(root, error) ? report.notice : report.problem;
        say(pointer + error.instancePath, `${describe(schema, error)} (JSON Schema 2020-12)`);
      }
      const count = countOf(root, schema);
      const message = `one value would be validated by ${count} schemas: more than ${MOST} take too long`;
      if (count > MOST) report.problem(pointer, message);
    }
    checkKeywords(root, schema, pointer, report);
    checkPatterns(schema, pointer, report);
    const { format } = schema;
    if (typeof format !== 'string' || knownFormat(format) || formats.has(format)) return;
    formats.add(format);
    report.notice(pointer, `format ${format} is not known and not checked`);
  });
}

/** Why a schema is not valid JSON Schema, once for each place. */
function invalidities(ajv: Ajv2020, schema: Json): ErrorObject[] {
  // Ajv does not know the dialect of OpenAPI.
  if (ajv.validateSchema({ ...schema, $schema: undefined })) return [];
  const precise = ajv.errors?.filter(
    ({ keyword, instancePath }) =>
      !['anyOf', 'oneOf', 'if', '$dynamicRef', '$ref'].includes(keyword) &&
      // Ajv knows no integers beyond 2^53.
      typeof valueAt(schema, instancePath) !== 'bigint',
  );
  return [...new Map(precise?.reverse().map((error) => [error.instancePath, error])).values()].reverse();
}

/** Keywords that are read otherwise than written, or not at all. */
const REMARKS = {
  $dynamicRef: '$dynamicRef is read as $ref',
  unevaluatedItems: 'unevaluatedItems is not exact for items that contains or anyOf describes',
  dependencies: 'dependencies is not checked: use dependentRequired or dependentSchemas',
  contentEncoding: 'contentEncoding is not checked',
};

/** Keywords that a misspelt one may stand for. */
const KEYWORDS = [
  ...Object.values(SUBSCHEMAS).flat(),
  ...['type', 'format', 'enum', 'const', 'pattern', 'required', 'default', 'nullable', 'readOnly', 'writeOnly'],
  ...['example', 'examples', 'title', 'description', 'discriminator', 'deprecated', 'multipleOf', 'uniqueItems'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'minLength', 'maxLength', 'minItems', 'maxItems'],
  ...['minProperties', 'maxProperties', 'minContains', 'maxContains', 'externalDocs', 'definitions', 'xml'],
];

/** Names keywords that differ from a known one by a letter or two: they have no effect. */
function checkSpelling(schema: Json, pointer: string, { notice }: Report): void {
  for (const name of Object.keys(schema)) {
    if (name.length < 3 || /^[x$]/.test(name) || KEYWORDS.includes(name)) continue;
    const isNear = (keyword: string) =>
      diff(name.toLowerCase(), keyword.toLowerCase()).filter(([operation]) => operation !== 0).length <= 2;
    const meant = KEYWORDS.find(isNear);
    if (meant === undefined) continue;
    notice(`${pointer}/${escapePointerToken(name)}`, `${name} is no keyword of a schema. Did you mean ${meant}?`);
  }
}

function checkKeywords(root: Json, schema: Json, pointer: string, report: Report): void {
  const { problem, notice } = report;
  if (schema.$ref === '#') {
    problem(pointer, '$ref: "#" is the whole OpenAPI document: name the schema, as #/components/schemas/…');
  }
  checkSpelling(schema, pointer, report);
  for (const [keyword, message] of Object.entries(REMARKS)) if (schema[keyword] !== undefined) notice(pointer, message);
  if (Array.isArray(schema.enum) && schema.enum.length === 0) notice(pointer, 'enum is empty: no value is valid');
  for (const [value, target] of Object.entries(asObject(asObject(schema.discriminator).mapping))) {
    if (String(target).startsWith('#') && valueAt(root, String(target)) !== undefined) continue;
    const place = `${pointer}/discriminator/mapping/${escapePointerToken(value)}`;
    notice(place, `the mapping is ignored: there is no schema ${target}`);
  }
  const misfit = schema.default === undefined ? undefined : misfitOf(root, schema, schema.default);
  if (misfit !== undefined) {
    notice(`${pointer}/default`, `the default is not filled in: it does not fit its own schema: ${misfit}`);
  }
}

/** Checks the regular expressions of a schema. */
function checkPatterns({ pattern, patternProperties }: Json, pointer: string, { problem, notice }: Report): void {
  for (const source of [pattern, ...Object.keys(asObject(patternProperties))]) {
    if (typeof source !== 'string') continue;
    try {
      const used = patternOf(source);
      if (used.unicode && translate(source) === source) continue;
      notice(pointer, `${source} is not a regular expression with the flag u: it is used as ${used}`);
    } catch {
      problem(pointer, `${source} is not a regular expression (ECMA-262)`);
    }
  }
}

/** More schemas than this that describe one value are no API: a request would be validated for seconds. */
const MOST = 10_000;

const counting = new Set<Json>();

/**
 * How many schemas describe one value, each as often as a way leads to it: `allOf` of `allOf` of the same schemas doubles
 * with each level. One that contains itself counts once.
 */
const countOf: (root: Json, schema: Json) => number = memoized((root, schema) => {
  if (counting.has(schema)) return 0;
  counting.add(schema);
  const { $ref, allOf, anyOf, oneOf, dependentSchemas, not, if: condition, then, else: otherwise } = schema;
  const lists = [allOf, anyOf, oneOf, Object.values(asObject(dependentSchemas)), [not, condition, then, otherwise]];
  const inside = [typeof $ref === 'string' ? valueAt(root, $ref) : undefined, ...lists.flatMap(asArray)];
  const count = inside.filter(isObject).reduce((sum, item) => sum + countOf(root, item), 1);
  counting.delete(schema);
  return count;
});
