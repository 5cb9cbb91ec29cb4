import { put } from '../json/parser.ts';
import { type Budget, spend } from '../schema/budget.ts';
import { TYPE_BITS } from '../schema/json-types.ts';
import type { Outline } from '../schema/outline.ts';
import type { Json } from '../source/document.ts';
import { essenceOf, isJsonType, URLENCODED } from '../source/media-types.ts';
import {
  nameOwnership,
  ParameterError,
  type Readable,
  readJson,
  valueReader,
} from './read-value.ts';
import { coerce, firstAllowed, jsonOrText, pairsOf, percentDecoded } from './texts.ts';
import { type FormEncoding, styledField } from './write-parameter.ts';

/** The values of fields by name: strings, and files of type `T`. */
export type Fields<T> = ReadonlyMap<string, readonly (string | T)[]>;

interface FormFormat {
  readonly outline?: Outline | undefined;
  readonly encoding?: FormEncoding | undefined;
}

/**
 * Prepares to parse forms. A field with `style` or `explode` in its Encoding Object (OpenAPI 3.1
 * §4.8.15) is parsed like a query parameter. Other fields are parsed as JSON or as text, by their
 * schemas and media types.
 */
export function formReader({ outline, encoding = {} }: FormFormat) {
  const styledFields = (isPlain: boolean) =>
    Object.entries(encoding).flatMap(([name, value]) => {
      const field = styledField(name, value);
      return field && outline
        ? valueReader({ ...field, isPlain, outline: outline.member(name) })
        : [];
    });
  return {
    /**
     * Parses `application/x-www-form-urlencoded`.
     *
     * @param budget pays for the fields, and the patterns of their names.
     * @throws {URIError | ParameterError | BudgetExceeded}
     */
    urlencoded: (text: string, budget?: Budget) =>
      objectOf<never>(pairsOf(text), styledFields(false), percentDecoded, budget),
    /** Converts the fields of `multipart/form-data`. @throws {ParameterError | BudgetExceeded} */
    multipart: <T>(fields: Fields<T>, budget?: Budget) =>
      objectOf(fields, styledFields(true), unchanged, budget),
    textValues,
  };

  /**
   * Returns the values of a text part. A part of JSON may contain all items of an array.
   *
   * @param type the media type of the part, without parameters.
   */
  function textValues(name: string, type: string, text: string): readonly unknown[] {
    if (!isJsonType(type) || Object.hasOwn(encoding, name)) return [text];
    const value = isArray(outline?.member(name)) ? jsonOrText(text) : text;
    return Array.isArray(value) ? value : [text];
  }

  function objectOf<T>(
    fields: Fields<T>,
    styledFields: readonly ReturnType<typeof valueReader>[],
    decode: (text: string) => string,
    budget: Budget | undefined,
  ): Json {
    const names = outline?.names ?? new Set();
    const isText = (value: string | T) => typeof value === 'string';
    // Styles apply to texts, not to files.
    const styled = styledFields.filter(({ name }) => fields.get(name)?.every(isText) ?? true);
    const styledNames = new Set(styled.map((field) => field.name));
    const owners = nameOwnership(styled, names);
    /** A property of the form is no member of a styled field. */
    const isOwn = (name: string) => names.has(name) && !styledNames.has(name);
    const form: Record<string, unknown> = {};
    for (const [name, values] of fields) {
      if (budget !== undefined) spend(budget, values.length);
      if (!isOwn(name) && (owners.acceptsAnyName || owners.isDeclared(name))) continue;
      const decodedValues = values.map((value) => (isText(value) ? decode(value) : value));
      put(form, name, fieldOf(name, outline?.member(name, budget), decodedValues, budget));
    }
    if (styled.length > 0) {
      const texts = new Map([...fields].map(([name, values]) => [name, values.filter(isText)]));
      for (const field of styled) {
        const value = field.fromPairs(texts, owners.foreignTo(field), decode, budget);
        if (value !== undefined) put(form, field.name, value);
      }
    }
    return form;
  }

  /** Converts the values of a field: to an array if the schema allows it or there are several. */
  function fieldOf(
    name: string,
    schema: Outline | undefined,
    values: readonly unknown[],
    budget: Budget | undefined,
  ): unknown {
    const [first] = values;
    const isSingle = values.length === 1;
    if (schema === undefined) return isSingle ? first : values;
    const { contentType } = encoding[name] ?? {};
    if (isSingle && contentType !== undefined && isJsonType(contentType)) {
      const value = typeof first === 'string' ? readJson(name, schema, first) : first;
      // A client may send each item of an array as a separate part, also if there is only one.
      return isArray(schema) && !schema.allows(value, budget) ? [value].flat() : value;
    }
    if (isArray(schema))
      return values.map((value, index) => valueFrom(name, schema.item(index), value, budget));
    if (isSingle) return valueFrom(name, schema, first, budget);
    if (schema.hasTypes) throw new ParameterError(name, 'must be given once');
    return values;
  }
}

/**
 * Returns the declared media types of a field of a form, and whether it, or an item of it, may be a
 * file or a text. Without a schema, it may be both.
 */
export function formField({ outline, encoding = {} }: FormFormat, name: string, budget?: Budget) {
  const { contentType } = encoding[name] ?? {};
  const { isFile = true, isText = true } =
    outline?.member(name, budget).fieldKind(contentType) ?? {};
  return { isFile, isText, types: contentType?.split(',').map(essenceOf) ?? [] };
}

const unchanged = (text: string): string => text;

const isArray = (schema: Outline | undefined): boolean =>
  ((schema?.typeBits ?? 0) & TYPE_BITS.array) !== 0;

function valueFrom(
  name: string,
  schema: Outline,
  value: unknown,
  budget: Budget | undefined,
): unknown {
  if (typeof value !== 'string') return value;
  if ((schema.typeBits & TYPE_BITS.object) === 0) return coerce(schema, value, budget);
  const json = readJson(name, schema, value);
  return (schema.typeBits & TYPE_BITS.string) === 0
    ? json
    : firstAllowed(schema, json, value, budget);
}

/** Prepares to parse a parameter. Its value may be the whole query, as a form. */
export function parameterValueReader(parameter: Readable): ReturnType<typeof valueReader> {
  const { style, media, outline } = parameter;
  const reader = valueReader(parameter);
  if (style !== 'querystring' || essenceOf(media?.type ?? '') !== URLENCODED) return reader;
  const form = formReader({ outline, encoding: media?.encoding });
  return {
    ...reader,
    read: (query, _pairs, _isForeign, budget) =>
      query ? form.urlencoded(query, budget) : undefined,
  };
}

/**
 * Parses the text of a parameter, in the format that `writeParameter` returns.
 *
 * @throws {URIError | ParameterError}
 */
export const readParameter = (parameter: Readable, text: string): unknown =>
  parameterValueReader(parameter).read(text);
