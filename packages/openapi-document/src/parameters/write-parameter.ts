import { stringifyJson } from '../json/exact.ts';
import { essenceOf, isJsonType, URLENCODED } from '../source/media-types.ts';
import { pairsOf } from './texts.ts';

/** The members of a parameter, a header or a field that define its serialization. */
export interface Styled {
  readonly in: 'path' | 'query' | 'header' | 'cookie';
  readonly name: string;
  /** `querystring` if the value is the whole query (`in: querystring` of OpenAPI 3.2). */
  readonly style: string;
  readonly explode: boolean;
  /** True if the value is JSON, as declared by `content`. Otherwise it is text in a `style`. */
  readonly json: boolean;
  /** True if characters such as `:` are not percent-encoded. */
  readonly allowReserved?: boolean;
  /** True for a part of a multipart form, which is not percent-encoded. */
  readonly isPlain?: boolean;
  /** The media type of the value, if it has one. */
  readonly media?:
    | { readonly type: string; readonly encoding?: FormEncoding | undefined }
    | undefined;
}

/** The separators of a style (OpenAPI 3.1 §4.8.12.3). */
interface Style {
  readonly prefix: string;
  /** The separator of arrays and objects without `explode`, percent-encoded. */
  readonly delimiter: string;
  /** The separators that parsing accepts, if there are several. */
  readonly delimiters?: RegExp;
  /** The separator of arrays and objects with `explode`. */
  readonly exploded: string;
}

const SIMPLE: Style = { prefix: '', delimiter: ',', exploded: ',' };

const STYLES: Readonly<Record<string, Style>> = {
  label: { prefix: '.', delimiter: ',', exploded: '.' },
  matrix: { prefix: ';', delimiter: ',', exploded: ';' },
  form: { prefix: '', delimiter: ',', exploded: '&' },
  spaceDelimited: { prefix: '', delimiter: '%20', exploded: '&' },
  pipeDelimited: { prefix: '', delimiter: '%7C', delimiters: /\||%7C/i, exploded: '&' },
};

/**
 * Returns the separators of a style, and whether each item of an array with `explode` has the
 * parameter's name (`isNamed`). In a cookie, `form` has the separators of `simple`.
 */
export function styleOf({ in: where, style, isPlain }: Styled) {
  const result = STYLES[where === 'cookie' && style === 'form' ? 'simple' : style] ?? SIMPLE;
  const { delimiter, delimiters, exploded } = result;
  const isNamed = exploded === '&' || exploded === ';';
  if (!isPlain) return { ...result, delimiters: delimiters ?? delimiter, isNamed };
  const plain = decodeURIComponent(delimiter);
  return { ...result, delimiter: plain, delimiters: plain, isNamed };
}

/**
 * Serializes a parameter by `style` and `explode`. Returns `name=value` for a query or a cookie.
 * Returns the whole query for the style `querystring`. With `explode`, a query has a pair for each
 * item of an array and each member of an object, and an empty array or object becomes an empty
 * string.
 *
 * @throws {TypeError} for a value whose text stands for another one.
 */
export function writeParameter(parameter: Styled, value: unknown): string {
  const { name, in: where, json, explode } = parameter;
  const { prefix, delimiter, exploded, isNamed } = styleOf(parameter);
  const encode = encoderOf(parameter);
  const isPair = where === 'query' || where === 'cookie';
  const encodedName = where === 'cookie' ? name : encode(name);
  const namePrefix = isPair || isNamed ? `${encodedName}=` : '';
  if (parameter.style === 'querystring') {
    const { type = '', encoding } = parameter.media ?? {};
    return essenceOf(type) === URLENCODED && isComposite(value)
      ? writeForm(value, encoding)
      : encodeURIComponent(json ? jsonOf(value) : scalar(value));
  }
  if (json) {
    const text = jsonOf(value);
    return namePrefix + (where === 'header' ? asciiJson(text) : encode(text));
  }
  if (!isComposite(value)) return prefix + namePrefix + encode(scalar(value));
  if (parameter.style === 'deepObject') return deepPairs(name, value, encode).join('&');
  if (!explode) return prefix + namePrefix + joined(flat(value).map(encode), delimiter);
  const parts = Array.isArray(value)
    ? value.map((item) => (isNamed ? namePrefix : '') + encode(scalar(item)))
    : membersOf(value).flatMap(([key, inner]) =>
        (isNamed && isFilled(inner) ? inner : [inner]).map(
          (item) => `${joined([encode(key)], '=')}=${encode(scalar(item))}`,
        ),
      );
  return (where === 'cookie' ? namePrefix : '') + prefix + joined(parts, exploded);
}

const isFilled = (value: unknown): value is unknown[] => Array.isArray(value) && value.length > 0;

/** @throws {TypeError} for parts that a reader does not split in the same way. */
function joined(parts: readonly string[], separator: string): string {
  const text = parts.join(separator);
  const count = text === '' ? 0 : text.split(separator).length;
  if (count === parts.length) return text;
  throw new TypeError(`an item is empty or contains ${decodeURIComponent(separator)}`);
}

/** The encoding of the fields of a form, by name (OpenAPI 3.1 §4.8.15). */
export type FormEncoding = Readonly<
  Record<string, Readonly<{ contentType?: string; style?: string; explode?: boolean }>>
