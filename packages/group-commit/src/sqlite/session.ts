import { closeSync, existsSync, mkdirSync, openSync, realpathSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { concernsDatabase, type Failure, FileLost, failureOf, packError, type SentError } from './errors.ts';

/** The functions of a module, by name. */
export type Functions = Readonly<Record<string, (...args: never[]) => unknown>>;

/** A call of one of the module's functions. */
export type Call = readonly [name: string, ...args: unknown[]];

/** What a call returned, or the error that it threw. */
type SentOutcome = undefined | readonly [result: unknown, error?: SentError];

/** One outcome for each call, or none at all if no call returned anything. */
export type Answer = readonly SentOutcome[] | Failure;

type Connection = ReturnType<typeof connect>;

/** How long a lock of another process is waited for, in milliseconds. */
const LOCK_MS = 5_000;

/**
 * Pages of the log (40 MB) after which a commit copies them to the file. With rows all over a large file, 1,000 pages gave two
 * thirds of the throughput, since each copy writes nearly as many pages as it has; more pages make the longest wait longer.
 */
const LOG_PAGES = 10_000;

/** The size in bytes that the log is cut to after it was longer. */
const LOG_BYTES = 48 * 1024 * 1024;

/** The size in bytes of a log that only a reader can have kept from being cut. */
const LONG_LOG_BYTES = 256 * 1024 * 1024;

/** Without fullfsync, macOS leaves a commit in the cache of the disk. */
const SETTINGS = `PRAGMA synchronous = FULL; PRAGMA fullfsync = ON;
  PRAGMA wal_autocheckpoint = ${LOG_PAGES}; PRAGMA journal_size_limit = ${LOG_BYTES}`;

/** Loads the module, and returns what runs its functions. After a failure of the file, the next request opens it again. */
export async function openSession(file: string, module: string, warn: (message: string) => void) {
  const inMemory = file === ':memory:';
  const define: (db: DatabaseSync) => Functions = await import(module).then(
    (loaded) => loaded.default,
    (error: unknown) => () => {
      throw error;
    },
  );
  let connection: Connection | undefined;
  let opened = false;

  function close(): void {
    const db = connection?.db;
    connection = undefined;
    try {
      db?.close();
    } catch {
      // Its files are closed all the same.
    }
  }

  return {
    close,
    /** Runs calls that share one transaction. Without calls it shows whether the database works. */
    run(calls: readonly Call[]): Answer {
      try {
        // Once it has been open, a missing file is lost data.
        if (!connection && !inMemory) createFile(file, !opened);
        connection ??= connect(file, define, inMemory ? undefined : warn);
        opened = true;
        return connection.run(calls);
      } catch (error) {
        // A new connection may do better, except in memory.
        if (!inMemory) close();
        return failureOf(file, error);
      }
    },
  };
}

/**
 * Opens the database, lets the module define its functions and tables in one transaction, and makes sure that it can be
 * written. Nothing of a file that is not fit for the module is changed.
 *
 * @param warn `undefined` in memory.
 */
function connect(file: string, define: (db: DatabaseSync) => Functions, warn?: (message: string) => void) {
  const db = new DatabaseSync(file, { timeout: LOCK_MS });
  try {
    db.exec(SETTINGS);
    db.exec('BEGIN IMMEDIATE');
    const functions = define(db);
    db.exec('COMMIT');
    const mode = db.prepare('PRAGMA journal_mode = WAL').get()?.journal_mode;
    if (mode !== 'wal' && warn) throw new Error('its file system allows no write-ahead log');
    // In a file that can only be read, SQLite lets a transaction begin and end as long as it changes nothing.
    const version = db.prepare('PRAGMA user_version').get()?.user_version;
    db.exec(`BEGIN IMMEDIATE; PRAGMA user_version = ${version}; COMMIT`);
    const checkFiles = warn ? watchFiles(file, warn) : () => {};
    checkFiles();
    return { db, run: runnerOf(db, functions, checkFiles) };
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Runs calls in one transaction, and returns after its commit. A call that throws undoes only what it did itself. */
function runnerOf(db: DatabaseSync, functions: Functions, checkFiles: () => void) {
  // They run by get(), since run() throws if the last row id is beyond 2^53.
  const begin = db.prepare('BEGIN IMMEDIATE');
  const commit = db.prepare('COMMIT');

  function runCall([name, ...args]: Call): SentOutcome {
    const called = Object.hasOwn(functions, name) ? functions[name] : undefined;
    if (called === undefined) throw new TypeError(`the module defines no function ${name}`);
    const result: unknown = Reflect.apply(called, functions, args);
    if (result instanceof Promise) throw new TypeError(`the function ${name} must not be async`);
    return result === undefined ? undefined : [result];
  }

  /** @throws {unknown} what a call throws: then nothing is done. */
  function transact(calls: readonly Call[]): SentOutcome[] {
    begin.get();
    try {
      const outcomes = calls.map(runCall);
      commit.get();
      checkFiles();
      return outcomes;
    } catch (error) {
      if (db.isTransaction) db.exec('ROLLBACK');
      throw error;
    }
  }

  /** Calls rarely throw. If one does, each runs again in a transaction of its own. */
  function runAlone(call: Call): SentOutcome {
    try {
      return transact([call])[0];
    } catch (error) {
      if (concernsDatabase(error)) throw error;
      return [undefined, packError(error)];
    }
  }

  return (calls: readonly Call[]): SentOutcome[] => {
    try {
      const outcomes = transact(calls);
      return outcomes.some(Boolean) ? outcomes : [];
    } catch (error) {
      if (concernsDatabase(error)) throw error;
      return calls.map(runAlone);
    }
  };
}

/**
 * Makes sure that there is a file. Only its owner can read a new one; SQLite gives the files beside it the same rights.
 *
 * @throws {FileLost} if it is missing and must not be created.
 */
function createFile(file: string, mayCreate: boolean): void {
  if (existsSync(file)) return;
  if (!mayCreate) throw new FileLost(file);
  try {
    // The recursive mode never ends under /proc.
    mkdirSync(dirname(file));
  } catch (error) {
    if (!existsSync(dirname(file))) throw error;
  }
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch {
    // Another process was faster, or SQLite explains it better.
  }
}

/**
 * Returns a check for after each commit. SQLite goes on writing to a file that was moved, deleted or replaced, where nobody
 * finds what it writes.
 *
 * @throws {FileLost} if the database or its log (`-wal`) is not the file of the first check.
 */
function watchFiles(file: string, warn: (message: string) => void): () => void {
  const names = [file, `${realpathSync(file)}-wal`];
  let opened: readonly (Stats | undefined)[] | undefined;
  let warned = false;
  return () => {
    const found = names.map((name) => statSync(name, { throwIfNoEntry: false }));
    opened ??= found;
    const lost = names.find((_, at) => found[at]?.ino !== opened?.[at]?.ino || found[at]?.dev !== opened?.[at]?.dev);
    if (lost !== undefined) throw new FileLost(lost);
    const size = found[1]?.size ?? 0;
    if (size > LONG_LOG_BYTES && !warned) {
      const advice = 'since somebody reads for long: end old transactions and sqlite3 shells';
      warn(`${file}-wal has ${Math.round(size / 1e6)} MB, ${advice}`);
    }
    warned = size > LONG_LOG_BYTES;
  };
}
