import { openDatabase, RowRejected } from 'group-commit/sqlite';
import { checkPlant, type PlantStore, type StoreOptions, Unstorable } from './store.ts';

/**
 * Opens a SQLite file or `:memory:`. Creates a missing file.
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
    async add(plant) {
      checkPlant(plant);
      await write('add', plant.id, plant.name, plant.tag ?? null).catch(explain);
    },
    ready,
    stats,
    close,
  };
}

/** @throws {Unstorable} if the plant violates a constraint. Rethrows any other error. */
function explain(error: unknown): never {
  if (!(error instanceof RowRejected)) throw error;
  throw new Unstorable('/body violates a constraint of the database', { cause: error.cause });
}
