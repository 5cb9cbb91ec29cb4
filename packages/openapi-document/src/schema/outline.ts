import { asArray, asObject, isObject, type Json } from '../source/document.ts';
import { type Form, isTextual } from '../source/media-types.ts';
import { BudgetExceeded } from './budget.ts';
import { Facts } from './facts.ts';
import type { TypeName } from './json-types.ts';
import type { SchemaTree } from './tree.ts';

const SCALARS = ['string', 'number', 'integer', 'boolean'] as const;

/** Keywords that restrict texts and bytes, besides `type` and `format`. */
const RESTRICTING = /^(enum|const|pattern|minLength|maxLength|properties|required|items|not)$/;

/** Keywords of schemas for values other than bytes. */
const TYPED =
  /^(type|enum|const|properties|items|prefixItems|(all|any|one)Of|pattern|format|m(in|ax).*)$/;

/**
 * The form of the values of a schema, with all its alternatives together. It is enough to parse a
 * text or to guess values, not to validate a value.
 */
export class Outline extends Facts {
  readonly #tree: SchemaTree;
  readonly #sources: readonly unknown[];
  #types: ReadonlySet<TypeName> | undefined;
  #allowsEmptyText: boolean | undefined;
  readonly #items = new Map<number, readonly Outline[]>();

  /** @param sources schemas of the document. Each of them may describe a value. */
  constructor(tree: SchemaTree, ...sources: readonly unknown[]) {
    const possible = sources.filter(isObject).flatMap((source) => tree.possible(source));
    super(sources.length > 1 ? [...new Set(possible)] : possible);
    this.#tree = tree;
    this.#sources = sources;
  }

  /** True for the schema `false`. */
  get isNothing(): boolean {
    return this.#sources.every((source) => source === false);
  }

  /** True for the schema `true`. */
  get isAnything(): boolean {
    return this.#sources.includes(true);
  }

  /** False without a schema, and for the schemas `true` and `false`. */
  get isDescribed(): boolean {
    return this.schemas.length > 0;
  }

  /** The name of the component that the schema references. */
  get componentName(): string | undefined {
    const { $ref } = asObject(this.#sources[0]);
    return typeof $ref === 'string'
      ? this.#tree.componentNames.get(this.#tree.resolve($ref))
      : undefined;
  }

  /** The values in `enum` and `const`. */
  get constants(): readonly unknown[] {
    return this.constantLists.flat();
  }

  /** The schemas in `oneOf` and `anyOf`. */
  get alternatives(): readonly Json[] {
    return [...this.values('oneOf'), ...this.values('anyOf')].flatMap(asArray).filter(isObject);
  }

  /**
   * The types that the schema names or implies, as `properties` implies `object`. Empty if it
   * allows any type.
   */
  get types(): ReadonlySet<TypeName> {
    this.#types ??= new Set(this.impliedTypes);
    return this.#types;
  }

  /** True if an empty text may be a valid string: no keyword of a schema excludes it. */
  get allowsEmptyText(): boolean {
    this.#allowsEmptyText ??= this.schemas.some((schema) => this.#isEmptyTextValid(schema));
    return this.#allowsEmptyText;
  }

  #isEmptyTextValid(schema: Json): boolean {
    const facts = new Facts([schema]);
    return (
      facts.impliedTypes.includes('string') &&
      facts.constantLists.every((list) => list.includes('')) &&
      facts.sizes('Length').min === 0 &&
      facts.patterns.every((pattern) =>
        this.#tree.patternTest(pattern)('', { steps: MAX_STEPS }),
      ) &&
      facts.formats.every((name) => this.#tree.formatOf(name)?.test('', { steps: 1 }) !== false)
    );
  }

  get form(): Form {
    if (SCALARS.some((type) => this.types.has(type))) return 'text';
    if (this.types.has('array')) return 'array';
    return this.types.has('object') ? 'object' : 'text';
  }

  /** True if `additionalProperties` describes members of any name. */
  get describesOtherMembers(): boolean {
    return this.schemas.some(
      ({ additionalProperties: schema }) => isObject(schema) || schema === true,
    );
  }

  /** Lists the schemas that may describe a member. */
  members(name: string): readonly Outline[] {
    return this.#sourcesOfMember(name).map((source) => new Outline(this.#tree, source));
  }

  /** Returns all schemas that may describe a member as one. */
  member(name: string): Outline {
    return new Outline(this.#tree, ...this.#sourcesOfMember(name));
  }

  /** Lists the schemas that may describe an item of an array. */
  items(index: number): readonly Outline[] {
    const prefixes = this.schemas.map(({ prefixItems }) => asArray(prefixItems).length);
    const place = Math.min(index, Math.max(0, ...prefixes));
    const existing = this.#items.get(place);
    if (existing !== undefined) return existing;
    const items = this.#sourcesOfItem(place).map((source) => new Outline(this.#tree, source));
    this.#items.set(place, items);
    return items;
  }

  /** Returns all schemas that may describe an item of an array as one. */
  item(index: number): Outline {
    return new Outline(this.#tree, ...this.#sourcesOfItem(index));
  }

  /** True if the schema probably rejects some texts or bytes. */
  get restrictsBytes(): boolean {
    if (this.#sources.includes(false)) return true;
    return this.schemas.some(
      ({ type, format, ...others }) =>
        (type ?? 'string') !== 'string' ||
        (format ?? 'binary') !== 'binary' ||
        Object.keys(others).some((key) => RESTRICTING.test(key)),
    );
  }

  /** The maximum length of texts in characters, or of bytes. */
  get maxLength(): number {
    const sources = this.#sources.filter(isObject);
    return new Facts(sources.flatMap((source) => this.#tree.applied(source))).sizes('Length').max;
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
    const [schema] = this.#sources;
    if (schema === false || schema === undefined) return false;
    const source = isObject(schema) ? this.#tree.referenced(schema) : {};
    if (source.contentEncoding !== undefined) return false;
    if (source.format === 'binary') return true;
    const type = source.contentMediaType ?? encodingType;
    if (typeof type === 'string' && isTextual(type)) return false;
    const isTyped = Object.keys(source).some((key) => TYPED.test(key));
    return source.contentMediaType !== undefined || !isTyped;
  }

  #sourcesOfItem(index: number): unknown[] {
    return this.schemas.flatMap(
      (schema) =>
        asArray(schema.prefixItems)[index] ?? schema.items ?? schema.unevaluatedItems ?? [],
    );
  }

  #sourcesOfMember(name: string): unknown[] {
    return this.schemas.flatMap((schema) => this.#schemasOfMember(schema, name));
  }

  #schemasOfMember(schema: Json, name: string): readonly unknown[] {
    const declared = this.#declared(schema, name);
    if (declared.length > 0) return declared;
    const others = schema.additionalProperties ?? schema.unevaluatedProperties;
    return others === undefined ? [] : [others];
  }

  /** A name that takes too many steps has no schema here. Validation matches it, or rejects it. */
  #declared(schema: Json, name: string): readonly unknown[] {
    try {
      return this.#tree.declared(schema, name, { steps: MAX_STEPS });
    } catch (error) {
      if (error instanceof BudgetExceeded) return [];
      throw error;
    }
  }
}

/** The steps for matching one text. */
const MAX_STEPS = 10_000;