>;

/**
 * Serializes a form. A field with a style is serialized like a query parameter, and one with a JSON
 * media type as JSON. In other fields, each item of an array becomes a separate field, and objects
 * become JSON.
 */
export function writeForm(fields: object, encoding: FormEncoding = {}): string {
  const claim = nameOwners(Object.keys(fields));
  return membersOf(fields)
    .flatMap(([name, value]) => {
      const pairs = fieldPairs(name, value, encoding[name]).filter((pair) => pair !== '');
      if (styledField(name, encoding[name]) !== undefined)
        for (const inner of pairsOf(pairs.join('&')).keys()) claim(name, inner);
      return pairs;
    })
    .join('&');
}

/**
 * Returns the names and the texts of a field of a multipart form.
 *
 * @throws {TypeError} for a value whose text stands for another one.
 */
export function writeField(
  name: string,
  value: unknown,
  encoding: FormEncoding[string] = {},
): Iterable<[string, string]> {
  const styled = styledField(name, encoding);
  if (styled === undefined || styled.explode || styled.style === 'deepObject')
    return new URLSearchParams(writeForm({ [name]: value }, { [name]: encoding }));
  return [[name, writeParameter({ ...styled, isPlain: true }, value).slice(name.length + 1)]];
}

/**
 * Returns a function that checks that an exploded object has no name of another parameter or field.
 *
 * @param names those of the parameters or fields.
 */
export function nameOwners(names: readonly string[]): (owner: string, name: string) => void {
  const owners = new Map(names.map((name) => [name, name]));
  return (owner, name) => {
    if ((owners.get(name) ?? owner) !== owner)
      throw new TypeError(`${owner} has the name ${name} in it, which is not its own`);
    owners.set(name, owner);
  };
}

/** Returns a field as a query parameter, if its encoding has `style` or `explode`. */
export function styledField(name: string, { style, explode }: FormEncoding[string] = {}) {
  if (style === undefined && explode === undefined) return undefined;
  return { ...queryField(name, style), explode: explode ?? style === 'form' };
}

const queryField = (name: string, style = 'form') =>
  ({ in: 'query', name, style, explode: true, json: false }) as const;

function fieldPairs(name: string, value: unknown, encoding?: FormEncoding[string]): string[] {
  const styled = styledField(name, encoding);
  if (styled !== undefined) return [writeParameter(styled, value)];
  const field = queryField(name);
  if (isJsonType(encoding?.contentType ?? ''))
    return [writeParameter({ ...field, json: true }, value)];
  const items: unknown[] = [value].flat();
  return items.map((item) => writeParameter({ ...field, json: isComposite(item) }, item));
}

function encoderOf({ in: where, allowReserved, isPlain }: Styled): (text: string) => string {
  if (isPlain) return (text) => text;
  if (where === 'header') return trimmed;
  if (!allowReserved) return encodeURIComponent;
  // Always encodes characters that would end a name, a value, a segment or the query.
  const ends = where === 'query' ? /[&=+#]/g : /[&=+#?/]/g;
  return (text) => encodeURI(text).replace(ends, encodeURIComponent);
}

/** @throws {TypeError} for outer spaces, which readers remove. */
function trimmed(text: string): string {
  if (text === text.trim()) return text;
  throw new TypeError('a text begins or ends with a space');
}

/** Escapes all characters of JSON that are not ASCII, since a header cannot contain most others. */
const asciiJson = (json: string): string =>
  json.replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

const isComposite = (value: unknown): value is object =>
  typeof value === 'object' && value !== null;

/** Like JSON, leaves out members that are `undefined`. */
function membersOf(value: object): [string, unknown][] {
  if ('toJSON' in value) throw new TypeError('a value with toJSON must be converted to a string');
  return Object.entries(value).filter(([, member]) => member !== undefined);
}

function scalar(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === null) return '';
  if (isComposite(value)) throw new TypeError('it has a list or an object in it');
  return jsonOf(value);
}

/** @throws {TypeError} for a value that JSON cannot represent. */
function jsonOf(value: unknown): string {
  const text = Number.isNaN(value) ? undefined : stringifyJson(value);
  if (text === undefined) throw new TypeError(`JSON has no ${String(value)}`);
  return text;
}

/** The items of an array, or the alternating names and values of an object. */
const flat = (value: object): string[] =>
  (Array.isArray(value) ? value : membersOf(value).flat()).map(scalar);

/** An array of scalars has the name `a[]` for all items, other arrays `a[0]`, `a[1]` and so on. */
function deepPairs(name: string, value: object, encode: (text: string) => string): string[] {
  const isFlat = Array.isArray(value) && !value.some(isComposite);
  return membersOf(value).flatMap(([key, inner]) => {
    if (/[[\]]/.test(key)) throw new TypeError(`the name ${key} contains a bracket`);
    const inside = `${name}[${isFlat ? '' : key}]`;
    if (!isComposite(inner)) return [`${encode(inside)}=${encode(scalar(inner))}`];
    const pairs = deepPairs(inside, inner, encode);
    if (pairs.length === 0) throw new TypeError('it has an empty list or object in it');
    return pairs;
  });
}
