import { asArray, asObject, isObject, type Json, schemas } from 'openapi-document';
import { NUMBER_ASSERTIONS } from './keywords.ts';

type Schema = schemas.LoweredSchema;
type Keywords = Record<string, unknown>;

/** Keywords that are copied for Ajv. Schemas in their values are converted. */
const COPIED_KEYWORDS = new Set([
  ...Object.values(schemas.SUBSCHEMAS).flat(),
  ...['maxLength', 'minLength', 'pattern', 'maxItems', 'minItems', 'required'],
  ...['maxProperties', 'minProperties', 'minContains', 'maxContains', 'dependentRequired'],
]);

/** Keywords that evaluate members of some values only. */
const CONDITIONAL_KEYWORDS = [
  ...['anyOf', 'oneOf', 'if', 'dependentSchemas', 'patternProperties', 'unevaluatedProperties'],
];

const CLOSING_KEYWORDS = /^(additional|unevaluated)Properties$/;

export interface Conversion {
  /** True if strings may be files. */
  readonly files: boolean;
  /** True if objects may have undeclared members, even where a schema forbids them. */
  readonly open: boolean;
}

export interface ConversionOptions {
  readonly hasFormat: (name: string) => boolean;
  /** True if a schema of the document has `unevaluatedItems`. */
  readonly tracksItems: boolean;
  /** True if a schema of the document has `unevaluatedProperties`. */
  readonly tracksMembers: boolean;
  /** True if `x-dropped` members are allowed, since they are removed later. */
  readonly drops: boolean;
}

/**
 * Creates the function that converts lowered schemas to schemas for Ajv, with the keywords of
 * `keywords.ts`: numbers are compared exactly, `x-tag` selects one alternative, and `contains`
 * marks only matching items as evaluated.
 */
export function createAjvSchemas({ $defs }: schemas.LoweredSchemas, options: ConversionOptions) {
  const { hasFormat, tracksItems, tracksMembers, drops } = options;
  const names = new Map<string, string>();
  /** The targets of references in converted schemas. Grows while schemas are converted. */
  const definitions = new Map<string, Schema>();
  /** Functions that convert definitions. A queue, because recursion could overflow the stack. */
  const pending: (() => void)[] = [];

  return {
    definitions,
    convert(source: unknown, conversion: Conversion): Schema {
      const schema = convert(source, conversion);
      for (let next = pending.shift(); next !== undefined; next = pending.shift()) next();
      return schema;
    },
  };

  function convert(source: unknown, conversion: Conversion): Schema {
    if (!isObject(source)) return source !== false;
    const convertPart = (part: unknown) => convert(part, conversion);
    const schema: Keywords = {};
    for (const [key, value] of Object.entries(source)) {
      const isIgnored = conversion.open && value === false && CLOSING_KEYWORDS.test(key);
      if (COPIED_KEYWORDS.has(key) && !isIgnored)
        schema[key] = schemas.mapKeyword(key, value, convertPart);
    }
    addAssertions(schema, source);
    const droppedMembers = asArray(source['x-dropped']).map((name) => [String(name), drops]);
    if (droppedMembers.length > 0)
      schema.properties = {
        ...asObject(schema.properties),
        ...Object.fromEntries(droppedMembers),
      };
    if (source['x-tag'] !== undefined)
      select(schema, source['x-tag'] as schemas.Tag, tracksMembers ? trackedWhen : when);
    if (typeof source.$ref === 'string') schema.$ref = definition(source.$ref, conversion);
    if (schema.unevaluatedItems !== undefined) {
      const contained = schemas.allOf({ $defs }, source).flatMap(({ contains }) => contains ?? []);
      schema.unevaluatedItems = { anyOf: [schema.unevaluatedItems, ...contained.map(convertPart)] };
    }
    if (tracksItems) hideContains(schema);
    if (tracksMembers) trackMembers(schema);
    return conversion.files ? withFiles(source, schema) : schema;
  }

  function addAssertions(schema: Keywords, source: Json): void {
    const { type, format } = source;
    const types = [type].flat();
    const isNumeric = types.includes('integer') || types.includes('number');
    const isSizedInteger = format === 'int64' || format === 'int32';
    const isBounded = Object.keys(NUMBER_ASSERTIONS).some((key) => key in source);
    if (!isNumeric && type !== undefined) schema.type = type;
    if (!isSizedInteger && typeof format === 'string' && hasFormat(format)) schema.format = format;
    if (isNumeric || isSizedInteger || isBounded)
      schema.numeric = {
        ...source,
        type: isNumeric ? types : undefined,
        format: isSizedInteger ? format : undefined,
      };
    if ('enum' in source) schema.enumValues = source.enum;
    if ('const' in source) schema.constValues = [source.const];
    if (source.uniqueItems === true) schema.distinctItems = true;
  }

  function definition(ref: string, conversion: Conversion): string {
    const key = JSON.stringify([ref, conversion]);
    const existing = names.get(key);
    if (existing !== undefined) return existing;
    const name = `#/$defs/S${names.size}`;
    names.set(key, name);
    pending.push(() => {
      definitions.set(name, convert($defs[schemas.definitionName(ref)], conversion));
    });
    return name;
  }
}

