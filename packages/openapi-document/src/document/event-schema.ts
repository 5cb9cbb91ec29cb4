import { asObject, type Json } from './document.ts';
import { essenceOf, isJsonType } from './media-types.ts';
import { alternatives } from './schema.ts';

/** The items of a sequence. */
export interface Items {
  readonly schema: unknown;
  /** The format of the `data` of events. In `mixed` data, only objects and arrays are JSON. */
  readonly data: 'json' | 'text' | 'mixed';
}

/** The formats of `data` that contain JSON. */
export type EventData = 'json' | 'mixed';

/** An internal keyword for events whose `data` is validated after decoding. */
export const EVENT_DATA = 'x-event-data';

const STRING_KEYWORDS = /^(type|const|enum|pattern|format|(min|max)Length)$/;

/** The schema of JSON in `mixed` data. */
const COMPOSITE = { type: ['object', 'array'] };

/**
 * Returns the schema of events after decoding `data`. JSON in `data` is described by
 * `contentSchema` (OpenAPI 3.2 §4.14.4). JSON Schema itself ignores this keyword.
 */
export function eventItems(root: Json, schema: unknown): Items {
  const parts = alternatives(root, schema).flatMap(({ properties }) =>
    alternatives(root, asObject(properties).data),
  );
  if (!parts.some(isJson)) return { schema, data: 'text' };
  const isText = (part: Json) =>
    !isJson(part) && Object.keys(part).some((key) => STRING_KEYWORDS.test(key));
  const data = parts.some(isText) ? 'mixed' : 'json';
  return { schema: { allOf: [schema], [EVENT_DATA]: data }, data };
}

/** Returns the schema of `data` after decoding, or `undefined` if it stays the same. */
export function decodedData(schema: Json, data: EventData): unknown {
  if (isJson(schema)) {
    const { contentSchema = {} } = schema;
    return data === 'mixed' ? { allOf: [contentSchema, COMPOSITE] } : contentSchema;
  }
  const isAnyText = schema.type === 'string' && Object.keys(schema).length === 1;
  return isAnyText ? {} : undefined;
}

const isJson = ({ contentMediaType: type }: Json): boolean =>
  typeof type === 'string' && isJsonType(essenceOf(type));
