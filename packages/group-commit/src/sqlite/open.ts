import { closeSync, existsSync, mkdirSync, openSync, realpathSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Connection, createConnection, type Functions } from './connection.ts';
import { FileLost, retryWhileBusy } from './errors.ts';
import type { ThreadData } from './protocol.ts';

/** Names of the database itself, which a module cannot use. `then` would make the database look like a promise. */
const RESERVED = ['ready', 'waiting', 'stats', 'close', 'location', 'then'];

/** The size in bytes that the log is cut to after it was longer. */
const LOG_BYTES = 48 * 1024 * 1024;

/**
 * Opens the database, lets the module define its functions and tables in one transaction, and makes sure that it can be
 * written. Nothing of a file that is not fit for the module is changed.
 */
export function openConnection(
  { file, create }: Omit<ThreadData, 'module'>,
  define: (db: DatabaseSync) => Functions,
): Connection {
  const inMemory = file === ':memory:';
  if (!inMemory) prepareFile(file, create);
  const db = new DatabaseSync(file, { timeout: 0 });
  try {
    const functions = setUp(db, define);
    const mode = retryWhileBusy(() => db.prepare('PRAGMA journal_mode = WAL').get()?.journal_mode);
    if (mode !== 'wal' && !inMemory) throw new Error('its file system allows no write-ahead log');
    const connection = createConnection(db, functions, inMemory ? () => {} : watchFiles(file));
    connection.check(true);
    return connection;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Creates a missing file that only its owner can read; SQLite gives the files beside it the same rights. */
function prepareFile(file: string, create: boolean): void {
  if (statSync(file, { throwIfNoEntry: false })) return;
  if (!create) throw new FileLost(file);
  makeFolder(dirname(file));
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch {
    // Another process was faster, or SQLite explains it better.
  }
}

/** Unlike the recursive mode of mkdir, it ends where a file system allows no new folders, such as /proc. */
function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  makeFolder(dirname(folder));
  try {
    mkdirSync(folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
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

/**
 * Returns a check for after each commit. SQLite goes on writing to a file that was moved, deleted or replaced, where nobody
 * finds what it writes.
 *
 * @throws {FileLost} if the database or its log (`-wal`) is not the file of the first check.
 */
function watchFiles(file: string): () => void {
  const names = [file, `${realpathSync(file)}-wal`];
  let opened: readonly (Stats | undefined)[] | undefined;
  return () => {
    const found = names.map((name) => statSync(name, { throwIfNoEntry: false }));
    opened ??= found;
    const lost = names.find((_, at) => found[at]?.ino !== opened?.[at]?.ino || found[at]?.dev !== opened?.[at]?.dev);
    if (lost !== undefined) throw new FileLost(lost);
  };
}
