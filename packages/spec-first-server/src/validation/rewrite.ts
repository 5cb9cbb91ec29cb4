import {
  allOfSchemas,
  alternatives,
  asArray,
  asObject,
  defaultFits,
  isObject,
  type Json,
  knownFormat,
  SUBSCHEMAS,
  unionOf,
  valueAt,
} from 'openapi-document';
import { ASSERTIONS } from './numbers.ts';

/** Which way a value goes. `readOnly`, `writeOnly` and `default` depend on it. */
export type Direction = 'request' | 'response';

/** Assertions that are copied (JSON Schema 2020-12, Validation §6). */
const COPIED = new Set([
  ...['maxLength', 'minLength', 'pattern', 'maxItems', 'minItems', 'maxContains', 'minContains'],
  ...['maxProperties', 'minProperties', 'dependentRequired'],
]);

/** Applicators to the value itself, not to a member. `anyOf` and `oneOf` are rewritten apart. */
const IN_PLACE = new Set(['allOf', 'if', 'then', 'else', 'not', 'dependentSchemas']);

/** Applicators whose schema a valid value need not match. */
const TESTS = new Set(['if', 'not', 'contains']);

type Union = NonNullable<ReturnType<typeof unionOf>>;

const NONE: ReadonlySet<string> = new Set();

/** What the surrounding schemas, which describe the same value, say about a schema. */
interface Context {
  readonly direction: Direction;
  /** Properties that are not required, because they go the other way only. */
  readonly hidden: ReadonlySet<string>;
  /** Properties that are required: their defaults are not filled in, since a value without them is not valid. */
  readonly required: ReadonlySet<string>;
  /** Whether to fill in defaults. Not in a schema that a valid value need not match. */
  readonly defaults: boolean;
  /** Whether `unevaluatedProperties` or `unevaluatedItems` of a surrounding schema depend on it. */
  readonly tracked: boolean;
}

/**
 * Rewrites the schemas of a document for express-openapi-validator and Ajv. Without this, the neighbours of a `$ref` and
 * some names of `readOnly` properties have no effect, defaults of alternatives that do not match are filled in, and
 * numbers are compared as doubles.
 *
 * Each target of a `$ref` becomes a component for each context, made when it is first asked for.
 */
export class SchemaRewriter {
  readonly #root: Json;
  readonly #names = new Map<string, string>();
  /** Names of components that contain themselves. */
  readonly #recursive = new Set<string>();
  /** The components made so far, by name. */
  readonly components: Record<string, unknown> = {};

  constructor(root: Json) {
    this.#root = root;
  }

  /** Returns a schema that admits the same values. `undefined` admits every value. */
  rewrite(schema: unknown, direction: Direction): unknown {
    return this.#rewrite(schema, { direction, hidden: NONE, required: NONE, defaults: true, tracked: false });
  }

