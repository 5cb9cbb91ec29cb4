import { DatabaseUnavailable, DatabaseUnusable, openDatabase } from 'group-commit/sqlite';
import {
  checkPlant,
  type PlantStore,
  type StoreOptions,
  StoreUnavailable,
  StoreUnusable,
  Unstorable,
} from './store.ts';

/** The result codes SQLITE_TOOBIG, SQLITE_CONSTRAINT and SQLITE_MISMATCH, https://sqlite.org/rescode.html. */
const RULES = [18, 19, 20];

/** Opens a SQLite file, or `:memory:`, and creates it if it is missing. @throws {StoreUnusable} if it holds no plants. */
export async function openSqlite(file: string, { maxWaiting, onBatch }: StoreOptions): Promise<PlantStore> {
  const module = new URL('./sqlite-plants.ts', import.meta.url);
  const opening = openDatabase<typeof import('./sqlite-plants.ts').default>({ file, module, maxWaiting, onBatch });
  const database = await opening.catch(translate);
  const { add } = database;

  return {
    location: `sqlite:${file}`,
    async add(plant) {
      checkPlant(plant);
      await add(plant.id, plant.name, plant.tag ?? null).catch(translate);
    },
    ready: () => database.ready().catch(translate),
    waiting: () => database.waiting(),
    close: () => database.close(),
  };
}

/** The error of the database as one of the store. */
function translate(error: unknown): never {
  if (error instanceof DatabaseUnavailable) throw new StoreUnavailable(error.message, error.cause);
  if (error instanceof DatabaseUnusable) throw new StoreUnusable(error.message, { cause: error.cause });
  const code = Number(Object(error).errcode) & 0xff;
  if (RULES.includes(code)) throw new Unstorable('/body breaks a rule of the database', { cause: error });
  throw error;
}
