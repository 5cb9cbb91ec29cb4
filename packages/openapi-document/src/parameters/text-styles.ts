import type { Json } from '../document/document.ts';
import type { Parameter } from '../document/operations.ts';
import { cut } from './pairs.ts';
import { coerce, coerceItems, coerceObject, jsonOr, shapeOf } from './typed.ts';

/**
 * A value in the style `simple`, `label`, `matrix` or (for cookies) `form`.
 *
 * @param decode takes away what makes a part safe for its place.
 */
export function fromText(
  root: Json,
  { style, explode, schema, json, name }: Parameter,
  text: string | undefined,
  decode: (part: string) => string,
): unknown {
  if (text === undefined) return undefined;
  if (json) return jsonOr(decode(text));
  const prefix = PREFIXES[style] ?? '';
  if (!text.startsWith(prefix)) return undefined;
  const bare = text.slice(prefix.length);
  const unnamed = (part: string) =>
    style === 'matrix' && part.startsWith(`${name}=`) ? part.slice(name.length + 1) : part;
  const shape = shapeOf(root, schema);
  if (shape === 'text') return coerce(root, [schema], decode(unnamed(bare)));
  const list = explode ? bare : unnamed(bare);
  const parts = list === '' ? [] : list.split(explode && prefix !== '' ? prefix : ',');
  if (shape === 'array')
    return coerceItems(
      root,
      schema,
      parts.map((part) => decode(unnamed(part))),
    );
  const named = parts.map((part) => cut(part, '=').map(decode) as [string, string]);
  return coerceObject(root, schema, explode ? named : inPairs(parts, decode));
}

const PREFIXES: Readonly<Record<string, string>> = { label: '.', matrix: ';' };

/** Names and values that alternate. */
export const inPairs = (parts: readonly string[], decode: (part: string) => string): [string, string][] =>
  parts.flatMap((part, index): [string, string][] =>
    index % 2 === 0 ? [[decode(part), decode(parts[index + 1] ?? '')]] : [],
  );
