import { DatabaseSync } from 'node:sqlite';
import { concernsDatabase, FileChanged } from './errors.ts';
import type { FileWatch } from './files.ts';
import { type Call, type Outcome, packError } from './protocol.ts';
import { retryWhileBusy } from './wait.ts';

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

/** Pages of the log after which they are copied to the file. */
const LOG_PAGES = 1_000;

/** After this time without a check, in milliseconds, the files are checked before they are written. */
const CHECKED_MS = 50;

/** Runs calls on a database that is set up. */
export function createConnection(
  file: string,
  db: DatabaseSync,
  functions: Functions,
  files: FileWatch | undefined,
): Connection {
  // They run by get(), since run() throws if the last row id is beyond 2^53.
  const [beginNow, commit] = [db.prepare('BEGIN IMMEDIATE'), db.prepare('COMMIT')];
  const begin = () => retryWhileBusy(() => beginNow.get());
  let checkedAt = 0;

  function checkFiles(): void {
    files?.check();
    checkedAt = performance.now();
  }

  function runCall([name, ...args]: Call): Outcome {
    const called = Object.hasOwn(functions, name) ? functions[name] : undefined;
    if (called === undefined) throw new TypeError(`the module defines no function ${name}`);
    const result: unknown = Reflect.apply(called, functions, args);
    if (result instanceof Promise) {
      result.catch(() => {});
      throw new TypeError(`the function ${name} must not be async: its transaction ends before it does`);
    }
    return result === undefined ? undefined : [result];
  }

  /** Undoes what the call did if it throws. */
  function tryCall(call: Call): Outcome {
    db.exec('SAVEPOINT call');
    try {
      const outcome = runCall(call);
      db.exec('RELEASE call');
      return outcome;
    } catch (error) {
      failUnlessOwn(error);
      db.exec('ROLLBACK TO call; RELEASE call');
      return [undefined, packError(error)];
    }
  }

  /** What stopped the whole transaction stops all its calls. */
  function failUnlessOwn(error: unknown): void {
    if (!db.isTransaction || concernsDatabase(error)) throw error;
  }

  /** Calls rarely throw. If one does, all run again, each with a savepoint of its own. */
  function runAll(calls: readonly Call[]): Outcome[] {
    try {
      return calls.map(runCall);
    } catch (error) {
      failUnlessOwn(error);
      db.exec('ROLLBACK');
      begin();
      return calls.map(tryCall);
    }
  }

  return {
    db,
    run(calls) {
      if (performance.now() > checkedAt + CHECKED_MS) checkFiles();
      begin();
      const outcomes = runAll(calls);
      commit.get();
      checkFiles();
      return outcomes;
    },
    check(write) {
      checkFiles();
      if (write) touch(db);
      else db.prepare('SELECT 1 FROM sqlite_schema').get();
      checkFiles();
    },
    checkpoint(idle) {
      if (files === undefined) return;
      if (files.pages() < (idle ? 1 : LOG_PAGES)) return;
      files.check();
      db.exec(`PRAGMA wal_checkpoint(${idle ? 'TRUNCATE' : 'PASSIVE'})`);
      files.check();
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
export function openGuard(file: string): DatabaseSync {
  const guard = new DatabaseSync(file, { readOnly: true });
  try {
    guard.prepare('PRAGMA user_version').get();
  } catch {
    // What it reads is broken, but it holds its lock.
  }
  return guard;
}

/**
 * Commits the database's own user_version once more. In a file that can only be read, SQLite lets a transaction begin and
 * end as long as it changes nothing.
 */
export function touch(db: DatabaseSync): void {
  db.exec('BEGIN IMMEDIATE');
  db.exec(`PRAGMA user_version = ${db.prepare('PRAGMA user_version').get()?.user_version}; COMMIT`);
}
