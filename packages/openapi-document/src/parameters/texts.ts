import { parseJson, parseNumber } from '../json/exact.ts';
import type { Budget } from '../schema/budget.ts';
import { formOf, TYPE_BITS, typeBitOf } from '../schema/json-types.ts';
import type { Outline } from '../schema/outline.ts';
import { decoded, isObject } from '../source/document.ts';

/** The facts about a schema that decide which value a text stands for. */
export interface TextSchema
  extends Pick<
    Outline,
    'typeBits' | 'hasTypes' | 'names' | 'describesOtherMembers' | 'allowsEmptyText'
  > {
  /** @throws {BudgetExceeded} */
  member(name: string, budget?: Budget): TextSchema;
  item(index: number): TextSchema;
}

/** Returns the schema that reads the texts of a value as the same value. `null` has no text. */
export function schemaOfValue(value: unknown): TextSchema {
  const items: readonly unknown[] = Array.isArray(value) ? value : [];
  const members = isObject(value) ? value : {};
  const memberOf = (name: string) =>
    schemaOfValue(Object.hasOwn(members, name) ? members[name] : undefined);
  return {
    typeBits: typeBitOf(value),
    hasTypes: true,
    names: new Set(Object.keys(members)),
    describesOtherMembers: false,
    allowsEmptyText: true,
    member: memberOf,
    item: (index) => schemaOfValue(items[index]),
  };
}

/** Converts a string to one of the types of the schema, if possible. */
export function coerce(schema: TextSchema, text: string): unknown {
  const { typeBits: types } = schema;
  if ((types & TYPE_BITS.number) !== 0) {
    const number = parseNumber(text);
    if (number !== undefined && (typeBitOf(number) & types) !== 0) return number;
  }
  if ((types & TYPE_BITS.boolean) !== 0 && (text === 'true' || text === 'false'))
    return text === 'true';
  return text === '' && (types & TYPE_BITS.null) !== 0 && !schema.allowsEmptyText ? null : text;
}

export const coerceItems = (schema: TextSchema, texts: readonly string[]): unknown[] =>
  texts.map((text, index) => coerce(schema.item(index), text));

/** The path to a value inside an object, and its serialized value. */
export type PathText = readonly [path: readonly string[], text: string];

/**
 * Builds an object. A name with several values is an array. OpenAPI defines `deepObject` only for
 * objects of scalars. Deeper values follow the common convention: `[a][b]=1` for members, and
 * `[]=1`, `[0]=1` or `[0][a]=1` for the items of an array, in order.
 *
 * @throws {BudgetExceeded}
 */
export function coerceObject(
  schema: TextSchema,
  entries: readonly PathText[],
  budget?: Budget,
): unknown {
  const isList = formOf(schema.typeBits) === 'array';
  const leaf = entries.find(([path]) => path.length === 0);
  if (leaf !== undefined && entries.length === 1 && !isList) return coerce(schema, leaf[1]);
  const isNested = entries.some(([path]) => path.length > 1);
  const index = isNested ? /^\d+$/ : /^\d*$/;
  const texts = entries.map(([, text]) => text);
  if (isList && entries.every(([[first = '']]) => index.test(first))) {
    if (!isNested) return coerceItems(schema, texts);
    return membersOf(entries).map(([, inside], position) =>
      coerceObject(schema.item(position), inside, budget),
    );
  }
  // `a=1&a[b]=2` is neither a string nor an object. Returns an array, which validation rejects.
  if (leaf !== undefined) return texts;
  const members = membersOf(entries).map(([key, inside]) => [
    key,
    coerceObject(schema.member(key, budget), inside, budget),
  ]);
  return Object.fromEntries(members);
}

/** Groups entries by the first name of their paths. */
const membersOf = (entries: readonly PathText[]) =>
  [...Map.groupBy(entries, ([[first = '']]) => first)].map(
    ([key, inside]) => [key, inside.map(([[, ...path], text]): PathText => [path, text])] as const,
  );

/** Parses JSON. Returns invalid JSON unchanged: validation rejects it if no string is allowed. */
export function jsonOrText(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

/** The encoded values of a query, a form, or cookies, by name. */
export type Pairs = ReadonlyMap<string, readonly string[]>;

/** Splits a query or a form. `+` becomes an encoded space. */
export function pairsOf(text: string): Pairs {
  const pairs = new Map<string, string[]>();
  for (const pair of text.replaceAll('+', '%20').split('&')) {
    if (pair === '') continue;
    const [name, value] = splitOnce(pair, '=');
    add(pairs, decoded(name), value);
  }
  return pairs;
}

/** Splits a Cookie header (RFC 6265 §4.2.1). */
export function cookiesOf(header: unknown): Pairs {
  const pairs = new Map<string, string[]>();
  for (const pair of typeof header === 'string' ? header.split(';') : []) {
    if (!pair.includes('=')) continue;
    const [name, value] = splitOnce(pair, '=');
    add(pairs, name.trim(), value.trim().replace(/^"(.*)"$/, '$1'));
  }
  return pairs;
}

function add(pairs: Map<string, string[]>, name: string, value: string): void {
  const values = pairs.get(name);
  if (values === undefined) pairs.set(name, [value]);
  else values.push(value);
}

/** Decodes a percent-encoded text. @throws {URIError} */
export const percentDecoded = (text: string): string =>
  text.includes('%') ? decodeURIComponent(text) : text;

export function splitOnce(text: string, separator: string): [string, string] {
  const index = text.indexOf(separator);
  return index < 0 ? [text, ''] : [text.slice(0, index), text.slice(index + separator.length)];
}
