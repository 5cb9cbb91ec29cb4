import { isObject, type Json, objectAt } from '../document/document.ts';
import type { Operation, Parameter } from '../document/operations.ts';
import { parameterNames, pathPattern } from '../document/path-template.ts';
import { alternatives, itemSchemas, propertySchemas, typesOf } from '../document/schema.ts';
import { parseJson, parseNumber } from '../json/exact.ts';
import { HttpError } from '../response/http-error.ts';
import type { Parameters } from '../validation/validator.ts';
import type { Violation } from '../validation/violations.ts';

/** Where the texts of parameters are found in a request. */
export interface Source {
  /** The path as the client sent it, percent-encoded. */
  readonly path: string;
  /** What stands behind `?`, percent-encoded. */
  readonly query: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** Reads the parameters of one operation from a request; their schemas are not checked here. @throws {HttpError} 400 */
export type ReadParameters = (source: Source) => Parameters;

/**
 * Prepares to read an operation's parameters by their `style` and `explode` (OpenAPI 3.1 §4.8.12.2). Texts become
 * numbers and booleans where the schema asks for them, integers exactly.
 *
 * @param credentials names of query parameters that carry credentials, which are no business of the operation.
 */
export function parameterReader(root: Json, operation: Operation, credentials: ReadonlySet<string>): ReadParameters {
  const at = (where: Parameter['in']) => operation.parameters.filter((parameter) => parameter.in === where);
  const [inPath, inQuery, inHeader, inCookie] = [at('path'), at('query'), at('header'), at('cookie')];
  const template = pathPattern(operation.path);
  const names = parameterNames(operation.path);
  const known = new Set(inQuery.flatMap((parameter) => queryNames(root, parameter)));
  const open = inQuery.some((parameter) => takesAnyName(root, parameter));

  return ({ path, query, headers }) => {
    const violations: Violation[] = [];
    const parameters: Parameters = { path: {}, query: {}, header: {}, cookie: {} };
    const read = (parameter: Parameter, take: () => unknown) => {
      try {
        const value = take();
        if (value !== undefined) parameters[parameter.in][parameter.name] = value;
      } catch (error) {
        if (!(error instanceof URIError)) throw error;
        violations.push({ path: `/${parameter.in}/${parameter.name}`, message: 'must be percent-encoded UTF-8' });
      }
    };
    if (inPath.length > 0) {
      const texts = template.exec(path) ?? [];
      for (const parameter of inPath) {
        const text = texts[names.indexOf(parameter.name) + 1];
        read(parameter, () => fromText(root, parameter, text, decodeURIComponent));
      }
    }
    if (query !== '') {
      const pairs = pairsOf(query);
      for (const name of pairs.keys()) {
        if (!known.has(name) && !open && !credentials.has(name) && !inQuery.some((p) => isDeep(p, name))) {
          violations.push({ path: `/query/${name}`, message: 'is not a parameter of this operation' });
        }
      }
      for (const parameter of inQuery) {
        read(parameter, () => fromQuery(root, parameter, pairs, (name) => known.has(name) || credentials.has(name)));
      }
    }
    for (const parameter of inHeader) {
      const value = headers[parameter.name.toLowerCase()];
      const text = Array.isArray(value) ? value.join(', ') : value;
      read(parameter, () => fromText(root, parameter, text, (part) => part.trim()));
    }
    if (inCookie.length > 0) {
      const cookies = cookiesOf(headers.cookie);
      for (const parameter of inCookie) {
        read(parameter, () => fromText(root, parameter, cookies.get(parameter.name), decodeURIComponent));
      }
    }
    if (violations.length > 0) throw HttpError.violations(violations);
    return parameters;
  };
}

/** The cookies of a request by name (RFC 6265 §4.2.1), values as they were sent; the first of a name counts. */
export function cookiesOf(header: unknown): Map<string, string> {
  const cookies = new Map<string, string>();
  if (typeof header !== 'string') return cookies;
  for (const pair of header.split(';')) {
    const equals = pair.indexOf('=');
    if (equals < 0) continue;
    const name = pair.slice(0, equals).trim();
    const value = pair.slice(equals + 1).trim();
    if (!cookies.has(name))
      cookies.set(name, value.startsWith('"') && value.endsWith('"') ? value.slice(1, -1) : value);
  }
  return cookies;
}

/** The values of a query or form by name, percent-encoded, `+` as the space it means in both. */
export function pairsOf(text: string): Map<string, string[]> {
  const pairs = new Map<string, string[]>();
  for (const pair of text.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const encoded = (equals < 0 ? pair : pair.slice(0, equals)).replaceAll('+', '%20');
    const value = equals < 0 ? '' : pair.slice(equals + 1).replaceAll('+', '%20');
    let name = encoded;
    try {
      name = decodeURIComponent(encoded);
    } catch {
      // An encoding that is broken names no parameter; the name stands as it was sent.
    }
    const values = pairs.get(name);
    if (values === undefined) pairs.set(name, [value]);
    else values.push(value);
  }
  return pairs;
}

/** A value by one of the styles for queries. @throws {URIError} */
function fromQuery(
  root: Json,
  parameter: Parameter,
  pairs: ReadonlyMap<string, readonly string[]>,
  isKnown: (name: string) => boolean,
): unknown {
  const { name, style, explode, schema, json } = parameter;
  const decode = decodeURIComponent;
  const shape = json ? 'text' : shapeOf(root, schema);
  const gathered = (takes: (key: string) => boolean, nameOf: (key: string) => string) => {
    const taken = [...pairs].filter(([key]) => takes(key));
    const entries = taken.flatMap(([key, texts]) => texts.map((text) => [nameOf(key), decode(text)] as const));
    return entries.length === 0 ? undefined : typedObject(root, schema, entries);
  };
  if (style === 'deepObject') {
    const deep = [...pairs].filter(([key]) => isDeep(parameter, key));
    const entries = deep.flatMap(([key, texts]) => {
      const path = key.slice(name.length + 1, -1).split('][');
      return texts.map((text): DeepEntry => [path, decode(text)]);
    });
    return entries.length === 0 ? undefined : typedDeep(root, [schema], entries);
  }
  if (shape === 'object' && explode && style === 'form') {
    const own = propertiesOf(root, schema);
    const takesAny = takesAnyName(root, parameter);
    return gathered(
      (key) => Object.hasOwn(own, key) || (takesAny && !isKnown(key)),
      (key) => key,
    );
  }
  const values = pairs.get(name);
  if (values === undefined) return undefined;
  if (shape === 'array' && explode) return typedItems(root, schema, values.map(decode));
  const [text = ''] = values;
  if (shape === 'array') return typedItems(root, schema, text === '' ? [] : splitBy(style, text).map(decode));
  if (shape === 'object') return typedObject(root, schema, pairUp(splitBy(style, text).map(decode)));
  // A name that comes twice where one value is meant is not one of them at random.
  if (values.length > 1) return values.map((value) => typed(root, schema, decode(value)));
  return json ? jsonOr(decode(text)) : typed(root, schema, decode(text));
}

/** A value by the `simple`, `label`, `matrix` or (cookies) `form` style. */
function fromText(
  root: Json,
  { style, explode, schema, json, name }: Parameter,
  text: string | undefined,
  decode: (part: string) => string,
): unknown {
  if (text === undefined) return undefined;
  if (json) return jsonOr(decode(text));
  const prefix = style === 'label' ? '.' : style === 'matrix' ? ';' : '';
  if (!text.startsWith(prefix)) return undefined;
  const bare = text.slice(prefix.length);
  const separator = explode && prefix !== '' ? prefix : ',';
  const unnamed = (part: string) =>
    style === 'matrix' && part.startsWith(`${name}=`) ? part.slice(name.length + 1) : part;
  const shape = shapeOf(root, schema);
  if (shape === 'text') return typed(root, schema, decode(unnamed(bare)));
  const value = explode ? bare : unnamed(bare);
  const list = value === '' ? [] : value.split(separator);
  if (shape === 'array')
    return typedItems(
      root,
      schema,
      list.map((part) => decode(unnamed(part))),
    );
  return typedObject(
    root,
    schema,
    explode ? list.map((part) => cut(part, '=').map(decode) as [string, string]) : pairUp(list.map(decode)),
  );
}

const DELIMITERS: Readonly<Record<string, RegExp>> = { spaceDelimited: /%20/, pipeDelimited: /\||%7C/i };

const splitBy = (style: string, text: string): string[] => text.split(DELIMITERS[style] ?? ',');

const cut = (text: string, separator: string): [string, string] => {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + separator.length)];
};

