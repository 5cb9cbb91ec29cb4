import { defaultFits } from '../document/check-defaults.ts';
import { type Union, unionOf } from '../document/discriminator.ts';
import { arrayAt, isObject, type Json, objectAt } from '../document/document.ts';
import { alternatives, LIST, MAP, ONE, parts, schemaAt } from '../document/schema.ts';
import { ASSERTIONS } from './numbers.ts';

/** Which way a value goes. `readOnly`, `writeOnly` and `default` depend on it. */
export type Direction = 'request' | 'response';

/** Assertions that are copied (JSON Schema 2020-12, Validation §6). */
const COPIED = new Set([
  ...['maxLength', 'minLength', 'pattern', 'maxItems', 'minItems', 'maxContains', 'minContains'],
  ...['maxProperties', 'minProperties', 'dependentRequired'],
]);

/** What the surrounding schemas, which describe the same value, say about a schema. */
interface Context {
  readonly direction: Direction;
  /** Properties that are not required, because they go the other way only. */
  readonly hidden: ReadonlySet<string>;
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
  readonly #knownFormat: (format: string) => boolean;
  readonly #names = new Map<string, string>();
  /** Names of components that contain themselves. */
  readonly #recursive = new Set<string>();
  /** The components made so far, by name. */
  readonly components: Record<string, unknown> = {};

  constructor(root: Json, knownFormat: (format: string) => boolean) {
    this.#root = root;
    this.#knownFormat = knownFormat;
  }

  /** Returns a schema that admits the same values. `undefined` admits every value. */
  rewrite(schema: unknown, direction: Direction): unknown {
    return this.#rewrite(schema, { direction, hidden: new Set(), defaults: true, tracked: false });
  }

