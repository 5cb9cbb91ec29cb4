import { type PlantStore, StoreRefused } from './store.ts';

/** What a store may hold back for its database. */
export interface StoreLimits {
  /** Adds that may wait at once; each further one is told at once that the store is unavailable. */
  readonly maxWaiting: number;
  /** Told how many plants share a statement and a commit, each time. */
  readonly onBatch?: ((plants: number) => void) | undefined;
}

const RIGHT =
  'Use sqlite:data/plants.db (a file, relative or absolute), sqlite::memory: (nothing is kept), ' +
  'or postgres://user:password@host:5432/database.';

/**
 * Opens the store that a database URL names, loading only the adapter that it needs.
 *
 * A database that is only out of reach for now (locked, its disk full, its server down) is no hindrance: the store opens,
 * and is not ready until that has passed.
 *
 * @throws {StoreRefused} if the URL names no store, or one that cannot be opened and waiting would not mend it. The
 *   message never holds the URL, which may hold a password.
 */
export async function openStore(url: string, limits: StoreLimits): Promise<PlantStore> {
  const path = sqlitePath(url);
  if (path !== undefined) {
    const { openSqlite } = await import('./sqlite.ts');
    return openSqlite(path, limits);
  }
  const { openPostgres } = await import('./postgres.ts');
  return openPostgres(url, limits);
}

/**
 * The file that a `sqlite:` URL names, or `:memory:`; `undefined` for a URL of PostgreSQL.
 *
 * @throws {StoreRefused} if it is a URL of neither, or names no file.
 */
export function sqlitePath(url: string): string | undefined {
  if (/^postgres(ql)?:\/\//i.test(url)) return undefined;
  if (!/^sqlite:/i.test(url)) {
    const [, scheme] = /^([a-z][a-z0-9+.-]*):\/\//i.exec(url) ?? [];
    throw new StoreRefused(`${scheme ? `There is no store for ${scheme}: URLs` : 'This is no database URL'}. ${RIGHT}`);
  }
  const path = url.slice('sqlite:'.length);
  if (path === '' || /[/\\]$/.test(path)) throw new StoreRefused(`The sqlite: URL names no file. ${RIGHT}`);
  if (path.startsWith('//')) throw new StoreRefused(`A sqlite: URL has a path, but no // before it. ${RIGHT}`);
  if (/[?#]/.test(path)) throw new StoreRefused(`A sqlite: URL takes no parameters. ${RIGHT}`);
  return path;
}

/** Where a database URL leads, for people: without user, password and parameters. @throws {StoreRefused} */
export async function placeOf(url: string): Promise<string> {
  if (/^sqlite:/i.test(url)) return url;
  const { readPostgresUrl } = await import('./postgres-url.ts');
  return `postgres://${readPostgresUrl(url).place}`;
}