const pairUp = (parts: readonly string[]): [string, string][] =>
  parts.flatMap((part, index): [string, string][] => (index % 2 === 0 ? [[part, parts[index + 1] ?? '']] : []));

const isDeep = ({ name, style }: Parameter, key: string): boolean =>
  style === 'deepObject' && key.startsWith(name) && /^(\[[^[\]]*\])+$/.test(key.slice(name.length));

/** What JSON says, or the text as it is: then the check says what is wrong. */
export const jsonOr = (text: string): unknown => {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
};

/** Whether a value is written as a list, as pairs, or as one text. */
function shapeOf(root: Json, schema: unknown): 'array' | 'object' | 'text' {
  const types = typesOf(root, schema);
  if (['string', 'number', 'integer', 'boolean'].some((type) => types.has(type))) return 'text';
  if (types.has('array')) return 'array';
  return types.has('object') ? 'object' : 'text';
}

const propertiesOf = (root: Json, schema: unknown): Json =>
  Object.assign({}, ...alternatives(root, schema).map((part) => objectAt(part.properties)));

function takesAnyName(root: Json, parameter: Parameter): boolean {
  return (
    parameter.style === 'form' &&
    parameter.explode &&
    !parameter.json &&
    shapeOf(root, parameter.schema) === 'object' &&
    alternatives(root, parameter.schema).some(
      (part) => part.additionalProperties === true || isObject(part.additionalProperties),
    )
  );
}

