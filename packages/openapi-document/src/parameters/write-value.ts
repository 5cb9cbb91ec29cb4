import { stringifyJson } from '../json/exact.ts';
import { type Form, formOf, typeBitOf } from '../schema/json-types.ts';

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
  /**
   * The form in which a text is read, if the schema allows several. A reader cannot tell the text
   * of a list of one item from that of the item, so values in another form are not written. An
   * exploded list of several items in a query has no other form, and `deepObject` shows objects.
   */
  readonly form?: Form | undefined;
  /** The media type of the value, if it has one. */
  readonly media?:
    | { readonly type: string; readonly encoding?: FormEncoding | undefined }
    | undefined;
}

/** The encoding of the fields of a form, by name (OpenAPI 3.1 §4.8.15), and their `Styled.form`. */
export type FormEncoding = Readonly<
  Record<
    string,
    Readonly<{
      contentType?: string;
      style?: string;
      explode?: boolean;
      form?: Form | undefined;
    }>
  >
>;

/** The separators of a style (OpenAPI 3.1 §4.8.12.3). */
interface Style {
  readonly prefix: string;
  /** The separator of arrays and objects without `explode`, percent-encoded. */
  readonly delimiter: string;
  /** The separators that parsing accepts, if there are several. */
  readonly delimiters?: RegExp;
  /** The separator of arrays and objects with `explode`. A query has several pairs instead. */
  readonly exploded: string;
}

const SIMPLE: Style = { prefix: '', delimiter: ',', exploded: ',' };

const STYLES: Readonly<Record<string, Style>> = {
  label: { prefix: '.', delimiter: ',', exploded: '.' },
  matrix: { prefix: ';', delimiter: ',', exploded: ';' },
  spaceDelimited: { ...SIMPLE, delimiter: '%20' },
  pipeDelimited: { ...SIMPLE, delimiter: '%7C', delimiters: /\||%7C/i },
};

/** Returns the separators of a style, and whether its texts contain the name (`isNamed`). */
export function styleOf({ style, isPlain }: Styled) {
  const result = STYLES[style] ?? SIMPLE;
  const { delimiter, delimiters } = result;
  const isNamed = style === 'matrix';
  if (!isPlain) return { ...result, delimiters: delimiters ?? delimiter, isNamed };
  const plain = decodeURIComponent(delimiter);
  return { ...result, delimiter: plain, delimiters: plain, isNamed };
}

/** A name and a value of a query, a form or cookies. Only the value is encoded. */
type Pair = readonly [name: string, text: string];

/**
 * Serializes a parameter of a query or a field of a form. With `explode`, returns a pair for each
 * item of an array and each member of an object.
 *
 * @throws {TypeError} for a value whose text stands for another one.
 */
export function writePairs(parameter: Styled, value: unknown): Pair[] {
  const { name, style, explode, json, form } = parameter;
  const isDeep = style === 'deepObject';
  if (!isComposite(value) || json || !(explode || isDeep))
    return [[name, writeText(parameter, value)]];
  const isRepeated = Array.isArray(value) && value.length > 1 && !isDeep;
  if (!isRepeated) checkForm(form, value, isDeep);
  const encode = encoderOf(parameter);
  return isDeep ? deepPairs(name, value, encode) : explodedPairs(name, value, encode);
}

/**
 * Serializes a value without its name. Only the style `matrix` has the name in the text.
 *
 * @throws {TypeError} for a value whose text stands for another one.
 */
export function writeText(parameter: Styled, value: unknown): string {
  const { name, in: where, style, json, explode, form } = parameter;
  const { prefix, delimiter, exploded, isNamed } = styleOf(parameter);
  const encode = encoderOf(parameter);
  if (json) {
    const text = jsonOf(value);
    return where === 'header' ? asciiJson(text) : encode(text);
  }
  checkForm(form, value, style === 'deepObject');
  const start = prefix + (isNamed ? `${encode(name)}=` : '');
  if (!isComposite(value)) return start + encode(scalar(value));
  if (!explode || where === 'query') return start + joined(flat(value).map(encode), delimiter);
  const hasNames = isNamed || !Array.isArray(value);
  const parts = explodedPairs(name, value, encode).map(([key, text]) =>
    hasNames ? `${joined([encode(key)], '=')}=${text}` : text,
  );
  return prefix + joined(parts, exploded);
}

