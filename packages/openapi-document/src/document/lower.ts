import { mapKeyword } from '../schema/keywords.ts';
import { type ParentTag, type Tag, tagOf, tagOfParent, type UnionTag } from './discriminator.ts';
import {
  asArray,
  asObject,
  capitalized,
  decoded,
  escapePointerToken,
  freeName,
  isObject,
  type Json,
  memoized,
  pointerTokens,
  refTo,
  valueAt,
} from './document.ts';
import { allOfSchemas, alternatives, isWide } from './schema.ts';

/** Requests have no `readOnly` members, responses no `writeOnly` members. */
export type Direction = 'request' | 'response';

/** A schema of JSON Schema 2020-12. */
export type LoweredSchema = Json | boolean;

/**
 * The schemas of a document as plain JSON Schema 2020-12, for one direction.
 *
 * - `$ref` becomes `#/$defs/Name`. A schema in `components.schemas` keeps its name.
 * - Members of the other direction are removed from `properties` and `required`, and listed in
 *   `x-dropped`. The server removes them from values. In requests, their schema is `false` if
 *   `x-read-only: reject` is beside `readOnly` or at the top of the document.
 * - In responses, a `writeOnly` schema in `additionalProperties` or `patternProperties` is `false`.
 * - Each alternative of a `discriminator` requires the values that select it. `x-tag` contains the
 *   name of the member and the values. It is also added if constants distinguish the alternatives.
 * - A schema with a `discriminator` that others extend by `allOf` becomes a `oneOf` of these
 *   schemas. They extend the definition `NameBase`, which is the original schema.
 * - Integers with a limit or a value beyond ±(2^53−1) have `format: int64`.
 * - In requests, the `default` of a `$ref` target or of a schema in `allOf` is copied to the schema
 *   with the `$ref` or the `allOf`. A default that does not fit its schema is removed.
 */
export interface LoweredSchemas {
  /** The targets of references. Grows while schemas are lowered. */
  readonly $defs: Readonly<Record<string, LoweredSchema>>;
  /** The `$ref` of each definition in the document. */
  readonly refs: Readonly<Record<string, string>>;
  lower(schema: unknown): LoweredSchema;
}

/** Keywords that are not copied. They are lowered separately or no longer needed. */
const OMITTED = new Set([
  ...['dependencies', 'required', 'properties', 'allOf', 'anyOf', 'oneOf', 'discriminator'],
  ...['$ref', '$dynamicRef', '$defs', '$id', '$schema', '$anchor', '$dynamicAnchor'],
  ...['readOnly', 'writeOnly'],
]);

const CONDITIONS = new Set(['not', 'if', 'then', 'else', 'dependentSchemas']);

/** Keywords with schemas for members that `properties` does not declare. */
const OTHER_MEMBERS = new Set(['additionalProperties', 'patternProperties']);

/** Keywords with schemas that apply to the same value, not to a member of it. */
export const IN_PLACE = new Set([...CONDITIONS, 'allOf', 'anyOf', 'oneOf']);

type Fits = (property: Json, value: unknown) => boolean;

/**
 * Lowers the schemas of a document for one direction. Without a direction, the schemas are lowered
 * for examples and defaults, which may have the members of both directions.
 *
 * @param fits is needed for requests only: their missing members are filled with the defaults.
 */
