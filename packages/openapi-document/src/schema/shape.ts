import {
  asArray,
  asObject,
  capitalized,
  decoded,
  escapePointerToken,
  type Json,
  pointerTokens,
} from '../source/document.ts';
import { KEYWORDS_OF_TYPES } from '../source/keywords.ts';
import { type Annotations, annotationsOf } from './annotations.ts';
import { UNLIMITED } from './budget.ts';
import { tagOfBase } from './discriminator.ts';
import { Facts, namedTypes } from './facts.ts';
import { TYPE_BITS, type TypeName, typeNames } from './json-types.ts';
import type { Context, SchemaSet } from './model.ts';
import { createOutlines } from './outline.ts';
import { Schema } from './schema.ts';
import { ANYTHING, NOTHING } from './tree.ts';
import { type Union, unionsOf } from './unions.ts';

/** The type of the values of a schema: as much of the schema as programming languages express. */
export type Shape =
  | { readonly kind: 'any' | 'nothing' }
  | { readonly kind: 'scalar'; readonly type: ScalarType }
  /** A text whose format has a type of its own. */
  | { readonly kind: 'typed'; readonly type: string }
  | { readonly kind: 'constant'; readonly value: unknown }
  | ArrayShape
  | ObjectShape
  | { readonly kind: 'union' | 'intersection'; readonly parts: readonly Shape[] }
  | TaggedShape
  | { readonly kind: 'reference'; readonly to: Definition };

/** `int64` is an integer that may be beyond ±(2^53−1), `date` a text with a date or a time. */
export type ScalarType =
  | Exclude<TypeName, 'array' | 'object' | 'integer'>
  | 'int64'
  | 'date'
  | 'file';

export interface ArrayShape {
  readonly kind: 'array';
  /** The first items. */
  readonly items: readonly Shape[];
  /** The number of first items that are always present. */
  readonly requiredItems: number;
  /** The other items. `undefined` if there are none. */
  readonly rest: Shape | undefined;
}

export interface ObjectShape {
  readonly kind: 'object';
  readonly members: readonly ShapeMember[];
  /** Members with other names have one of these shapes. Empty if there are none. */
  readonly others: readonly Shape[];
}

/** An alternative that the values of a member select. */
export interface TaggedShape {
  readonly kind: 'tagged';
  /** The alternative. */
  readonly parts: readonly [Shape];
  readonly member: ShapeMember;
  /** True if the alternative itself requires the member, with more values. */
  readonly isDeclared: boolean;
}

export interface ShapeMember {
  readonly name: string;
  readonly shape: Shape;
  readonly isRequired: boolean;
  /** True if a request without the member gets a default. */
  readonly isFilled: boolean;
  readonly annotations: Annotations;
}

/** A schema that others refer to. */
export interface Definition {
  readonly schema: Json;
  /** The name of a component, or a name that is made from the pointer. */
  readonly name: string;
  readonly pointer: string;
}

const ANY: Shape = { kind: 'any' };
const NONE: Shape = { kind: 'nothing' };
const FILE: Shape = { kind: 'scalar', type: 'file' };

/** Keywords that change the shape of a reference beside them. */
const SHAPING = [
  ...['type', 'enum', 'const', 'anyOf', 'oneOf'],
  ...[...KEYWORDS_OF_TYPES.object, ...KEYWORDS_OF_TYPES.array],
];

/** The schemas that describe one value. */
interface Composition {
  readonly set: SchemaSet;
  /** The set with the schemas around an alternative, too. */
  readonly outer: SchemaSet;
  /** The schemas whose keywords are read. */
  readonly parts: Json[];
  /** The schemas that are named instead. */
  readonly references: Definition[];
  /** The Encoding Objects of a form. They tell which fields are files. */
  readonly form: Json | undefined;
}

/** Makes the shapes of schemas in one view. */
export class Shapes {
  readonly #context: Context;
  /** The sets whose shapes are being made: a schema may contain itself. */
  readonly #pending = new Set<SchemaSet>();

  constructor(context: Context) {
    this.#context = context;
  }

  /**
   * Returns the shape of a value that all of the schemas describe. It contains references.
   *
   * @param form the Encoding Objects, if the value is a form with files.
   */
  of(schemas: readonly Json[], form?: Json): Shape {
    if (form !== undefined) return this.#compose(schemas, true, undefined, form);
    const references = schemas.flatMap((schema) => this.#reference(schema) ?? []);
    const inline = schemas.filter(
      (schema) => this.#reference(schema) === undefined && this.#isShaping(schema),
    );
    const shapes = references.map(namedShape);
    if (inline.length > 0) shapes.push(this.#compose(inline, false));
    return intersection(shapes);
  }

  /** Returns the shape of a definition itself, with all members of the schemas that it extends. */
  ofDefinition(schema: Json): Shape {
    const reference = this.#reference(schema);
    return reference === undefined ? this.#compose([schema], true) : namedShape(reference);
  }

  #isShaping(schema: Json): boolean {
    const isComposed = this.#context.tree.joinedBy(schema).length > 0;
    return schema === NOTHING || isComposed || SHAPING.some((key) => Object.hasOwn(schema, key));
  }

  /** Returns the target of a schema that only refers to another one. */
  #reference(schema: Json): Definition | undefined {
    const { tree } = this.#context;
    const [target, ...others] = tree.joinedBy(schema);
    if (target === undefined || others.length > 0) return undefined;
    if (SHAPING.some((key) => Object.hasOwn(schema, key))) return undefined;
    if (schema.allOf === undefined) return this.#definition(schema, target);
    const reference = this.#reference(target);
    return tree.isExtension(schema) && this.#isBase(reference) ? undefined : reference;
  }

