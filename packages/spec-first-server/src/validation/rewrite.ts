import { type Choices, choicesOf, inheritors } from '../document/discriminator.ts';
import { arrayAt, isObject, type Json, objectAt, valueAt } from '../document/document.ts';
import { alternatives, LIST, MAP, ONE, parts } from '../document/schema.ts';

/** Which way a value goes: `readOnly`, `writeOnly` and `default` depend on it. */
export type Direction = 'request' | 'response';

/** Assertions that stand for themselves (JSON Schema 2020-12, Validation §6). */
const ASSERTIONS = new Set([
  ...['type', 'enum', 'const', 'multipleOf', 'maximum', 'exclusiveMaximum', 'minimum', 'exclusiveMinimum'],
  ...['maxLength', 'minLength', 'pattern', 'maxItems', 'minItems', 'uniqueItems', 'maxContains', 'minContains'],
  ...['maxProperties', 'minProperties', 'dependentRequired'],
]);

/** The name of the format that stands for `multipleOf` of a fraction. */
export const multipleFormat = (fraction: number): string => `multiple of ${fraction}`;

/** What the schemas around one, which hold of the same value, say about it. */
interface Context {
  readonly direction: Direction;
  /** Properties that must not be demanded, since they go the other way only. */
  readonly hidden: ReadonlySet<string>;
  /** Whether defaults are filled in: not where the schema may turn out not to hold. */
  readonly defaults: boolean;
  /** Whether the schema is looked at as the base of another one, which has been chosen already. */
  readonly inherited: boolean;
}

/**
 * Rewrites the schemas of a document into ones that express-openapi-validator reads as they are meant. Its
 * preprocessing drops the neighbours of a `$ref`, knows discriminators only at the top of a body, lets `readOnly` names
 * stay required next to an `allOf`, fills in the defaults of alternatives that do not hold, checks no range of an integer
 * without a format, and takes a decimal fraction for no multiple of another.
 *
 * What a `$ref` leads to becomes a component of its own for each context, made when first asked for.
 */
export class SchemaRewriter {
  readonly #root: Json;
  readonly #knownFormat: (format: string) => boolean;
  readonly #names = new Map<string, string>();
  /** The components made so far, by name. */
  readonly components: Record<string, unknown> = {};
  /** The fractions of which values must be multiples: each is a format, by {@link multipleFormat}. */
  readonly fractions = new Set<number>();

  constructor(root: Json, knownFormat: (format: string) => boolean) {
    this.#root = root;
    this.#knownFormat = knownFormat;
  }

  /** A schema that admits what this one does; `undefined` admits everything. */
  rewrite(schema: unknown, direction: Direction): unknown {
    return this.#rewrite(schema, { direction, hidden: new Set(), defaults: true, inherited: false });
  }

  #rewrite(schema: unknown, context: Context): unknown {
    if (!isObject(schema)) return schema !== false;
    const { direction } = context;
    const here: Context = {
      ...context,
      hidden: new Set([...context.hidden, ...this.#oneWayNames(parts(this.#root, schema), direction)]),
      inherited: context.inherited || inheritors(this.#root).has(schema),
    };
    const inside: Context = { ...context, hidden: new Set(), inherited: false };
    const maybe = { ...here, defaults: false };
    const out: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(schema)) {
      if (key === 'multipleOf' && !Number.isInteger(value)) this.fractions.add(Number(value));
      else if (ASSERTIONS.has(key)) out[key] = value;
      else if (key === 'properties') out[key] = this.#properties(objectAt(value), inside);
      else if (key === 'if' || key === 'not') out[key] = this.#rewrite(value, maybe);
      else if (key === 'then' || key === 'else') out[key] = this.#rewrite(value, here);
      else if (key === 'anyOf' || key === 'oneOf') out[key] = arrayAt(value).map((item) => this.#rewrite(item, maybe));
      else if (key === 'allOf') out[key] = arrayAt(value).map((item) => this.#rewrite(item, here));
      else if (key === 'dependentSchemas') out[key] = mapValues(value, (item) => this.#rewrite(item, here));
      else if (key !== '$defs' && ONE.includes(key)) out[key] = this.#rewrite(value, inside);
      else if (key !== '$defs' && LIST.includes(key))
        out[key] = arrayAt(value).map((item) => this.#rewrite(item, inside));
      else if (key !== '$defs' && MAP.includes(key)) out[key] = mapValues(value, (item) => this.#rewrite(item, inside));
    }
    const notDemanded = new Set([...here.hidden, ...this.#oneWayNames(alternatives(this.#root, schema), direction)]);
    const required = arrayAt(schema.required).filter((name) => !notDemanded.has(String(name)));
    if (required.length > 0) out.required = required;
    const { format } = schema;
    if (typeof format === 'string' && this.#knownFormat(format)) out.format = format;
    const withDefault = parts(this.#root, schema).find((part) => Object.hasOwn(part, 'default'));
    if (context.defaults && withDefault !== undefined) out.default = withDefault.default;

    const more: unknown[] = [];
    const isInteger = (Array.isArray(schema.type) ? schema.type : [schema.type]).includes('integer');
    if (isInteger && format !== 'int32' && format !== 'int64') more.push({ format: 'int64' });
    if (this.fractions.has(Number(schema.multipleOf))) more.push({ format: multipleFormat(Number(schema.multipleOf)) });
    if (typeof schema.$ref === 'string') more.push(this.#component(schema.$ref, here));
    const choices = choicesOf(this.#root, schema);
    if (choices !== undefined && (choices.key !== undefined || !here.inherited)) {
      if (choices.key !== undefined) delete out[choices.key];
      more.push(...this.#choose(choices, here));
    }
    if (more.length > 0) out.allOf = [...arrayAt(out.allOf), ...more];
    return out;
  }

  #properties(properties: Json, context: Context): Json {
    return mapValues(properties, (property) =>
      this.#isOneWay(property, context.direction) ? false : this.#rewrite(property, context),
    );
  }

  #component(ref: string, context: Context): Json {
    const { direction, hidden, defaults, inherited } = context;
    const key = JSON.stringify([ref, direction, [...hidden].sort(), defaults, inherited]);
    const known = this.#names.get(key);
    if (known !== undefined) return { $ref: `#/components/schemas/${known}` };
    const name = `S${this.#names.size}`;
    this.#names.set(key, name);
    this.components[name] = {};
    const made = this.#rewrite(valueAt(this.#root, ref), context);
    this.components[name] = made === true ? {} : made === false ? { not: {} } : made;
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

  /** A discriminator as `if` and `then`, which say what is wrong in the schema chosen. */
  #choose({ propertyName, schemas, orNull }: Choices, context: Context): unknown[] {
    const rule = {
      type: 'object',
      required: [propertyName],
      properties: { [propertyName]: { enum: [...schemas.keys()] } },
    };
    return [
      orNull ? { if: { type: 'null' }, else: rule } : rule,
      ...[...schemas]
        .filter(([, ref]) => ref !== undefined)
        .map(([value, ref = '']) => ({
          if: { type: 'object', required: [propertyName], properties: { [propertyName]: { const: value } } },
          // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
          then: this.#component(ref, context),
        })),
    ];
  }
}

const mapValues = (value: unknown, change: (item: unknown) => unknown): Json =>
  Object.fromEntries(Object.entries(objectAt(value)).map(([key, item]) => [key, change(item)]));
