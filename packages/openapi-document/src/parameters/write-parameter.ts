import type { kindOf } from '../document/media-types.ts';
import { stringifyJson } from '../json/exact.ts';

/** What tells how the value of a parameter, a header or a field is written and read. */
export interface Styled {
  readonly in: 'path' | 'query' | 'header' | 'cookie';
  readonly name: string;
  /** In the style `querystring`, which the document declares by `in`, the value is the whole query (OpenAPI 3.2). */
  readonly style: string;
  readonly explode: boolean;
  /** Whether the value is JSON (`content`), not text in a `style`. */
  readonly json: boolean;
  /** Whether characters such as `/` are written as they are in a query. */
  readonly allowReserved?: boolean;
  /** The media type of the value, if it has one. */
  readonly media?: { readonly kind: ReturnType<typeof kindOf> } | undefined;
}

/** How a style writes the values of a parameter (OpenAPI 3.1 §4.8.12.2). */
interface Style {
  readonly prefix: string;
  /** Between the parts of a list or an object that is not exploded, percent-encoded. */
  readonly delimiter: string;
  /** What is read as the delimiter. */
  readonly delimiters: string | RegExp;
  /** Between the parts of a list or an object that is exploded. */
  readonly exploded: string;
  /** Whether each part of an exploded list has the parameter's name. */
  readonly isNamed: boolean;
}

const comma = { prefix: '', delimiter: ',', delimiters: ',' };
const simple: Style = { ...comma, exploded: ',', isNamed: false };

const STYLES: Readonly<Record<string, Style>> = {
  simple,
  label: { ...comma, prefix: '.', exploded: '.', isNamed: false },
  matrix: { ...comma, prefix: ';', exploded: ';', isNamed: true },
  form: { ...comma, exploded: '&', isNamed: true },
  spaceDelimited: { prefix: '', delimiter: '%20', delimiters: '%20', exploded: '&', isNamed: true },
  pipeDelimited: { prefix: '', delimiter: '%7C', delimiters: /\||%7C/i, exploded: '&', isNamed: true },
  cookie: { ...comma, exploded: '; ', isNamed: true },
};

/** The style of a parameter. One cookie with the style `form` is written as a header is, after its name. */
export const styleOf = ({ in: where, style }: Styled): Style =>
  STYLES[where === 'cookie' && style === 'form' ? 'simple' : style] ?? simple;

/**
 * Writes a parameter's value by `style` and `explode`: for a query or a cookie with its name, otherwise the text alone.
 * A list or an object without parts may be an empty text. Nested values of the style `deepObject` are written as they
 * are read.
 */
export function writeParameter(parameter: Styled, value: unknown): string {
  const { name, in: where, json, explode } = parameter;
  const { prefix, delimiter, exploded, isNamed } = styleOf(parameter);
  const encode = encoderOf(parameter);
  const label = where === 'query' || where === 'cookie' ? `${encode(name)}=` : isNamed ? `${name}=` : '';
  if (parameter.style === 'querystring') {
    const isForm = parameter.media?.kind === 'form' && isComposite(value);
    return isForm ? writeForm(value) : encodeURIComponent(scalar(value));
  }
  if (json) return label + encode(stringifyJson(value) ?? '');
  if (!isComposite(value)) return prefix + label + encode(scalar(value));
  if (parameter.style === 'deepObject') return deepPairs(name, value, encode).join('&');
  if (!explode) return prefix + label + flat(value).map(encode).join(delimiter);
  const parts = Array.isArray(value)
    ? value.map((item) => (isNamed ? label : '') + encode(scalar(item)))
    : Object.entries(value).flatMap(([key, inner]) =>
        (isNamed ? [inner].flat() : [inner]).map((item) => `${encode(key)}=${encode(scalar(item))}`),
      );
  return (where === 'cookie' && !isNamed ? label : '') + prefix + parts.join(exploded);
}

/** A form is written as parameters of the style `form` are. */
export function writeForm(fields: object): string {
  const field = { in: 'query', style: 'form', explode: true, json: false } as const;
  return Object.entries(fields)
    .map(([name, value]) => writeParameter({ ...field, name }, value))
    .join('&');
}

function encoderOf({ in: where, style, allowReserved }: Styled): (text: string) => string {
  if (where === 'header' || style === 'cookie') return (text) => text;
  if (!allowReserved) return encodeURIComponent;
  // What would end a name, a value or the query is encoded anyway. A path ends at `?`, and a segment of it at `/`.
  const ends = where === 'query' ? /[&=+#]/g : /[&=+#?/]/g;
  return (text) => encodeURI(text).replace(ends, encodeURIComponent);
}

const isComposite = (value: unknown): value is object => typeof value === 'object' && value !== null;

const scalar = (value: unknown): string =>
  typeof value === 'string' ? value : value === null ? '' : (stringifyJson(value) ?? '');

/** The items of a list, or the names and values of an object, alternating. */
const flat = (value: object): string[] => (Array.isArray(value) ? value : Object.entries(value).flat()).map(scalar);

function deepPairs(name: string, value: object, encode: (text: string) => string): string[] {
  return Object.entries(value).flatMap(([key, inner]) => {
    const inside = `${name}[${Array.isArray(value) ? '' : key}]`;
    return isComposite(inner) ? deepPairs(inside, inner, encode) : [`${encode(inside)}=${encode(scalar(inner))}`];
  });
}
