import type { MediaType } from '../document/types.ts';
import { stringifyJson } from '../json/exact.ts';
import { type Styled, styleOf } from './styles.ts';

/** What tells how a value is written. */
export type Written = Styled & {
  readonly allowReserved?: boolean;
  readonly media?: Pick<MediaType, 'kind'> | undefined;
};

/**
 * Writes a parameter's value by `style` and `explode`: for a query or a cookie with its name, otherwise the text alone.
 * A list or an object without parts may be an empty text. Nested values of the style `deepObject` are written as they
 * are read.
 */
export function writeParameter(parameter: Written, value: unknown): string {
  const { name, in: where, json, explode } = parameter;
  const { prefix, delimiter, exploded, isNamed } = styleOf(parameter);
  const encode = encoderOf(parameter);
  const label = where === 'query' || where === 'cookie' ? `${encode(name)}=` : isNamed ? `${name}=` : '';
  if (parameter.style === 'querystring') return wholeQuery(parameter, value);
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

function wholeQuery({ media }: Written, value: unknown): string {
  return media?.kind === 'form' && isComposite(value) ? writeForm(value) : encodeURIComponent(scalar(value));
}

/** A form is written as parameters of the style `form` are. */
export function writeForm(fields: object): string {
  const field = { in: 'query', style: 'form', explode: true, json: false } as const;
  return Object.entries(fields)
    .map(([name, value]) => writeParameter({ ...field, name }, value))
    .join('&');
}

function encoderOf({ in: where, style, allowReserved }: Written): (text: string) => string {
  if (where === 'header' || style === 'cookie') return (text) => text;
  // What would end a name, a value or the query is encoded anyway.
  return allowReserved ? (text) => encodeURI(text).replace(/[&=+#?/]/g, reserved(where)) : encodeURIComponent;
}

/** A path ends at `?`, and a segment of it at `/`. */
const reserved = (where: string) => (character: string) =>
  where === 'query' && /[?/]/.test(character) ? character : encodeURIComponent(character);

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
