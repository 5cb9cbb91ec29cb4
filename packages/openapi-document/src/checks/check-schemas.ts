import type { ErrorObject } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { tagOfParent } from '../document/discriminator.ts';
import {
  asObject,
  escapePointerToken,
  isObject,
  type Json,
  memoized,
  valueAt,
} from '../document/document.ts';
import { walk } from '../document/kinds.ts';
import { eachSchema, patternOf, translate } from '../document/schema.ts';
import { describe, isHarmless, type Report } from './check-structure.ts';
import { isStandardFormat, misfitOf } from './fits.ts';

const ajv = new Ajv2020({ strict: false, logger: false, allErrors: true });

/** Reports invalid schemas (JSON Schema 2020-12), and keywords that are not enforced exactly. */
export function checkSchemas(
  root: Json,
  report: Report,
  serviceFormats: readonly string[] = [],
): void {
  const checkedFormats = new Set<string>(serviceFormats);
  const checked = new Set<Json>();
  const cyclic = new Set<Json>();
  walk(root, 'document', '', (schema, kind, pointer) => {
    // OpenAPI 3.1 §4.8.24.5
    const member = kind === 'document' ? 'jsonSchemaDialect' : '$schema';
    const dialect = String(schema[member] ?? 'draft/2020-12');
    if (!/oas\/3\.[12]\/dialect|draft\/2020-12/.test(dialect)) {
      report.notice(`${pointer}/${member}`, `${dialect} is read as JSON Schema 2020-12`);
    }
    if (kind !== 'schema') return;
    if (!checked.has(schema)) {
      eachSchema(schema, pointer, (inner) => checked.add(inner));
      for (const error of errorsOf(schema)) {
        const place = pointer + error.instancePath;
        const level = isHarmless(root, error, place) ? 'notice' : 'problem';
        report[level](place, `${describe(schema, error)} (JSON Schema 2020-12)`);
      }
      const count = countOf(root, schema);
      if (count > MAX_SCHEMAS) {
        const limit = `at most ${MAX_SCHEMAS} are allowed`;
        report.problem(pointer, `validating one value needs ${count} schemas: ${limit}`);
      }
    }
    // Each cycle is reported once.
    const cycle = cyclic.has(schema) ? [] : cycleOf(root, schema);
    for (const { part } of cycle) cyclic.add(part);
    if (cycle.length > 0) {
      const path = cycle.map(({ keyword }) => keyword).join(' → ');
      report.problem(pointer, `the schema refers to itself for the same value: ${path}`);
    }
    checkKeywords(root, schema, pointer, report);
    checkPatterns(schema, pointer, report);
    const { format } = schema;
    if (typeof format !== 'string' || isStandardFormat(format) || checkedFormats.has(format))
      return;
    // Each unknown format is reported once.
    checkedFormats.add(format);
    report.notice(pointer, `the format ${format} is unknown: it is not checked`);
  });
}

/** Returns the errors of an invalid schema, one for each location. */
function errorsOf(schema: Json): ErrorObject[] {
  // Ajv does not support the dialect of OpenAPI.
  if (ajv.validateSchema({ ...schema, $schema: undefined })) return [];
  const precise = ajv.errors?.filter(
    ({ keyword, instancePath }) =>
      keyword !== 'anyOf' &&
      // Ajv rejects bigints.
      typeof valueAt(schema, instancePath) !== 'bigint',
  );
  const byPlace = Map.groupBy(precise ?? [], ({ instancePath }) => instancePath);
  return [...byPlace.values()].flatMap((errors) => errors.slice(0, 1));
}

/** Messages for keywords that are not enforced exactly. */
const REMARKS = {
  $dynamicRef: '$dynamicRef is read as $ref',
  unevaluatedItems: 'unevaluatedItems may be enforced wrongly beside "contains" or "anyOf"',
  dependencies: 'dependencies is ignored: use dependentRequired or dependentSchemas',
  contentEncoding: 'contentEncoding is not checked',
};

