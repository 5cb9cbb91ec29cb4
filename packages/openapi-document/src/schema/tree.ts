import {
  asArray,
  asObject,
  entriesOf,
  isObject,
  type Json,
  onFirstUse,
  valueAt,
} from '../source/document.ts';
import type { Budget } from './budget.ts';
import { Facts } from './facts.ts';
import { createFormats, type Format, type Formats } from './formats.ts';
import { alternativesIn } from './keywords.ts';
import { compilePattern } from './patterns.ts';
import type { Tag } from './tag.ts';

/**
 * The way in which a value is read.
 *
 * - `request`: `readOnly` members are removed, defaults are filled in.
 * - `response`: a reply of a handler, as it is written. `writeOnly` and undeclared members are
 *   removed, `toJSON` is called.
 * - `sent`: a request as a client sends it. Nothing is changed; `readOnly` members are violations.
 * - `received`: a response as a client receives it. Nothing is changed; `writeOnly` members are
 *   violations.
 * - `example`: an example or a default, which may have the members of both directions.
 */
export type View = 'request' | 'response' | 'sent' | 'received' | 'example';

/** Tests a text. Throws `BudgetExceeded` if the test takes too many steps. */
export type TextTest = (text: string, budget: Budget) => boolean;

/** The schema `true`. */
export const ANYTHING: Json = Object.freeze({});

/** The schema `false`. */
export const NOTHING: Json = Object.freeze({ $comment: 'the schema false' });

const ONE_WAY_KEYWORDS: Readonly<Record<View, readonly string[]>> = {
  request: ['readOnly'],
  response: ['writeOnly'],
  sent: ['readOnly'],
  received: ['writeOnly'],
  example: ['readOnly', 'writeOnly'],
};

const NO_SCHEMAS: readonly Json[] = [];

/**
 * The schemas of one bundled document: each `$ref` is a pointer into it. Schemas are compared by
 * identity, so they must not change.
 */
export class SchemaTree {
  readonly root: Json;
  /** The names of the schemas in `components.schemas`. */
  readonly componentNames = new Map<Json, string>();
  /** The discriminators of base schemas, as `tagOfBase` finds them. */
  readonly baseTags = new Map<Json, Tag | undefined>();
  readonly #ids = new Map<Json, number>();
  readonly #oneWayIn = onFirstUse((_view: View) => new Map<Json, boolean>());
  readonly formats: Formats | undefined;
  /** Returns a format of the service, OpenAPI or JSON Schema. */
  readonly formatOf: (name: string) => Format | undefined;
  /** True if the values of some formats have a type. */
  readonly hasTypedFormats: boolean;
  #extensions: ReadonlyMap<Json, readonly Json[]> | undefined;

  /** @param formats those of the service. */
  constructor(root: Json, formats?: Formats) {
    this.root = root;
    this.formats = formats;
    this.formatOf = createFormats(formats);
    this.hasTypedFormats = Object.values(formats ?? {}).some(isObject);
    const components = asObject(asObject(root.components).schemas);
    for (const [name, schema] of Object.entries(components))
      if (isObject(schema) && !this.componentNames.has(schema))
        this.componentNames.set(schema, name);
  }

  /** Returns a schema as an object: also `true`, `false`, and values that are no schemas. */
  schemaOf(value: unknown): Json {
    if (isObject(value)) return value;
    return value === false ? NOTHING : ANYTHING;
  }

  idOf(schema: Json): number {
    const existing = this.#ids.get(schema);
    if (existing !== undefined) return existing;
    const id = this.#ids.size;
    this.#ids.set(schema, id);
    return id;
  }

  /** Compiles a regular expression (JSON Schema 2020-12 §6.4). @throws {SyntaxError} */
  readonly pattern = onFirstUse(compilePattern);

  /** Returns the test of a pattern. An invalid one, which the check reports, matches any text. */
  readonly patternTest = onFirstUse((source: string): TextTest => {
    try {
      return this.pattern(source).test;
    } catch {
      return () => true;
    }
  });

  /** Returns the target of a `$ref`. A reference that leads to nothing allows anything. */
  readonly resolve = onFirstUse((ref: string): Json => this.schemaOf(valueAt(this.root, ref)));

  /** Returns the schema at the end of a chain of references. Ignores keywords beside them. */
  referenced(schema: Json): Json {
    return this.#follow(schema, () => true);
  }

  /** Returns the schema at the end of a chain of references without keywords beside them. */
  target(schema: Json): Json {
    return this.#follow(schema, (source) => Object.keys(source).length === 1);
  }

