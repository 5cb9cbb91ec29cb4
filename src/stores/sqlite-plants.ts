import type { DatabaseSync } from 'node:sqlite';

/**
 * A table with one B-tree. Columns of a key cannot be null, so `tag_key` is empty for a plant
 * without a tag, or `=` and the tag.
 */
const TABLE = `CREATE TABLE IF NOT EXISTS plants
  (id INTEGER, name TEXT, tag TEXT, tag_key TEXT, PRIMARY KEY (id, name, tag_key))
  STRICT, WITHOUT ROWID`;

/** The columns with their positions in the primary key. */
const COLUMNS = 'id INTEGER 1, name TEXT 2, tag TEXT 0, tag_key TEXT 3';

/** Creates the table, and returns the functions that run in the thread of the database. */
export default function plants(db: DatabaseSync) {
  db.exec(TABLE);
  checkColumns(db);
  const insert = db.prepare(
    "INSERT INTO plants VALUES (?1, ?2, ?3, coalesce('=' || ?3, '')) ON CONFLICT DO NOTHING",
  );

  return {
    add(id: bigint, name: string, tag: string | null): void {
      insert.run(id, name, tag);
    },
  };
}

/** @throws {Error} if the table has other columns. */
function checkColumns(db: DatabaseSync): void {
  const rows = db.prepare('PRAGMA table_xinfo(plants)').all();
  const columns = rows.map(({ name, type, pk }) => `${name} ${type} ${pk}`).join(', ');
  if (columns === COLUMNS) return;
  throw new Error(
    `the columns of its table plants must be (${COLUMNS}), but are (${columns}); use another file`,
  );
}
