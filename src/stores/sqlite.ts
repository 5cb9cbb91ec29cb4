import { openDatabase } from 'group-commit/sqlite';
import { checkPlant, type PlantStore, type StoreOptions, Unstorable } from './store.ts';

/** The result codes SQLITE_TOOBIG, SQLITE_CONSTRAINT and SQLITE_MISMATCH, https://sqlite.org/rescode.html. */
const RULES = [18, 19, 20];

/** Opens a SQLite file, or `:memory:`, and creates it if it is missing. @throws {Unusable} if it holds no plants. */
export async function openSqlite(file: string, options: StoreOptions): Promise<PlantStore> {
  const module = new URL('./sqlite-plants.ts', import.meta.url);
  const database = await openDatabase<typeof import('./sqlite-plants.ts').default>({ ...options, file, module });
  const { add, ready, stats, close } = database;

  return {
    location: `sqlite:${file}`,
    async add(plant) {
      checkPlant(plant);
      await add(plant.id, plant.name, plant.tag ?? null).catch(explain);
    },
    ready,
    stats,
    close,
  };
}

/** @throws {unknown} a rule that the plant breaks as an error for the client, or any other error as it is. */
function explain(error: unknown): never {
  const code = Number(Object(error).errcode) & 0xff;
  if (RULES.includes(code)) throw new Unstorable('/body breaks a rule of the database', { cause: error });
  throw error;
}