  #definition({ $ref, $dynamicRef }: Json, schema: Json): Definition {
    const name = this.#context.tree.componentNames.get(schema);
    if (name !== undefined) return { schema, name, pointer: componentPointer(name) };
    const pointer = decoded(String($ref ?? $dynamicRef).slice(1));
    return { schema, name: nameAt(pointer), pointer };
  }

  /** True if the discriminator of a schema selects one of the schemas that extend it. */
  #isBase(reference: Definition | undefined): boolean {
    return reference !== undefined && tagOfBase(this.#context.tree, reference.schema) !== undefined;
  }

  /** @param isFlat true to read the targets of references instead of naming them. */
  #compose(roots: readonly Json[], isFlat: boolean, around?: SchemaSet, form?: Json): Shape {
    const set = this.#context.setOf(roots, around?.hidden);
    if (set.schemas.has(NOTHING)) return NONE;
    if (this.#pending.has(set)) return ANY;
    const composition: Composition = { set, outer: around ?? set, parts: [], references: [], form };
    if (isFlat) composition.parts.push(...set.schemas.keys());
    else for (const root of roots) this.#spread(root, composition);
    this.#pending.add(set);
    const shape = this.#shape(composition);
    this.#pending.delete(set);
    return shape;
  }

  /** Adds a schema, those in its `allOf`, and their references. */
  #spread(schema: Json, composition: Composition): void {
    const { tree } = this.#context;
    const { parts, references } = composition;
    parts.push(schema);
    const inner = asArray(schema.allOf).map((part) => tree.schemaOf(part));
    for (const target of tree.joinedBy(schema))
      if (!inner.includes(target)) references.push(this.#definition(schema, target));
    for (const part of inner) {
      const reference = this.#reference(part);
      if (reference === undefined) this.#spread(part, composition);
      // An extension has the members of its base, not those of another extension.
      else if (tree.isExtension(schema) && this.#isBase(reference))
        parts.push(...tree.applied(part));
      else references.push(reference);
    }
  }

  #shape(composition: Composition): Shape {
    const { set, outer, parts, references } = composition;
    const schema = new Schema(set);
    if (parts.some((part) => Object.hasOwn(part, 'const') || Array.isArray(part.enum)))
      return union((schema.constants ?? []).map((value) => ({ kind: 'constant', value })));

    const unions = unionsOf(set).filter(({ owner }) => parts.includes(owner));
    const named = references.map(namedShape);
    const selected = unions.map((inner) => this.#union(inner, composition));
    // The extensions of a base have its members.
    const extended = unions.flatMap(({ isOfBase, owner }) =>
      isOfBase ? this.#context.tree.applied(owner) : [],
    );
    const own = parts.filter((part) => !extended.includes(part));
    const members = this.#members(own, outer, composition.form);
    const others = this.#others(own);
    const isEmpty = members.length === 0 && others.length === 0;
    const mask = namedTypes(own);
    const composed = [...named, ...selected];
    if (mask === undefined && isEmpty) return intersection(composed);
    const types = typeNames(mask ?? TYPE_BITS.object).toSorted(nullLast);
    const saysNothing = isEmpty && types.every((type) => type === 'object' || type === 'null');
    if (saysNothing && composed.length > 0) return intersection(composed);

    const isOpen = isEmpty && own.every(({ properties }) => properties === undefined);
    const shapes = types.map((type): Shape => {
      if (type === 'object') return { kind: 'object', members, others: isOpen ? [ANY] : others };
      if (type === 'array') return this.#array(set, schema);
      const textType = type === 'string' ? schema.textType : undefined;
      if (textType !== undefined) return { kind: 'typed', type: textType };
      return { kind: 'scalar', type: scalarType(type, schema) };
    });
    return intersection([...named, union(shapes), ...selected]);
  }

  #array({ arrayRules }: SchemaSet, schema: Schema): Shape {
    const { prefixLength } = arrayRules;
    const itemAt = (index: number) => this.of(arrayRules.item(index)?.roots ?? []);
    const items = Array.from({ length: prefixLength }, (_, index) => itemAt(index));
    const rest = itemAt(prefixLength);
    const isList = prefixLength === 0;
    const { min, max } = schema.sizes('Items');
    const isFull = rest === NONE || max <= prefixLength;
    return {
      kind: 'array',
      items,
      requiredItems: Math.min(prefixLength, min),
      rest: isList || !isFull ? rest : undefined,
    };
  }

  #members(parts: readonly Json[], { objectRules }: SchemaSet, form?: Json): ShapeMember[] {
    const { names, required } = new Facts(parts);
    return [...names.union(required)].flatMap((name) => {
      const { set, isRequired } = objectRules.member(name);
      if (set === undefined) return [];
      const file = form && this.#file(set.roots, asObject(form[name]));
      return {
        name,
        shape: file ?? this.of(set.roots),
        isRequired,
        isFilled: objectRules.isFilled(name),
        annotations: annotationsOf(set),
      };
    });
  }

  /** Returns the shape of a field of a form that may be a file or a list of files. */
  #file(field: readonly Json[], { contentType }: Json): Shape | undefined {
    const outline = createOutlines(this.#context)(field);
    const { isFile, isText } = outline.fieldKind(contentType);
    if (!isFile) return undefined;
    const isList = outline.types.has('array');
    const file: Shape = isList ? { kind: 'array', items: [], requiredItems: 0, rest: FILE } : FILE;
    return isText ? union([file, this.of(field)]) : file;
  }

  /** Returns the shapes of members that `properties` does not name. */
  #others(parts: readonly Json[]): Shape[] {
    const { tree, view } = this.#context;
    return new Facts(parts).otherMembers
      .map((schema) => tree.schemaOf(schema))
      .filter((schema) => schema !== NOTHING && !tree.isOneWay(schema, view))
      .map((schema) => this.of([schema]));
  }

  /** The values of alternatives that only the other direction has are removed. */
  #union(inner: Union, composition: Composition): Shape {
    const { tree, view } = this.#context;
    const alternatives = inner.alternatives.filter((part) => !tree.isOneWay(part, view));
    return union(
      alternatives.map((alternative) => {
        const shape = this.#alternative(alternative, inner, composition);
        return this.#tagged(shape, alternative, inner);
      }),
    );
  }

  #alternative(alternative: Json, { owner, isOfBase }: Union, { outer, form }: Composition): Shape {
    const { tree } = this.#context;
    if (alternative === owner) {
      const parts = tree.applied(owner);
      return { kind: 'object', members: this.#members(parts, outer), others: this.#others(parts) };
    }
    if (isOfBase) {
      const name = tree.componentNames.get(alternative);
      if (name === undefined) return this.#compose([alternative], true);
      return namedShape({ schema: alternative, name, pointer: componentPointer(name) });
    }
    const reference = form === undefined ? this.#reference(alternative) : undefined;
    if (reference !== undefined) return namedShape(reference);
    const around = outer.select(owner, [alternative], UNLIMITED);
    return this.#compose([alternative], form !== undefined, around, form);
  }

  /** Adds the values of the tag to an alternative, unless it has no others. */
  #tagged(shape: Shape, alternative: Json, { tag }: Union): Shape {
    if (tag === undefined || alternative === tag.others) return shape;
    const { name } = tag;
    const selecting = [...tag.values].filter(([, schema]) => schema === alternative);
    const values = selecting.map(([value]) => value);
    const schema = new Schema(this.#context.setOf([alternative]));
    const isDeclared = schema.names.has(name) && schema.required.has(name);
    const constants = isDeclared ? schema.member(name)?.constants : undefined;
    const isRequired = constants?.every((value) => values.includes(value)) === true;
    if (isRequired || values.length === 0) return shape;
    const member = {
      name,
      shape: union(values.map((value) => ({ kind: 'constant', value }))),
      isRequired: true,
      isFilled: false,
      annotations: {},
    };
    return { kind: 'tagged', parts: [shape], member, isDeclared };
  }
}

