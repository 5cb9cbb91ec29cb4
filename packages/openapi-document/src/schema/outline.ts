import { asArray, asObject, isObject, type Json } from '../document/document.ts';
import { type Form, kindOf } from '../document/media-types.ts';
import { type TypeName, typeBitOf, typeBits, typeNames } from './json-types.ts';
import type { SchemaTree } from './tree.ts';

const SCALARS = ['string', 'number', 'integer', 'boolean'] as const;

/** Keywords that restrict texts and bytes, besides `type` and `format`. */
const RESTRICTING = /^(enum|const|pattern|minLength|maxLength|properties|required|items|not)$/;

/** Keywords of schemas for values other than bytes. */
const TYPED =
  /^(type|enum|const|properties|items|prefixItems|(all|any|one)Of|pattern|format|m(in|ax).*)$/;

/**
 * The form of the values of a schema, with all its alternatives together. It is enough to parse a
 * text, not to validate a value.
 */
export class Outline {
  readonly #tree: SchemaTree;
  readonly #source: unknown;
  /** All schemas that may describe a value. */
  readonly #schemas: readonly Json[];
  #types: ReadonlySet<TypeName> | undefined;

  constructor(tree: SchemaTree, source: unknown) {
    this.#tree = tree;
    this.#source = source;
    this.#schemas = isObject(source) ? tree.possible(source) : [];
  }

  /** The schema as the document has it. */
  get source(): unknown {
    return this.#source;
  }

  /**
   * The types that the schema names or implies, as `properties` implies `object`. Empty if it
   * allows any type.
   */
  get types(): ReadonlySet<TypeName> {
    this.#types ??= new Set(this.#schemas.flatMap(typesIn));
    return this.#types;
  }

  get form(): Form {
    if (SCALARS.some((type) => this.types.has(type))) return 'text';
    if (this.types.has('array')) return 'array';
    return this.types.has('object') ? 'object' : 'text';
  }

  /** The names in `properties`. */
  get names(): ReadonlySet<string> {
    return new Set(this.#schemas.flatMap(({ properties }) => Object.keys(asObject(properties))));
  }

  /** True if `additionalProperties` describes members of any name. */
  get describesOtherMembers(): boolean {
    return this.#schemas.some(
      ({ additionalProperties: schema }) => isObject(schema) || schema === true,
    );
  }

  /** Lists the schemas that may describe a member. */
  members(name: string): readonly Outline[] {
    return this.#schemas
      .flatMap((schema) => this.#schemasOfMember(schema, name))
      .map((schema) => new Outline(this.#tree, schema));
  }

  /** Returns all schemas that may describe a member as one. */
  member(name: string): Outline {
    return new Outline(this.#tree, { anyOf: this.members(name).map(({ source }) => source) });
  }

  /** Lists the schemas that may describe an item of an array. */
  items(index: number): readonly Outline[] {
    return this.#schemas.flatMap((schema) => {
      const item = asArray(schema.prefixItems)[index] ?? schema.items ?? schema.unevaluatedItems;
      return item === undefined ? [] : [new Outline(this.#tree, item)];
    });
  }

  /** True if the schema probably rejects some texts or bytes. */
  get restrictsBytes(): boolean {
    if (this.#source === false) return true;
    return this.#schemas.some(
      ({ type, format, ...others }) =>
        (type ?? 'string') !== 'string' ||
        (format ?? 'binary') !== 'binary' ||
        Object.keys(others).some((key) => RESTRICTING.test(key)),
    );
  }

  /** The maximum length of texts in characters, or of bytes. */
  get maxLength(): number | undefined {
    const applied = isObject(this.#source) ? this.#tree.applied(this.#source) : [];
    const limits = applied.flatMap(({ maxLength }) =>
      typeof maxLength === 'number' ? [maxLength] : [],
    );
    return limits.length === 0 ? undefined : Math.min(...limits);
  }

  /**
   * True if a field of a form is a file (OpenAPI 3.1 §4.8.14.3, §4.8.15.1). A schema with
   * `contentEncoding` describes text, and one with `format: binary` a file. Other schemas describe
   * a file if they have `contentMediaType` or no type, unless the media type is JSON, text or a
   * form.
   *
   * @param encodingType `contentType` of the Encoding Object.
   */
  isFile(encodingType?: unknown): boolean {
    if (this.#source === false || this.#source === undefined) return false;
    const source = isObject(this.#source) ? this.#tree.referenced(this.#source) : {};
    if (source.contentEncoding !== undefined) return false;
    if (source.format === 'binary') return true;
    const type = source.contentMediaType ?? encodingType;
    if (typeof type === 'string' && kindOf(type) !== 'stream') return false;
    const isTyped = Object.keys(source).some((key) => TYPED.test(key));
    return source.contentMediaType !== undefined || !isTyped;
  }

  #schemasOfMember(schema: Json, name: string): unknown[] {
    const properties = asObject(schema.properties);
    const found = Object.hasOwn(properties, name) ? [properties[name]] : [];
    for (const [pattern, inner] of Object.entries(asObject(schema.patternProperties)))
      if (this.#tree.patternTest(pattern)(name, { steps: MAX_NAME_STEPS })) found.push(inner);
    if (found.length > 0) return found;
    const others = schema.additionalProperties ?? schema.unevaluatedProperties;
    return others === undefined ? [] : [others];
  }
}

/** The steps for matching one name. A longer name ends with `BudgetExceeded`. */
const MAX_NAME_STEPS = 1_000_000;

/** The types in `type`, or else the types that other keywords imply. */
export function typesIn(schema: Json): TypeName[] {
  const { type } = schema;
  if (type !== undefined) return [type].flat().flatMap((name) => typeNames(typeBits([name])));
  const values = Object.hasOwn(schema, 'const') ? [schema.const] : asArray(schema.enum);
  const types = values.flatMap((value) => {
    const names = typeNames(typeBitOf(value));
    return names.length > 0 ? names : (['number'] as const);
  });
  if (schema.items !== undefined || schema.prefixItems !== undefined) types.push('array');
  if (schema.properties !== undefined) types.push('object');
  return types;
}
