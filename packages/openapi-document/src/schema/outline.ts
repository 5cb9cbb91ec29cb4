import { asArray, asObject, isObject, type Json, onFirstUse } from '../source/document.ts';
import { isTextual } from '../source/media-types.ts';
import type { Budget } from './budget.ts';
import { Facts } from './facts.ts';
import {
  ANY_TYPE,
  type Form,
  formOf,
  SCALARS,
  TYPE_BITS,
  type TypeName,
  typeNames,
  typesIn,
} from './json-types.ts';
import { subschemasOf } from './keywords.ts';
import { type Context, DEFAULT_STEPS } from './model.ts';
import { Schema } from './schema.ts';
import { ANYTHING, NOTHING, reachable } from './tree.ts';

/** Limits the memory. */
const MAX_MEMBERS = 10_000;

type Outlines = (sources: readonly Json[]) => Outline;

/** Returns a function that returns the outline of a value that any of some schemas may describe. */
export function createOutlines(context: Context): Outlines {
  const outlineOfOne = onFirstUse((schema: Json) => new Outline(context, [schema], outlineOf));
  return outlineOf;

  function outlineOf(sources: readonly Json[]): Outline {
    const [schema] = sources;
    return schema !== undefined && sources.length === 1
      ? outlineOfOne(schema)
      : new Outline(context, sources, outlineOf);
  }
}

/**
 * All schemas that may apply to a value, with all its alternatives together. It is enough to parse
 * a text or to guess values, not to validate a value.
 */
export class Outline extends Facts {
  #typeBits: number | undefined;
  readonly #context: Context;
  readonly #sources: readonly Json[];
  readonly #outlineOf: Outlines;
  #names: ReadonlySet<string> | undefined;
  #patterns: readonly string[] | undefined;
  /** The members with names in `properties`. */
  readonly #members = new Map<string, Outline>();
  /** Members with other names, by the patterns that match them. Clients choose these names. */
  readonly #others = new Map<string, Outline>();
  readonly #items: Outline[] = [];
  #prefixLength: number | undefined;

  /** @param sources schemas of the document. Each of them may describe a value. */
  constructor(context: Context, sources: readonly Json[], outlineOf: Outlines) {
    const possible = sources.flatMap((source) => context.tree.possible(source));
    super(sources.length > 1 ? [...new Set(possible)] : possible);
    this.#context = context;
    this.#sources = sources;
    this.#outlineOf = outlineOf;
  }

  /** The types that the schemas name or imply, as bits. 0 if they allow any type. */
  get typeBits(): number {
    this.#typeBits ??= this.#sources.reduce((types, source) => types | this.#typesOf(source), 0);
    return this.#typeBits;
  }

  /** False without a schema, and for the schemas `true` and `false`. */
  get isDescribed(): boolean {
    return this.schemas.some((schema) => schema !== ANYTHING && schema !== NOTHING);
  }

  /** True if each of the sources names or implies types. */
  get hasTypes(): boolean {
    return this.typeBits !== 0 && this.#sources.every((source) => this.#typesOf(source) !== 0);
  }

