import { asArray, asObject, isObject, type Json, type Parameter, schemas, valueAt } from 'openapi-document';
import type { Direction } from './eov.ts';
import { ASSERTIONS, type Completed } from './keywords.ts';

/** Assertions that are copied (JSON Schema 2020-12, Validation §6). */
const COPIED = new Set([
  ...['maxLength', 'minLength', 'pattern', 'maxItems', 'minItems', 'maxContains', 'minContains', 'uniqueItems'],
  ...['maxProperties', 'minProperties', 'dependentRequired', 'x-json-schema'],
]);

/** Applicators to the value itself, not to a member. A valid value need not match their schemas. */
const CONDITIONAL = new Set(['anyOf', 'oneOf', 'if', 'then', 'else', 'not', 'dependentSchemas']);

/** How parts of a document are read on which its authors differ. */
export interface Reading {
  /** Whether read-only members of a request are rejected, or dropped. */
  readonly readOnly: 'reject' | 'drop';
  /** Whether a discriminator selects the one alternative that is validated, or only describes what `oneOf` admits. */
  readonly discriminator: 'selects' | 'describes';
}

/** What the surrounding schemas say about a schema. The first three are about the same value only. */
interface Context {
  /** Properties that are not required, because they go the other way only. */
  readonly hidden: readonly unknown[];
  /** Whether an integer may be beyond what a `number` holds exactly. */
  readonly int64: boolean;
  /** Whether `unevaluatedProperties` or `unevaluatedItems` of a surrounding schema depend on it. */
  readonly tracked: boolean;
  readonly files: boolean;
  /** Whether each valid value matches it, so that defaults are filled in and members dropped. */
  readonly certain: boolean;
}
const AT_TOP = { hidden: [], int64: false, tracked: false };

/**
 * Rewrites the schemas of a document for express-openapi-validator and Ajv. Without this, the neighbours of a `$ref` and
 * some names of `readOnly` properties have no effect, and numbers are compared as doubles.
 *
 * Each target of a `$ref` becomes a component for each context, made when it is first asked for.
 */
