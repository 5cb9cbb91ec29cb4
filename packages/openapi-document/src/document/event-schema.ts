import { isDeepStrictEqual } from 'node:util';
import { asArray, asObject, isObject, type Json, valueAt } from './document.ts';
import { isJsonType } from './media-types.ts';
import { alternatives } from './schema.ts';

/** The items of a sequence. */
export interface Items {
  /** The schema of their values. */
  readonly schema: unknown;
  /** How the `data` of events is written: as JSON, as text, or objects and arrays as JSON and all else as text. */
  readonly data: 'json' | 'text' | 'mixed';
}

/** Keywords that restrict a text. */
const TEXT = /^(type|const|enum|pattern|format|(min|max)Length)$/;

/** An object or an array, in data that may also be text. */
const COMPOSITE = { type: ['object', 'array'] };

/**
 * Events whose `data` are values. Where the document says that they are JSON, by `contentMediaType`, their
 * schema is `contentSchema` (OpenAPI 3.2 §4.14.4). JSON Schema by itself does not look into such a text.
 */
export function eventItems(root: Json, schema: unknown): Items {
  const all = alternatives(root, schema).flatMap(({ properties }) => alternatives(root, asObject(properties).data));
  if (!all.some(isJson)) return { schema, data: 'text' };
  const isMixed = all.some((part) => !isJson(part) && Object.keys(part).some((key) => TEXT.test(key)));
  const decode = (part: Json): unknown => {
    if (!isJson(part)) return part.type === 'string' && Object.keys(part).length === 1 ? {} : part;
    const { contentSchema = {} } = part;
    return isMixed ? { allOf: [contentSchema, COMPOSITE] } : contentSchema;
  };
  const decoded = mapInPlace(root, schema, (part) => {
    const properties = asObject(part.properties);
    return Object.hasOwn(properties, 'data')
      ? { ...part, properties: { ...properties, data: mapInPlace(root, properties.data, decode) } }
      : part;
  });
  return { schema: decoded, data: isMixed ? 'mixed' : 'json' };
}

const isJson = ({ contentMediaType: type }: Json): boolean => typeof type === 'string' && isJsonType(type);

/** Changes each schema that describes the same value. What does not change is not copied, and keeps its references. */
function mapInPlace(
  root: Json,
  schema: unknown,
  change: (schema: Json) => unknown,
  around: readonly unknown[] = [],
): unknown {
  if (!isObject(schema) || around.includes(schema)) return schema;
  const map = (part: unknown): unknown => mapInPlace(root, part, change, [...around, schema]);
  const changed = change(schema);
  if (!isObject(changed) || isJson(schema)) return changed;
  const result: Record<string, unknown> = { ...changed };
  for (const key of IN_PLACE.filter((name) => schema[name] !== undefined)) {
    const part = result[key];
    result[key] = Array.isArray(part) ? part.map(map) : map(part);
  }
  const target = typeof schema.$ref === 'string' ? valueAt(root, schema.$ref) : undefined;
  const mapped = map(target);
  if (mapped !== target) {
    delete result.$ref;
    result.allOf = [...asArray(result.allOf), mapped];
  }
  return isDeepStrictEqual(result, schema) ? schema : result;
}

const IN_PLACE = ['allOf', 'anyOf', 'oneOf', 'if', 'then', 'else', 'not'];
