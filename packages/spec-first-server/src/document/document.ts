import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml';

/** Any JSON object of the document. What is inside is asked, never assumed. */
export type Json = { readonly [key: string]: unknown };

/** A finding about the document: `pointer` is the JSON pointer (RFC 6901) of the place it speaks of. */
export interface Finding {
  readonly pointer: string;
  readonly message: string;
}

/** The document cannot be served. The message is the whole block that the start prints: one line for each finding. */
export class DocumentError extends Error {
  override readonly name = 'DocumentError';
}

/** An OpenAPI 3.1 document with every reference to another file drawn in: what `$ref`s are left point inside. */
export interface Document {
  readonly file: string;
  readonly root: Json;
  /** Where parts of `root` stand that came from other files, by their pointers in `root`. */
  readonly origins?: ReadonlyMap<string, Place>;
}

/** A place in a file, as a JSON pointer. */
export interface Place {
  readonly file: string;
  readonly pointer: string;
}

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The value as an object, or an empty one: for members that may be absent. */
export const objectAt = (value: unknown): Json => (isObject(value) ? value : {});

/** The value as an array, or an empty one. */
export const arrayAt = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** One reference token of a JSON pointer, escaped (RFC 6901 §3). */
export const token = (key: string | number): string => String(key).replaceAll('~', '~0').replaceAll('/', '~1');

const tokensOf = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));

/** The value a pointer leads to, or `undefined`. Takes `#/a/b` (percent-encoded, as in a `$ref`) and `/a/b`. */
export function valueAt(root: unknown, pointer: string): unknown {
  const path = pointer.startsWith('#') ? decodeURIComponent(pointer.slice(1)) : pointer;
  if (path !== '' && !path.startsWith('/')) return undefined;
  let value = root;
  for (const key of tokensOf(path)) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}

/**
 * Follows a Reference Object (OpenAPI 3.1 §4.8.23), and one that it leads to, to the object that is meant.
 *
 * @throws {Error} if the references run in a circle; a reference to nothing gives `undefined`.
 */
export function follow(root: Json, value: unknown): Json | undefined {
  let seen = 0;
  let at = value;
  while (isObject(at) && typeof at.$ref === 'string') {
    if (++seen > 100) throw new Error(`the reference ${at.$ref} leads back to itself`);
    at = valueAt(root, at.$ref);
  }
  return isObject(at) ? at : undefined;
}

/** Files that `locate` has parsed, for one run of findings. */
type Parsed = Map<string, { readonly contents: unknown; readonly lines: LineCounter }>;

/**
 * `file:line:column` of a pointer, for messages. Follows references; stops at the nearest place that the text shows.
 * Parses the text again, which only messages pay for.
 */
export function locate(file: string, pointer: string, parsed: Parsed = new Map(), hops = 0): string {
  const { contents, lines } = parse(file, parsed);
  let node = contents;
  let at = 0;
  const tokens = tokensOf(pointer);
  for (const [index, key] of tokens.entries()) {
    if (isMap(node)) {
      const pair = node.items.find((item) => isScalar(item.key) && String(item.key.value) === key);
      const ref: unknown = node.get('$ref');
      if (pair === undefined && typeof ref === 'string' && !/^[a-z]+:/i.test(ref) && hops < 100) {
        const [target = '', inner = ''] = ref.split('#');
        const rest = tokens.slice(index).map((part) => `/${token(part)}`);
        const next = target === '' ? file : join(dirname(file), decodeURIComponent(target));
        return locate(next, `${decodeURIComponent(inner)}${rest.join('')}`, parsed, hops + 1);
      }
      if (pair === undefined) break;
      at = (pair.key as Node).range?.[0] ?? at;
      node = pair.value;
    } else if (isSeq(node)) {
      node = node.items[Number(key)];
      at = (node as Node | undefined)?.range?.[0] ?? at;
    } else break;
  }
  const { line, col } = lines.linePos(at);
  return `${file}:${line}:${col}`;
}

function parse(file: string, parsed: Parsed) {
  const known = parsed.get(file);
  if (known !== undefined) return known;
  const lines = new LineCounter();
  const made = { contents: parseDocument(readFileSync(file, 'utf8'), { lineCounter: lines }).contents, lines };
  parsed.set(file, made);
  return made;
}

/** The findings as text, a line each, with the place in the document. What several operations share is said once. */
export function describeFindings({ file, origins = new Map() }: Document, findings: readonly Finding[]): string {
  const parsed: Parsed = new Map();
  const placeOf = (pointer: string): string => {
    for (let at = pointer; at !== ''; at = at.slice(0, at.lastIndexOf('/'))) {
      const origin = origins.get(at);
      if (origin !== undefined) return locate(origin.file, origin.pointer + pointer.slice(at.length), parsed);
    }
    return locate(file, pointer, parsed);
  };
  return [...new Set(findings.map(({ pointer, message }) => `${placeOf(pointer)} ${message}`))].join('\n');
}
