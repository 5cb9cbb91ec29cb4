import type { Json } from '../document/document.ts';
import { itemSchemas, propertySchemas, typesOf } from '../document/schema.ts';
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

/** Texts as the items of an array. */
export const coerceItems = (root: Json, schema: unknown, texts: readonly string[]): unknown[] =>
  texts.map((text, index) => coerce(root, itemSchemas(root, schema, index), text));

/** Names and texts as the members of an object. A name that comes several times is an array. */
export function coerceObject(root: Json, schema: unknown, entries: readonly (readonly [string, string])[]): unknown {
  const members = Map.groupBy(entries, ([name]) => name);
  return Object.fromEntries(
    [...members].map(([name, values]) => {
      const texts = values.map(([, text]) => text);
      const schemas = propertySchemas(root, schema, name);
      const array = schemas.find((inner) => shapeOf(root, inner) === 'array');
      const isOne = array === undefined && texts.length === 1;
      return [name, isOne ? coerce(root, schemas, texts[0] ?? '') : coerceItems(root, array, texts)];
    }),
  );
}

/** Whether a value is written as a list, as pairs, or as one text. */
export function shapeOf(root: Json, schema: unknown): 'array' | 'object' | 'text' {
  const types = typesOf(root, schema);
  if (['string', 'number', 'integer', 'boolean'].some((type) => types.has(type))) return 'text';
  if (types.has('array')) return 'array';
  return types.has('object') ? 'object' : 'text';
}

/** The value of a JSON text, or the text as it is. The validator reports that one. */
export function jsonOr(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}