  #rewrite(schema: unknown, context: Context): unknown {
    if (!isObject(schema)) return schema !== false;
    const { direction } = context;
    const here: Context = {
      ...context,
      hidden: new Set([...context.hidden, ...this.#oneWayNames(parts(this.#root, schema), direction)]),
      tracked: context.tracked || 'unevaluatedProperties' in schema || 'unevaluatedItems' in schema,
    };
    const inside: Context = { ...context, hidden: new Set(), tracked: false };
    const maybe = { ...here, defaults: false };
    const more: unknown[] = [];
    const out: Record<string, unknown> = this.#assertions(schema);
    for (const [key, value] of Object.entries(schema)) {
      if (key === 'properties') out[key] = this.#properties(objectAt(value), inside);
      else if (key === 'if' || key === 'not') out[key] = this.#rewrite(value, maybe);
      else if (key === 'then' || key === 'else') out[key] = this.#rewrite(value, here);
      else if (key === 'anyOf' || key === 'oneOf') more.push(this.#union(key, schema, here));
      else if (key === 'allOf') more.push(...arrayAt(value).map((item) => this.#rewrite(item, here)));
      else if (key === 'dependentSchemas') out[key] = mapValues(value, (item) => this.#rewrite(item, here));
      else if (key === 'contains') out[key] = this.#rewrite(value, { ...inside, defaults: false });
      else if (ONE.includes(key)) out[key] = this.#rewrite(value, inside);
      else if (LIST.includes(key)) out[key] = arrayAt(value).map((item) => this.#rewrite(item, inside));
      else if (key !== '$defs' && MAP.includes(key)) out[key] = mapValues(value, (item) => this.#rewrite(item, inside));
    }
    // Ajv compiles no empty `enum`.
    if (Array.isArray(schema.enum) && schema.enum.length === 0) more.push(false);
    if (typeof schema.$ref === 'string') more.push(this.#component(schema.$ref, here));
    if (more.length > 0) out.allOf = more;
    const notRequired = new Set([...here.hidden, ...this.#oneWayNames(alternatives(this.#root, schema), direction)]);
    const required = arrayAt(schema.required).filter((name) => !notRequired.has(String(name)));
    if (required.length > 0) out.required = [...new Set(required)];
    const withDefault = parts(this.#root, schema).find((part) => Object.hasOwn(part, 'default'));
    const fills = context.defaults && withDefault !== undefined && defaultFits(this.#root, withDefault);
    if (fills) out.default = withDefault.default;
    return out;
  }

  /** The assertions about the value itself. Those about numbers become the keywords of `numericKeywords`. */
  #assertions(schema: Json): Record<string, unknown> {
    const { type, format } = schema;
    const out: Record<string, unknown> = {};
    const numeric: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(schema)) {
      if (COPIED.has(key)) out[key] = value;
      else if (ASSERTIONS.has(key)) numeric[key] = value;
      else if (key === 'enum' && arrayAt(value).length > 0) out[holdsNumber(value) ? 'values' : key] = value;
      else if (key === 'const') out[holdsNumber(value) ? 'values' : key] = holdsNumber(value) ? [value] : value;
      else if (key === 'uniqueItems' && value === true) out.distinct = true;
    }
    const types = Array.isArray(type) ? type : [type];
    if (types.includes('integer') || types.includes('number')) numeric.type = types;
    else if (type !== undefined) out.type = type;
    if (format === 'int32' || format === 'int64') numeric.format = format;
    else if (typeof format === 'string' && this.#knownFormat(format)) out.format = format;
    if (Object.keys(numeric).length > 0) out.numeric = numeric;
    return out;
  }

  #properties(properties: Json, context: Context): Json {
    return mapValues(properties, (property) =>
      this.#isOneWay(property, context.direction) ? false : this.#rewrite(property, context),
    );
  }

  /**
   * A `oneOf` or an `anyOf`. Where the value of a property decides, only that alternative is checked and filled in. A
   * discriminator alone does not decide: it selects the alternative whose violations are reported if none matches.
   */
  #union(key: 'oneOf' | 'anyOf', schema: Json, context: Context): unknown {
    const maybe = { ...context, defaults: false };
    const all = { [key]: arrayAt(schema[key]).map((item) => this.#rewrite(item, maybe)) };
    const union = unionOf(this.#root, arrayAt(schema[key]), schema.discriminator);
    if (union === undefined) return all;
    if (union.exclusive) return this.#choice(union, context);
    const chosen = this.#choice(union, maybe);
    const filled = union.choices.map(({ values, schema: item }) => ({
      if: { allOf: [hasValue(union.propertyName, values), this.#rewrite(item, maybe)] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: this.#rewrite(item, context),
    }));
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    return { if: all, then: { allOf: context.defaults ? filled : [] }, else: { if: chosen, then: all, else: chosen } };
  }

  #choice({ propertyName, choices, orNull }: Union, context: Context): unknown {
    const rule = {
      ...hasValue(
        propertyName,
        choices.flatMap(({ values }) => values),
      ),
      allOf: choices.map(({ values, schema }) => ({
        if: hasValue(propertyName, values),
        // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
        then: this.#rewrite(schema, context),
      })),
    };
    return orNull ? { if: { type: 'null' }, else: rule } : rule;
  }

  #component(ref: string, context: Context): Json {
    const { direction, hidden, defaults, tracked } = context;
    const key = JSON.stringify([ref, direction, [...hidden].sort(), defaults, tracked]);
    const known = this.#names.get(key);
    if (known !== undefined) {
      if (this.components[known] === undefined) this.#recursive.add(known);
      return { $ref: `#/components/schemas/${known}` };
    }
    const name = `S${this.#names.size}`;
    this.#names.set(key, name);
    const made = this.#rewrite(schemaAt(this.#root, ref), context);
    const schema = made === true ? {} : made === false ? { not: {} } : made;
    this.components[name] = this.#recursive.has(name) && !tracked ? { once: schema } : schema;
    return { $ref: `#/components/schemas/${name}` };
  }

  /** Whether a property goes the other way only: read-only in a request, write-only in a response. */
  #isOneWay(property: unknown, direction: Direction): boolean {
    const keyword = direction === 'request' ? 'readOnly' : 'writeOnly';
    return parts(this.#root, property).some((part) => part[keyword] === true);
  }

  #oneWayNames(schemas: readonly Json[], direction: Direction): string[] {
    return schemas.flatMap((schema) =>
      Object.entries(objectAt(schema.properties))
        .filter(([, property]) => this.#isOneWay(property, direction))
        .map(([name]) => name),
    );
  }
}

/** Whether a `const` or an `enum` holds a number, which may have to equal a bigint. */
const holdsNumber = (value: unknown): boolean =>
  typeof value === 'number' || (typeof value === 'object' && value !== null && Object.values(value).some(holdsNumber));

const hasValue = (name: string, values: readonly unknown[]): Json => ({
  type: 'object',
  required: [name],
  properties: { [name]: { enum: values } },
});

const mapValues = (value: unknown, change: (item: unknown) => unknown): Json =>
  Object.fromEntries(Object.entries(objectAt(value)).map(([key, item]) => [key, change(item)]));
