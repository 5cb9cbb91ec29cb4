import { Unusable } from 'group-commit';
import type { PlantStore, StoreOptions } from './store.ts';

const VALID_URLS =
  'Use sqlite:data/plants.db (a file, relative or absolute), sqlite::memory: (nothing is kept), ' +
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
  if (file === undefined) return (await import('./postgres.ts')).openPostgres(url, options);
  return (await import('./sqlite.ts')).openSqlite(file, options);
}

/**
 * Returns the file of a `sqlite:` URL, or `:memory:`; `undefined` for PostgreSQL.
 *
 * @throws {Unusable} for any other URL.
 */
export function sqliteFile(url: string): string | undefined {
  if (/^postgres(ql)?:\/\//i.test(url)) return undefined;
  if (!/^sqlite:/i.test(url)) {
    const [, scheme] = /^([a-z][a-z0-9+.-]*):\/\//i.exec(url) ?? [];
    const problem = scheme ? `There is no store for ${scheme}: URLs` : 'This is not a database URL';
    throw new Unusable(`${problem}. ${VALID_URLS}`);
  }
  const file = url.slice('sqlite:'.length);
  if (file === '' || /[/\\]$/.test(file))
    throw new Unusable(`The sqlite: URL names no file. ${VALID_URLS}`);
  if (file.startsWith('//'))
    throw new Unusable(`A sqlite: URL has a path, but no // before it. ${VALID_URLS}`);
  if (/[?#]/.test(file)) throw new Unusable(`A sqlite: URL takes no parameters. ${VALID_URLS}`);
  return file;
}
