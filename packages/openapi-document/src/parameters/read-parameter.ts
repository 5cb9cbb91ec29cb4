import { asObject, isObject, type Json } from '../document/document.ts';
import type { Parameter } from '../document/operations.ts';
import { alternatives, propertySchemas } from '../document/schema.ts';
import { MAX_DEPTH } from '../json/exact.ts';
import { coerce, coerceItems, coerceObject, jsonOr, shapeOf } from './coerce.ts';
import { cut } from './pairs.ts';
import { styleOf } from './styles.ts';

/** A query, a form, or cookies: values by name, as they were sent. */
export type Pairs = ReadonlyMap<string, readonly string[]>;

/** Why a text cannot be the value of a parameter. */
export class ParameterError extends Error {}

/** Takes away what makes a part safe for its location. */
type Decode = (part: string) => string;

/** A value that has no name beside it, or only in the style `matrix`: that of a path, a header or one cookie. */
export function fromText(root: Json, parameter: Parameter, text: string | undefined, decode: Decode): unknown {
  const { name, explode, schema, json } = parameter;
  const { prefix, exploded, isNamed } = styleOf(parameter);
  if (text === undefined) return undefined;
  if (json) return jsonOr(decode(text));
  if (!text.startsWith(prefix)) return undefined;
  const bare = text.slice(prefix.length);
  const unnamed = (part: string) => (isNamed && part.startsWith(`${name}=`) ? part.slice(name.length + 1) : part);
  const shape = shapeOf(root, schema);
  if (shape === 'text') return coerce(root, [schema], decode(unnamed(bare)));
  const list = explode ? bare : unnamed(bare);
  const parts = list === '' ? [] : list.split(explode ? exploded : ',');
  const decoded = (part: string) => decode(unnamed(part));
  if (shape === 'array') return coerceItems(root, schema, parts.map(decoded));
  const named = () => parts.map((part) => cut(part, '=').map(decode) as [string, string]);
  return coerceObject(root, schema, explode ? named() : alternating(parts, decode));
}

/**
 * A value with its name beside it: that of a query, a form, or cookies of the style `cookie`.
 *
 * @param isKnown whether a name belongs to another parameter.
 * @throws {URIError | ParameterError}
 */
export function fromPairs(
  root: Json,
  parameter: Parameter,
  pairs: Pairs,
  isKnown: (name: string) => boolean,
  decode: Decode,
): unknown {
  const { name, schema, json, explode } = parameter;
  if (parameter.style === 'deepObject') return fromDeepObject(root, parameter, pairs, decode);
  if (isSpread(root, parameter)) {
    const takesAny = takesAnyName(root, parameter);
    const own = propertiesOf(root, schema);
    const taken = [...pairs].filter(([key]) => Object.hasOwn(own, key) || (takesAny && !isKnown(key)));
    const entries = taken.flatMap(([key, texts]) => texts.map((text) => [key, decode(text)] as const));
    return entries.length === 0 ? undefined : coerceObject(root, schema, entries);
  }
  const values = pairs.get(name);
  if (values === undefined) return undefined;
  const shape = json ? 'text' : shapeOf(root, schema);
  if (shape === 'array' && explode) return coerceItems(root, schema, values.map(decode));
  if (values.length > 1) throw new ParameterError('must be given once');
  const [text = ''] = values;
  if (json) return jsonOr(decode(text));
  if (shape === 'text') return coerce(root, [schema], decode(text));
  const parts = text === '' ? [] : text.split(styleOf(parameter).delimiters);
  if (shape === 'array') return coerceItems(root, schema, parts.map(decode));
  return coerceObject(root, schema, alternating(parts, decode));
}

/** Names and values that alternate. */
const alternating = (parts: readonly string[], decode: Decode): [string, string][] =>
  parts.flatMap((part, index): [string, string][] =>
    index % 2 === 0 ? [[decode(part), decode(parts[index + 1] ?? '')]] : [],
  );

/** Whether each property of an object has a name of its own in the query. */
const isSpread = (root: Json, { style, explode, json, schema }: Parameter): boolean =>
  (style === 'form' || style === 'cookie') && explode && !json && shapeOf(root, schema) === 'object';

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

function fromDeepObject(root: Json, parameter: Parameter, pairs: Pairs, decode: Decode): unknown {
  const entries = [...pairs]
    .filter(([key]) => isDeep(parameter, key))
    .flatMap(([key, texts]) => {
      const path = key === parameter.name ? [] : key.slice(parameter.name.length + 1, -1).split('][');
      if (path.length > MAX_DEPTH) throw new ParameterError(`must be nested at most ${MAX_DEPTH} levels deep`);
      return texts.map((text): DeepEntry => [path, decode(text)]);
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
