import { asObject, isObject, type Json } from '../document/document.ts';
import { alternatives, shapeOf, typesOf } from '../document/schema.ts';
import { MAX_DEPTH } from '../json/exact.ts';
import {
  coerce,
  coerceItems,
  coerceObject,
  cookiesOf,
  jsonOrText,
  type Pairs,
  type PathText,
  pairsOf,
  splitOnce,
} from './texts.ts';
import { type Styled, styleOf } from './write-parameter.ts';

/** Thrown if a parameter or a form field cannot be parsed. */
export class ParameterError extends Error {
  /** The name of the parameter or the field. */
  readonly parameter: string;
  /** A predicate, such as `must be given once`. */
  readonly reason: string;

  constructor(parameter: string, reason: string) {
    super(`${parameter} ${reason}`);
    this.parameter = parameter;
    this.reason = reason;
  }
}

type Decode = (part: string) => string;

type Readable = Styled & {
  readonly schema: unknown;
  readonly media?: { readonly formReader: () => { urlencoded(text: string): unknown } } | undefined;
};

/** In the style `matrix`, the text contains the name of the parameter. */
function fromText(
  root: Json,
  parameter: Readable,
  text: string | undefined,
  decode: Decode,
  explode = parameter.explode,
): unknown {
  const { name, in: where, schema, json } = parameter;
  const { prefix, delimiter, delimiters = delimiter, exploded, isNamed } = styleOf(parameter);
  if (!text?.startsWith(prefix)) return undefined;
  if (json) return jsonOrText(decode(text));
  const unnamed = (part: string) => {
    if (where !== 'path' || !isNamed) return part;
    const [key, value] = splitOnce(part, '=');
    if (decode(key) === name) return value;
    throw new ParameterError(name, `must begin with ${prefix}${name}=`);
  };
  const bare = text.slice(prefix.length);
  const shape = shapeOf(root, schema);
  if (shape === 'text') return coerce(root, [schema], decode(unnamed(bare)));
  const list = explode ? bare : unnamed(bare);
  const parts = list === '' ? [] : list.split(explode ? exploded : delimiters);
  if (shape === 'array') {
    const items = explode ? parts.map(unnamed) : parts;
    return coerceItems(root, schema, items.map(decode));
  }
  const pairs = explode
    ? parts.map((part) => splitOnce(part, '='))
    : parts.flatMap((part, index) =>
        index % 2 === 0 ? [[part, parts[index + 1] ?? ''] as const] : [],
      );
  const entries = pairs.map(([key, value]): PathText => [[decode(key)], decode(value)]);
  return coerceObject(root, [schema], entries);
}

/** Parses a parameter of a query, a form, or cookies of the style `cookie`. */
export function fromPairs(
  root: Json,
  parameter: Readable,
  pairs: Pairs,
  isDeclared: (name: string) => boolean,
  decode: Decode,
): unknown {
  const { name, schema, json, explode } = parameter;
  if (parameter.style === 'deepObject' || isSpread(root, parameter)) {
    const properties = propertiesOf(root, schema);
    const takesAny = takesAnyName(root, parameter);
    const entries = [...pairs].flatMap(([key, texts]) => {
      const isProperty =
        parameter.style !== 'deepObject' &&
        (Object.hasOwn(properties, key) || (takesAny && !isDeclared(key)));
      const path = isProperty ? [key] : deepPath(parameter, key);
      if (path === undefined) return [];
      if (path.length > MAX_DEPTH)
        throw new ParameterError(name, `must be nested at most ${MAX_DEPTH} levels deep`);
      return texts.map((text): PathText => [path, decode(text)]);
    });
    return entries.length === 0 ? undefined : coerceObject(root, [schema], entries);
  }
  const values = pairs.get(name) ?? [];
  // Several values are an array, also if the schema allows a scalar.
  const isArray =
    values.length > 1 ? typesOf(root, schema).has('array') : shapeOf(root, schema) === 'array';
  if (isArray && values.length > 0 && explode && !json)
    return coerceItems(root, schema, values.map(decode));
  if (values.length > 1) throw new ParameterError(name, onceReason(root, parameter));
  return fromText(root, parameter, values[0], decode, false);
}