/** Returns a pair for each item or member. The name of a list in an object is repeated. */
function explodedPairs(name: string, value: object, encode: (text: string) => string): Pair[] {
  if (Array.isArray(value)) return value.map((item): Pair => [name, encode(scalar(item))]);
  return membersOf(value).flatMap(([key, inner]) => {
    if (key === '') throw new TypeError('it has a member without a name');
    const isList = Array.isArray(inner) && inner.length > 0;
    return explodedPairs(key, isList ? inner : [inner], encode);
  });
}

/**
 * @param hasStructure true if the text shows that it is an object.
 * @throws {TypeError} for a value in another form than that in which it is read. See `Styled.form`.
 */
export function checkForm(form: Form | undefined, value: unknown, hasStructure: boolean): void {
  if (form === undefined) return;
  const valueForm = formOf(typeBitOf(value));
  const isRead = hasStructure ? (valueForm === 'array') === (form === 'array') : valueForm === form;
  if (!isRead)
    throw new TypeError(`its schema has several forms, and its text would be read as ${form}`);
}

/** @throws {TypeError} for parts that a reader does not split in the same way. */
function joined(parts: readonly string[], separator: string): string {
  const text = parts.join(separator);
  const count = text === '' ? 0 : text.split(separator).length;
  if (count === parts.length) return text;
  throw new TypeError(`an item is empty or contains ${decodeURIComponent(separator)}`);
}

/**
 * @param subject of the message.
 * @throws {TypeError} for any error.
 */
export function attempt<Result>(subject: string, write: () => Result): Result {
  try {
    return write();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new TypeError(`${subject} cannot be sent: ${reason}`);
  }
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

/** Returns a function that encodes a text by the place of a parameter. */
export function encoderOf({
  in: where,
  allowReserved,
  isPlain,
}: Pick<Styled, 'in' | 'allowReserved' | 'isPlain'>): (text: string) => string {
  if (isPlain) return wellFormed;
  if (where === 'header') return trimmed;
  if (!allowReserved) return encodeURIComponent;
  // Always encodes characters that would end a name, a value, a segment or the query.
  const ends = where === 'query' ? /[&=+#]/g : /[&=+#?/]/g;
  return (text) => encodeURI(text).replace(ends, encodeURIComponent);
}

/** @throws {TypeError} for a lone surrogate, which UTF-8 cannot represent. */
function wellFormed(text: string): string {
  if (text.isWellFormed()) return text;
  throw new TypeError('a text has a lone surrogate');
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

export const isComposite = (value: unknown): value is object =>
  typeof value === 'object' && value !== null;

/** Like JSON, leaves out members that are `undefined`. */
export function membersOf(value: object): [string, unknown][] {
  if ('toJSON' in value) throw new TypeError('a value with toJSON must be converted to a string');
  return Object.entries(value).filter(([, member]) => member !== undefined);
}

/** @throws {TypeError} for an object. */
export function scalar(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === null) return '';
  if (isComposite(value)) throw new TypeError('it has a list or an object in it');
  return jsonOf(value);
}

/** @throws {TypeError} for a value that JSON cannot represent. */
function jsonOf(value: unknown): string {
  const text =
    typeof value === 'number' && !Number.isFinite(value) ? undefined : stringifyJson(value);
  if (text === undefined) throw new TypeError(`JSON has no ${String(value)}`);
  return text;
}

/** The items of an array, or the alternating names and values of an object. */
const flat = (value: object): string[] =>
  (Array.isArray(value) ? value : membersOf(value).flat()).map(scalar);

/** An array of scalars has the name `a[]` for all items, other arrays `a[0]`, `a[1]` and so on. */
function deepPairs(name: string, value: object, encode: (text: string) => string): Pair[] {
  const isFlat = Array.isArray(value) && !value.some(isComposite);
  return membersOf(value).flatMap(([key, inner]) => {
    if (/[[\]]/.test(key)) throw new TypeError(`the name ${key} contains a bracket`);
    const inside = `${name}[${isFlat ? '' : key}]`;
    if (!isComposite(inner)) return [[inside, encode(scalar(inner))]];
    const pairs = deepPairs(inside, inner, encode);
    if (pairs.length === 0) throw new TypeError('it has an empty list or object in it');
    return pairs;
  });
}