function queryNames(root: Json, parameter: Parameter): string[] {
  if (parameter.style === 'deepObject') return [];
  const exploded = parameter.style === 'form' && parameter.explode && !parameter.json;
  return exploded && shapeOf(root, parameter.schema) === 'object'
    ? Object.keys(propertiesOf(root, parameter.schema))
    : [parameter.name];
}

const typedItems = (root: Json, schema: unknown, texts: readonly string[]): unknown[] =>
  texts.map((text, index) => typedByAny(root, itemSchemas(root, schema, index), text));

function typedObject(root: Json, schema: unknown, entries: readonly (readonly [string, string])[]): unknown {
  const texts = new Map<string, string[]>();
  for (const [key, text] of entries) texts.set(key, [...(texts.get(key) ?? []), text]);
  return Object.fromEntries(
    [...texts].map(([key, [text = '', ...more]]) => {
      const schemas = propertySchemas(root, schema, key);
      const array = schemas.find((inner) => shapeOf(root, inner) === 'array');
      return [
        key,
        array === undefined && more.length === 0
          ? typedByAny(root, schemas, text)
          : typedItems(root, array, [text, ...more]),
      ];
    }),
  );
}

/** The names in the brackets of a key, and what is left of them further inside; the text. */
type DeepEntry = readonly [path: readonly string[], text: string];

/**
 * A value of the `deepObject` style. OpenAPI defines it for objects of scalars; objects in objects and lists are read as
 * is the custom: `[a][b]=1`, and `[]=1` or `[0]=1` for the items of a list, in their order.
 */
function typedDeep(root: Json, schemas: readonly unknown[], entries: readonly DeepEntry[]): unknown {
  const leaf = entries.find(([path]) => path.length === 0);
  const array = schemas.find((schema) => shapeOf(root, schema) === 'array');
  const isList =
    array !== undefined && entries.every(([[first = '', ...rest]]) => /^\d*$/.test(first) && rest.length === 0);
  const texts = entries.map(([, text]) => text);
  if (isList) return typedItems(root, array, texts);
  // A text where there are members, too: the check says what is wrong.
  if (leaf !== undefined) return entries.length === 1 ? typedByAny(root, schemas, leaf[1]) : texts;
  const members = Map.groupBy(entries, ([[first = '']]) => first);
  return Object.fromEntries(
    [...members].map(([key, inside]) => [
      key,
      typedDeep(
        root,
        schemas.flatMap((schema) => propertySchemas(root, schema, key)),
        inside.map(([[, ...path], text]): DeepEntry => [path, text]),
      ),
    ]),
  );
}

/** A text as the type that the schema asks for, or as the text it is. */
export const typed = (root: Json, schema: unknown, text: string): unknown => typedByAny(root, [schema], text);

function typedByAny(root: Json, schemas: readonly unknown[], text: string): unknown {
  const types = new Set(schemas.flatMap((schema) => [...typesOf(root, schema)]));
  if (types.has('integer') || types.has('number')) {
    const number = parseNumber(text);
    if (number !== undefined) return number;
  }
  if (types.has('boolean') && (text === 'true' || text === 'false')) return text === 'true';
  return types.has('null') && text === '' && !types.has('string') ? null : text;
}
