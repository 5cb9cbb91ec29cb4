import { RowRejected, Unavailable, Unusable } from 'group-commit';
import { checkPlant, type PlantStore, type StoredPlant, type StoreOptions } from './store.ts';

const VALID_URLS =
  'Use sqlite:data/plants.db (a file, relative or absolute), sqlite::memory: (lost at a stop), ' +
  'or postgres://user:password@host:5432/database.';

/**
 * Opens the store of a database URL, and only loads the code that it needs.
 *
 * Resolves also if the database is locked or unreachable. The store is not ready until the database
 * is usable.
 *
 * @throws {Unusable} if the URL or the database is wrong. The message never contains the URL, since
 *   that may contain a password.
 */
export async function openStore(url: string, options: StoreOptions): Promise<PlantStore> {
  const file = sqliteFile(url);
  const store =
    file === undefined
      ? await (await import('./postgres.ts')).openPostgres(url, options)
      : await (await import('./sqlite.ts')).openSqlite(file, options);
  /** The plant of the last call, if the database rejected it. */
  let rejected: StoredPlant | undefined;

  async function add(plant: StoredPlant): Promise<void> {
    checkPlant(plant);
    try {
      await store.add(plant);
      rejected = undefined;
    } catch (error) {
      if (!(error instanceof RowRejected)) throw error;
      rejected = plant;
      options.onUnavailable?.(error.code);
      const reason = `${store.location} rejects a valid plant: ${error.message}`;
      const advice = 'Change the table plants so that it accepts what the document accepts.';
      throw new Unavailable(`${reason}. ${advice}`, error.code, error.cause);
    }
  }

  return {
    ...store,
    add,
    async ready() {
      await store.ready();
      // Its client got 503, after which the plant may be stored.
      if (rejected) await add(rejected);
    },
  };
}

/**
 * Returns the file of a `sqlite:` URL, or `:memory:`; `undefined` for PostgreSQL.
 *
 * @throws {Unusable} for any other URL.
 */
export function sqliteFile(url: string): string | undefined {
  if (/^postgres(ql)?:\/\//i.test(url)) return undefined;
  const [, file] = /^sqlite:(?!\/\/)([^?#]*[^?#/\\])$/i.exec(url) ?? [];
  if (file === undefined) throw new Unusable(`This is not a valid database URL. ${VALID_URLS}`);
  return file;
}
