/** The form of a serialized value: a list, pairs of names and values, or one text. */
export type Form = 'array' | 'object' | 'text';

/**
 * Returns the kind of the bodies of a media type. A `text/*` body whose schema is that of an array
 * or an object, such as `text/csv`, is a stream, since its format is unknown.
 */
export function kindOf(
  type: string,
  form: Form = 'text',
): 'json' | 'text' | 'form' | 'multipart' | 'stream' {
  const essence = essenceOf(type);
  if (isJsonType(essence)) return 'json';
  if (essence === 'application/x-www-form-urlencoded') return 'form';
  if (essence === 'multipart/form-data') return 'multipart';
  return essence.startsWith('text/') && form === 'text' ? 'text' : 'stream';
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
