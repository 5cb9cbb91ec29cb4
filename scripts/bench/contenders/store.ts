import { DatabaseSync } from 'node:sqlite';

export interface Plant {
  readonly id: number;
  readonly name: string;
  readonly tag?: string | undefined;
}

/**
 * Returns a function that stores plants in the SQLite file `PLANTS_FILE`, with a durable commit for
 * each plant; without the variable, in memory.
 */
export function openStore(): (plant: Plant) => void {
  const file = process.env.PLANTS_FILE;
  if (file === undefined) {
    const plants = new Map<number, Plant>();
    return ({ id, name, tag }) => void plants.set(id, { id, name, tag });
  }
  const database = new DatabaseSync(file);
  const table =
    'plants (id INTEGER NOT NULL, name TEXT NOT NULL, tag TEXT, UNIQUE (id, name, tag)) STRICT';
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE ${table}`);
  const insert = database.prepare('INSERT INTO plants VALUES (?, ?, ?) ON CONFLICT DO NOTHING');
  return ({ id, name, tag }) => void insert.run(id, name, tag ?? null);
}
