import type { DatabaseSync } from 'node:sqlite';

const TABLE = 'id INTEGER NOT NULL, name TEXT NOT NULL, tag TEXT';
const FORMER_TABLE = 'id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT';

/** One entry for each plant. A plant without a tag differs from one with an empty tag. */
const KEY = "id, name COLLATE BINARY, tag IS NULL, coalesce(tag, '')";

/** The functions on plants. They run in the thread of the database, each call inside a transaction. */
export default function plants(db: DatabaseSync) {
  createTable(db);
  const insert = db.prepare(`INSERT INTO plants (id, name, tag) VALUES (?, ?, ?) ON CONFLICT (${KEY}) DO NOTHING`);

  return {
    add(id: bigint, name: string, tag: string | null): void {
      insert.run(id, name, tag);
    },
  };
}

/** Creates the table, or brings a table with one plant for each id into today's form. */
function createTable(db: DatabaseSync): void {
  const found = db.prepare('PRAGMA table_xinfo(plants)').all().map(columnOf).join(', ');
  if (found === '' || found === FORMER_TABLE) {
    db.exec(`CREATE TABLE new_plants (${TABLE}) STRICT`);
    if (found !== '') db.exec('INSERT INTO new_plants SELECT id, name, tag FROM plants; DROP TABLE plants');
    db.exec('ALTER TABLE new_plants RENAME TO plants');
  } else if (found !== TABLE) {
    throw new Error(`its table plants has the columns (${found}), not (${TABLE}); name another file`);
  }
  db.exec(`CREATE UNIQUE INDEX IF NOT EXISTS plants_once ON plants (${KEY})`);
}

const columnOf = ({ name, type, notnull, pk }: Record<string, unknown>): string =>
  [name, type, pk === 1 ? 'PRIMARY KEY' : notnull === 1 ? 'NOT NULL' : ''].join(' ').trim();
