/** A JSON object of the document. */
export type Json = { readonly [key: string]: unknown };

/** Something to say about the document, at a JSON pointer (RFC 6901). */
export interface Finding {
  readonly pointer: string;
  readonly message: string;
}

/** The document cannot be served. The message is what the start prints: one line for each finding. */
export class DocumentError extends Error {
  override readonly name = 'DocumentError';
  /** Absolute paths of the files of the document, also of those that are missing. Tools watch them. */
  readonly files: readonly string[];

  constructor(message: string, files: readonly string[] = []) {
    super(message);
    this.files = files;
  }
}

/** A place in a file, as a JSON pointer. */
export interface Location {
  readonly file: string;
  readonly pointer: string;
}

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The value if it is an object, or else an empty object. */
export const asObject = (value: unknown): Json => (isObject(value) ? value : {});

/** The value if it is an array, or else an empty array. */
export const asArray = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Escapes one reference token of a JSON pointer (RFC 6901 §3). */
export const escapePointerToken = (key: string | number): string =>
  String(key).replaceAll('~', '~0').replaceAll('/', '~1');

/** Decodes a percent-encoded text (RFC 3986 §2.1). One that is badly encoded stays as it is. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Computes a value once for each object of the document, which does not change. */
export function memoized<V, T>(compute: (root: Json, value: V) => T): typeof compute {
  const known = new WeakMap<object, T>();
  return (root, value) => {
    if (!isObject(value)) return compute(root, value);
    const found = known.get(value) ?? compute(root, value);
    known.set(value, found);
    return found;
  };
}

export const pointerTokens = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));

/** The value at a pointer, or `undefined`. Takes `#/a/b` (percent-encoded, as in a `$ref`) and `/a/b`. */
export function valueAt(root: unknown, pointer: string): unknown {
  const path = pointer.startsWith('#') ? decodeURIComponent(pointer.slice(1)) : pointer;
  if (path !== '' && !path.startsWith('/')) return undefined;
  let value = root;
  for (const key of pointerTokens(path)) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}

/** Follows a Reference Object (OpenAPI 3.1 §4.8.23) to its end, or to `undefined`. @throws {Error} if it is circular. */
export function resolveRef(root: Json, value: unknown): Json | undefined {
  let seen = 0;
  let at = value;
  while (isObject(at) && typeof at.$ref === 'string') {
    if (++seen > 100) throw new Error(`the $ref ${at.$ref} is circular: it leads back to itself`);
    at = valueAt(root, at.$ref);
  }
  return isObject(at) ? at : undefined;
}
