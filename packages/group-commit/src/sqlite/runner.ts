import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { concernsDatabase, packError, type SentError } from './errors.ts';

/** The functions of a module, by name. */
export type Functions = Readonly<Record<string, (...args: never[]) => unknown>>;

export type Call = readonly [name: string, ...args: unknown[]];

/** The result or the error of a call. `undefined` if it returned nothing. */
export type SentOutcome = { readonly result: unknown } | { readonly error: SentError } | undefined;

/** A call ended the transaction, such as by `RAISE(ROLLBACK)` in a trigger. */
class Ended extends Error {
  readonly call: Call;

  constructor(call: Call, cause: unknown) {
    super('the transaction has ended', { cause });
    this.call = call;
  }
}

/** The number of commits that use savepoints after a call has failed. */
const SAVEPOINT_COMMITS = 10;

/**
 * Runs calls in transactions. Throws errors that affect the whole database.
 *
 * @param guard runs a function that must not begin or end transactions.
 */
export function createRunner(
  db: DatabaseSync,
  functions: Functions,
  guard: <T>(task: () => T) => T,
  checkFiles: () => void,
) {
  const begin = db.prepare('BEGIN IMMEDIATE');
  const beginRead = db.prepare('BEGIN');
  const commit = db.prepare('COMMIT');
  const savepoint = db.prepare('SAVEPOINT call');
  const release = db.prepare('RELEASE call');
  const undo = db.prepare('ROLLBACK TO call');
  let savepointCommits = 0;

  function run([name, ...args]: Call): SentOutcome {
    const task = Object.hasOwn(functions, name) ? functions[name] : undefined;
    if (task === undefined) throw new TypeError(`the module defines no function ${name}`);
    const result: unknown = guard(() => Reflect.apply(task, functions, args));
    if (result instanceof Promise) {
      // An unhandled rejection would end the process.
      result.catch(() => {});
      throw new TypeError(`the function ${name} must not be async`);
    }
    return result === undefined ? undefined : { result };
  }

  /** Clones the result before the commit: a call whose result cannot be sent must not commit. */
  function runWrite(call: Call): SentOutcome {
    try {
      const outcome = run(call);
      if (!db.isTransaction) throw new TypeError(`the function ${call[0]} ended the transaction`);
      return outcome && structuredClone(outcome);
    } catch (error) {
      throw db.isTransaction || concernsDatabase(error) ? error : new Ended(call, error);
    }
  }

  function rollBack(): void {
    if (db.isTransaction) db.exec('ROLLBACK');
  }

  function transact<T>(start: StatementSync, task: () => T): T {
    // Not run(), which throws if the last row id is beyond 2^53.
    start.get();
    try {
      const result = task();
      commit.get();
      return result;
    } catch (error) {
      rollBack();
      throw error;
    }
  }

  /** @throws {unknown} an error that affects the whole database, or `Ended`. */
  function runInSavepoint(call: Call): SentOutcome {
    savepoint.get();
    try {
      return runWrite(call);
    } catch (error) {
      if (concernsDatabase(error) || error instanceof Ended) throw error;
      undo.get();
      return { error: packError(error) };
    } finally {
      if (db.isTransaction) release.get();
    }
  }

  /**
   * Runs calls in one transaction. After a failure, runs them again with savepoints, and then in
   * halves, since a deferred constraint fails at the commit. A call that ended the transaction is
   * not run again: it may have written after the end.
   */
  function runAll(calls: readonly Call[], runCall: (call: Call) => SentOutcome): SentOutcome[] {
    try {
      return transact(begin, () => calls.map(runCall));
    } catch (error) {
      if (concernsDatabase(error)) throw error;
      if (error instanceof Ended) {
        const index = calls.indexOf(error.call);
        const others = runAll(calls.toSpliced(index, 1), runInSavepoint);
        return others.toSpliced(index, 0, { error: packError(error.cause) });
      }
      if (runCall !== runInSavepoint) return runAll(calls, runInSavepoint);
      if (calls.length === 1) return [{ error: packError(error) }];
      const half = Math.ceil(calls.length / 2);
      return [calls.slice(0, half), calls.slice(half)].flatMap((part) => runAll(part, runCall));
    }
  }

  function runRead(call: Call): SentOutcome {
    try {
      return transact(beginRead, () => run(call));
    } catch (error) {
      if (concernsDatabase(error) && !isWriteOfReader(error)) throw error;
      return { error: packError(error) };
    }
  }

  return {
    /**
     * If a call throws, only its own changes are rolled back. If it ends the transaction, what it
     * writes after the end is not.
     */
    write(calls: readonly Call[]): SentOutcome[] {
      const outcomes = runAll(calls, savepointCommits > 0 ? runInSavepoint : runWrite);
      const failed = outcomes.some((outcome) => outcome && 'error' in outcome);
      savepointCommits = failed ? SAVEPOINT_COMMITS : Math.max(0, savepointCommits - 1);
      checkFiles();
      return outcomes.some(Boolean) ? outcomes : [];
    },

    read(calls: readonly Call[]): SentOutcome[] {
      let outcomes: SentOutcome[];
      db.exec('PRAGMA query_only = ON');
      try {
        outcomes = calls.map(runRead);
      } finally {
        db.exec('PRAGMA query_only = OFF');
      }
      checkFiles();
      return outcomes;
    },

    /** Runs the calls of a failed commit and rolls them back. Then writes an unchanged value. */
    rehearse(calls: readonly Call[]): void {
      begin.get();
      try {
        for (const call of calls) runInSavepoint(call);
      } catch (error) {
        if (concernsDatabase(error)) throw error;
      } finally {
        rollBack();
      }
      // Only after a failed commit, so that readiness probes do not write to the disk.
      if (calls.length > 0) transact(begin, () => touch(db));
      checkFiles();
    },
  };
}

/** Returns true for SQLITE_READONLY: the called function tried to write. */
const isWriteOfReader = (error: unknown): boolean => (Number(Object(error).errcode) & 0xff) === 8;

/** Writes an unchanged value, since empty transactions succeed even in a read-only file. */
export function touch(db: DatabaseSync): void {
  const version = db.prepare('PRAGMA user_version').get()?.user_version;
  db.exec(`PRAGMA user_version = ${version}`);
}
