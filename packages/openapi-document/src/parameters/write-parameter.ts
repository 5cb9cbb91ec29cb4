import type { Parameter } from '../document/operations.ts';
import { stringifyJson } from '../json/exact.ts';

/** The delimiters of query parameters that are not exploded, percent-encoded. By default a comma. */
const DELIMITERS: Readonly<Record<string, string>> = { spaceDelimited: '%20', pipeDelimited: '%7C' };

/**
 * Writes a parameter's value as `name=value` pairs of a query, by `style` and `explode` (OpenAPI 3.1 §4.8.12.2).
 * Percent-encoded. Nested objects and arrays of the `deepObject` style are written as they are read.
 */
export function writeQuery({ name, style, explode, json }: Parameter, value: unknown): string[] {
  if (json) return [pair(name, stringifyJson(value) ?? '')];
  if (!isComposite(value)) return [pair(name, scalar(value))];
  if (style === 'deepObject') return deepPairs(name, value);
  const parts = flat(value).map(encodeURIComponent);
  if (!explode) return [`${encodeURIComponent(name)}=${parts.join(DELIMITERS[style] ?? ',')}`];
  if (Array.isArray(value)) return value.map((item) => pair(name, scalar(item)));
  return Object.entries(value).flatMap(([key, inner]) => [inner].flat().map((item) => pair(key, scalar(item))));
}

/**
 * Writes a parameter's value as the text in a path, a header or a cookie, by `style` and `explode`.
 *
 * @param encode escapes a part for its place.
 */
export function writeText(
  { name, style, explode, json }: Parameter,
  value: unknown,
  encode: (part: string) => string,
): string {
  if (json) return encode(stringifyJson(value) ?? '');
  const prefix = style === 'label' ? '.' : style === 'matrix' ? ';' : '';
  const label = style === 'matrix' ? `${name}=` : '';
  if (!isComposite(value)) return prefix + label + encode(scalar(value));
  if (!explode) return prefix + label + flat(value).map(encode).join(',');
  const parts = Array.isArray(value)
    ? value.map((item) => label + encode(scalar(item)))
    : Object.entries(value).map(([key, inner]) => `${encode(key)}=${encode(scalar(inner))}`);
  return prefix + parts.join(prefix || ',');
}

const isComposite = (value: unknown): value is object => typeof value === 'object' && value !== null;

const scalar = (value: unknown): string =>
  typeof value === 'string' ? value : value === null ? '' : (stringifyJson(value) ?? '');

/** The items of a list, or the names and values of an object, alternating. */
const flat = (value: object): string[] => (Array.isArray(value) ? value : Object.entries(value).flat()).map(scalar);

const pair = (name: string, text: string): string => `${encodeURIComponent(name)}=${encodeURIComponent(text)}`;

function deepPairs(name: string, value: object): string[] {
  return Object.entries(value).flatMap(([key, inner]) => {
    const inside = `${name}[${Array.isArray(value) ? '' : key}]`;
    return isComposite(inner) ? deepPairs(inside, inner) : [pair(inside, scalar(inner))];
  });
}