const componentPointer = (name: string): string =>
  `/components/schemas/${escapePointerToken(name)}`;

/** Makes a name of a pointer, without the keywords in it. */
function nameAt(pointer: string): string {
  const [first = '', ...inside] = pointerTokens(pointer.replace(/^\/components\/schemas/, ''));
  const words = inside.filter((token) => !/^(\$defs|properties|schema)$/.test(token));
  return [first, ...words.map(capitalized)].join('');
}

function namedShape(to: Definition): Shape {
  if (to.schema === ANYTHING) return ANY;
  return to.schema === NOTHING ? NONE : { kind: 'reference', to };
}

function scalarType(type: Exclude<TypeName, 'array' | 'object'>, schema: Schema): ScalarType {
  if (type === 'string')
    return schema.formats.some((format) => /^date(-time)?$/.test(format)) ? 'date' : 'string';
  if (type !== 'integer' && type !== 'number') return type;
  return schema.isInt64 ? 'int64' : 'number';
}

const nullLast = (one: TypeName, other: TypeName): number =>
  Number(one === 'null') - Number(other === 'null');

function union(shapes: readonly Shape[]): Shape {
  const parts = shapes.filter((shape) => shape !== NONE);
  const [first = NONE, ...others] = parts;
  if (parts.includes(ANY)) return ANY;
  return others.length > 0 ? { kind: 'union', parts } : first;
}

function intersection(shapes: readonly Shape[]): Shape {
  const parts = shapes.filter((shape) => shape !== ANY);
  const [first = ANY, ...others] = parts;
  return others.length > 0 ? { kind: 'intersection', parts } : first;
}
