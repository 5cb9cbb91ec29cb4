import { parseJson } from '../json/exact.ts';
import { parseNumber } from '../json/parser.ts';
import type { Budget } from '../schema/budget.ts';
import { formOf, TYPE_BITS, typeBitOf } from '../schema/json-types.ts';
import type { Outline } from '../schema/outline.ts';
import { decoded } from '../source/document.ts';

/**
 * Returns the value that a text stands for: a number or a boolean if the schema has the type, or
 * `null` for an empty text. If the schema also allows strings, only a text that JSON would write in
 * the same way becomes a value, unless the schema rejects one of them.
 */
export function coerce(schema: Outline, text: string, budget?: Budget): unknown {
  const { typeBits: types } = schema;
  const value = scalarOf(types, text);
  const isOnly = value !== null && (types & TYPE_BITS.string) === 0;
  if (value === text || isOnly) return value;
  // A request has the nearest double of a bigint, unless its schema has integers of 64 bits.
  const read = typeof value === 'bigint' && !schema.isWide ? Number(value) : value;
  return String(read) === text
    ? firstAllowed(schema, value, text, budget)
    : firstAllowed(schema, text, value, budget);
}

function scalarOf(types: number, text: string): unknown {
  const number = (types & TYPE_BITS.number) === 0 ? undefined : parseNumber(text);
  if (number !== undefined && (typeBitOf(number) & types) !== 0) return number;
  if ((types & TYPE_BITS.boolean) !== 0 && (text === 'true' || text === 'false'))
    return text === 'true';
  return text === '' && (types & TYPE_BITS.null) !== 0 ? null : text;
}

/** Returns the second value if the schema allows only this one. */
export const firstAllowed = (
  schema: Outline,
  first: unknown,
  second: unknown,
  budget?: Budget,
): unknown => (schema.allows(first, budget) || !schema.allows(second, budget) ? first : second);

export const coerceItems = (
  schema: Outline,
  texts: readonly string[],
  budget?: Budget,
): unknown[] => texts.map((text, index) => coerce(schema.item(index), text, budget));

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
  schema: Outline,
  entries: readonly PathText[],
  budget?: Budget,
): unknown {
  const isList = formOf(schema.typeBits) === 'array';
  const leaf = entries.find(([path]) => path.length === 0);
  if (leaf !== undefined && entries.length === 1 && !isList) return coerce(schema, leaf[1], budget);
  const isNested = entries.some(([path]) => path.length > 1);
  const index = isNested ? /^\d+$/ : /^\d*$/;
  const texts = entries.map(([, text]) => text);
  if (isList && entries.every(([[first = '']]) => index.test(first))) {
    if (!isNested) return coerceItems(schema, texts, budget);
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