function checkKeywords(root: Json, schema: Json, pointer: string, report: Report): void {
  const { problem, notice } = report;
  if (schema.$ref === '#') {
    problem(
      pointer,
      '$ref: "#" is the whole OpenAPI document, not a schema: use #/components/schemas/NAME',
    );
  }
  for (const [keyword, message] of Object.entries(REMARKS))
    if (schema[keyword] !== undefined) notice(pointer, message);
  // OpenAPI 3.2 §4.26.1
  const { nodeType, attribute, wrapped } = asObject(schema.xml);
  if (nodeType !== undefined && (attribute ?? wrapped) !== undefined)
    notice(
      `${pointer}/xml`,
      'nodeType cannot be used together with attribute or wrapped: remove one of them',
    );
  if (Array.isArray(schema.enum) && schema.enum.length === 0)
    notice(pointer, 'enum is empty: no value is valid');
  for (const [value, target] of Object.entries(asObject(asObject(schema.discriminator).mapping))) {
    if (String(target).startsWith('#') && valueAt(root, String(target)) !== undefined) continue;
    const place = `${pointer}/discriminator/mapping/${escapePointerToken(value)}`;
    notice(place, `the mapping is ignored, since the schema ${target} does not exist`);
  }
  const misfit = schema.default === undefined ? undefined : misfitOf(root, schema, schema.default);
  if (misfit !== undefined) {
    notice(
      `${pointer}/default`,
      `the default is ignored, since it does not fit its schema: ${misfit}`,
    );
  }
}

/** Reports invalid regular expressions of a schema. */
function checkPatterns(
  { pattern, patternProperties }: Json,
  pointer: string,
  { problem, notice }: Report,
): void {
  for (const source of [pattern, ...Object.keys(asObject(patternProperties))]) {
    if (typeof source !== 'string') continue;
    try {
      const expression = patternOf(source);
      if (expression.unicode && translate(source) === source) continue;
      notice(
        pointer,
        `${source} is not a valid regular expression with the flag u: it is read as ${expression}`,
      );
    } catch {
      problem(pointer, `${source} is not a valid regular expression (ECMA-262)`);
    }
  }
}

/** The maximum number of schemas for one value. With more, validation would take seconds. */
const MAX_SCHEMAS = 10_000;

/** The schemas whose count has begun. Ends the recursion at circular schemas. */
const counted = new WeakSet<Json>();

/**
 * Counts the schemas that validate one value. A schema counts once for each reference to it, so
 * nested references can multiply the count.
 */
const countOf: (root: Json, schema: Json) => number = memoized((root, schema) => {
  if (counted.has(schema)) return 0;
  counted.add(schema);
  return inPlaceParts(root, schema).reduce((sum, { part }) => sum + countOf(root, part), 1);
});

/** A subschema for the same value as the schema around it, and its keyword or reference. */
interface InPlacePart {
  readonly keyword: string;
  readonly part: Json;
}

function inPlaceParts(root: Json, schema: Json): InPlacePart[] {
  const { $ref, dependentSchemas } = schema;
  const target = typeof $ref === 'string' ? [{ keyword: $ref, part: valueAt(root, $ref) }] : [];
  const lists = ['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else'].flatMap((keyword) =>
    [schema[keyword]]
      .flat()
      .flatMap((part) => [part, ...(keyword === 'allOf' ? [] : extensionsOf(root, part))])
      .map((part) => ({ keyword, part })),
  );
  const dependents = Object.values(asObject(dependentSchemas)).map((part) => ({
    keyword: 'dependentSchemas',
    part,
  }));
  return [...target, ...lists, ...dependents].flatMap(({ keyword, part }) =>
    isObject(part) ? [{ keyword, part }] : [],
  );
}

/** Returns the schemas that extend the target of a reference. Its discriminator selects them. */
function extensionsOf(root: Json, part: unknown): unknown[] {
  const { $ref } = asObject(part);
  const tag = typeof $ref === 'string' ? tagOfParent(root, $ref) : undefined;
  const refs = (tag?.refs ?? []).map(({ ref }) => ref);
  return refs.filter((ref) => ref !== $ref).map((ref) => valueAt(root, ref));
}

/** Returns the path from a schema to itself, if it would validate the same value forever. */
function cycleOf(root: Json, schema: Json): readonly InPlacePart[] {
  const seen = new Set<Json>();
  const search = (from: Json): readonly InPlacePart[] => {
    for (const step of inPlaceParts(root, from)) {
      if (step.part === schema) return [step];
      if (seen.has(step.part)) continue;
      seen.add(step.part);
      const rest = search(step.part);
      if (rest.length > 0) return [step, ...rest];
    }
    return [];
  };
  return search(schema);
}
