import { put } from '../json/parser.ts';
import { type Budget, spend } from '../schema/budget.ts';
import { TYPE_BITS, typeBitOf } from '../schema/json-types.ts';
import type { Outline } from '../schema/outline.ts';
import type { Json } from '../source/document.ts';
import { essenceOf, isJsonType, URLENCODED } from '../source/media-types.ts';
import {
  decoderOf,
  nameOwnership,
  ParameterError,
  type Readable,
  readJson,
  valueReader,
} from './read-value.ts';
import { coerce, firstAllowed, jsonOrText, pairsOf, percentDecoded } from './texts.ts';
import {
  attempt,
  checkForm,
  encoderOf,
  type FormEncoding,
  isComposite,
  membersOf,
  nameOwners,
  type Styled,
  scalar,
  writePairs,
  writeText,
} from './write-value.ts';

/** A part of a form. It has a text or a file. */
interface FormPart {
  readonly name: string;
  readonly text?: string;
  readonly file?: unknown;
  /** The declared media type of a file or of JSON. */
  readonly type?: string | undefined;
}

interface FieldOptions {
  /** True for parts of a multipart form, which are not percent-encoded. */
  readonly isPlain?: boolean;
  readonly budget?: Budget | undefined;
}

interface FormFormat {
  readonly outline?: Outline | undefined;
  readonly encoding?: FormEncoding | undefined;
}

/**
 * Returns the codec of a field of a form. A field with `style` or `explode` in its Encoding Object
 * (OpenAPI 3.1 §4.8.15) is serialized like a query parameter, and one with a JSON media type as
 * JSON. In other fields, each item of an array is a separate part, and objects and arrays in it are
 * JSON. The values of a field with files are files.
 */
export function formField(
  { outline: form, encoding = {} }: FormFormat,
  name: string,
  { isPlain = false, budget }: FieldOptions = {},
) {
  const field = encoding[name] ?? {};
  const { contentType, style = 'form' } = field;
  const isStyled = field.style !== undefined || field.explode !== undefined;
  const isJson = !isStyled && contentType !== undefined && isJsonType(contentType);
  const explode = field.explode ?? style === 'form';
  const styled: Styled = {
    in: 'query',
    name,
    style,
    explode,
    json: isJson,
    isPlain,
    form: field.form,
  };
  const outline = form?.member(name, budget);
  const types = outline?.typeBits ?? 0;
  const isList = (types & TYPE_BITS.array) !== 0;

  return {
    name,
    /** The declared media types. */
    types() {
      return contentType?.split(',').map(essenceOf) ?? [];
    },
    /** Tells if the field, or an item of it, may be a file or a text: both without a schema. */
    kind() {
      return outline?.fieldKind(contentType) ?? { isFile: true, isText: true };
    },
    reader: isStyled && outline ? valueReader({ ...styled, outline }) : undefined,

    /** @throws {TypeError} for a value whose text stands for another one. */
    write(value: unknown): readonly FormPart[] {
      const items: readonly unknown[] = [value].flat();
      if (isPlain && items.some((item) => item instanceof Blob)) {
        if (items.length < 2) checkForm(field.form, value, true);
        return items.map((file) => ({ name, file, type: contentType }));
      }
      const pairs = isStyled || isJson ? writePairs(styled, value) : writeItems(value);
      return pairs.map(([key, text]) => ({
        name: key,
        text,
        ...(isJson && { type: contentType }),
      }));
    },

    /**
     * Returns the values of a text part. A part of JSON may contain all items of an array.
     *
     * @param type the media type of the part, without parameters.
     */
    textValues(type: string, text: string): readonly unknown[] {
      const value = isList && !isStyled && !isJson && isJsonType(type) ? jsonOrText(text) : text;
      return Array.isArray(value) ? value : [text];
    },

    /**
     * Converts the values of a field without a style.
     *
     * @throws {ParameterError | BudgetExceeded}
     */
    read(encoded: readonly unknown[]): unknown {
      const decode = decoderOf(styled);
      const values = encoded.map((value) => (typeof value === 'string' ? decode(value) : value));
      const [first] = values;
      const isSingle = values.length === 1;
      if (outline === undefined) return isSingle ? first : values;
      if (isSingle && isJson && typeof first === 'string') {
        const value = readJson(name, outline, first);
        // A client may send each item of an array as a separate part, also if there is only one.
        return isList && (typeBitOf(value) & types) === 0 ? [value] : value;
      }
      if (isSingle ? outline.form === 'array' : isList)
        return values.map((value, index) => read(outline.item(index), value, STRUCTURES));
      if (isSingle) return read(outline, first, TYPE_BITS.object);
      if (outline.hasTypes) throw new ParameterError(name, 'must be given once');
      return values;
    },
  };

  function writeItems(value: unknown) {
    const items: readonly unknown[] = [value].flat();
    if (items.length < 2) checkForm(field.form, value, true);
    if (field.form === 'text' && typeof value === 'string' && isComposite(jsonOrText(value)))
      throw new TypeError('its schema has several forms, and its text would be read as JSON');
    return items.flatMap((item) =>
      writePairs({ ...styled, json: isComposite(item), form: undefined }, item),
    );
  }

  /** @param structures the types that are written as JSON. */
  function read(schema: Outline, value: unknown, structures: number): unknown {
    if (typeof value !== 'string') return value;
    if (value === '' || (schema.typeBits & structures) === 0) return coerce(schema, value, budget);
    const json = readJson(name, schema, value);
    return (schema.typeBits & TYPE_BITS.string) === 0
      ? json
      : firstAllowed(schema, json, value, budget);
  }
}

