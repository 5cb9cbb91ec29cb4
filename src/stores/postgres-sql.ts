/** The bytes of a text. Unlike convert_to, this may stand in an index. */
const bytes = (text: string): string => String.raw`decode(replace(${text}, '\', '\\'), 'escape')`;

/** One entry for each plant, whatever its length. A plant without a tag differs from one with an empty tag. */
const KEY = `id, sha256(${bytes('name')}), coalesce(sha256(${bytes('tag')}), '')`;

export const COLUMNS = 'id bigint, name text, tag text';
export const TABLE = 'CREATE TABLE IF NOT EXISTS plants (id bigint NOT NULL, name text NOT NULL, tag text)';
export const INDEX = `CREATE UNIQUE INDEX IF NOT EXISTS plants_once ON plants (${KEY})`;

/** Creates table and index, or brings a table with one plant for each id into today's form, in one transaction. */
export const CREATE = `
  SET LOCAL statement_timeout = 0;
  SET LOCAL lock_timeout = '2s';
  SELECT pg_advisory_xact_lock(hashtext('plants'));
  ${TABLE};
  DO $$
    DECLARE former name := (
      SELECT conname FROM pg_constraint JOIN pg_attribute ON attrelid = conrelid AND conkey = ARRAY[attnum]
      WHERE conrelid = 'plants'::regclass AND contype = 'p' AND attname = 'id');
    BEGIN
      IF former IS NOT NULL THEN EXECUTE format('ALTER TABLE plants DROP CONSTRAINT %I', former); END IF;
    END
  $$;
  ALTER TABLE plants ALTER id SET NOT NULL;
  ${INDEX}`;

/**
 * What the table is like: the columns that plants have, and those that must be filled with something else (a trigger may
 * do that).
 */
export const INSPECT = `
  SELECT current_setting('server_encoding') AS encoding,
    (SELECT string_agg(attname || ' ' || format_type(atttypid, atttypmod), ', ' ORDER BY attname)
     FROM pg_attribute
     WHERE attrelid = to_regclass('plants') AND attnum > 0 AND NOT attisdropped AND (attname IN ('id', 'name', 'tag')
       OR attnotnull AND NOT atthasdef AND attidentity = ''
         AND NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = attrelid AND NOT tgisinternal))) AS columns`;

/**
 * Adds plants in a fixed order, so that two of these statements never wait for each other. Its own transaction waits for
 * the disk, whatever the server's setting; where a commit cannot be on disk, it adds nothing and says so.
 */
export const INSERT = `
  WITH state AS MATERIALIZED (
    SELECT relpersistence AS persistence, current_setting('fsync', true) AS fsync, set_config('synchronous_commit',
      replace(current_setting('synchronous_commit'), 'off', 'on'), true) AS synchronous_commit
    FROM pg_class WHERE oid = 'plants'::regclass
  ), added AS (
    INSERT INTO plants (id, name, tag)
    SELECT id, name, tag FROM state, unnest($1::bigint[], $2::text[], $3::text[]) AS given (id, name, tag)
    WHERE persistence = 'p' AND fsync IS DISTINCT FROM 'off'
    ORDER BY id, name COLLATE "C", tag COLLATE "C"
    ON CONFLICT (${KEY}) DO NOTHING
  )
  SELECT * FROM state`;
