import { asObject, type Json } from '../document/document.ts';
import { isFile, kindOf } from '../document/media-types.ts';
import { itemSchemas, propertySchemas, typesOf } from '../document/schema.ts';
import { deepPath, fromPairs } from './read-value.ts';
import { coerce, jsonOr, pairsOf } from './texts.ts';

export type Fields<T> = ReadonlyMap<string, readonly (string | T)[]>;

/**
 * Prepares to read the forms of a media type. A field is written as its Encoding Object says (OpenAPI 3.1 §4.8.15): by
 * `style` and `explode` as a query parameter is, or else as JSON or text by its schema.
 */
export function formReader(root: Json, { schema, source }: { readonly schema: unknown; readonly source: Json }) {
  const encoding = asObject(source.encoding);
  const schemasOf = (name: string) => propertySchemas(root, schema, name);
  /** The fields that are written as parameters of a query are. */
  const styled = Object.entries(encoding).flatMap(([name, value]) => {
    const { style, explode } = asObject(value);
    if (style === undefined && explode === undefined) return [];
    const [first, ...others] = schemasOf(name);
    const whole = others.length === 0 ? first : { anyOf: schemasOf(name) };
    const written = { style: String(style ?? 'form'), explode: (explode ?? (style ?? 'form') === 'form') === true };
    return [{ name, in: 'query' as const, ...written, json: false, schema: whole }];
  });

  return {
    /** The object of an `application/x-www-form-urlencoded` body. @throws {URIError | ParameterError} */
    urlencoded: (text: string) => objectOf<never>(pairsOf(text), decodeURIComponent),
    /** The object of a `multipart/form-data` body. @throws {ParameterError} */
    multipart: <T>(fields: Fields<T>) => objectOf(fields, (text) => text),
    /** Whether a field holds files, text, or both. */
    holds(name: string) {
      const items = schemasOf(name).flatMap((inner) => [inner, ...itemSchemas(root, inner, 0)]);
      const { contentType } = asObject(encoding[name]);
      return {
        files: items.some((inner) => isFile(root, inner, contentType)),
        text: items.some((inner) => typesOf(root, inner).size > 0),
      };
    },
  };

  function objectOf<T>(fields: Fields<T>, decode: (text: string) => string): Json {
    const isText = (value: string | T) => typeof value === 'string';
    const texts = new Map([...fields].map(([name, values]) => [name, values.filter(isText)]));
    const plain = [...fields].filter(([name]) => !styled.some((field) => field.name === name || deepPath(field, name)));
    const isField = (name: string) => fields.has(name);
    return Object.fromEntries([
      ...plain.map(([name, values]) => {
        const all = values.map((value) => (isText(value) ? decode(value) : value));
        return [name, fieldOf(name, all)];
      }),
      ...styled
        .map((field) => [field.name, fromPairs(root, field, texts, isField, decode)])
        .filter(([, value]) => value !== undefined),
    ]);
  }

  /** The value of one field. It is a list if the schema has one. */
  function fieldOf(name: string, values: readonly unknown[]): unknown {
    const schemas = schemasOf(name);
    const { contentType } = asObject(encoding[name]);
    const [first] = values;
    const isOne = values.length === 1;
    if (isOne && typeof contentType === 'string' && kindOf(contentType) === 'json') {
      return typeof first === 'string' ? jsonOr(first) : first;
    }
    const arrays = schemas.filter((inner) => typesOf(root, inner).has('array'));
    if (arrays.length === 0) return isOne ? valueFrom(schemas, first) : values;
    return values.map((value, index) =>
      valueFrom(
        arrays.flatMap((array) => itemSchemas(root, array, index)),
        value,
      ),
    );
  }

  function valueFrom(schemas: readonly unknown[], value: unknown): unknown {
    if (typeof value !== 'string') return value;
    return schemas.some((inner) => typesOf(root, inner).has('object')) ? jsonOr(value) : coerce(root, schemas, value);
  }
}
