import { type Json, resolveRef } from './document.ts';
import { alternatives, shapeOf } from './schema.ts';
import type { BodyKind, MediaType, Sequence } from './types.ts';

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
 * How bodies of a media type are treated. A text with the schema of a list or an object, such as `text/csv`, is a stream:
 * only the media type knows how its values are written.
 */
export function kindOf(type: string, root: Json = {}, schema?: unknown): BodyKind {
  const essence = essenceOf(type);
  if (isJsonType(essence)) return 'json';
  if (essence === 'application/x-www-form-urlencoded') return 'form';
  if (essence === 'multipart/form-data') return 'multipart';
  return essence.startsWith('text/') && shapeOf(root, schema) === 'text' ? 'text' : 'stream';
}

/** The sequential media types of OpenAPI 3.2 (§4.14.3). */
export function sequenceOf(type: string): Sequence | undefined {
  const essence = essenceOf(type);
  if (essence === 'text/event-stream') return 'events';
  if (/^application\/(jsonl|x-jsonlines|x-ndjson|ndjson)$/.test(essence)) return 'lines';
  if (/^application\/([^/]+\+)?json-seq$/.test(essence)) return 'records';
  return essence === 'multipart/mixed' ? 'parts' : undefined;
}

/**
 * The declared media type that a body has. The type itself takes precedence over a range (OpenAPI 3.1 §4.8.14.1), and a
 * declaration with parameters over one without.
 *
 * @param contentType the value of a `Content-Type`.
 */
export function mediaTypeFor(media: readonly MediaType[], contentType: string): MediaType | undefined {
  const exact = media.find(({ type }) => type === contentType);
  if (exact !== undefined) return exact;
  const essence = essenceOf(contentType);
  const [group] = essence.split('/');
  const fitting = [essence, `${group}/*`, '*/*'].map((type) =>
    media.filter((candidate) => essenceOf(candidate.type) === type && hasParameters(contentType, candidate.type)),
  );
  return fitting.flatMap((same) => same.sort((a, b) => b.type.length - a.type.length))[0];
}

/** Whether a media type has the parameters of the declared one. The charset is not compared. */
function hasParameters(contentType: string, declared: string): boolean {
  const given = parametersOfType(contentType);
  return [...parametersOfType(declared)].every(([name, value]) => name === 'charset' || given.get(name) === value);
}

/** The parameters of a media type by name, names and values in lower case (RFC 9110 §8.3.1). */
export const parametersOfType = (type: string): Map<string, string> =>
  new Map(
    [...type.matchAll(/;\s*([^\s=;]+)\s*=\s*(?:"([^"]*)"|([^\s;]*))/g)].map(([, name = '', quoted, plain = '']) => [
      name.toLowerCase(),
      (quoted ?? plain).toLowerCase(),
    ]),
  );

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
  /^(type|enum|const|properties|additionalProperties|items|prefixItems|allOf|anyOf|oneOf|pattern|format|(min|max)(Length|imum))$/;

/** A media type without its parameters, in lower case. */
export const essenceOf = (type: string): string => (type.split(';', 1)[0] ?? '').trim().toLowerCase();

/** @param essence a media type without parameters, in lower case. */
export const isJsonType = (essence: string): boolean =>
  /^application\/(.+\+)?json$/.test(essence) || essence === 'text/json';
