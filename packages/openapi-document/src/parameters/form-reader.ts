import type { Json } from '../source/document.ts';
import { essenceOf, isJsonType, URLENCODED } from '../source/media-types.ts';
import { ParameterError, type Readable, readJson, valueReader } from './read-value.ts';
import { coerce, jsonOrText, pairsOf, type TextSchema } from './texts.ts';
import { type FormEncoding, styledField } from './write-parameter.ts';

/** The values of fields by name: strings, and files of type `T`. */
export type Fields<T> = ReadonlyMap<string, readonly (string | T)[]>;

/**
 * Prepares to parse forms. A field with `style` or `explode` in its Encoding Object (OpenAPI 3.1
 * §4.8.15) is parsed like a query parameter. Other fields are parsed as JSON or as text, by their
 * schemas and media types.
 */
export function formReader({
  outline,
  encoding = {},
}: {
  readonly outline?: TextSchema | undefined;
  readonly encoding?: FormEncoding | undefined;
}) {
  const schemasOf = (name: string) => outline?.members(name) ?? [];
  const styled = Object.entries(encoding).flatMap(([name, value]) => {
    const field = styledField(name, value);
    return field && outline ? valueReader({ ...field, outline: outline.member(name) }) : [];
  });
  /** The names of the styled fields, and of the properties that are separate fields. */
  const styledNames = new Set(styled.flatMap((field) => [field.name, ...field.names]));

  return {
    /** Parses `application/x-www-form-urlencoded`. @throws {URIError | ParameterError} */
    urlencoded: (text: string) => objectOf<never>(pairsOf(text), decodeURIComponent),
    /** Converts the fields of `multipart/form-data`. @throws {ParameterError} */
    multipart: <T>(fields: Fields<T>) => objectOf(fields, (text) => text),
    textValues,
    /**
     * Returns the declared media types of a part, and whether it may be a file or text. Without a
     * schema, or with the schema `true`, it may be both.
     */
    partOf(name: string) {
      const schemas = schemasOf(name).flatMap((inner) => {
        const items = inner.items(0);
        return items.length > 0 ? items : [inner];
      });
      const { contentType } = encoding[name] ?? {};
      const isOpen = schemas.length === 0 || schemas.some(({ isAnything }) => isAnything);
      const files = schemas.filter((inner) => inner.isFile(contentType));
      return {
        isFile: isOpen || files.length > 0,
        isText: isOpen || files.length < schemas.length,
        types: contentType?.split(',').map(essenceOf) ?? [],
      };
    },
  };

  /**
   * Returns the values of a text part. A part of JSON may contain all items of an array.
   *
   * @param type the media type of the part, without parameters.
   */
  function textValues(name: string, type: string, text: string): readonly unknown[] {
    const isArray = schemasOf(name).some(({ types }) => types.has('array'));
    if (!isArray || !isJsonType(type) || Object.hasOwn(encoding, name)) return [text];
    const value = jsonOrText(text);
    return Array.isArray(value) ? value : [text];
  }

  function objectOf<T>(fields: Fields<T>, decode: (text: string) => string): Json {
    const isText = (value: string | T) => typeof value === 'string';
    const entries: [string, unknown][] = [];
    for (const [name, values] of fields) {
      if (styledNames.has(name) || styled.some((field) => field.deepPath(name))) continue;
      const decodedValues = values.map((value) => (isText(value) ? decode(value) : value));
      entries.push([name, fieldOf(name, decodedValues)]);
    }
    if (styled.length > 0) {
      const texts = new Map([...fields].map(([name, values]) => [name, values.filter(isText)]));
      const isField = (name: string) => fields.has(name);
      for (const field of styled) {
        const value = field.fromPairs(texts, isField, decode);
        if (value !== undefined) entries.push([field.name, value]);
      }
    }
    return Object.fromEntries(entries);
  }

  /** Converts the values of a field: to an array if the schema allows it or there are several. */
  function fieldOf(name: string, values: readonly unknown[]): unknown {
    const schemas = schemasOf(name);
    const { contentType } = encoding[name] ?? {};
    const [first] = values;
    const isSingle = values.length === 1;
    if (isSingle && contentType !== undefined && isJsonType(contentType)) {
      return typeof first === 'string' ? readJson(name, schemas, first) : first;
    }
    const arrays = schemas.filter(({ types }) => types.has('array'));
    if (arrays.length === 0) {
      if (isSingle) return valueFrom(name, schemas, first);
      const isTyped = schemas.length > 0 && schemas.every(({ types }) => types.size > 0);
      if (isTyped) throw new ParameterError(name, 'must be given once');
      return values;
    }
    return values.map((value, index) =>
      valueFrom(
        name,
        arrays.flatMap((array) => array.items(index)),
        value,
      ),
    );
  }

  function valueFrom(name: string, schemas: readonly TextSchema[], value: unknown): unknown {
    if (typeof value !== 'string') return value;
    return schemas.some(({ types }) => types.has('object'))
      ? readJson(name, schemas, value)
      : coerce(schemas, value);
  }
}

/** Prepares to parse a parameter. Its value may be the whole query, as a form. */
export function parameterValueReader(parameter: Readable): ReturnType<typeof valueReader> {
  const { style, media, outline } = parameter;
  const reader = valueReader(parameter);
  if (style !== 'querystring' || essenceOf(media?.type ?? '') !== URLENCODED) return reader;
  const form = formReader({ outline, encoding: media?.encoding });
  return { ...reader, read: (query) => (query ? form.urlencoded(query) : undefined) };
}

/**
 * Parses the text of a parameter, in the format that `writeParameter` returns.
 *
 * @throws {URIError | ParameterError}
 */
export const readParameter = (parameter: Readable, text: string): unknown =>
  parameterValueReader(parameter).read(text);