export function createRewriter(direction: Direction, root: Json, { readOnly, discriminator }: Reading) {
  const names = new Map<string, string>();
  const components: Record<string, Json> = {};
  /** What was found in the schemas: the length of the longest text that they do not take long to read, and what completes values. */
  const found = { safeLength: 2_000, isCompleting: false };
  const isRequest = direction === 'request';

  function rewriteIn(schema: unknown, context: Context): unknown {
    if (!isObject(schema)) return schema !== false;
    const alternatives = schemas.alternatives(root, schema);
    const here: Context = {
      ...context,
      hidden: [...context.hidden, ...oneWayNames(schemas.allOf(root, schema))],
      int64: context.int64 || alternatives.some((part) => schemas.isWide(part) && part.type !== 'number'),
      tracked: context.tracked || 'unevaluatedProperties' in schema || 'unevaluatedItems' in schema,
    };
    // Ajv takes all items for evaluated where a schema has `contains`. Only those that match are.
    const contained = schemas.allOf(root, schema).flatMap(({ contains }) => contains ?? []);
    const more: unknown[] = [];
    const out = assertions(schema, here);
    for (const [key, value] of Object.entries(schema)) {
      const isConditional = CONDITIONAL.has(key);
      const place = isConditional || key === 'allOf' ? here : { ...context, ...AT_TOP };
      const inner = { ...place, certain: context.certain && !isConditional && key !== 'contains' };
      const rewrite = (item: unknown) => rewriteIn(item, inner);
      const named = () => Object.entries(asObject(value)).map(([name, item]) => [name, rewrite(item)]);
      if (key === 'properties') Object.assign(out, properties(asObject(value), inner, true));
      else if (key === 'anyOf' || key === 'oneOf') more.push(union(key, schema, here, rewrite));
      else if (key === 'allOf') more.push(...asArray(value).map(rewrite));
      else if (key === 'unevaluatedItems') out[key] = { anyOf: [rewrite(value), ...contained.map(rewrite)] };
      else if (schemas.SUBSCHEMAS.one.includes(key)) out[key] = rewrite(value);
      else if (schemas.SUBSCHEMAS.list.includes(key)) out[key] = asArray(value).map(rewrite);
      else if (schemas.SUBSCHEMAS.named.includes(key) && key !== '$defs') out[key] = Object.fromEntries(named());
      const patterns = key === 'patternProperties' ? Object.keys(asObject(value)) : key === 'pattern' ? [value] : [];
      found.safeLength = Math.min(found.safeLength, ...patterns.map((pattern) => schemas.safeLength(String(pattern))));
    }
    if (typeof schema.$ref === 'string') more.push(component(schema.$ref, here));
    if (here.tracked && out.contains !== undefined) {
      const { contains, minContains, maxContains } = out;
      for (const key of ['contains', 'minContains', 'maxContains']) delete out[key];
      more.push({ not: { not: { contains, minContains, maxContains } } });
    }
    if (more.length > 0) out.allOf = more;
    const { required, type, minLength, maxLength } = schema;
    const notRequired = new Set([...here.hidden, ...oneWayNames(alternatives)]);
    out.required = [...new Set(asArray(required)).difference(notRequired)];
    if (!context.files || (type ?? minLength ?? maxLength) === undefined) return out;
    if (type !== undefined && ![type].flat().includes('string')) return { ...out, file: false };
    return when({ file: {} }, { file: { minLength, maxLength } }, out);
  }

  /**
   * The properties of an object, and what completes a valid one: defaults that fit, and members to drop.
   *
   * @param isDirected whether a property that goes the other way only must not be present, unless it is dropped.
   */
  function properties(members: Json, context: Context, isDirected: boolean): Json {
    const completed: Completed = [];
    const rewrite = ([name, schema]: [string, unknown]): [string, unknown] => {
      if (isDirected && isOneWay(schema)) {
        if (!isRequest || readOnly === 'reject') return [name, false];
        if (context.certain) completed.push([name, undefined]);
        return [name, true];
      }
      const source = schemas.allOf(root, schema).find((part) => Object.hasOwn(part, 'default'));
      if (context.certain && source && schemas.misfitOf(root, asObject(schema), source.default) === undefined) {
        completed.push([name, source.default]);
      }
      return [name, rewriteIn(schema, context)];
    };
    const rewritten = { properties: Object.fromEntries(Object.entries(members).map(rewrite)) };
    if (completed.length === 0) return rewritten;
    found.isCompleting = true;
    return { ...rewritten, completed };
  }

  /** The assertions about the value itself. Those about numbers become the keywords of `keywords.ts`. */
  function assertions(schema: Json, { int64 }: Context): Record<string, unknown> {
    const { type, format } = schema;
    const out: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(schema)) {
      if (COPIED.has(key)) out[key] = value;
      else if (key === 'enum' || key === 'const') out[`${key}Values`] = key === 'enum' ? value : [value];
    }
    const types = [type].flat();
    const isNumeric = types.includes('integer') || types.includes('number');
    const isLarge = format === 'int64' || (int64 && types.includes('integer'));
    const size = isLarge ? 'int64' : format === 'int32' ? format : undefined;
    if (!isNumeric && type !== undefined) out.type = type;
    if (size === undefined && typeof format === 'string' && schemas.knownFormat(format)) out.format = format;
    if (isNumeric || size !== undefined || Object.keys(ASSERTIONS).some((key) => key in schema)) {
      out.numeric = { ...schema, type: isNumeric ? types : undefined, format: size, isExact: int64 };
    }
    return out;
  }

  /** A `oneOf` or an `anyOf`. Where the value of a property decides, only that alternative is validated. */
  function union(
    key: 'oneOf' | 'anyOf',
    schema: Json,
    context: Context,
    rewriteAny: (item: unknown) => unknown,
  ): unknown {
    const selected = schemas.unionOf(root, asArray(schema[key]), schema.discriminator, discriminator);
    if (selected === undefined) return { [key]: asArray(schema[key]).map(rewriteAny) };
    const rewrite = (item: unknown) => rewriteIn(item, context);
    const { propertyName, choices, orNull, fallback } = selected;
    const values = choices.flatMap((choice) => choice.values);
    const branches = choices.map((choice) => when(hasValue(propertyName, choice.values), rewrite(choice.schema)));
    const rule =
      fallback === undefined
        ? { ...hasValue(propertyName, values), allOf: branches }
        : { type: 'object', allOf: [...branches, when(hasValue(propertyName, values), true, rewrite(fallback))] };
    return orNull ? when({ type: 'null' }, true, rule) : rule;
  }

  function component(ref: string, context: Context): Json {
    const key = JSON.stringify([ref, { ...context, hidden: [...new Set(context.hidden)].sort() }]);
    const name = names.get(key) ?? `S${names.size}`;
    if (!names.has(key)) {
      names.set(key, name);
      const made = rewriteIn(valueAt(root, ref), context);
      components[name] = isObject(made) ? made : made === false ? { not: {} } : {};
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  function oneWayNames(all: readonly Json[]): string[] {
    const members = all.flatMap((schema) => Object.entries(asObject(schema.properties)));
    return members.filter(([, member]) => isOneWay(member)).map(([name]) => name);
  }

  function isOneWay(property: unknown): boolean {
    const keyword = isRequest ? 'readOnly' : 'writeOnly';
    return schemas.allOf(root, property).some((part) => part[keyword] === true);
  }

  return {
    direction,
    components,
    found,

    /**
     * Returns a schema that admits the same values. `undefined` admits every value.
     *
     * @param files whether texts may be files.
     */
    rewrite: (schema: unknown, files = false): unknown => rewriteIn(schema, { ...AT_TOP, files, certain: isRequest }),

    object(members: readonly Pick<Parameter, 'name' | 'required' | 'schema'>[]): Json {
      const required = members.filter((member) => member.required).map(({ name }) => name);
      const schemas = Object.fromEntries(members.map(({ name, schema }) => [name, schema]));
      const context = { ...AT_TOP, files: false, certain: isRequest };
      return { type: 'object', required, ...properties(schemas, context, false) };
    },
  };
}

export type SchemaRewriter = ReturnType<typeof createRewriter>;

const when = (test: unknown, then: unknown, otherwise: unknown = true): Json => ({ if: test, then, else: otherwise });

const hasValue = (name: string, values: readonly unknown[]): Json => ({
  type: 'object',
  required: [name],
  properties: { [name]: { enum: values } },
});
