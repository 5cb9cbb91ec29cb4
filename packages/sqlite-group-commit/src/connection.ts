import { closeSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { type FileWatch, sleep, watchFiles } from './files.ts';
import { type Call, type Outcome, packError, type ThreadData } from './protocol.ts';
import { concernsDatabase, FileChanged, FileLost, isBusy, LOCK_MS } from './trouble.ts';

/** The functions of a module, by name. */
export type Functions = Readonly<Record<string, (...args: never[]) => unknown>>;

/** An open database with the functions of its module. */
export interface Connection {
  readonly db: DatabaseSync;
  /** Runs the calls in one transaction. @returns after the commit. A call that throws undoes only what it did itself. */
  run(calls: readonly Call[]): Outcome[];
  /** Reads. With `write`, also commits: only that shows that a lock is gone or that the disk has space again. */
  check(write: boolean): void;
  /** Copies the log to the file if the log is long or, with `idle`, whatever its length. */
  checkpoint(idle: boolean): void;
  close(): void;
}

/** Names of the database itself, which a module cannot use. `then` would make the database look like a promise. */
const RESERVED = ['ready', 'waiting', 'close', 'then'];

/** Pages of the log after which they are copied to the file, and the size in bytes that the log is cut to. */
const LOG_PAGES = 1_000;
const LOG_BYTES = 8 * 1024 * 1024;

/** After this time without a check, in milliseconds, the files are checked before they are written. */
const CHECKED_MS = 50;

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
    const mode = patiently(() => db.prepare('PRAGMA journal_mode = WAL').get()?.journal_mode);
    if (mode !== 'wal' && !inMemory) throw new Error('its file system allows no write-ahead log');
    patiently(() => db.exec('BEGIN IMMEDIATE'));
    touch(db);
    db.exec('COMMIT');
    return connectionOf(file, db, functions, inMemory ? undefined : watchFiles(db, file));
  } catch (error) {
    db.close();
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
  patiently(() =>
    db.exec(`PRAGMA synchronous = FULL; PRAGMA fullfsync = ON;
      PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = ${LOG_BYTES}`),
  );
  patiently(() => db.exec('BEGIN IMMEDIATE'));
  const functions = define(db);
  const reserved = Object.keys(functions).find((name) => RESERVED.includes(name));
  if (reserved !== undefined)
    throw new Error(`its module defines a function ${reserved}, a name of the database itself`);
  patiently(() => db.exec('COMMIT'));
  return functions;
}

function checkIntegrity(db: DatabaseSync): void {
  const [found] = patiently(() => db.prepare('PRAGMA integrity_check(1)').all());
  if (found?.integrity_check !== 'ok') throw Object.assign(new Error(String(found?.integrity_check)), { errcode: 11 });
}

/**
 * Writes the database's own user_version once more. In a file that can only be read, SQLite lets a transaction begin and
 * end as long as it changes nothing.
 */
function touch(db: DatabaseSync): void {
  db.exec(`PRAGMA user_version = ${db.prepare('PRAGMA user_version').get()?.user_version}`);
}

function connectionOf(file: string, db: DatabaseSync, functions: Functions, files: FileWatch | undefined): Connection {
  const log = db.prepare('PRAGMA wal_checkpoint(NOOP)');
  const [begin, commit] = [prepareRun(db, 'BEGIN IMMEDIATE'), prepareRun(db, 'COMMIT')];
  const [save, release] = [prepareRun(db, 'SAVEPOINT call'), prepareRun(db, 'RELEASE call')];
  let checkedAt = 0;

  function checkFiles(): void {
    files?.check();
    checkedAt = performance.now();
  }

  function runCall([name, args]: Call): Outcome {
    save.run();
    try {
      const called = Object.hasOwn(functions, name) ? functions[name] : undefined;
      if (called === undefined) throw new TypeError(`the module defines no function ${name}`);
      const result: unknown = Reflect.apply(called, functions, args);
      if (result instanceof Promise) {
        result.catch(() => {});
        throw new TypeError(`the function ${name} must not be async: its transaction ends before it does`);
      }
      release.run();
      return [true, result];
    } catch (error) {
      // What stopped the whole transaction stops all its calls.
      if (!db.isTransaction || concernsDatabase(error)) throw error;
      db.exec('ROLLBACK TO call; RELEASE call');
      return [false, packError(error)];
    }
  }

  return {
    db,
    run(calls) {
      if (performance.now() > checkedAt + CHECKED_MS) checkFiles();
      patiently(() => begin.run());
      const outcomes = calls.map(runCall);
      commit.run();
      checkFiles();
      return outcomes;
    },
    check(write) {
      checkFiles();
      if (!write) {
        db.prepare('SELECT 1 FROM sqlite_schema').get();
        return;
      }
      db.exec('BEGIN IMMEDIATE');
      touch(db);
      db.exec('COMMIT');
      checkFiles();
    },
    checkpoint(idle) {
      if (files === undefined) return;
      const pages = Number(log.get()?.log);
      if (pages < (idle ? 1 : LOG_PAGES)) return;
      checkFiles();
      db.exec(`PRAGMA wal_checkpoint(${idle ? 'TRUNCATE' : 'PASSIVE'})`);
      checkFiles();
    },
    close() {
      const guard = isChanged(files) ? openGuard(file) : undefined;
      try {
        db.close();
      } finally {
        guard?.close();
        files?.close();
      }
    },
  };
}

/** run() also reports the last row id, and throws if it is beyond 2^53 and integers are not read as bigint. */
function prepareRun(db: DatabaseSync, sql: string): StatementSync {
  const statement = db.prepare(sql);
  statement.setReadBigInts(true);
  return statement;
}

function isChanged(files: FileWatch | undefined): boolean {
  try {
    files?.check();
    return false;
  } catch (error) {
    return error instanceof FileChanged;
  }
}

/**
 * The last connection to close copies the log to the file, which would destroy the file if another program changed one of
 * them. A connection that only reads does not, and as long as it is open, the others are not the last.
 */
function openGuard(file: string): DatabaseSync {
  const guard = new DatabaseSync(file, { readOnly: true });
  try {
    guard.prepare('PRAGMA user_version').get();
  } catch {
    // What it reads is broken, but it holds its lock.
  }
  return guard;
}

/**
 * Tries again while another process holds the lock. SQLite's own busy timeout sleeps for up to 100 ms at a time, in which
 * other processes pass it by.
 */
function patiently<T>(attempt: () => T): T {
  for (const deadline = performance.now() + LOCK_MS; ; sleep(0.2 + Math.random())) {
    try {
      return attempt();
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error;
    }
  }
}

/** Whether a fresh connection must first check the whole file. */
export const isSuspect = (error: unknown): boolean => error instanceof FileChanged || error instanceof FileLost;