export function createLowering(root: Json, direction?: Direction, fits?: Fits): LoweredSchemas {
  const $defs: Record<string, LoweredSchema> = {};
  const refs: Record<string, string> = {};
  const names = new Map<string, string>();
  const cache = new WeakMap<Json, LoweredSchema>();
  const droppedKeyword = direction === 'request' ? 'readOnly' : 'writeOnly';
  /** A queue, because recursion could overflow the stack. */
  const pending: (() => void)[] = [];

  return {
    $defs,
    refs,
    lower(schema) {
      const lowered = lower(schema);
      lowerPending();
      return lowered;
    },
  };

  function lowerPending(): void {
    for (let next = pending.shift(); next !== undefined; next = pending.shift()) next();
  }

  function lower(schema: unknown): LoweredSchema {
    if (!isObject(schema)) return schema !== false;
    const lowered = cache.get(schema) ?? withDefault(schema, lowerIn(schema, []));
    cache.set(schema, lowered);
    return lowered;
  }

  /** Copies the default of a `$ref` or an `allOf` to the schema. Removes one that does not fit. */
  function withDefault(schema: Json, lowered: LoweredSchema): LoweredSchema {
    if (fits === undefined || lowered === false) return lowered;
    const source = allOfSchemas(root, schema).find((part) => Object.hasOwn(part, 'default'));
    if (source === undefined) return lowered;
    const { default: _, ...others } = asObject(lowered);
    return fits(schema, source.default) ? { ...others, default: source.default } : others;
  }

  /**
   * @param outer the names that `oneWayNames` returns for the enclosing schemas of the same value.
   *   They are removed from `required`.
   */
  function lowerIn(source: unknown, outer: readonly string[], isDefinition = false): LoweredSchema {
    if (!isObject(source)) return source !== false;
    const inner = [...outer, ...oneWayNames(allOfSchemas(root, source))];
    const hidden = new Set([...inner, ...oneWayNames(alternatives(root, source))]);
    const lowered: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(source)) {
      if (OMITTED.has(key)) continue;
      lowered[key] = mapKeyword(key, value, (part) => {
        if (CONDITIONS.has(key)) return lowerIn(part, inner);
        const isSecret = direction === 'response' && isOneWay(part, 'writeOnly');
        return OTHER_MEMBERS.has(key) && isSecret ? false : lower(part);
      });
    }
    if (source.properties !== undefined) Object.assign(lowered, lowerProperties(source));
    const required = asArray(source.required).filter((name) => !hidden.has(String(name)));
    if (required.length > 0) lowered.required = [...new Set(required)];
    if (isWide(source) && [source.type].flat().includes('integer')) lowered.format = 'int64';

    const parts = asArray(source.allOf);
    // Outside definitions, an `allOf` with a single part does not extend a schema: it only adds
    // annotations to a reference, as in OpenAPI 3.0.
    const isExtension = isDefinition || parts.length > 1;
    const lowerAllOf = isExtension ? lowerExtended : lowerIn;
    if (parts.length > 0) lowered.allOf = parts.map((part) => lowerAllOf(part, inner));
    for (const key of ['anyOf', 'oneOf']) {
      if (source[key] !== undefined) addUnion(key, source, lowered, inner, hidden);
    }
    if (typeof source.$ref === 'string') lowered.$ref = definition(source.$ref, false);
    return lowered;
  }

  function lowerProperties({ properties }: Json): Json {
    const lowered: [string, LoweredSchema][] = [];
    const removed: string[] = [];
    for (const [name, property] of Object.entries(asObject(properties))) {
      if (direction !== undefined && isOneWay(property, droppedKeyword)) {
        if (direction === 'request' && isRejected(property)) lowered.push([name, false]);
        else removed.push(name);
      } else {
        lowered.push([name, lower(property)]);
      }
    }
    return {
      properties: Object.fromEntries(lowered),
      ...(removed.length > 0 && { 'x-dropped': removed }),
    };
  }

  /** Lowers a part of an `allOf`. References to schemas with a discriminator lead to `NameBase`. */
  function lowerExtended(part: unknown, outer: readonly string[]): LoweredSchema {
    const { $ref, ...others } = asObject(part);
    if (typeof $ref !== 'string' || tagOfParent(root, $ref) === undefined)
      return lowerIn(part, outer);
    return { ...asObject(lowerIn(others, outer)), $ref: definition($ref, true) };
  }

  function addUnion(
    key: string,
    source: Json,
    lowered: Record<string, unknown>,
    inner: readonly string[],
    hidden: ReadonlySet<string>,
  ): void {
    const parts = asArray(source[key]);
    const unionTag = tagOf(root, parts, source.discriminator);
    const tag = unionTag && !hidden.has(unionTag.name) ? unionTag : undefined;
    const lowerings = parts.map((part, index) => withTag(tag, index, lowerIn(part, inner)));
    const union = { [key]: lowerings, ...(tag && { 'x-tag': annotation(tag) }) };
    if (lowered.anyOf === undefined) Object.assign(lowered, union);
    else lowered.allOf = [...asArray(lowered.allOf), union];
  }

  /** Returns the reference to a definition, which is lowered later. */
  function definition(ref: string, isBase: boolean): string {
    const key = `${isBase ? 'base' : 'whole'} ${ref}`;
    const definedName = names.get(key);
    if (definedName !== undefined) return definitionRef(definedName);
    const name = definitionNameFor(ref, isBase);
    names.set(key, name);
    $defs[name] = true;
    refs[name] = ref;
    pending.push(() => {
      const target = valueAt(root, ref);
      const tag = isBase ? undefined : tagOfParent(root, ref);
      $defs[name] =
        tag === undefined ? lowerIn(target, [], true) : lowerParent(asObject(target), tag);
    });
    return definitionRef(name);
  }

  function lowerParent({ title, description, deprecated }: Json, tag: ParentTag): Json {
    const parts = tag.refs.map(({ ref, isBase }, index) =>
      withTag(tag, index, { $ref: definition(ref, isBase) }),
    );
    const annotations = Object.entries({ title, description, deprecated });
    return {
      ...Object.fromEntries(annotations.filter(([, value]) => value !== undefined)),
      oneOf: parts,
      'x-tag': annotation(tag),
    };
  }

  /** A schema in `components.schemas` keeps its name. Others are named after their pointer. */
  function definitionNameFor(ref: string, isBase: boolean): string {
    const [first = '', ...inside] = pointerTokens(
      decoded(ref.replace(/^#(\/components\/schemas)?/, '')),
    );
    const words = inside.filter((token) => !/^(\$defs|properties|schema)$/.test(token));
    const name = [first, ...words.map(capitalized), isBase ? 'Base' : ''].join('');
    const isComponent = inside.length === 0 && !isBase;
    const components = asObject(asObject(root.components).schemas);
    const isTaken = (text: string) => Object.hasOwn(components, text) || text in $defs;
    return isComponent ? name : freeName(name, isTaken);
  }

  /**
   * Lists the members that only the other direction has: `readOnly` members for requests,
   * `writeOnly` members for responses, and both without a direction.
   */
  function oneWayNames(parts: readonly Json[]): string[] {
    const keywords = direction === undefined ? ['readOnly', 'writeOnly'] : [droppedKeyword];
    return parts
      .flatMap(({ properties }) => Object.entries(asObject(properties)))
      .filter(([, property]) => keywords.some((keyword) => isOneWay(property, keyword)))
      .map(([name]) => name);
  }

  function isOneWay(property: unknown, keyword: string): boolean {
    return alternatives(root, property).some((part) => part[keyword] === true);
  }

  function isRejected(property: unknown): boolean {
    const holders = [root, ...alternatives(root, property)];
    return holders.some((holder) => holder['x-read-only'] === 'reject');
  }
}

export const definitionRef = (name: string): string => refTo(`/$defs/${escapePointerToken(name)}`);

/** The name of the definition at a `$ref` of a lowered schema. */
export const definitionName = (ref: string): string => pointerTokens(decoded(ref))[1] ?? '';

/**
 * Lists the definitions that a schema references, directly or through others.
 *
 * @param namesIn lists the definitions that a schema references directly.
 */
export function reachedFrom(
  $defs: LoweredSchemas['$defs'],
  schema: unknown,
  namesIn = (part: unknown) => referencesIn($defs, part),
): Set<string> {
  const reached = new Set(namesIn(schema));
  for (const name of reached) {
    for (const next of namesIn($defs[name])) reached.add(next);
  }
  return reached;
}

const referencesIn = memoized((root, value: unknown): readonly string[] => {
  if (typeof value !== 'object' || value === null) return [];
  const { $ref } = asObject(value);
  const inside = Object.values(value).flatMap((part) => referencesIn(root, part));
  return typeof $ref === 'string' ? [definitionName($ref), ...inside] : inside;
});

const annotation = ({ name, values }: Tag): Tag => ({ name, values });

/** Makes an alternative require its values of the tag, unless its constants already do so. */
function withTag(tag: UnionTag | undefined, index: number, schema: LoweredSchema): LoweredSchema {
  const tagValues = tag?.values[index];
  if (tag?.isMapped !== true || tagValues === 'null' || tagValues === undefined) return schema;
  const { name, values } = tag;
  const hasValue = (list: readonly unknown[]) => ({
    required: [name],
    properties: { [name]: { enum: list } },
  });
  const rule =
    tagValues === 'others'
      ? { not: hasValue(values.filter(Array.isArray).flat()) }
      : hasValue(tagValues);
  return { allOf: [schema, { type: 'object', ...rule }] };
}