/** Replaces alternatives with conditions on the tag, which selects one of them. */
function select(schema: Keywords, { name, values }: schemas.Tag, condition: typeof when): void {
  const key = schema.oneOf === undefined ? 'anyOf' : 'oneOf';
  const alternatives = asArray(schema[key]);
  delete schema[key];
  const hasKnownTag = hasValue(name, values.flatMap(asArray));
  const conditions = values.flatMap((list, index) =>
    Array.isArray(list) ? condition(hasValue(name, list), alternatives[index]) : [],
  );
  const others = values.indexOf('others');
  const rest = others < 0 ? hasKnownTag : condition(hasKnownTag, true, alternatives[others]);
  const rule = { type: 'object', allOf: [...conditions, rest] };
  const union = values.includes('null') ? condition({ type: 'null' }, true, rule) : rule;
  schema.allOf = [...asArray(schema.allOf), union];
}

/**
 * Hides `contains` in a double negation. Without it, Ajv would mark all items as evaluated. The
 * converted `unevaluatedItems` accepts the matching items instead.
 */
function hideContains(schema: Keywords): void {
  const { contains, minContains, maxContains } = schema;
  if (contains === undefined) return;
  delete schema.contains;
  const rule = { not: { not: { contains, minContains, maxContains } } };
  schema.allOf = [...asArray(schema.allOf), rule];
}

/**
 * Makes Ajv track what `if` evaluates. Ajv would also count the members of an `if` that fails, and
 * ignore those of a successful `if` without `then`. Instead, an `anyOf` counts them.
 */
function trackMembers(schema: Keywords): void {
  if (CONDITIONAL_KEYWORDS.some((keyword) => schema[keyword] !== undefined)) schema.tracked = true;
  const { if: test, then, else: otherwise } = schema;
  if (test === undefined) return;
  for (const keyword of ['if', 'then', 'else']) delete schema[keyword];
  schema.allOf = [
    ...asArray(schema.allOf),
    { tracked: true, anyOf: [test, true] },
    trackedWhen(test, then ?? true, otherwise),
  ];
}

function withFiles(source: Json, schema: Json): Json {
  const { type, minLength, maxLength } = source;
  if ((type ?? minLength ?? maxLength) === undefined) return schema;
  if (type !== undefined && ![type].flat().includes('string')) return { ...schema, file: false };
  return when({ file: {} }, { file: { minLength, maxLength } }, schema);
}

const when = (test: unknown, then: unknown, otherwise: unknown = true): Json => ({
  if: test,
  then,
  else: otherwise,
});

/** Like `when`, but the double negation hides what the test evaluates. */
const trackedWhen: typeof when = (test, then, otherwise) => ({
  tracked: true,
  ...when({ not: { not: test } }, then, otherwise),
});

const hasValue = (name: string, values: readonly unknown[]): Json => ({
  type: 'object',
  required: [name],
  properties: { [name]: { enum: values } },
});
