import { cyclesFrom } from '../schema/cycles.ts';
import { IN_PLACE } from '../schema/keywords.ts';
import { patternOf, translate } from '../schema/pattern-syntax.ts';
import type { Schemas } from '../schema/schemas.ts';
import type { SchemaTree } from '../schema/tree.ts';
import { asObject, decoded, type Json, pointerTokens } from '../source/document.ts';
import { walk } from '../source/kinds.ts';
import { checkDiscriminator } from './check-discriminator.ts';
import { checkNames } from './check-names.ts';
import type { Report } from './check-structure.ts';
import { misfitOf } from './fits.ts';

/**
 * Reports circular schemas, invalid patterns, misspelled keywords, and keywords that are not
 * checked exactly.
 */
export function checkSchemas(schemas: Schemas, report: Report): void {
  const { tree } = schemas;
  const unknownFormats = new Set<string>();
  const references = new Set<string>();
  walk(tree.root, 'document', '', (schema, kind, pointer) => {
    // OpenAPI 3.1 §4.8.24.5
    const member = kind === 'document' ? 'jsonSchemaDialect' : '$schema';
    const dialect = String(schema[member] ?? 'draft/2020-12');
    if (!/oas\/3\.[12]\/dialect|draft\/2020-12/.test(dialect)) {
      report.notice(`${pointer}/${member}`, `${dialect} is read as JSON Schema 2020-12`);
    }
    if (kind === 'encoding' && Object.keys(asObject(schema.headers)).length > 0)
      report.notice(`${pointer}/headers`, 'the headers of parts are not checked');
    if (kind !== 'schema') return;
    if (typeof schema.$ref === 'string') {
      references.add(schema.$ref);
      if (schema.$ref === '#')
        report.problem(
          pointer,
          '$ref: "#" is the whole OpenAPI document, not a schema: use #/components/schemas/NAME',
        );
      // Some documents consist of hundreds of thousands of references.
      if (Object.keys(schema).length === 1) return;
    }
    checkNames(schemas, schema, pointer, report);
    checkKeywords(schemas, schema, pointer, report);
    checkDiscriminator(schemas, schema, pointer, report);
    checkPatterns(tree, schema, pointer, report);
    const { format } = schema;
    if (typeof format !== 'string' || tree.formatOf(format) !== undefined) return;
    // Each unknown format is reported once.
    if (unknownFormats.has(format)) return;
    unknownFormats.add(format);
    report.notice(pointer, `the format ${format} is unknown: it is not checked`);
  });
  checkCycles(tree, references, report);
}

const REMARKS = {
  $dynamicRef: '$dynamicRef is read as $ref',
  dependencies: 'dependencies is ignored: use dependentRequired or dependentSchemas',
  contentEncoding: 'contentEncoding is not checked',
};

/** Keywords that restrict the types of values. */
const TYPING = ['type', 'enum', 'const', 'discriminator'];

function checkKeywords(schemas: Schemas, schema: Json, pointer: string, { notice }: Report): void {
  const { tree } = schemas;
  for (const [keyword, message] of Object.entries(REMARKS))
    if (schema[keyword] !== undefined) notice(pointer, message);
  for (const keyword of ['items', 'prefixItems']) {
    if (schema[keyword] === undefined) continue;
    const parts = [schema[keyword]].flat().flatMap((part) => tree.possible(tree.schemaOf(part)));
    // A writeOnly array is removed with its items.
    if (schema.writeOnly !== true && parts.some(({ writeOnly }) => writeOnly === true))
      notice(
        `${pointer}/${keyword}`,
        'writeOnly items are not removed from responses: set writeOnly on the array',
      );
  }
  const isInPlace = pointerTokens(pointer)
    .slice(-2)
    .some((token) => IN_PLACE.has(token));
  const isUntyped = tree.possible(schema).every((part) => TYPING.every((key) => !(key in part)));
  if (schema.properties !== undefined && isUntyped && !isInPlace)
    notice(pointer, 'properties restrict only objects: add type: object to reject other values');
  const misfit =
    schema.default === undefined ? undefined : misfitOf(schemas, schema, schema.default);
  if (misfit !== undefined) {
    notice(
      `${pointer}/default`,
      `the default is ignored, since it does not fit its schema: ${misfit}`,
    );
  }
}

function checkPatterns(
  tree: SchemaTree,
  { pattern, patternProperties }: Json,
  pointer: string,
  { problem, notice }: Report,
): void {
  for (const source of [pattern, ...Object.keys(asObject(patternProperties))]) {
    if (typeof source !== 'string') continue;
    try {
      const expression = patternOf(source);
      const limit = tree.pattern(source).notice;
      if (limit !== undefined) notice(pointer, `${source}: ${limit}`);
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

/** Reports schemas that refer to themselves for the same value. */
function checkCycles(tree: SchemaTree, references: ReadonlySet<string>, { problem }: Report): void {
  const refs = new Map([...references].map((ref) => [tree.resolve(ref), ref]));
  for (const cycle of cyclesFrom(tree, refs.keys())) {
    const [first = '', ...others] = new Set(cycle.flatMap((schema) => refs.get(schema) ?? []));
    const names = [first, ...others, first].map(lastToken);
    const message = 'the schema refers to itself for the same value, so validation would not end';
    problem(decoded(first.slice(1)), `${message}: ${names.join(' → ')}`);
  }
}

const lastToken = (ref: string): string => pointerTokens(ref).at(-1) ?? ref;
