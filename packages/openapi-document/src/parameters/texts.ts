import { parseJson, parseNumber } from '../json/exact.ts';
import { type TypeName, typeBitOf, typeBits } from '../schema/json-types.ts';
import type { Outline } from '../schema/outline.ts';
import { decoded } from '../source/document.ts';

/** The facts about a schema that decide which value a text stands for. */
export interface TextSchema
  extends Pick<
    Outline,
    | ('form' | 'types' | 'names' | 'describesOtherMembers' | 'allowsEmptyText')
    | ('isAnything' | 'isFile')
  > {
  member(name: string): TextSchema;
  members(name: string): readonly TextSchema[];
  items(index: number): readonly TextSchema[];
}

/** Converts a string to one of the types of the schemas, if possible. */
export function coerce(schemas: readonly TextSchema[], text: string): unknown {
  const allows = (type: TypeName) => schemas.some(({ types }) => types.has(type));
  if (allows('integer') || allows('number')) {
    const number = parseNumber(text);
    const types = typeBits(schemas.flatMap((schema) => [...schema.types]));
    if (number !== undefined && (typeBitOf(number) & types) !== 0) return number;
  }
  if ((text === 'true' || text === 'false') && allows('boolean')) return text === 'true';
  if (text !== '' || !allows('null')) return text;
  return schemas.some(({ allowsEmptyText }) => allowsEmptyText) ? text : null;
}

export const coerceItems = (schema: TextSchema, texts: readonly string[]): unknown[] =>
  texts.map((text, index) => coerce(schema.items(index), text));

/** The path to a value inside an object, and its serialized value. */
export type PathText = readonly [path: readonly string[], text: string];

/**
 * Builds an object. A name with several values is an array. OpenAPI defines `deepObject` only for
 * objects of scalars. Deeper values follow the common convention: `[a][b]=1` for members, and
 * `[]=1`, `[0]=1` or `[0][a]=1` for the items of an array, in order.
 */
export function coerceObject(
  schemas: readonly TextSchema[],
  entries: readonly PathText[],
): unknown {
  const array = schemas.find(({ form }) => form === 'array');
  const isNested = entries.some(([path]) => path.length > 1);
  const index = isNested ? /^\d+$/ : /^\d*$/;
  const texts = entries.map(([, text]) => text);
  if (array !== undefined && entries.every(([[first = '']]) => index.test(first))) {
    if (!isNested) return coerceItems(array, texts);
    return membersOf(entries).map(([, inside], position) =>
      coerceObject(array.items(position), inside),
    );
  }
  const leaf = entries.find(([path]) => path.length === 0);
  // `a=1&a[b]=2` is neither a string nor an object. Returns an array, which validation rejects.
  if (leaf !== undefined) return entries.length === 1 ? coerce(schemas, leaf[1]) : texts;
  const members = membersOf(entries).map(([key, inside]) => {
    const inner = schemas.flatMap((schema) => schema.members(key));
    return [key, coerceObject(inner, inside)];
  });
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
export const pairsOf = (text: string): Pairs =>
  byName(text.replaceAll('+', '%20').split('&'), (name, value) => [decoded(name), value]);

/** Splits a Cookie header (RFC 6265 §4.2.1). */
export const cookiesOf = (header: unknown): Pairs =>
  byName(
    typeof header === 'string' ? header.split(';').filter((pair) => pair.includes('=')) : [],
    (name, value) => [name.trim(), value.trim().replace(/^"(.*)"$/, '$1')],
  );

function byName(
  pairs: readonly string[],
  read: (name: string, value: string) => readonly [string, string],
): Pairs {
  const valuesByName = new Map<string, string[]>();
  for (const pair of pairs) {
    if (pair === '') continue;
    const [name, value] = read(...splitOnce(pair, '='));
    const values = valuesByName.get(name);
    if (values === undefined) valuesByName.set(name, [value]);
    else values.push(value);
  }
  return valuesByName;
}

export function splitOnce(text: string, separator: string): [string, string] {
  const index = text.indexOf(separator);
  return index < 0 ? [text, ''] : [text.slice(0, index), text.slice(index + separator.length)];
}
