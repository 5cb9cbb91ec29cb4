import { DatabaseSync } from 'node:sqlite';

export interface Plant {
  readonly id: number;
  readonly name: string;
  readonly tag?: string | undefined;
}

/**
 * Keeps plants as the environment says: in the SQLite file that `PLANTS_FILE` names, with a commit for each that
 * survives a power cut, or else in memory.
 */
export function keeper(): (plant: Plant) => void {
  const file = process.env.PLANTS_FILE;
  if (file === undefined) {
    const plants = new Map<number, Plant>();
    return ({ id, name, tag }) => void plants.set(id, { id, name, tag });
  }
  const database = new DatabaseSync(file);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
  database.exec('CREATE TABLE IF NOT EXISTS plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT) STRICT');
  const insert = database.prepare('INSERT INTO plants (id, name, tag) VALUES (?, ?, ?) ON CONFLICT DO NOTHING');
  return ({ id, name, tag }) => void insert.run(id, name, tag ?? null);
}