  #rewrite(schema: unknown, context: Context): unknown {
    if (!isObject(schema)) return schema !== false;
    const { direction } = context;
    const all = allOfSchemas(this.#root, schema);
    const here: Context = {
      ...context,
      hidden: new Set([...context.hidden, ...this.#oneWayNames(all, direction)]),
      required: new Set([...context.required, ...all.flatMap(({ required }) => asArray(required).map(String))]),
      tracked: context.tracked || 'unevaluatedProperties' in schema || 'unevaluatedItems' in schema,
    };
    const inside: Context = { ...context, hidden: NONE, required: NONE, tracked: false };
    const more: unknown[] = [];
    const out: Record<string, unknown> = this.#assertions(schema);
    for (const [key, value] of Object.entries(schema)) {
      const of = IN_PLACE.has(key) ? here : inside;
      const rewrite = (item: unknown) => this.#rewrite(item, { ...of, defaults: of.defaults && !TESTS.has(key) });
      const property = (item: unknown, name: string) => {
        if (this.#isOneWay(item, direction)) return false;
        return here.required.has(name) ? withoutDefault(rewrite(item)) : rewrite(item);
      };
      if (key === 'properties') out[key] = mapValues(value, property);
      else if (key === 'anyOf' || key === 'oneOf') more.push(this.#union(key, schema, here));
      else if (key === 'allOf') more.push(...asArray(value).map(rewrite));
      else if (SUBSCHEMAS.one.includes(key)) out[key] = rewrite(value);
      else if (SUBSCHEMAS.list.includes(key)) out[key] = asArray(value).map(rewrite);
      else if (SUBSCHEMAS.named.includes(key) && key !== '$defs') out[key] = mapValues(value, rewrite);
    }
    if (typeof schema.$ref === 'string') more.push(this.#component(schema.$ref, here));
    if (more.length > 0) out.allOf = more;
    const notRequired = new Set([...here.hidden, ...this.#oneWayNames(alternatives(this.#root, schema), direction)]);
    const required = asArray(schema.required).filter((name) => !notRequired.has(String(name)));
    if (required.length > 0) out.required = [...new Set(required)];
    const source = context.defaults && all.find((part) => Object.hasOwn(part, 'default'));
    if (source && defaultFits(this.#root, { ...schema, default: source.default })) out.default = source.default;
    return out;
  }

  /** The assertions about the value itself. Those about numbers become the keywords of `numericKeywords`. */
  #assertions(schema: Json): Record<string, unknown> {
    const { type, format } = schema;
    const out: Record<string, unknown> = {};
    const numeric: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(schema)) {
      if (COPIED.has(key)) out[key] = value;
      else if (ASSERTIONS.has(key) && typeof value === 'number') numeric[key] = value;
      else if ((key === 'enum' || key === 'const') && isNative(value)) out[key] = value;
      else if (key === 'enum' || key === 'const') out[`${key}Values`] = key === 'enum' ? value : [value];
      else if (key === 'uniqueItems' && value === true) out.distinct = true;
    }
    const types = [type].flat();
    if (types.includes('integer') || types.includes('number')) numeric.type = types;
    else if (type !== undefined) out.type = type;
    if (format === 'int32' || format === 'int64') numeric.format = format;
    else if (typeof format === 'string' && knownFormat(format)) out.format = format;
    if (Object.keys(numeric).length > 0) out.numeric = numeric;
    return out;
  }

  /**
   * A `oneOf` or an `anyOf`. Where the value of a property decides, only that alternative is checked and filled in. A
   * discriminator alone does not decide: it selects the alternative whose violations are reported if none matches.
   */
  #union(key: 'oneOf' | 'anyOf', schema: Json, context: Context): unknown {
    const union = unionOf(this.#root, asArray(schema[key]), schema.discriminator);
    if (union?.exclusive) return this.#choice(union, (item) => this.#rewrite(item, context));
    const plain = (item: unknown) => this.#rewrite(item, { ...context, defaults: false });
    const all = { [key]: asArray(schema[key]).map(plain) };
    if (union === undefined) return all;
    const chosen = this.#choice(union, plain);
    const filled = branches(union, (item) => when(plain(item), this.#rewrite(item, context)));
    return when(all, { allOf: filled }, when(chosen, all, chosen));
  }

  #choice(union: Union, rewrite: (schema: unknown) => unknown): unknown {
    const { propertyName, choices, orNull } = union;
    const values = choices.flatMap((choice) => choice.values);
    const rule = { ...hasValue(propertyName, values), allOf: branches(union, rewrite) };
    return orNull ? when({ type: 'null' }, true, rule) : rule;
  }

  #component(ref: string, context: Context): Json {
    const { direction, hidden, required, defaults, tracked } = context;
    const key = JSON.stringify([ref, direction, [...hidden].sort(), [...required].sort(), defaults, tracked]);
    const known = this.#names.get(key);
    if (known !== undefined) {
      if (this.components[known] === undefined) this.#recursive.add(known);
      return { $ref: `#/components/schemas/${known}` };
    }
    const name = `S${this.#names.size}`;
    this.#names.set(key, name);
    const made = this.#rewrite(valueAt(this.#root, ref), context);
    const schema = made === true ? {} : made === false ? { not: {} } : made;
    this.components[name] = this.#recursive.has(name) && !tracked ? { once: schema } : schema;
    return { $ref: `#/components/schemas/${name}` };
  }

  /** Whether a property goes the other way only: read-only in a request, write-only in a response. */
  #isOneWay(property: unknown, direction: Direction): boolean {
    const keyword = direction === 'request' ? 'readOnly' : 'writeOnly';
    return allOfSchemas(this.#root, property).some((part) => part[keyword] === true);
  }

  #oneWayNames(schemas: readonly Json[], direction: Direction): string[] {
    return schemas.flatMap((schema) =>
      Object.entries(asObject(schema.properties))
        .filter(([, property]) => this.#isOneWay(property, direction))
        .map(([name]) => name),
    );
  }
}

/** Whether Ajv can compare with these values: there is no number among them, which a bigint may equal. */
const isNative = (value: unknown): boolean =>
  Array.isArray(value) ? value.length > 0 && value.every(isNative) : typeof value !== 'number' && !isObject(value);

/** Applies `rewrite` to each alternative, under the condition that the property has its value. */
const branches = ({ propertyName, choices }: Union, rewrite: (schema: unknown) => unknown): unknown[] =>
  choices.map(({ values, schema }) => when(hasValue(propertyName, values), rewrite(schema)));

const when = (test: unknown, then: unknown, otherwise: unknown = true): Json => ({ if: test, then, else: otherwise });

const hasValue = (name: string, values: readonly unknown[]): Json => ({
  type: 'object',
  required: [name],
  properties: { [name]: { enum: values } },
});

const mapValues = (value: unknown, change: (item: unknown, key: string) => unknown): Json =>
  Object.fromEntries(Object.entries(asObject(value)).map(([key, item]) => [key, change(item, key)]));

/** A rewritten schema whose value is not filled in where it is missing. Ajv would do so before it looks for it. */
export function withoutDefault(schema: unknown): unknown {
  if (!isObject(schema)) return schema;
  const { default: _default, ...others } = schema;
  return others;
}