  /** The types that a source or its alternatives name or imply, and that the source allows. */
  #typesOf(source: Json): number {
    const { tree } = this.#context;
    const allowed = tree.facts(source).declaredTypes ?? ANY_TYPE;
    return new Facts(tree.possible(source)).impliedTypes & allowed;
  }

  /** The name of the component that the schema references. */
  get componentName(): string | undefined {
    const { tree } = this.#context;
    const { $ref } = asObject(this.#sources[0]);
    return typeof $ref === 'string' ? tree.componentNames.get(tree.resolve($ref)) : undefined;
  }

  /** The values in `enum` and `const`. */
  get constants(): readonly unknown[] {
    return this.constantLists.flat();
  }

  /** The schemas in `oneOf` and `anyOf`. */
  get alternatives(): readonly Json[] {
    return [...this.values('oneOf'), ...this.values('anyOf')].flatMap(asArray).filter(isObject);
  }

  /** The types that the schemas name or imply. Empty if they allow any type. */
  get types(): ReadonlySet<TypeName> {
    return new Set(typeNames(this.typeBits));
  }

  /** Returns true for a valid value. */
  allows(value: unknown, budget?: Budget): boolean {
    return this.#sources.some((source) =>
      new Schema(this.#context.setOf([source])).isValid(value, budget),
    );
  }

  get form(): Form {
    return formOf(this.typeBits);
  }

  /** The form in which texts are read, if values may have several forms. See `Styled.form`. */
  get ambiguousForm(): Form | undefined {
    return (this.typeBits & ~typesIn(this.form)) === 0 ? undefined : this.form;
  }

  /**
   * Returns all schemas that may describe a member.
   *
   * @throws {BudgetExceeded} if the patterns of names take too many steps.
   */
  member(name: string, budget: Budget = { steps: DEFAULT_STEPS }): Outline {
    const { tree } = this.#context;
    this.#names ??= this.names;
    this.#patterns ??= this.namePatterns;
    const listed = this.#names.has(name) ? name : undefined;
    const cached = listed && this.#members.get(listed);
    if (cached) return cached;
    const matched = tree.matching(this.#patterns, name, budget);
    const [members, key] =
      listed === undefined ? [this.#others, matched.join('\0')] : [this.#members, listed];
    const existing = members.get(key);
    if (existing !== undefined) return existing;
    const member = this.#outline(
      this.schemas.flatMap((schema) => {
        const declaredBy = (inner: Json) => tree.declared(inner, listed, matched);
        const declared = declaredBy(schema);
        if (declared.length > 0) return declared;
        const isEvaluated = tree.applied(schema).some((inner) => declaredBy(inner).length > 0);
        return (
          schema.additionalProperties ?? (isEvaluated ? [] : schema.unevaluatedProperties) ?? []
        );
      }),
    );
    if (members.size === MAX_MEMBERS) members.clear();
    members.set(key, member);
    return member;
  }

  /** Returns all schemas that may describe an item of an array. */
  item(index: number): Outline {
    this.#prefixLength ??= Math.max(
      0,
      ...this.schemas.map(({ prefixItems }) => asArray(prefixItems).length),
    );
    const place = Math.min(index, this.#prefixLength);
    this.#items[place] ??= this.#outline(
      this.schemas.flatMap(
        ({ prefixItems, items, unevaluatedItems }) =>
          asArray(prefixItems)[place] ?? items ?? unevaluatedItems ?? [],
      ),
    );
    return this.#items[place];
  }

  #outline(sources: readonly unknown[]): Outline {
    const { tree } = this.#context;
    return this.#outlineOf(sources.map((source) => tree.schemaOf(source)));
  }

  /** True if the schema probably rejects some texts or bytes. */
  get restrictsBytes(): boolean {
    if (this.#sources.includes(NOTHING)) return true;
    return this.schemas.some(
      ({ type, format, ...others }) =>
        (type ?? 'string') !== 'string' ||
        (format ?? 'binary') !== 'binary' ||
        others.not !== undefined ||
        new Facts([others]).isTyped,
    );
  }

  /** True if a value may contain integers of 64 bits, also because its type is unknown. */
  get mayHaveInt64(): boolean {
    const { tree } = this.#context;
    const inside = (schema: Json): Json[] => [
      ...tree.joinedBy(schema),
      ...subschemasOf(schema, Object.keys(schema)).map((part) => tree.schemaOf(part)),
    ];
    return this.#sources
      .flatMap((source) => reachable(source, inside))
      .some((schema) => {
        const { isInt64, impliedTypes } = new Facts([schema]);
        const isUnknown = (impliedTypes & SCALARS) === 0 && inside(schema).length === 0;
        return isInt64 || (isUnknown && impliedTypes !== TYPE_BITS.null);
      });
  }

  /** The maximum length of texts in characters, or of bytes. */
  get maxLength(): number {
    const { tree } = this.#context;
    return new Facts(this.#sources.flatMap((source) => tree.applied(source))).sizes('Length').max;
  }

  /**
   * Tells if a field of a form, or an item of it, may be a file or a text (OpenAPI 3.1 §4.8.14.3,
   * §4.8.15.1). A schema with `contentEncoding` describes text, and one with `format: binary` a
   * file. Other schemas describe a file if they have `contentMediaType` or no type, unless the
   * media type is JSON, text or a form. Without a schema, the field may be both.
   *
   * @param encodingType `contentType` of the Encoding Object.
   */
  fieldKind(encodingType?: unknown): { readonly isFile: boolean; readonly isText: boolean } {
    const items = this.item(0);
    // A list inside of a list is one text, so an endless list of lists has a kind, too.
    const field = items.#sources.length > 0 ? items : this;
    if (field.#sources.length === 0 || field.schemas.includes(ANYTHING))
      return { isFile: true, isText: true };
    const kinds = new Set(field.schemas.map(fieldKindOf));
    if (!kinds.has('file') && !kinds.has('text'))
      kinds.add(isTextual(String(encodingType)) ? 'text' : 'file');
    return { isFile: kinds.has('file'), isText: kinds.has('text') };
  }
}

function fieldKindOf(schema: Json): 'file' | 'text' | undefined {
  const { contentEncoding, contentMediaType, format } = schema;
  if (contentEncoding !== undefined) return 'text';
  if (format === 'binary') return 'file';
  if (contentMediaType !== undefined) return isTextual(String(contentMediaType)) ? 'text' : 'file';
  return new Facts([schema]).isTyped ? 'text' : undefined;
}
