/** A JSON object of the document. */
export type Json = { readonly [key: string]: unknown };

/** A message about the part of the document at a JSON pointer (RFC 6901). */
export interface Finding {
  readonly pointer: string;
  readonly message: string;
}

/** Thrown for a document that cannot be read or served. The message has one line per finding. */
export class DocumentError extends Error {
  override readonly name = 'DocumentError';
  /** Absolute paths of the files that `loadDocument` tried to read, for tools to watch. */
  readonly files: readonly string[];

  constructor(message: string, files: readonly string[] = []) {
    super(message);
    this.files = files;
  }
}

export interface Location {
  readonly file: string;
  readonly pointer: string;
}

/** Returns true for a JSON object: not for an array or `null`. */
export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The value if it is an object, or else an empty object. */
export const asObject = (value: unknown): Json => (isObject(value) ? value : {});

/** The value if it is an array, or else an empty array. */
export const asArray = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** The items of an array as strings. */
export const asStrings = (value: unknown): string[] => asArray(value).map(String);

/** The names and values of the members of an object. */
export const entriesOf = (value: unknown): [string, unknown][] => Object.entries(asObject(value));

/** Replaces each item of an array, or each member of an object. Returns other values unchanged. */
export function mapMembers(
  value: unknown,
  replace: (member: unknown, key: string) => unknown,
): unknown {
  if (Array.isArray(value)) return value.map((item) => replace(item, ''));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, replace(item, key)]));
}

/** Escapes one reference token of a JSON pointer (RFC 6901 §3). */
export const escapePointerToken = (key: string | number): string =>
  String(key).replaceAll('~', '~0').replaceAll('/', '~1');

/** Returns the pointer as a fragment of a URI, such as a `$ref` (RFC 6901 §6). */
export const refTo = (pointer: string): string =>
  `#${encodeURI(pointer.toWellFormed()).replaceAll('#', '%23')}`;

/** Decodes a percent-encoded string (RFC 3986 §2.1). Returns an invalid one unchanged. */
export function decoded(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Percent-encodes a path template, but not the braces of its parameters. */
export const encodedPath = (template: string): string =>
  template.replace(/[^\w{}!$&'()*+,;=:@%./~-]+/g, encodeURIComponent);

/** Returns a function that creates the value of each key when it is first used. */
export function onFirstUse<Key, Value>(create: (key: Key) => Value): (key: Key) => Value {
  const values = new Map<Key, Value>();
  return (key) => {
    const cached = values.get(key);
    if (cached !== undefined) return cached;
    const value = create(key);
    values.set(key, value);
    return value;
  };
}

export const capitalized = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

/** Returns a name that is not taken: the name itself, or the name with a number from 2. */
export function freeName(name: string, isTaken: (name: string) => boolean): string {
  let free = name;
  for (let count = 2; isTaken(free); count += 1) free = `${name}${count}`;
  return free;
}

/** Splits a JSON pointer into its unescaped keys. */
export const pointerTokens = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));

/** The pointers to the enclosing values, beginning with the root, and the pointer itself. */
export const pointersTo = (pointer: string): string[] =>
  [...pointer.matchAll(/\/|$/g)].map(({ index }) => pointer.slice(0, index));

/** The value at a pointer: `/a/b`, or percent-encoded as in a `$ref`: `#/a/b`. */
export function valueAt(root: unknown, pointer: string): unknown {
  const path = pointer.startsWith('#') ? decoded(pointer.slice(1)) : pointer;
  if (path !== '' && !path.startsWith('/')) return undefined;
  let value = root;
  for (const key of pointerTokens(path)) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}

/** The maximum length of a chain of references. A longer chain counts as circular. */
const MAX_HOPS = 100;

/**
 * Returns an object, or the target of a Reference Object (OpenAPI 3.1 §4.8.23).
 *
 * @throws {Error} if the reference is circular.
 */
export function resolveRef(root: Json, value: unknown): Json | undefined {
  let target = value;
  for (let hops = 0; isObject(target) && typeof target.$ref === 'string'; hops += 1) {
    const { $ref } = target;
    if (hops === MAX_HOPS) throw new Error(`$ref: ${$ref} is circular`);
    target = valueAt(root, $ref);
  }
  return isObject(target) ? target : undefined;
}

/** Resolves each `$ref` along a pointer. Returns the direct pointer to the same value. */
export function directPointer(root: Json, pointer: string): string {
  let direct = '';
  let value: unknown = root;
  let hops = 0;
  for (const key of pointerTokens(pointer)) {
    while (isObject(value) && !Object.hasOwn(value, key) && typeof value.$ref === 'string') {
      hops += 1;
      if (hops > MAX_HOPS) break;
      direct = decoded(value.$ref.slice(1));
      value = valueAt(root, direct);
    }
    direct += `/${escapePointerToken(key)}`;
    value = Object(value)[key];
  }
  return direct;
}
