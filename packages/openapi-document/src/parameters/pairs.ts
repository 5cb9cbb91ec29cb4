import { decoded } from '../document/document.ts';

/** The values of a query or a form by name, percent-encoded. A `+` is a space in both. */
export function pairsOf(text: string): Map<string, string[]> {
  const pairs = new Map<string, string[]>();
  for (const pair of text.replaceAll('+', '%20').split('&')) {
    if (pair === '') continue;
    const [name, value] = cut(pair, '=');
    add(pairs, decoded(name), value);
  }
  return pairs;
}

/** The cookies of a request by name (RFC 6265 §4.2.1), as they were sent. */
export function cookiesOf(header: unknown): Map<string, string[]> {
  const cookies = new Map<string, string[]>();
  if (typeof header !== 'string') return cookies;
  for (const pair of header.split(';')) {
    if (!pair.includes('=')) continue;
    const [name, value] = cut(pair, '=');
    add(cookies, name.trim(), value.trim().replace(/^"(.*)"$/, '$1'));
  }
  return cookies;
}

function add(pairs: Map<string, string[]>, name: string, value: string): void {
  const values = pairs.get(name);
  if (values === undefined) pairs.set(name, [value]);
  else values.push(value);
}

/** The texts before and after the first separator. */
export function cut(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + separator.length)];
}
