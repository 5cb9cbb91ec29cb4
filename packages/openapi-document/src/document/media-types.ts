import { type Json, resolveRef } from './document.ts';
import { alternatives, shapeOf } from './schema.ts';

/** Keywords that restrict texts and bytes, besides `type` and `format`. */
const RESTRICTING = /^(enum|const|pattern|minLength|maxLength|properties|required|items|not)$/;

/** Whether a schema restricts more than text or bytes of any kind do. */
export const isConstrained = (root: Json, schema: unknown): boolean =>
  schema === false ||
  alternatives(root, schema).some(
    ({ type, format, ...others }) =>
      (type ?? 'string') !== 'string' ||
      (format ?? 'binary') !== 'binary' ||
      Object.keys(others).some((key) => RESTRICTING.test(key)),
  );

/**
 * How a media type's bodies are read, checked and written. A text with the schema of a list or an object, such as
 * `text/csv`, is a stream: only the media type knows how its values are written.
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
 * What a sequential media type of OpenAPI 3.2 (§4.14.3) holds: server-sent events, a JSON text for each line, JSON texts after
 * a record separator, or parts of a multipart body.
 */
export function sequenceOf(type: string): 'events' | 'lines' | 'records' | 'parts' | undefined {
  const essence = essenceOf(type);
  if (essence === 'text/event-stream') return 'events';
  if (/^application\/(jsonl|x-jsonlines|x-ndjson|ndjson)$/.test(essence)) return 'lines';
  if (/^application\/([^/]+\+)?json-seq$/.test(essence)) return 'records';
  return essence === 'multipart/mixed' ? 'parts' : undefined;
}

/**
 * Whether a field of a form is a file. It is if its media type, by `contentMediaType` or the Encoding Object, is neither
 * JSON nor text. Without a media type it is if the schema has no type (OpenAPI 3.1 §4.8.14.3, §4.8.15.1).
 */
export function isFile(root: Json, schema: unknown, encodingType?: unknown): boolean {
  const source = schema === true ? {} : resolveRef(root, schema);
  if (source === undefined || source.contentEncoding !== undefined) return false;
  if (source.format === 'binary') return true;
  const type = source.contentMediaType ?? encodingType;
  if (typeof type === 'string' && kindOf(type) !== 'stream') return false;
  return source.contentMediaType !== undefined || !Object.keys(source).some((key) => TYPING.test(key));
}

const TYPING =
  /^(type|enum|const|properties|items|prefixItems|allOf|anyOf|oneOf|pattern|format|(min|max)(Length|imum))$/;

export const essenceOf = (type: string): string => (type.split(';', 1)[0] ?? '').trim().toLowerCase();

/** @param essence a media type without parameters, in lower case. */
export const isJsonType = (essence: string): boolean =>
  /^application\/(.+\+)?json$/.test(essence) || essence === 'text/json';
