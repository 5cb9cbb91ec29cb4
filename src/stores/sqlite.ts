import { openDatabase } from 'group-commit/sqlite';
import type { PlantStore, StoreOptions } from './store.ts';

/**
 * Opens a SQLite file or `:memory:`. Creates a missing file. `add` rejects with `RowRejected` if a
 * plant violates a constraint.
 *
 * @throws {Unusable} if the file is not a SQLite database or has another table `plants`.
 */
export async function openSqlite(file: string, options: StoreOptions): Promise<PlantStore> {
  const module = new URL('./sqlite-plants.ts', import.meta.url);
  const database = await openDatabase<typeof import('./sqlite-plants.ts').default>({
    ...options,
    file,
    module,
  });
  const { write, ready, stats, close } = database;

  return {
    location: `sqlite:${file}`,
    add: ({ id, name, tag }) => write('add', id, name, tag ?? null),
    ready,
    stats,
    close,
  };
}
