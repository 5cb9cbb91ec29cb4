import { isDeepStrictEqual } from 'node:util';
import { asArray, asObject, isObject, type Json, mapMembers } from '../source/document.ts';
import { isJsonType } from '../source/media-types.ts';
import { Facts } from './facts.ts';
import { IN_PLACE, mapKeyword } from './keywords.ts';
import type { SchemaTree } from './tree.ts';

/** The formats of the `data` of server-sent events. In `mixed` data, only structures are JSON. */
export type EventData = 'json' | 'text' | 'mixed';

/** The items of a sequence. */
export interface Items {
  /** The schema of an item. That of an event has the decoded `data`. */
  readonly schema: unknown;
  readonly data: EventData;
}

/** The schema of JSON in `mixed` data. */
const STRUCTURE = { type: ['object', 'array'] };

/** Returns the format of the `data` of events (OpenAPI 3.2 §4.14.4). */
export function eventDataOf(tree: SchemaTree, schema: unknown): EventData {
  const parts = tree.possible(tree.schemaOf(schema)).flatMap(({ properties }) => {
    const { data } = asObject(properties);
    return data === undefined ? [] : tree.possible(tree.schemaOf(data));
  });
  if (!parts.some(isJson)) return 'text';
  const isText = (part: Json) => !isJson(part) && new Facts([part]).isTyped;
  return parts.some(isText) ? 'mixed' : 'json';
}

/**
 * Returns the schema of events after decoding their `data`, which `contentSchema` describes. JSON
 * Schema itself ignores this keyword. A reference to a schema that decoding changes is replaced by
 * a changed copy.
 */
export function decodedEvent(tree: SchemaTree, schema: unknown, data: EventData): unknown {
  return data === 'text' ? schema : decoded(schema, false, []);

  /** @param path the schemas that are being copied. Ends the recursion at circular references. */
  function decoded(source: unknown, isData: boolean, path: readonly unknown[]): unknown {
    if (!isObject(source) || path.includes(source)) return source;
    const contentSchema = isData ? decodedData(source) : undefined;
    if (contentSchema !== undefined) return contentSchema;
    const inside = (inner: unknown) => decoded(inner, isData, [...path, source]);
    const copy = mapMembers(source, (value, key) => {
      if (IN_PLACE.has(key)) return mapKeyword(key, value, inside);
      if (key !== 'properties' || isData || !isObject(value) || !('data' in value)) return value;
      return { ...value, data: decoded(value.data, true, []) };
    });
    const { $ref, ...siblings } = asObject(copy);
    if (typeof $ref !== 'string') return copy;
    const target = tree.resolve($ref);
    const decodedTarget = inside(target);
    if (isDeepStrictEqual(decodedTarget, target)) return copy;
    return { ...siblings, allOf: [...asArray(siblings.allOf), decodedTarget] };
  }

  /** Returns `undefined` if `data` stays the same. */
  function decodedData(source: Json): unknown {
    if (isJson(source)) {
      const { contentSchema = {} } = source;
      return data === 'mixed' ? { allOf: [contentSchema, STRUCTURE] } : contentSchema;
    }
    const isAnyText = source.type === 'string' && Object.keys(source).length === 1;
    return isAnyText ? {} : undefined;
  }
}

const isJson = ({ contentMediaType: type }: Json): boolean =>
  typeof type === 'string' && isJsonType(type);
