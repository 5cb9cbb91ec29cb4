import { asArray, asObject, type Json } from '../document/document.ts';
import { type TypeName, typeBitOf, typeBits, typeNames } from './json-types.ts';
import { NOTHING, type SchemaTree } from './tree.ts';

/**
 * The form of the values of a schema, with all its alternatives together. It is enough to parse a
 * text, not to validate a value.
 */
export class Outline {
  readonly #tree: SchemaTree;
  /** All schemas that may describe a value. */
  readonly #schemas: readonly Json[];
  #types: ReadonlySet<TypeName> | undefined;

  /** @param schemas alternatives, or schemas that apply together. */
  constructor(tree: SchemaTree, schemas: readonly unknown[]) {
    this.#tree = tree;
    this.#schemas = schemas.flatMap((schema) => tree.possible(tree.schemaOf(schema)));
  }

  /**
   * The types that the schemas name or imply, as `properties` implies `object`. Empty if they allow
   * any type.
   */
  get types(): ReadonlySet<TypeName> {
    this.#types ??= new Set(this.#schemas.flatMap(typesIn));
    return this.#types;
  }

  /** The form of a serialized value: a list, pairs of names and values, or one text. */
  get shape(): 'array' | 'object' | 'text' {
    const isScalar = (['string', 'number', 'integer', 'boolean'] as const).some((type) =>
      this.types.has(type),
    );
    if (isScalar) return 'text';
    if (this.types.has('array')) return 'array';
    return this.types.has('object') ? 'object' : 'text';
  }

  /** The names in `properties`. */
  get names(): ReadonlySet<string> {
    return new Set(this.#schemas.flatMap(({ properties }) => Object.keys(asObject(properties))));
  }

  /** True if the schemas say nothing about values. */
  get isEmpty(): boolean {
    return this.#schemas.every((schema) => schema !== NOTHING && Object.keys(schema).length === 0);
  }

  /** True if `additionalProperties` describes members of any name. */
  get describesOtherMembers(): boolean {
    return this.#schemas.some(({ additionalProperties }) => Boolean(additionalProperties));
  }

  /** Returns the outline of a member, or `undefined` if no schema describes it. */
  member(name: string): Outline | undefined {
    const found = this.#schemas.flatMap((schema) => this.#schemasOfMember(schema, name));
    return found.length === 0 ? undefined : new Outline(this.#tree, found);
  }

  /** Returns the outline of an item of an array, or `undefined` if no schema describes it. */
  item(index: number): Outline | undefined {
    const found = this.#schemas
      .map(
        (schema) => asArray(schema.prefixItems)[index] ?? schema.items ?? schema.unevaluatedItems,
      )
      .filter((schema) => schema !== undefined);
    return found.length === 0 ? undefined : new Outline(this.#tree, found);
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