  #follow(schema: Json, isFollowed: (source: Json) => boolean): Json {
    const visited = new Set<Json>();
    let target = schema;
    while (typeof target.$ref === 'string' && isFollowed(target) && !visited.has(target)) {
      visited.add(target);
      target = this.resolve(target.$ref);
    }
    return target;
  }

  /** Returns the names that the mapping of a discriminator has for each schema. */
  readonly namesIn = onFirstUse((mapping: Json): ReadonlyMap<Json, readonly string[]> => {
    const targets = Object.entries(mapping).flatMap(([name, ref]) =>
      typeof ref === 'string' && valueAt(this.root, ref) !== undefined
        ? [{ name, schema: this.resolve(ref) }]
        : [],
    );
    const groups = Map.groupBy(targets, ({ schema }) => schema);
    return new Map(
      [...groups].map(([schema, list]) => [schema, list.map(({ name }) => name)] as const),
    );
  });

  /** Lists the schemas that a schema applies to the same value: its reference and its `allOf`. */
  joinedBy({ $ref, $dynamicRef, allOf }: Json): readonly Json[] {
    if ($ref === undefined && $dynamicRef === undefined && allOf === undefined) return NO_SCHEMAS;
    const refs = [$ref, $dynamicRef].filter((ref) => typeof ref === 'string');
    return [
      ...refs.map((ref) => this.resolve(ref)),
      ...asArray(allOf).map((schema) => this.schemaOf(schema)),
    ];
  }

  /** Lists a schema and all schemas that always apply with it. */
  readonly applied = onFirstUse((schema: Json) =>
    reachable(schema, (inner) => this.joinedBy(inner)),
  );

  /** Returns the facts of a schema and all schemas that always apply with it. */
  facts(schema: Json): Facts {
    return new Facts(this.applied(schema));
  }

  /** Lists a schema and all schemas that may apply with it. */
  readonly possible = onFirstUse((schema: Json) =>
    reachable(schema, (inner) => [
      ...this.joinedBy(inner),
      ...alternativesIn(inner).map((alternative) => this.schemaOf(alternative)),
    ]),
  );

  /** Lists the patterns that match a name. @throws {BudgetExceeded} */
  matching(patterns: readonly string[], name: string, budget: Budget): readonly string[] {
    return patterns.filter((pattern) => this.patternTest(pattern)(name, budget));
  }

  /**
   * Lists the schemas that `properties` and `patternProperties` of a schema have for a name.
   *
   * @param name `undefined` for a name that no schema lists.
   * @param matched the patterns that match the name.
   */
  declared(
    { properties, patternProperties }: Json,
    name: string | undefined,
    matched: readonly string[],
  ): unknown[] {
    const members = asObject(properties);
    const found = name !== undefined && Object.hasOwn(members, name) ? [members[name]] : [];
    for (const [pattern, schema] of entriesOf(patternProperties))
      if (matched.includes(pattern)) found.push(schema);
    return found;
  }

  /** True for a schema that no value matches, since it is or applies `false`. */
  isNothing(schema: unknown): boolean {
    return schema !== undefined && this.applied(this.schemaOf(schema)).includes(NOTHING);
  }

  /** True for a member that only the other direction has: each of its values, except for null. */
  isOneWay(schema: Json, view: View): boolean {
    const results = this.#oneWayIn(view);
    const known = results.get(schema);
    if (known !== undefined) return known;
    // For alternatives that refer to the schema itself.
    results.set(schema, true);
    const result = this.applied(schema).some(
      (part) =>
        ONE_WAY_KEYWORDS[view].some((key) => part[key] === true) ||
        [part.oneOf, part.anyOf].some((list) => {
          const values = asArray(list)
            .map((inner) => this.schemaOf(inner))
            .filter(({ type }) => type !== 'null');
          return values.length > 0 && values.every((inner) => this.isOneWay(inner, view));
        }),
    );
    results.set(schema, result);
    return result;
  }

  /** Lists the alternatives of a schema, also those of others that it applies. */
  alternatives(schema: Json): readonly Json[] {
    // Many references lead to the same schema, which may have many alternatives.
    return this.possible(this.target(schema))
      .flatMap(alternativesIn)
      .map((inner) => this.schemaOf(inner));
  }

  /** True if a `readOnly` member of a request is a violation: `x-read-only: reject`. */
  isRejected(schema: Json): boolean {
    const holders = [this.root, ...this.possible(schema)];
    return holders.some((holder) => holder['x-read-only'] === 'reject');
  }

  /** Lists the components that extend a schema by `allOf`, directly or through others. */
  extensionsOf(base: Json): readonly Json[] {
    this.#extensions ??= this.#findExtensions();
    return this.#extensions.get(base) ?? NO_SCHEMAS;
  }

  #findExtensions(): ReadonlyMap<Json, readonly Json[]> {
    const extensions = new Map<Json, Json[]>();
    for (const component of this.componentNames.keys()) {
      const parts = asArray(component.allOf).map((part) => this.schemaOf(part));
      const bases = new Set(parts.flatMap((part) => this.applied(part)));
      bases.delete(component);
      for (const base of bases) {
        const list = extensions.get(base);
        if (list === undefined) extensions.set(base, [component]);
        else list.push(component);
      }
    }
    return extensions;
  }

  /**
   * True if a schema extends the schemas in its `allOf`, so that their discriminators do not select
   * among their extensions. An `allOf` with one schema only adds annotations to a reference, unless
   * a component is defined so.
   */
  isExtension(schema: Json): boolean {
    const parts = asArray(schema.allOf);
    return parts.length > 1 || (parts.length > 0 && this.#isDefinition(schema));
  }

  /** True if a schema extends another one, which is in its `allOf`. */
  extends(schema: Json, part: Json): boolean {
    return asArray(schema.allOf).includes(part) && this.isExtension(schema);
  }

  #isDefinition(schema: Json): boolean {
    return this.componentNames.has(schema) || schema.properties !== undefined;
  }
}

/** Lists a schema and all schemas that `next` leads to, each once, in depth-first order. */
export function reachable(start: Json, next: (schema: Json) => readonly Json[]): readonly Json[] {
  const found = new Set<Json>();
  const pending = [start];
  for (let schema = pending.pop(); schema !== undefined; schema = pending.pop()) {
    if (found.has(schema)) continue;
    found.add(schema);
    pending.push(...next(schema).toReversed());
  }
  return [...found];
}
