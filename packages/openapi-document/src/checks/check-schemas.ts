import { asObject, decoded, isObject, type Json } from '../document/document.ts';
import { walk } from '../document/kinds.ts';
import { definitionName, IN_PLACE, type LoweredSchemas, reachedFrom } from '../document/lower.ts';
import { alternatives, patternOf, translate } from '../document/schema.ts';
import { checkDiscriminator } from './check-discriminator.ts';
import { checkEncoding, checkNames } from './check-names.ts';
import type { Report } from './check-structure.ts';
import { isStandardFormat, loweringOf, misfitOf } from './fits.ts';

/**
 * Reports circular schemas, invalid patterns, misspelled keywords, and keywords that are not
 * enforced exactly.
 */
export function checkSchemas(
  root: Json,
  report: Report,
  serviceFormats: readonly string[] = [],
): void {
  const checkedFormats = new Set<string>(serviceFormats);
  const lowering = loweringOf(root, root);
  walk(root, 'document', '', (schema, kind, pointer) => {
    // OpenAPI 3.1 §4.8.24.5
    const member = kind === 'document' ? 'jsonSchemaDialect' : '$schema';
    const dialect = String(schema[member] ?? 'draft/2020-12');
    if (!/oas\/3\.[12]\/dialect|draft\/2020-12/.test(dialect)) {
      report.notice(`${pointer}/${member}`, `${dialect} is read as JSON Schema 2020-12`);
    }
    if (kind === 'mediaType') checkEncoding(root, schema, pointer, report);
    if (kind === 'encoding' && Object.keys(asObject(schema.headers)).length > 0)
      report.notice(`${pointer}/headers`, 'the headers of parts are not checked');
    if (kind !== 'schema') return;
    // Adds the target to `$defs`, which `checkCycles` and `checkCounts` read.
    if (schema.$ref !== undefined) lowering.lower(schema);
    checkNames(root, schema, pointer, report);
    checkKeywords(root, schema, pointer, report);
    checkDiscriminator(root, schema, pointer, report);
    checkPatterns(schema, pointer, report);
    const { format } = schema;
    if (typeof format !== 'string' || isStandardFormat(format) || checkedFormats.has(format))
      return;
    // Each unknown format is reported once.
    checkedFormats.add(format);
    report.notice(pointer, `the format ${format} is unknown: it is not checked`);
  });
  checkCycles(lowering, report);
  checkCounts(lowering, report);
}

const LIMITS = [
  ['minimum', 'maximum'],
  ['exclusiveMinimum', 'exclusiveMaximum'],
  ...['Length', 'Items', 'Contains', 'Properties'].map((of) => [`min${of}`, `max${of}`] as const),
] as const;

const REMARKS = {
  $dynamicRef: '$dynamicRef is read as $ref',
  unevaluatedItems: 'unevaluatedItems may be enforced wrongly beside "contains", "anyOf" or "if"',
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
  for (const [minimum, maximum] of LIMITS) {
    if (Number(schema[minimum]) > Number(schema[maximum]))
      notice(`${pointer}/${minimum}`, `no value is valid: ${minimum} is greater than ${maximum}`);
  }
  // OpenAPI 3.2 §4.26.1
  const { nodeType, attribute, wrapped } = asObject(schema.xml);
  if (nodeType !== undefined && (attribute ?? wrapped) !== undefined)
    notice(
      `${pointer}/xml`,
      'nodeType cannot be used together with attribute or wrapped: remove one of them',
    );
  if (Object.hasOwn(asObject(schema.properties), '__proto__'))
    notice(`${pointer}/properties/__proto__`, '__proto__ is not validated: rename the property');
  for (const keyword of ['items', 'prefixItems']) {
    const parts = [schema[keyword]].flat().flatMap((part) => alternatives(root, part));
    // A writeOnly array is removed with its items.
    if (schema.writeOnly !== true && parts.some(({ writeOnly }) => writeOnly === true))
      notice(
        `${pointer}/${keyword}`,
        'writeOnly items are not removed from responses: set writeOnly on the array',
      );
  }
  if (Array.isArray(schema.enum) && schema.enum.length === 0)
    notice(pointer, 'enum is empty: no value is valid');
  const misfit = schema.default === undefined ? undefined : misfitOf(root, schema, schema.default);
  if (misfit !== undefined) {
    notice(
      `${pointer}/default`,
      `the default is ignored, since it does not fit its schema: ${misfit}`,
    );
  }
}

function checkPatterns(
  { pattern, patternProperties }: Json,
  pointer: string,
  { problem, notice }: Report,
): void {
  for (const source of [pattern, ...Object.keys(asObject(patternProperties))]) {
    if (typeof source !== 'string') continue;
    try {
      const expression = patternOf(source);
      if (expression.unicode && translate(source).source === source) continue;
      notice(
        pointer,
        `${source} is not a valid regular expression with the flag u: it is read as ${expression}`,
      );
    } catch {
      problem(pointer, `${source} is not a valid regular expression (ECMA-262)`);
    }
  }
}

/** Reports schemas that refer to themselves for the same value. Each cycle is reported once. */
function checkCycles({ $defs, refs }: LoweredSchemas, { problem }: Report): void {
  const reached = new Map(
    Object.entries($defs).map(([name, schema]) => [name, reachedFrom($defs, schema, inPlaceRefs)]),
  );
  const reported = new Set<string>();
  for (const [name, names] of reached) {
    if (!names.has(name) || reported.has(name)) continue;
    const cycle = [...names].filter((other) => reached.get(other)?.has(name));
    for (const member of cycle) reported.add(member);
    const path = [name, ...cycle.filter((member) => member !== name), name].join(' → ');
    const pointer = decoded(String(refs[name]).slice(1));
    problem(
      pointer,
      `the schema refers to itself for the same value, so validation would not end: ${path}`,
    );
  }
}

/** The maximum number of definitions for one value. With more, validation would take seconds. */
const MAX_DEFINITIONS = 5_000;

/**
 * Reports schemas that need too many definitions to validate one value. A definition counts once
 * for each reference to it, so nested references can multiply the count.
 */
function checkCounts({ $defs, refs }: LoweredSchemas, { problem }: Report): void {
  const counts = new Map<string, number>();
  const countOf = (name: string): number => {
    const existing = counts.get(name);
    if (existing !== undefined) return existing;
    // Ends the recursion at circular schemas.
    counts.set(name, 0);
    const count = inPlaceRefs($defs[name]).reduce((sum, next) => sum + countOf(next), 1);
    counts.set(name, count);
    return count;
  };
  for (const [name, ref] of Object.entries(refs)) {
    const count = countOf(name);
    if (count <= MAX_DEFINITIONS) continue;
    const limit = `at most ${MAX_DEFINITIONS} are allowed`;
    problem(decoded(ref.slice(1)), `validating one value needs ${count} schemas: ${limit}`);
  }
}

/** Lists the definitions that a lowered schema references for the same value. */
function inPlaceRefs(schema: unknown): string[] {
  if (!isObject(schema)) return [];
  const { $ref } = schema;
  const parts = [...IN_PLACE].flatMap((keyword) => {
    const value = schema[keyword];
    return keyword === 'dependentSchemas' ? Object.values(asObject(value)) : value;
  });
  const inside = parts.flatMap(inPlaceRefs);
  return typeof $ref === 'string' ? [definitionName($ref), ...inside] : inside;
}
