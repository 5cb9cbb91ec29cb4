import { closeSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Connection, createConnection, type Functions, openGuard, touch } from './connection.ts';
import { FileLost } from './errors.ts';
import { watchFiles } from './files.ts';
import type { ThreadData } from './protocol.ts';
import { retryWhileBusy } from './wait.ts';

/** Names of the database itself, which a module cannot use. `then` would make the database look like a promise. */
const RESERVED = ['ready', 'waiting', 'close', 'then'];

/** The size in bytes that the log is cut to after it was longer. */
const LOG_BYTES = 8 * 1024 * 1024;

/**
 * Opens the database, lets the module define its functions and tables in one transaction, and makes sure that it can be
 * written. Nothing of a file that is not fit for the module is changed.
 *
 * @param suspect whether another program may have damaged the file: then it is checked as a whole first.
 */
export function openConnection(
  { file, create }: Omit<ThreadData, 'module'>,
  define: (db: DatabaseSync) => Functions,
  suspect: boolean,
): Connection {
  const inMemory = file === ':memory:';
  if (!inMemory) prepareFile(file, create);
  const db = new DatabaseSync(file, { timeout: 0 });
  try {
    if (suspect) checkIntegrity(db);
    const functions = setUp(db, define);
    const mode = retryWhileBusy(() => db.prepare('PRAGMA journal_mode = WAL').get()?.journal_mode);
    if (mode !== 'wal' && !inMemory) throw new Error('its file system allows no write-ahead log');
    retryWhileBusy(() => touch(db));
    return createConnection(file, db, functions, inMemory ? undefined : watchFiles(db, file));
  } catch (error) {
    const guard = suspect ? openGuard(file) : undefined;
    db.close();
    guard?.close();
    throw error;
  }
}

/** Creates a missing file that only its owner can read; SQLite gives the files beside it the same rights. */
function prepareFile(file: string, create: boolean): void {
  if (statSync(file, { throwIfNoEntry: false })) return;
  if (!create) throw new FileLost(file);
  mkdirSync(dirname(file), { recursive: true });
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch {
    // Another process was faster, or SQLite explains it better.
  }
}

function setUp(db: DatabaseSync, define: (db: DatabaseSync) => Functions): Functions {
  // Without fullfsync, macOS leaves a commit in the cache of the disk.
  retryWhileBusy(() =>
    db.exec(`PRAGMA synchronous = FULL; PRAGMA fullfsync = ON;
      PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = ${LOG_BYTES}`),
  );
  retryWhileBusy(() => db.exec('BEGIN IMMEDIATE'));
  const functions = define(db);
  const reserved = Object.keys(functions).find((name) => RESERVED.includes(name));
  if (reserved !== undefined)
    throw new Error(`its module defines a function ${reserved}, a name of the database itself`);
  retryWhileBusy(() => db.exec('COMMIT'));
  return functions;
}

function checkIntegrity(db: DatabaseSync): void {
  const [found] = retryWhileBusy(() => db.prepare('PRAGMA integrity_check(1)').all());
  if (found?.integrity_check !== 'ok') throw Object.assign(new Error(String(found?.integrity_check)), { errcode: 11 });
}
