import { type Json, resolveRef } from './document.ts';
import { alternatives, shapeOf } from './schema.ts';

/** Keywords that restrict text and bytes, besides `type` and `format`. */
const RESTRICTING = /^(enum|const|pattern|minLength|maxLength|properties|required|items|not)$/;

/** Returns true if a schema probably rejects some texts or bytes. */
export const isConstrained = (root: Json, schema: unknown): boolean =>
  schema === false ||
  alternatives(root, schema).some(
    ({ type, format, ...others }) =>
      (type ?? 'string') !== 'string' ||
      (format ?? 'binary') !== 'binary' ||
      Object.keys(others).some((key) => RESTRICTING.test(key)),
  );

/**
 * Returns the kind of the bodies of a media type. A `text/*` body with a schema of an array or an
 * object, such as `text/csv`, is a stream, since its format is unknown.
 */
export function kindOf(
  type: string,
  root: Json = {},
  schema?: unknown,
): 'json' | 'text' | 'form' | 'multipart' | 'stream' {
  const essence = essenceOf(type);
  if (isJsonType(essence)) return 'json';
  if (essence === 'application/x-www-form-urlencoded') return 'form';
  if (essence === 'multipart/form-data') return 'multipart';
  return essence.startsWith('text/') && shapeOf(root, schema) === 'text' ? 'text' : 'stream';
}

/**
 * Returns the format of a sequential media type (OpenAPI 3.2 §4.14.3): server-sent events, JSON
 * Lines, JSON Text Sequences (RFC 7464), or the parts of a multipart body.
 */
export function sequenceOf(type: string): 'events' | 'lines' | 'records' | 'parts' | undefined {
  const essence = essenceOf(type);
  if (essence === 'text/event-stream') return 'events';
  if (/^application\/(jsonl|x-jsonlines|x-ndjson|ndjson)$/.test(essence)) return 'lines';
  if (/^application\/([^/]+\+)?json-seq$/.test(essence)) return 'records';
  return essence === 'multipart/mixed' ? 'parts' : undefined;
}

/**
 * Returns true if a field of a form is a file (OpenAPI 3.1 §4.8.14.3, §4.8.15.1). A schema with
 * `contentEncoding` describes text, and one with `format: binary` a file. Other schemas describe a
 * file if they have `contentMediaType` or no type, unless the media type is JSON, text or a form.
 *
 * @param encodingType `contentType` of the Encoding Object.
 */
export function isFile(root: Json, schema: unknown, encodingType?: unknown): boolean {
  const source = schema === true ? {} : resolveRef(root, schema);
  if (source === undefined || source.contentEncoding !== undefined) return false;
  if (source.format === 'binary') return true;
  const type = source.contentMediaType ?? encodingType;
  if (typeof type === 'string' && kindOf(type) !== 'stream') return false;
  const isTyped = Object.keys(source).some((key) => TYPE_KEYWORDS.test(key));
  return source.contentMediaType !== undefined || !isTyped;
}

/** Keywords of schemas for values other than bytes. */
const TYPE_KEYWORDS =
  /^(type|enum|const|properties|items|prefixItems|(all|any|one)Of|pattern|format|m(in|ax).*)$/;

export const essenceOf = (type: string): string =>
  (type.split(';', 1)[0] ?? '').trim().toLowerCase();

/** @param essence a media type without parameters, in lower case. */
export const isJsonType = (essence: string): boolean =>
  /^application\/(.+\+)?json$/.test(essence) || essence === 'text/json';

/**
 * Finds the declared media type of a body. A media type with the same parameters takes precedence
 * over one without parameters. Both take precedence over ranges (OpenAPI 3.1 §4.8.13.1), which may
 * have a suffix, as in `application/*+json`.
 */
export function mediaTypeFor<Media extends { readonly type: string }>(
  media: readonly Media[],
  contentType: string,
): Media | undefined {
  const exact = media.find(({ type }) => type === contentType);
  if (exact !== undefined) return exact;
  const full = normalized(contentType);
  const [essence = ''] = full.split(';');
  const withSuffix = essence.replace(/\/.*\+/, '/*+');
  const choices = [full, essence, withSuffix, essence.replace(/\/.*/, '/*'), '*/*'];
  const matches = choices.map((choice) => media.find(({ type }) => normalized(type) === choice));
  return matches.find((match) => match !== undefined);
}

const normalized = (type: string): string =>
  type
    .toLowerCase()
    .replace(/[\s"]/g, '')
    .replace(/;charset=[^;]*/, '');