const STRUCTURES = TYPE_BITS.object | TYPE_BITS.array;

/**
 * Parses the fields of a form, in the formats that `formField` describes.
 *
 * @param fields the values by name: texts, and files in their place.
 * @param options.budget pays for the fields, and the patterns of their names.
 * @throws {URIError | ParameterError | BudgetExceeded}
 */
export function readFields(
  format: FormFormat,
  fields: ReadonlyMap<string, readonly unknown[]>,
  options: FieldOptions = {},
): Json {
  const { outline, encoding = {} } = format;
  const { budget } = options;
  const names = outline?.names ?? new Set();
  // Styles apply to texts, not to files.
  const texts = new Map(
    [...fields].flatMap(([name, values]) =>
      values.every((value) => typeof value === 'string') ? [[name, values] as const] : [],
    ),
  );
  const styled = Object.keys(encoding).flatMap((name) => {
    const hasFiles = fields.has(name) && !texts.has(name);
    return hasFiles ? [] : (formField(format, name, options).reader ?? []);
  });
  // Another property of the form is no member of a styled field.
  const others = names.difference(new Set(styled.map(({ name }) => name)));
  const ownersOf = nameOwnership(styled, others);
  const form: Record<string, unknown> = {};
  for (const [name, values] of fields) {
    if (budget !== undefined) spend(budget, values.length);
    if (styled.length > 0 && texts.has(name) && ownersOf(name).length > 0) continue;
    put(form, name, formField(format, name, options).read(values));
  }
  for (const reader of styled) {
    const value = reader.fromPairs(texts, (name) => ownersOf(name).includes(reader), budget);
    if (value !== undefined) put(form, reader.name, value);
  }
  return form;
}

/**
 * Parses `application/x-www-form-urlencoded`, like `readFields`.
 *
 * @throws {URIError | ParameterError | BudgetExceeded}
 */
export const readForm = (format: FormFormat, text: string, budget?: Budget): Json =>
  readFields(format, pairsOf(text), { budget });

/**
 * Serializes the fields of a form.
 *
 * @throws {TypeError} for a value whose text stands for another one.
 */
export function formParts(fields: object, encoding: FormEncoding = {}, isPlain = false) {
  const claim = nameOwners(Object.keys(fields));
  const encode = encoderOf({ in: 'query', isPlain });
  return membersOf(fields).flatMap(([name, value]) => {
    return attempt(`the field ${name}`, () => {
      const parts = formField({ encoding }, name, { isPlain }).write(value);
      return parts.map((part) => {
        claim(name, part.name);
        return { ...part, name: encode(part.name) };
      });
    });
  });
}

/** Serializes a form as `application/x-www-form-urlencoded`. @throws {TypeError} */
export const writeForm = (fields: object, encoding?: FormEncoding): string =>
  formParts(fields, encoding)
    .map(({ name, text }) => `${name}=${text}`)
    .join('&');

/**
 * Serializes a parameter by `style` and `explode`. Returns `name=value` for a query or a cookie.
 * Returns the whole query for the style `querystring`. With `explode`, a query has a pair for each
 * item of an array and each member of an object, and an empty array or object becomes an empty
 * string.
 *
 * @throws {TypeError} for a value whose text stands for another one.
 */
export function writeParameter(parameter: Styled, value: unknown): string {
  const { name, in: where, style, json, media } = parameter;
  if (isForm(parameter) && isComposite(value)) return writeForm(value, media?.encoding);
  if (style === 'querystring') return writeText(parameter, json ? value : scalar(value));
  if (where === 'cookie') return `${name}=${writeText(parameter, value)}`;
  if (where !== 'query') return writeText(parameter, value);
  const encode = encoderOf(parameter);
  return writePairs(parameter, value)
    .map(([key, text]) => `${encode(key)}=${text}`)
    .join('&');
}

/** True if the whole query is a form. */
const isForm = ({ style, media }: Styled): boolean =>
  style === 'querystring' && essenceOf(media?.type ?? '') === URLENCODED;

/** Prepares to parse a parameter. Its value may be the whole query. */
export function parameterValueReader(parameter: Readable): ReturnType<typeof valueReader> {
  const { name, style, json, outline, media } = parameter;
  const reader = valueReader(parameter);
  if (style !== 'querystring') return reader;
  return {
    ...reader,
    read(query, _pairs, _isOwn, budget) {
      if (!query) return undefined;
      if (isForm(parameter)) return readForm({ outline, encoding: media?.encoding }, query, budget);
      const text = percentDecoded(query);
      return json ? readJson(name, outline, text) : coerce(outline, text, budget);
    },
  };
}

/**
 * Parses the text of a parameter, in the format that `writeParameter` returns.
 *
 * @throws {URIError | ParameterError}
 */
export const readParameter = (parameter: Readable, text: string): unknown =>
  parameterValueReader(parameter).read(text);
