import type { DatabaseSync } from 'node:sqlite';

/**
 * One B-tree, with one entry for each plant. `tag_key` tells a plant without a tag from one with an empty tag: it is empty, or =
 * and the tag. Columns of a key cannot be null.
 */
const TABLE = 'id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT, tag_key TEXT NOT NULL';
const CREATE = `(id INTEGER, name TEXT, tag TEXT, tag_key TEXT, PRIMARY KEY (id, name, tag_key)) STRICT, WITHOUT ROWID`;
const TAG_KEY = "coalesce('=' || tag, '')";

/** Tables of before: with one plant for each id, and with an index beside the table. */
const FORMER_TABLES = [
  'id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT',
  'id INTEGER NOT NULL, name TEXT NOT NULL, tag TEXT',
];

/** The functions on plants. They run in the thread of the database, each call inside a transaction. */
export default function plants(db: DatabaseSync) {
  createTable(db);
  const insert = db.prepare("INSERT INTO plants VALUES (?1, ?2, ?3, coalesce('=' || ?3, '')) ON CONFLICT DO NOTHING");

  return {
    add(id: bigint, name: string, tag: string | null): void {
      insert.run(id, name, tag);
    },
  };
}

/** Creates the table, or brings a former one into today's form. */
function createTable(db: DatabaseSync): void {
  const found = db.prepare('PRAGMA table_xinfo(plants)').all().map(columnOf).join(', ');
  if (found === TABLE) return;
  if (found !== '' && !FORMER_TABLES.includes(found)) {
    throw new Error(`its table plants has the columns (${found}), not (${TABLE}); name another file`);
  }
  db.exec(`CREATE TABLE new_plants ${CREATE}`);
  if (found !== '') {
    db.exec(`INSERT INTO new_plants SELECT id, name, tag, ${TAG_KEY} FROM plants ORDER BY id; DROP TABLE plants`);
  }
  db.exec('ALTER TABLE new_plants RENAME TO plants');
}

const columnOf = ({ name, type, notnull, pk }: Record<string, unknown>): string =>
  [name, type, pk === 1 ? 'PRIMARY KEY' : notnull === 1 ? 'NOT NULL' : ''].join(' ').trim();
