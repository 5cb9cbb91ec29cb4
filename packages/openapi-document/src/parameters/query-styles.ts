import { asObject, isObject, type Json } from '../document/document.ts';
import type { Parameter } from '../document/operations.ts';
import { alternatives, propertySchemas } from '../document/schema.ts';
import { MAX_DEPTH } from '../json/exact.ts';
import { inPairs } from './text-styles.ts';
import { coerce, coerceItems, coerceObject, jsonOr, shapeOf } from './typed.ts';

/** A query, percent-encoded values by name. */
export type Query = ReadonlyMap<string, readonly string[]>;

/** A parameter nests deeper than values are read. */
export class NestsTooDeep extends Error {}

/**
 * A value in one of the styles for queries.
 *
 * @param isKnown whether a name belongs to another parameter.
 * @throws {URIError | NestsTooDeep}
 */
export function fromQuery(root: Json, parameter: Parameter, query: Query, isKnown: (name: string) => boolean): unknown {
  const { name, style, schema, json, explode } = parameter;
  if (style === 'deepObject') return fromDeepObject(root, parameter, query);
  const shape = json ? 'text' : shapeOf(root, schema);
  if (isSpread(root, parameter)) {
    const takesAny = takesAnyName(root, parameter);
    const own = propertiesOf(root, schema);
    const taken = [...query].filter(([key]) => Object.hasOwn(own, key) || (takesAny && !isKnown(key)));
    const entries = taken.flatMap(([key, texts]) => texts.map((text) => [key, decodeURIComponent(text)] as const));
    return entries.length === 0 ? undefined : coerceObject(root, schema, entries);
  }
  const values = query.get(name);
  if (values === undefined) return undefined;
  const [text = ''] = values;
  const parts = text === '' ? [] : text.split(DELIMITERS[style] ?? ',');
  if (shape === 'array') return coerceItems(root, schema, (explode ? values : parts).map(decodeURIComponent));
  if (shape === 'object') return coerceObject(root, schema, inPairs(parts, decodeURIComponent));
  // A name that comes twice has no one value. The validator rejects the list.
  if (values.length > 1) return values.map((value) => coerce(root, [schema], decodeURIComponent(value)));
  return json ? jsonOr(decodeURIComponent(text)) : coerce(root, [schema], decodeURIComponent(text));
}

const DELIMITERS: Readonly<Record<string, RegExp>> = { spaceDelimited: /%20/, pipeDelimited: /\||%7C/i };

/** Whether each property of an object has a name of its own in the query. */
const isSpread = (root: Json, { style, explode, json, schema }: Parameter): boolean =>
  style === 'form' && explode && !json && shapeOf(root, schema) === 'object';

/** Whether a parameter takes each name that no other one has. */
export const takesAnyName = (root: Json, parameter: Parameter): boolean =>
  isSpread(root, parameter) &&
  alternatives(root, parameter.schema).some(
    (part) => part.additionalProperties === true || isObject(part.additionalProperties),
  );

/** The names that a parameter has in the query. */
export function queryNames(root: Json, parameter: Parameter): string[] {
  if (parameter.style === 'deepObject') return [];
  return isSpread(root, parameter) ? Object.keys(propertiesOf(root, parameter.schema)) : [parameter.name];
}

const propertiesOf = (root: Json, schema: unknown): Json =>
  Object.assign({}, ...alternatives(root, schema).map((part) => asObject(part.properties)));

/** Whether a name such as `filter[a][b]` belongs to a parameter; `filter` alone is that of a scalar. */
export const isDeep = ({ name, style }: Parameter, key: string): boolean =>
  style === 'deepObject' && key.startsWith(name) && /^(\[[^[\]]*\])*$/.test(key.slice(name.length));

/** The names in the brackets of a key, and the text. */
type DeepEntry = readonly [path: readonly string[], text: string];

function fromDeepObject(root: Json, parameter: Parameter, query: Query): unknown {
  const entries = [...query]
    .filter(([key]) => isDeep(parameter, key))
    .flatMap(([key, texts]) => {
      const path = key === parameter.name ? [] : key.slice(parameter.name.length + 1, -1).split('][');
      if (path.length > MAX_DEPTH) throw new NestsTooDeep();
      return texts.map((text): DeepEntry => [path, decodeURIComponent(text)]);
    });
  return entries.length === 0 ? undefined : coerceDeep(root, [parameter.schema], entries);
}

/**
 * OpenAPI defines the style for objects of scalars. Deeper ones are read as is the custom: `[a][b]=1`, and `[]=1` or
 * `[0]=1` for the items of an array, in their order.
 */
function coerceDeep(root: Json, schemas: readonly unknown[], entries: readonly DeepEntry[]): unknown {
  const array = schemas.find((schema) => shapeOf(root, schema) === 'array');
  const isList = entries.every(([[first = '', ...rest]]) => /^\d*$/.test(first) && rest.length === 0);
  const texts = entries.map(([, text]) => text);
  if (array !== undefined && isList) return coerceItems(root, array, texts);
  const leaf = entries.find(([path]) => path.length === 0);
  // The validator rejects a text that has members as well.
  if (leaf !== undefined) return entries.length === 1 ? coerce(root, schemas, leaf[1]) : texts;
  const members = Map.groupBy(entries, ([[first = '']]) => first);
  return Object.fromEntries(
    [...members].map(([key, inside]) => [
      key,
      coerceDeep(
        root,
        [...new Set(schemas.flatMap((schema) => propertySchemas(root, schema, key)))],
        inside.map(([[, ...path], text]): DeepEntry => [path, text]),
      ),
    ]),
  );
}
