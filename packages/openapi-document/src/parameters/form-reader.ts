import { asObject, type Json } from '../document/document.ts';
import { isFile, kindOf, type MediaType } from '../document/media-types.ts';
import type { Parameter } from '../document/operations.ts';
import { itemSchemas, propertySchemas, typesOf } from '../document/schema.ts';
import { coerce, jsonOr } from './coerce.ts';
import { pairsOf } from './pairs.ts';
import { fromPairs, isDeep } from './read-parameter.ts';

/** The fields of a form by name. A file is a `Blob`. */
export type Fields<T = Blob> = ReadonlyMap<string, readonly (string | T)[]>;

/**
 * Prepares to read the forms of a media type. A field is written as its Encoding Object says (OpenAPI 3.1 §4.8.15): by
 * `style` and `explode` as a query parameter is, or else as JSON or text by its schema.
 */
export function formReader(root: Json, { schema, source }: MediaType) {
  const encoding = asObject(source.encoding);
  const styled = Object.entries(encoding).flatMap(([name, value]) => parameterOf(root, schema, name, asObject(value)));
  const isStyled = (name: string) => styled.some((field) => field.name === name || isDeep(field, name));

  return {
    /** The object of an `application/x-www-form-urlencoded` body. @throws {URIError | ParameterError} */
    urlencoded: (text: string): Json => objectOf<never>(pairsOf(text), decodeURIComponent),
    /** The object of a `multipart/form-data` body. @throws {ParameterError} */
    multipart: <T>(fields: Fields<T>): Json => objectOf(fields, (text) => text),
    /** Whether a field holds files, text, or both. */
    holds(name: string): { readonly files: boolean; readonly text: boolean } {
      const schemas = propertySchemas(root, schema, name);
      const items = schemas.flatMap((inner) => [inner, ...itemSchemas(root, inner, 0)]);
      const { contentType } = asObject(encoding[name]);
      return {
        files: items.some((inner) => isFile(root, inner, contentType)),
        text: items.some((inner) => typesOf(root, inner).size > 0),
      };
    },
  };

  function objectOf<T>(fields: Fields<T>, decode: (text: string) => string): Json {
    const texts = new Map(
      [...fields].map(([name, values]) => [name, values.filter((value) => typeof value === 'string')]),
    );
    const plain = [...fields].filter(([name]) => !isStyled(name));
    return Object.fromEntries([
      ...plain.map(([name, values]) => [
        name,
        fieldOf(
          name,
          values.map((value) => decodedText(value, decode)),
        ),
      ]),
      ...styled
        .map((field) => [field.name, fromPairs(root, field, texts, (name) => fields.has(name), decode)])
        .filter(([, value]) => value !== undefined),
    ]);
  }

  /** The value of one field. It is a list if the schema has one. */
  function fieldOf(name: string, values: readonly unknown[]): unknown {
    const schemas = propertySchemas(root, schema, name);
    const { contentType } = asObject(encoding[name]);
    const isJson = typeof contentType === 'string' && kindOf(contentType) === 'json';
    const arrays = schemas.filter((inner) => typesOf(root, inner).has('array'));
    const itemsAt = (index: number) => arrays.flatMap((array) => itemSchemas(root, array, index));
    if (isJson && values.length === 1)
      return values.map((value) => (typeof value === 'string' ? jsonOr(value) : value))[0];
    if (arrays.length > 0) return values.map((value, index) => valueFrom(itemsAt(index), value));
    return values.length === 1 ? valueFrom(schemas, values[0]) : values;
  }

  function valueFrom(schemas: readonly unknown[], value: unknown): unknown {
    if (typeof value !== 'string') return value;
    return schemas.some((inner) => typesOf(root, inner).has('object')) ? jsonOr(value) : coerce(root, schemas, value);
  }
}

const decodedText = <T>(value: string | T, decode: (text: string) => string) =>
  typeof value === 'string' ? decode(value) : value;

/** The parameter that is written as a field with `style` or `explode` is. Without these, a field is not a parameter. */
function parameterOf(root: Json, schema: unknown, name: string, encoding: Json): Parameter[] {
  const { style = 'form', explode = style === 'form', allowReserved } = encoding;
  if (encoding.style === undefined && encoding.explode === undefined) return [];
  const field = { name, in: 'query', required: false, style: String(style), explode: explode === true } as const;
  const schemas = propertySchemas(root, schema, name);
  const whole = schemas.length === 1 ? schemas[0] : { anyOf: schemas };
  return [
    {
      ...field,
      allowReserved: allowReserved === true,
      json: false,
      media: undefined,
      schema: whole,
      pointer: '',
      source: {},
    },
  ];
}
