import { createHash } from 'node:crypto';
import type { StoredPlant } from './store.ts';

/**
 * SQL that PostgreSQL and the engines that speak its language have in common: no advisory lock, no procedural code, no index
 * on expressions.
 */

export const COLUMNS = 'id bigint, key bytea, name text, tag text';

/** The columns of a table that was made before there was a key. */
export const FORMER_COLUMNS = 'id bigint, name text, tag text';

export const TABLE =
  'CREATE TABLE IF NOT EXISTS plants ' +
  '(key bytea CONSTRAINT plants_key PRIMARY KEY, id bigint NOT NULL, name text NOT NULL, tag text)';

/** What makes two plants the same one. A plant without a tag differs from one with an empty tag. */
export function keyOf({ id, name, tag }: StoredPlant): Buffer {
  const text = `${id}:${Buffer.byteLength(name)}:${name}${tag === undefined ? '' : `:${tag}`}`;
  return createHash('sha256').update(text).digest();
}

/** The same in SQL. */
const KEY = "sha256(convert_to(id || ':' || octet_length(name) || ':' || name || coalesce(':' || tag, ''), 'UTF8'))";

/**
 * Gives the plants of a former table their keys, in one transaction. Processes of the former version can go on adding: the
 * index that they need stays. What they add meanwhile has no key, and gets it at the next start.
 */
export const MIGRATE = `
  SET LOCAL statement_timeout = 0;
  SET LOCAL lock_timeout = '2s';
  LOCK TABLE plants IN ACCESS EXCLUSIVE MODE;
  ALTER TABLE plants DROP CONSTRAINT IF EXISTS plants_pkey;
  ALTER TABLE plants ALTER id SET NOT NULL;
  ALTER TABLE plants ADD COLUMN IF NOT EXISTS key bytea;
  UPDATE plants SET key = ${KEY} WHERE key IS NULL;
  CREATE UNIQUE INDEX IF NOT EXISTS plants_key ON plants (key)`;

/** Whether there are plants without a key. */
export const UNFINISHED = 'SELECT EXISTS (SELECT FROM plants WHERE key IS NULL) AS unfinished';

/**
 * What the table is like: the columns that plants have, and those that must be filled with something else (a trigger may
 * do that).
 */
export const INSPECT = `
  SELECT current_setting('server_encoding', true) AS encoding,
    (SELECT string_agg(attname || ' ' || format_type(atttypid, atttypmod), ', ' ORDER BY attname)
     FROM pg_attribute
     WHERE attrelid = to_regclass('plants') AND attnum > 0 AND NOT attisdropped
       AND (attname IN ('id', 'key', 'name', 'tag') OR attnotnull AND NOT atthasdef AND attidentity = ''
         AND NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = attrelid AND NOT tgisinternal))) AS columns`;

/** In the order of the keys, so that two of these statements never wait for each other. */
export const INSERT = `
  INSERT INTO plants (key, id, name, tag)
  SELECT key, id, name, tag FROM unnest($1::bytea[], $2::bigint[], $3::text[], $4::text[]) AS given (key, id, name, tag)
  ORDER BY key
  ON CONFLICT DO NOTHING`;

/** What decides whether a commit is on disk. Engines that do not know a setting have no such risk. */
export const DURABILITY = `
  SELECT current_setting('fsync', true) AS fsync, current_setting('synchronous_commit', true) AS commits,
    (SELECT relpersistence FROM pg_class WHERE oid = to_regclass('plants')) AS persistence`;
