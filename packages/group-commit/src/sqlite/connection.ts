import type { DatabaseSync } from 'node:sqlite';
import { concernsDatabase, retryWhileBusy } from './errors.ts';
import { type Answer, type Call, packError } from './protocol.ts';

/** The functions of a module, by name. */
export type Functions = Readonly<Record<string, (...args: never[]) => unknown>>;

type SentOutcome = Exclude<Answer, { trouble: string }>[number];

/** An open database with the functions of its module. */
export interface Connection {
  readonly db: DatabaseSync;
  /** Runs the calls in one transaction, and returns after its commit. A call that throws undoes only what it did itself. */
  run(calls: readonly Call[]): SentOutcome[];
  /** Reads. With `write`, also commits: only that shows that a lock is gone or that the disk has space again. */
  check(write: boolean, lockMilliseconds?: number): void;
  /**
   * Copies the log to the file if the log is long or, with `idle`, whatever its length. Returns its pages if it goes on growing
   * all the same.
   */
  checkpoint(idle: boolean): number | undefined;
}

/**
 * Pages of the log (40 MB) after which they are copied to the file. With rows all over a large file, 1,000 pages gave two thirds
 * of the throughput, since each copy writes nearly as many pages as it has; more pages make the longest wait longer.
 */
const LOG_PAGES = 10_000;

/** Pages of a log (256 MB) that only a reader can have kept from being cut. */
const LONG_LOG_PAGES = 65_536;

/** Runs calls on a database that is set up. `checkFiles` throws if what is committed would be lost. */
export function createConnection(db: DatabaseSync, functions: Functions, checkFiles: () => void): Connection {
  // They run by get(), since run() throws if the last row id is beyond 2^53.
  const [beginNow, commit] = [db.prepare('BEGIN IMMEDIATE'), db.prepare('COMMIT')];
  const logStatus = db.prepare('PRAGMA wal_checkpoint(NOOP)');
  /** How many pages the log has when it is copied next. */
  let due = LOG_PAGES;
  const begin = (milliseconds?: number) => retryWhileBusy(() => beginNow.get(), milliseconds);

  function runCall([name, ...args]: Call): SentOutcome {
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
  function tryCall(call: Call): SentOutcome {
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
  function runAll(calls: readonly Call[]): SentOutcome[] {
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
      begin();
      const outcomes = runAll(calls);
      commit.get();
      checkFiles();
      return outcomes.every((outcome) => outcome === undefined) ? [] : outcomes;
    },
    check(write, lockMilliseconds) {
      if (write) {
        // In a file that can only be read, SQLite lets a transaction begin and end as long as it changes nothing.
        begin(lockMilliseconds);
        db.exec(`PRAGMA user_version = ${db.prepare('PRAGMA user_version').get()?.user_version}`);
        commit.get();
      } else {
        db.prepare('SELECT 1 FROM sqlite_schema').get();
      }
      checkFiles();
    },
    checkpoint(idle) {
      const log = Number(logStatus.get()?.log);
      // It has started again.
      if (log < due - LOG_PAGES) due = LOG_PAGES;
      if (idle ? log <= 0 : log < due) return undefined;
      db.exec(`PRAGMA wal_checkpoint(${idle ? 'TRUNCATE' : 'PASSIVE'})`);
      due = log + LOG_PAGES;
      return log >= LONG_LOG_PAGES ? log : undefined;
    },
  };
}
