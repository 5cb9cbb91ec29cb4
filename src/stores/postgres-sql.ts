import { createHash } from 'node:crypto';
import type { StoredPlant } from './store.ts';

/**
 * SQL for PostgreSQL and compatible engines: no advisory locks, no procedural code, no indexes on
 * expressions.
 */

export const COLUMNS = 'id bigint, key bytea, name text, tag text';

export const TABLE =
  'CREATE TABLE IF NOT EXISTS plants ' +
  '(key bytea CONSTRAINT plants_key PRIMARY KEY, id bigint NOT NULL, name text NOT NULL, tag text)';

/** Returns the key of a plant's content. An empty tag is not the same as no tag. */
export function plantKey({ id, name, tag }: StoredPlant): Buffer {
  const text = `${id}:${Buffer.byteLength(name)}:${name}${tag === undefined ? '' : `:${tag}`}`;
  return createHash('sha256').update(text).digest();
}

/** Reads the encoding, the columns of a plant, and other columns that an INSERT must set. */
export const INSPECT = `
  SELECT current_setting('server_encoding', true) AS encoding,
    (SELECT string_agg(attname || ' ' || format_type(atttypid, atttypmod), ', ' ORDER BY attname)
     FROM pg_attribute
     WHERE attrelid = to_regclass('plants') AND attnum > 0 AND NOT attisdropped
       AND (attname IN ('id', 'key', 'name', 'tag')
         OR attnotnull AND NOT atthasdef AND attidentity = '' AND NOT EXISTS (
           SELECT FROM pg_trigger WHERE tgrelid = attrelid AND NOT tgisinternal))) AS columns`;

/**
 * Sorted by key, so that concurrent statements do not deadlock. `DO UPDATE` locks the rows that are
 * there already, although the condition is false. So the transaction always writes, and its commit
 * waits for a synchronous standby. After `DO NOTHING`, it would not wait, even if the standby does
 * not have these rows yet.
 */
export const INSERT = `
  INSERT INTO plants (key, id, name, tag)
  SELECT DISTINCT ON (key) key, id, name, tag
  FROM unnest($1::bytea[], $2::bigint[], $3::text[], $4::text[]) AS plant (key, id, name, tag)
  ORDER BY key
  ON CONFLICT (key) DO UPDATE SET key = excluded.key WHERE false`;

/** Reads the settings that may lose commits. A setting is null in engines that do not have it. */
export const DURABILITY = `
  SELECT current_setting('fsync', true) AS fsync,
    (SELECT relpersistence FROM pg_class WHERE oid = to_regclass('plants')) AS persistence`;
