import type { DatabaseSync } from 'node:sqlite';

/**
 * A table with one B-tree. A primary key cannot contain null: `tag_key` is empty without a tag,
 * otherwise `=` and the tag.
 */
const TABLE = `CREATE TABLE IF NOT EXISTS plants
  (id INTEGER, name TEXT, tag TEXT, tag_key TEXT, PRIMARY KEY (id, name, tag_key))
  STRICT, WITHOUT ROWID`;

/** Preparing this fails if the table lacks a column, or a unique key of id, name and tag_key. */
const INSERT = `INSERT INTO plants (id, name, tag, tag_key)
  VALUES (?1, ?2, ?3, coalesce('=' || ?3, '')) ON CONFLICT (id, name, tag_key) DO NOTHING`;

/** Creates the table, and returns the functions that run in the thread of the database. */
export default function plants(db: DatabaseSync) {
  db.exec(TABLE);
  const insert = db.prepare(INSERT);

  return {
    add(id: bigint, name: string, tag: string | null): void {
      insert.run(id, name, tag);
    },
  };
}
