import {
  allOfSchemas,
  alternatives,
  asArray,
  asObject,
  isObject,
  type Json,
  knownFormat,
  SUBSCHEMAS,
  safeLength,
  unionOf,
  valueAt,
} from 'openapi-document';
import type { Direction } from './eov.ts';
import { ASSERTIONS } from './numbers.ts';

/** Assertions that are copied (JSON Schema 2020-12, Validation §6). */
const COPIED = new Set([
  ...['maxLength', 'minLength', 'pattern', 'maxItems', 'minItems', 'maxContains', 'minContains'],
  ...['maxProperties', 'minProperties', 'dependentRequired'],
]);

/** Applicators to the value itself, not to a member. `anyOf` and `oneOf` are rewritten apart. */
const IN_PLACE = new Set(['allOf', 'if', 'then', 'else', 'not', 'dependentSchemas']);

const NONE: ReadonlySet<string> = new Set();

/** How parts of a document are read on which its authors differ. */
export interface Reading {
  /** Whether read-only members of a request are rejected, or dropped. */
  readonly readOnly: 'reject' | 'drop';
  /** Whether a discriminator selects the one alternative that is validated, or only describes what `oneOf` admits. */
  readonly discriminator: 'selects' | 'describes';
}

/** What the surrounding schemas, which describe the same value, say about a schema. */
interface Context {
  readonly direction: Direction;
  /** Properties that are not required, because they go the other way only. */
  readonly hidden: ReadonlySet<string>;
  /** Whether an integer may be beyond what a `number` holds exactly. */
  readonly int64: boolean;
  /** Whether `unevaluatedProperties` or `unevaluatedItems` of a surrounding schema depend on it. */
  readonly tracked: boolean;
}

/**
 * Rewrites the schemas of a document for express-openapi-validator and Ajv. Without this, the neighbours of a `$ref` and
 * some names of `readOnly` properties have no effect, and numbers are compared as doubles.
 *
 * Each target of a `$ref` becomes a component for each context, made when it is first asked for.
 */
export class SchemaRewriter {
  readonly #root: Json;
  readonly #reading: Reading;
  readonly #names = new Map<string, string>();
  /** Names of components that contain themselves. */
  readonly #recursive = new Set<string>();
  /** The components made so far, by name. */
  readonly components: Record<string, Json> = {};
  /** The length of the longest text that no pattern takes long to match. */
  safeLength = Number.POSITIVE_INFINITY;

  constructor(root: Json, reading: Reading) {
    this.#root = root;
    this.#reading = reading;
  }

  /** Returns a schema that admits the same values. `undefined` admits every value. */
  rewrite(schema: unknown, direction: Direction): unknown {
    return this.#rewrite(schema, { direction, hidden: NONE, int64: false, tracked: false });
  }

