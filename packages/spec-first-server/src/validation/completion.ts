import {
  allOfSchemas,
  asArray,
  asObject,
  defaultFits,
  eachSchema,
  isObject,
  type Json,
  unionOf,
  valueAt,
} from 'openapi-document';
import { isOneWay, type Reading } from './rewrite.ts';

/**
 * Completes values that are valid: adds the defaults of properties that are missing, and drops read-only ones of a
 * request if they are not rejected. Only after the validation, so that what is added is never rejected.
 */
export class Completion {
  readonly #root: Json;
  readonly #reading: Reading;
  readonly #changes = new Map<unknown, boolean>();
  readonly #defaults = new Map<unknown, Json>();

  constructor(root: Json, reading: Reading) {
    this.#root = root;
    this.#reading = reading;
  }

  /** Whether a schema has a default, or a property to drop, for the value or for anything inside. */
  changes(schema: unknown): boolean {
    let known = this.#changes.get(schema);
    if (known === undefined) {
      known = this.#finds(schema, new Set());
      this.#changes.set(schema, known);
    }
    return known;
  }

  /** Completes a member of an object. */
  member(holder: Record<string, unknown>, name: string, schema: unknown): void {
    if (holder[name] === undefined) {
      const { value } = this.#defaultOf(schema);
      if (value === undefined) return;
      holder[name] = structuredClone(value);
    }
    if (this.changes(schema)) this.#complete(schema, holder[name]);
  }

  #finds(schema: unknown, seen: Set<unknown>): boolean {
    let found = false;
    eachSchema(schema, '', (inner) => {
      if (found || seen.has(inner)) return;
      seen.add(inner);
      found =
        Object.hasOwn(inner, 'default') ||
        (this.#drops && inner.readOnly === true) ||
        (typeof inner.$ref === 'string' && this.#finds(valueAt(this.#root, inner.$ref), seen));
    });
    return found;
  }

  get #drops(): boolean {
    return this.#reading.readOnly === 'drop';
  }

  #complete(schema: unknown, value: unknown): void {
    if (Array.isArray(value)) {
      for (const { prefixItems, items } of this.#schemasFor(schema, value)) {
        for (const [index, item] of value.entries()) this.#complete(asArray(prefixItems)[index] ?? items, item);
      }
    } else if (isObject(value)) {
      const holder: Record<string, unknown> = value;
      for (const { properties, additionalProperties } of this.#schemasFor(schema, value)) {
        const declared = asObject(properties);
        for (const [name, property] of Object.entries(declared)) {
          if (this.#drops && isOneWay(this.#root, property, 'request')) delete holder[name];
          else this.member(holder, name, property);
        }
        if (!isObject(additionalProperties)) continue;
        for (const name in value) if (!Object.hasOwn(declared, name)) this.#complete(additionalProperties, value[name]);
      }
    }
  }

  /** The schemas that a valid value matches: alternatives only where a property selects one. */
  #schemasFor(schema: unknown, value: object, seen = new Set<unknown>()): Json[] {
    return allOfSchemas(this.#root, schema, seen).flatMap((part) => {
      const chosen = [part.oneOf, part.anyOf].flatMap((list) => this.#chosen(asArray(list), part, value) ?? []);
      return [part, ...chosen.flatMap((alternative) => this.#schemasFor(alternative, value, seen))];
    });
  }

  #chosen(alternatives: readonly unknown[], { discriminator }: Json, value: object): unknown {
    const union = unionOf(this.#root, alternatives, discriminator, this.#reading.discriminator);
    if (union === undefined) return undefined;
    const selecting: unknown = Reflect.get(value, union.propertyName);
    return union.choices.find(({ values }) => values.includes(selecting))?.schema ?? union.fallback;
  }

  /** The first default that a schema gives, unless it does not fit. */
  #defaultOf(schema: unknown): Json {
    const known = this.#defaults.get(schema);
    if (known !== undefined) return known;
    const source = allOfSchemas(this.#root, schema).find((part) => Object.hasOwn(part, 'default'));
    const fits = source !== undefined && defaultFits(this.#root, { ...asObject(schema), default: source.default });
    const found = fits ? { value: source.default } : {};
    this.#defaults.set(schema, found);
    return found;
  }
}
