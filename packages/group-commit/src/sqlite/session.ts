import { constants, DatabaseSync } from 'node:sqlite';
import { Damaged, isLocked, type ThreadError, threadErrorOf } from './errors.ts';
import { createFile, watchFiles } from './files.ts';
import { type Call, createRunner, type Functions, type SentOutcome, touch } from './runner.ts';

/** A request to the thread of a database. */
export interface Request {
  readonly kind: 'write' | 'read' | 'rehearse' | 'inspect';
  readonly calls: readonly Call[];
  /** The time limit for a lock. */
  readonly milliseconds: number;
}

/** The outcome of each call, or an empty array if no call returned anything. */
export type BatchResult = readonly SentOutcome[] | ThreadError;

export interface Source {
  readonly file: string;
  readonly module: string;
  /** True for a session that only reads. Another session must have created the file. */
  readonly readOnly: boolean;
}

type Define = (db: DatabaseSync) => Functions;
type Connection = ReturnType<typeof connect>;

/**
 * The size of the log in pages (40 MB) that starts a checkpoint. The default of 1,000 pages reduced
 * the throughput by a third in a large file with random keys. More pages increase the maximum
 * latency.
 */
const LOG_PAGES = 10_000;

/** The size in bytes to which a longer log is truncated. */
const LOG_BYTES = 48 * 1024 * 1024;

/** `fullfsync` flushes the cache of the disk on macOS. */
const SETTINGS = `PRAGMA synchronous = FULL; PRAGMA fullfsync = ON;
  PRAGMA wal_autocheckpoint = ${LOG_PAGES}; PRAGMA journal_size_limit = ${LOG_BYTES}`;

/**
 * Loads the module and returns a session. After an error other than a lock, the next request opens
 * the file again.
 */
export async function openSession(source: Source) {
  const { file, module, readOnly } = source;
  const inMemory = file === ':memory:';
  const define: Define = await import(module).then(
    (loaded) => loaded.default,
    (error: unknown) => () => {
      throw error;
    },
  );
  let connection: Connection | undefined;
  let wasOpened = readOnly;

  function close(): void {
    const db = connection?.db;
    connection = undefined;
    try {
      db?.close();
    } catch {
      // The files are closed even if the checkpoint fails.
    }
  }

  function open(milliseconds: number): Connection {
    // A missing file that was opened before was deleted or moved. A new file would hide this.
    if (!inMemory) createFile(file, !wasOpened);
    const opened = connect(source, define, milliseconds);
    wasOpened = true;
    return opened;
  }

  return {
    close,
    run({ kind, calls, milliseconds }: Request): BatchResult {
      try {
        connection ??= open(milliseconds);
        connection.db.exec(`PRAGMA busy_timeout = ${Math.ceil(milliseconds)}`);
        if (kind === 'rehearse') connection.runner.rehearse(calls);
        else if (kind === 'inspect') inspect(connection.db);
        else return connection.runner[kind](calls);
        return [];
      } catch (error) {
        // A new connection may succeed. In memory, it would lose the data.
        if (!inMemory && !isLocked(error)) close();
        return threadErrorOf(file, error);
      }
    },
  };
}

function connect({ file, readOnly }: Source, define: Define, milliseconds: number) {
  const db = new DatabaseSync(file, { timeout: Math.ceil(milliseconds) });
  try {
    const guard = forbidTransactions(db);
    db.exec(SETTINGS);
    // A reader only waits for a lock if the module writes.
    db.exec(readOnly ? 'BEGIN' : 'BEGIN IMMEDIATE');
    // In one transaction, so that a file that the module rejects is not changed.
    const functions = guard(() => define(db));
    db.exec('COMMIT');
    if (!readOnly) startLog(db);

    const checkFiles = file === ':memory:' ? () => {} : watchFiles(file);
    checkFiles();
    return { db, runner: createRunner(db, functions, guard, checkFiles) };
  } catch (error) {
    db.close();
    throw error;
  }
}

/** @throws {Damaged} with the first error in the structure of the file. */
function inspect(db: DatabaseSync): void {
  const result = db.prepare('PRAGMA quick_check(1)').get()?.quick_check;
  if (result !== 'ok') throw new Damaged(String(result));
}

/** Checks that the database is writable, and creates the log. */
function startLog(db: DatabaseSync): void {
  const mode = db.prepare('PRAGMA journal_mode = WAL').get()?.journal_mode;
  if (mode !== 'wal' && mode !== 'memory')
    throw new Error('its file system does not support a write-ahead log');
  db.exec('BEGIN IMMEDIATE');
  touch(db);
  db.exec('COMMIT');
}

/** Returns a function that runs a task and rejects its BEGIN, COMMIT and ROLLBACK statements. */
function forbidTransactions(db: DatabaseSync) {
  let forbidden = false;
  db.setAuthorizer((action, statement) => {
    if (forbidden && action === constants.SQLITE_TRANSACTION)
      throw new Error(
        `remove ${statement}: the module and its functions run in a transaction of group-commit`,
      );
    return constants.SQLITE_OK;
  });
  return function guard<T>(task: () => T): T {
    forbidden = true;
    try {
      return task();
    } finally {
      forbidden = false;
    }
  };
}
