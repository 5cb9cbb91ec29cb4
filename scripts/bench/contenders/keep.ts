import { DatabaseSync } from 'node:sqlite';

export interface Plant {
  readonly id: number;
  readonly name: string;
  readonly tag?: string | undefined;
}

/**
 * Stores plants in the SQLite file `PLANTS_FILE`, with one durable commit for each; without `PLANTS_FILE`, in memory.
 *
 * SQLite keeps a repeated plant once, and the same id with another name or tag as a second row, as the service does.
 * Two differences remain, both in favour of the contender: a repeated plant without a tag is stored again, because NULLs
 * are distinct in a unique constraint; and in memory the last plant with an id replaces the one before.
 */
export function keeper(): (plant: Plant) => void {
  const file = process.env.PLANTS_FILE;
  if (file === undefined) {
    const plants = new Map<number, Plant>();
    return ({ id, name, tag }) => void plants.set(id, { id, name, tag });
  }
  const database = new DatabaseSync(file);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
  database.exec(
    'CREATE TABLE plants (id INTEGER NOT NULL, name TEXT NOT NULL, tag TEXT, UNIQUE (id, name, tag)) STRICT',
  );
  const insert = database.prepare('INSERT INTO plants (id, name, tag) VALUES (?, ?, ?) ON CONFLICT DO NOTHING');
  return ({ id, name, tag }) => void insert.run(id, name, tag ?? null);
}