  #rewrite(schema: unknown, context: Context): unknown {
    if (!isObject(schema)) return schema !== false;
    const { direction } = context;
    const all = allOfSchemas(this.#root, schema);
    const here: Context = {
      ...context,
      hidden: new Set([...context.hidden, ...this.#oneWayNames(all, direction)]),
      int64: context.int64 || all.some(({ format }) => format === 'int64'),
      tracked: context.tracked || 'unevaluatedProperties' in schema || 'unevaluatedItems' in schema,
    };
    const inside: Context = { direction, hidden: NONE, int64: false, tracked: false };
    // Ajv takes all items for evaluated where a schema has `contains`. Only those that match are.
    const contained = all.flatMap(({ contains }) => contains ?? []);
    const more: unknown[] = [];
    const out: Record<string, unknown> = this.#assertions(schema, here);
    for (const [key, value] of Object.entries(schema)) {
      const rewrite = (item: unknown) => this.#rewrite(item, IN_PLACE.has(key) ? here : inside);
      if (key === 'properties') out[key] = mapValues(value, (item) => this.#property(item, rewrite, direction));
      else if (key === 'anyOf' || key === 'oneOf') more.push(this.#union(key, schema, here));
      else if (key === 'allOf') more.push(...asArray(value).map(rewrite));
      else if (key === 'unevaluatedItems') out[key] = { anyOf: [rewrite(value), ...contained.map(rewrite)] };
      else if (SUBSCHEMAS.one.includes(key)) out[key] = rewrite(value);
      else if (SUBSCHEMAS.list.includes(key)) out[key] = asArray(value).map(rewrite);
      else if (SUBSCHEMAS.named.includes(key) && key !== '$defs') out[key] = mapValues(value, rewrite);
      if (key === 'patternProperties') this.#measure(Object.keys(asObject(value)));
    }
    if (typeof schema.$ref === 'string') more.push(this.#component(schema.$ref, here));
    if (here.tracked && out.contains !== undefined) {
      const { contains, minContains, maxContains } = out;
      for (const key of ['contains', 'minContains', 'maxContains']) delete out[key];
      more.push({ not: { not: { contains, minContains, maxContains } } });
    }
    if (more.length > 0) out.allOf = more;
    const notRequired = new Set([...here.hidden, ...this.#oneWayNames(alternatives(this.#root, schema), direction)]);
    const required = asArray(schema.required).filter((name) => !notRequired.has(String(name)));
    if (required.length > 0) out.required = [...new Set(required)];
    return out;
  }

  #measure(patterns: readonly string[]): void {
    this.safeLength = Math.min(this.safeLength, ...patterns.map(safeLength));
  }

  /** A property that goes the other way only must not be present, unless it is dropped. */
  #property(schema: unknown, rewrite: (schema: unknown) => unknown, direction: Direction): unknown {
    if (!isOneWay(this.#root, schema, direction)) return rewrite(schema);
    return direction === 'request' && this.#reading.readOnly === 'drop';
  }

  /** The assertions about the value itself. Those about numbers become the keywords of `numericKeywords`. */
  #assertions(schema: Json, { int64 }: Context): Record<string, unknown> {
    const { type, format } = schema;
    const out: Record<string, unknown> = {};
    const numeric: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(schema)) {
      if (COPIED.has(key)) out[key] = value;
      else if (ASSERTIONS.has(key)) numeric[key] = value;
      else if ((key === 'enum' || key === 'const') && isNative(value)) out[key] = value;
      else if (key === 'enum' || key === 'const') out[`${key}Values`] = key === 'enum' ? value : [value];
      else if (key === 'uniqueItems' && value === true) out.distinct = true;
    }
    if (typeof schema.pattern === 'string') this.#measure([schema.pattern]);
    const types = [type].flat();
    if (types.includes('integer') || types.includes('number')) numeric.type = types;
    else if (type !== undefined) out.type = type;
    if (format === 'int32' || format === 'int64') numeric.format = format;
    else if (int64 && types.includes('integer')) numeric.format = 'int64';
    else if (typeof format === 'string' && knownFormat(format)) out.format = format;
    if (Object.keys(numeric).length > 0) out.numeric = numeric;
    return out;
  }

  /** A `oneOf` or an `anyOf`. Where the value of a property decides, only that alternative is validated. */
  #union(key: 'oneOf' | 'anyOf', schema: Json, context: Context): unknown {
    const rewrite = (item: unknown) => this.#rewrite(item, context);
    const union = unionOf(this.#root, asArray(schema[key]), schema.discriminator, this.#reading.discriminator);
    if (union === undefined) return { [key]: asArray(schema[key]).map(rewrite) };
    const { propertyName, choices, orNull, fallback } = union;
    const values = choices.flatMap((choice) => choice.values);
    const branches = choices.map((choice) => when(hasValue(propertyName, choice.values), rewrite(choice.schema)));
    const rule =
      fallback === undefined
        ? { ...hasValue(propertyName, values), allOf: branches }
        : { type: 'object', allOf: [...branches, when(hasValue(propertyName, values), true, rewrite(fallback))] };
    return orNull ? when({ type: 'null' }, true, rule) : rule;
  }

  #component(ref: string, context: Context): Json {
    const { direction, hidden, int64, tracked } = context;
    const key = JSON.stringify([ref, direction, [...hidden].sort(), int64, tracked]);
    const known = this.#names.get(key);
    if (known !== undefined) {
      if (this.components[known] === undefined) this.#recursive.add(known);
      return { $ref: `#/components/schemas/${known}` };
    }
    const name = `S${this.#names.size}`;
    this.#names.set(key, name);
    const made = this.#rewrite(valueAt(this.#root, ref), context);
    const schema: Json = isObject(made) ? made : made === false ? { not: {} } : {};
    this.components[name] = this.#recursive.has(name) && !tracked ? { once: schema } : schema;
    return { $ref: `#/components/schemas/${name}` };
  }

  #oneWayNames(schemas: readonly Json[], direction: Direction): string[] {
    return schemas.flatMap((schema) =>
      Object.entries(asObject(schema.properties))
        .filter(([, property]) => isOneWay(this.#root, property, direction))
        .map(([name]) => name),
    );
  }
}

/** Whether Ajv can compare with these values: there is no number among them, which a bigint may equal. */
const isNative = (value: unknown): boolean =>
  Array.isArray(value) ? value.length > 0 && value.every(isNative) : typeof value !== 'number' && !isObject(value);

/** Whether a property goes the other way only: read-only in a request, write-only in a response. */
export function isOneWay(root: Json, property: unknown, direction: Direction): boolean {
  const keyword = direction === 'request' ? 'readOnly' : 'writeOnly';
  return allOfSchemas(root, property).some((part) => part[keyword] === true);
}

const when = (test: unknown, then: unknown, otherwise: unknown = true): Json => ({ if: test, then, else: otherwise });

const hasValue = (name: string, values: readonly unknown[]): Json => ({
  type: 'object',
  required: [name],
  properties: { [name]: { enum: values } },
});

const mapValues = (value: unknown, change: (item: unknown, key: string) => unknown): Json =>
  Object.fromEntries(Object.entries(asObject(value)).map(([key, item]) => [key, change(item, key)]));