function onceReason(root: Json, parameter: Readable): string {
  const reason = 'must be given once';
  if (parameter.json || shapeOf(root, parameter.schema) !== 'array') return reason;
  const { delimiter } = styleOf(parameter);
  return `${reason}, with values separated by ${delimiter === ',' ? 'commas' : delimiter}`;
}

/** Returns true if each property of an object is a separate name in the query. */
const isSpread = (root: Json, { style, explode, json, schema }: Readable): boolean =>
  (style === 'form' || style === 'cookie') &&
  explode &&
  !json &&
  shapeOf(root, schema) === 'object';

/**
 * Returns true for an exploded object with `additionalProperties`. Its members are all query names
 * that no other parameter declares.
 */
export const takesAnyName = (root: Json, parameter: Readable): boolean =>
  isSpread(root, parameter) &&
  alternatives(root, parameter.schema).some(
    (part) => part.additionalProperties === true || isObject(part.additionalProperties),
  );

/**
 * Lists the query names that belong to a parameter. Names such as `filter[a]` are matched by
 * {@link deepPath}.
 */
export function queryNames(root: Json, parameter: Readable): string[] {
  if (parameter.style === 'deepObject') return [];
  return isSpread(root, parameter)
    ? Object.keys(propertiesOf(root, parameter.schema))
    : [parameter.name];
}

const propertiesOf = (root: Json, schema: unknown): Json =>
  Object.assign({}, ...alternatives(root, schema).map((part) => asObject(part.properties)));

/**
 * Returns the path inside a parameter of the style `deepObject`: `['a', 'b']` for `filter[a][b]`,
 * and an empty array for `filter`. Returns `undefined` for a name of another parameter.
 */
export function deepPath({ name, style }: Styled, key: string): string[] | undefined {
  const inside = style === 'deepObject' && key.startsWith(name) ? key.slice(name.length) : 'other';
  return /^(\[[^[\]]*\])*$/.test(inside)
    ? [...inside.matchAll(/\[(.*?)\]/g)].map(([, part = '']) => part)
    : undefined;
}

/**
 * Parses a parameter. Without `pairs`, `text` must have the format that `writeParameter` returns.
 *
 * @param pairs the names and values of the query or the cookies. By default, those in `text`.
 * @param isDeclared returns true for the names of other parameters.
 * @throws {URIError | ParameterError}
 */
export function readParameter(
  root: Json,
  parameter: Readable,
  text: string | undefined,
  pairs: Pairs = parameter.in === 'query' ? pairsOf(text ?? '') : cookiesOf(text),
  isDeclared: (name: string) => boolean = () => false,
): unknown {
  const { in: where, name, style } = parameter;
  if (style === 'querystring') return text ? fromWholeQuery(root, parameter, text) : undefined;
  if (where === 'query') return fromPairs(root, parameter, pairs, isDeclared, decodeURIComponent);
  // In the style `cookie`, an array is several cookies with the same name (OpenAPI 3.2).
  if (style === 'cookie') return fromPairs(root, parameter, pairs, () => false, unchanged);
  if (where === 'header') return fromText(root, parameter, text, (part) => part.trim());
  return fromText(
    root,
    parameter,
    where === 'cookie' ? cookieText(root, parameter, pairs.get(name)) : text,
    decodeURIComponent,
  );
}

/**
 * Joins several cookies with the same name if the parameter is an array with `explode`. Otherwise
 * uses the first one, which has the longest path (RFC 6265 §5.4).
 */
const cookieText = (
  root: Json,
  { explode, json, schema }: Readable,
  values: readonly string[] | undefined,
): string | undefined =>
  explode && !json && shapeOf(root, schema) === 'array' ? values?.join(',') : values?.[0];

const unchanged: Decode = (part) => part;

function fromWholeQuery(root: Json, { media, schema }: Readable, query: string): unknown {
  if (media?.kind === 'form') return media.formReader().urlencoded(query);
  const text = decodeURIComponent(query);
  return media?.kind === 'json' ? jsonOrText(text) : coerce(root, [schema], text);
}
