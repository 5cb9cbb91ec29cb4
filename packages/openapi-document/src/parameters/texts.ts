import { decoded, type Json } from '../document/document.ts';
import { itemSchemas, propertySchemas, shapeOf, typesOf } from '../document/schema.ts';
import { parseJson, parseNumber } from '../json/exact.ts';

/** A text as a value of the types that the schemas name, or as the text that it is. */
export function coerce(root: Json, schemas: readonly unknown[], text: string): unknown {
  const types = new Set(schemas.flatMap((schema) => [...typesOf(root, schema)]));
  if (types.has('integer') || types.has('number')) {
    const number = parseNumber(text);
    if (number !== undefined) return number;
  }
  if (types.has('boolean') && (text === 'true' || text === 'false')) return text === 'true';
  return types.has('null') && text === '' && !types.has('string') ? null : text;
}

export const coerceItems = (root: Json, schema: unknown, texts: readonly string[]): unknown[] =>
  texts.map((text, index) => coerce(root, itemSchemas(root, schema, index), text));

/** The names that lead to a value inside an object, and its text. */
export type Entry = readonly [path: readonly string[], text: string];

/**
 * Texts by name as an object. Names that come several times are an array. OpenAPI defines the style `deepObject` for objects
 * of scalars. Deeper ones are read as is the custom: `[a][b]=1`, and `[]=1` or `[0]=1` for the items of an array, in their
 * order.
 */
export function coerceObject(root: Json, schemas: readonly unknown[], entries: readonly Entry[]): unknown {
  const array = schemas.find((schema) => shapeOf(root, schema) === 'array');
  const isList = entries.every(([[first = '', ...rest]]) => /^\d*$/.test(first) && rest.length === 0);
  const texts = entries.map(([, text]) => text);
  if (array !== undefined && isList) return coerceItems(root, array, texts);
  const leaf = entries.find(([path]) => path.length === 0);
  // The validator rejects a text that has members as well.
  if (leaf !== undefined) return entries.length === 1 ? coerce(root, schemas, leaf[1]) : texts;
  const members = [...Map.groupBy(entries, ([[first = '']]) => first)].map(([key, inside]) => {
    const inner = [...new Set(schemas.flatMap((schema) => propertySchemas(root, schema, key)))];
    const rest = inside.map(([[, ...path], text]): Entry => [path, text]);
    return [key, coerceObject(root, inner, rest)];
  });
  return Object.fromEntries(members);
}

/** The value of a JSON text, or the text as it is. The validator reports that one. */
export function jsonOr(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

/** Texts by name, as they were sent: those of a query, a form, or cookies. */
export type Pairs = ReadonlyMap<string, readonly string[]>;

/** The values of a query or a form by name, percent-encoded. A `+` is a space in both. */
export const pairsOf = (text: string): Pairs =>
  byName(text.replaceAll('+', '%20').split('&'), (name, value) => [decoded(name), value]);

/** The cookies of a request by name (RFC 6265 §4.2.1), as they were sent. */
export const cookiesOf = (header: unknown): Pairs =>
  byName(typeof header === 'string' ? header.split(';').filter((pair) => pair.includes('=')) : [], (name, value) => [
    name.trim(),
    value.trim().replace(/^"(.*)"$/, '$1'),
  ]);

function byName(pairs: readonly string[], read: (name: string, value: string) => readonly [string, string]): Pairs {
  const found = new Map<string, string[]>();
  for (const pair of pairs) {
    if (pair === '') continue;
    const [name, value] = read(...cut(pair, '='));
    const values = found.get(name);
    if (values === undefined) found.set(name, [value]);
    else values.push(value);
  }
  return found;
}

/** The texts before and after the first separator. */
export function cut(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + separator.length)];
}
