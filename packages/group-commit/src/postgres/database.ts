import { setTimeout as delay } from 'node:timers/promises';
import { type Client, type ClientBase, DatabaseError } from 'pg';
import type { Database, DatabaseOptions } from '../database.ts';
import { RowRejected, Unavailable, Unusable } from '../errors.ts';
import { createQueue, NotStarted, type Outcome } from '../queue.ts';
import { createConnections } from './connections.ts';
import {
  ROLLED_BACK,
  rowRejected,
  taskError,
  unavailable,
  unusable,
  violatesConstraint,
} from './failures.ts';
import { checkStandby } from './standby.ts';
import { rehearse, transact } from './transaction.ts';
import { readUrl } from './url.ts';

export { RowRejected, Unavailable, Unusable };

/** Options of a PostgreSQL database. */
export interface PostgresOptions<Row, Result = void> extends DatabaseOptions {
  /** `postgres://USER:PASSWORD@HOST:PORT/DATABASE?…`. See the README for the parameters. */
  readonly url: string;
  /**
   * Resolves to the password for a new connection. By default, pg uses that of the URL,
   * of `PGPASSWORD` or of the password file.
   */
  readonly password?: (() => Promise<string>) | undefined;
  /** `application_name`, if the URL has none. */
  readonly name: string;
  /** The statement that creates the table, for error messages. */
  readonly table?: string | undefined;
  /**
   * Called with each new connection, to check the database and create missing tables.
   *
   * @throws {Unusable} if the failure is permanent.
   */
  readonly setUp?: ((client: ClientBase) => Promise<void>) | undefined;
  /**
   * Inserts rows in a transaction. Resolves to a result for each row, or to nothing. Called again
   * with all or some of the rows after a rollback. `ready` calls it in a transaction that is
   * rolled back, also without rows.
   */
  readonly insert?:
    | ((client: ClientBase, rows: readonly Row[]) => Promise<readonly Result[]> | Promise<void>)
    | undefined;
  /** Called with the seconds that it took to open each new connection. */
  readonly onConnect?: ((seconds: number) => void) | undefined;
}

/** An open database. */
export interface PostgresDatabase<Row, Result = void> extends Database {
  /**
   * Inserts a row. After the commit, resolves to the result that `insert` returned for it.
   *
   * @throws {RowRejected} if it violates a constraint. Other rows are inserted.
   * @throws {Unavailable} if the database cannot be used now.
   */
  add(row: Row): Promise<Result>;
  /**
   * Runs statements with a free connection, each in its own transaction.
   *
   * @throws {RowRejected} if a statement violates a constraint.
   * @throws {Unavailable} if the database cannot be used now.
   * @throws {unknown} other errors of the task. For a statement, `code` is the SQLSTATE.
   */
  run<T>(task: (client: ClientBase) => Promise<T>): Promise<T>;
  /** Runs statements like `run`, but in one transaction. Resolves after its commit. */
  transaction<T>(task: (client: ClientBase) => Promise<T>): Promise<T>;
}

/** A call of `run` or `transaction`. It needs a commit of its own. */
type Task = (client: Client) => Promise<unknown>;

const isTask = (call: unknown): call is Task => typeof call === 'function';

/** The maximum number of attempts if concurrent transactions cause a rollback. */
const MAX_ATTEMPTS = 20;

/** The minimum of the default time limit of a call, in milliseconds. */
const CALL_MS = 5_000;

/**
 * Opens a PostgreSQL database. Rows that wait for a connection share one transaction.
 *
 * Also resolves if the database is unreachable. `ready` rejects until it is reachable.
 *
 * @throws {Unusable} if the URL is wrong or the server rejects it permanently.
 */
export async function openDatabase<Row = never, Result = void>(
  options: PostgresOptions<Row, Result>,
): Promise<PostgresDatabase<Row, Result>> {
  const { insert, setUp = async () => {}, table, warn = () => {}, onConnect } = options;
  const settings = readUrl(options.url, options.name, options.password);
  const { location, max, statementMs, connectMs } = settings;
  const timeout = options.timeout ?? Math.max(CALL_MS, connectMs + statementMs);
  const connections = createConnections(settings, setUp, warn, onConnect);

  await connections.connect().catch(async (error: unknown) => {
    const rejection = unusable(location, error, table);
    if (!rejection) return;
    await connections.end();
    throw rejection;
  });

  async function insertAll(
    client: ClientBase,
    rows: readonly Row[],
  ): Promise<readonly Result[] | undefined> {
    if (!insert) throw new TypeError('add() needs the option insert of openDatabase()');
    const results = (await insert(client, rows)) || undefined;
    if (results && results.length !== rows.length) {
      throw new TypeError(`insert returned ${results.length} results for ${rows.length} rows`);
    }
    return results;
  }

  /**
   * Inserts rows in one transaction. Retries if the server rolled it back because of concurrent
   * transactions. Inserts the rows in halves if one of them violates a constraint.
   */
  async function commit(client: Client, rows: readonly Row[], attempt = 1): Promise<Outcome[]> {
    try {
      const results = await transact(client, (inner) => insertAll(inner, rows), settings);
      return rows.map((_, index) => results && { result: results[index] });
    } catch (error) {
      if (ROLLED_BACK.includes(Object(error).code) && attempt < MAX_ATTEMPTS) {
        await delay(20 * Math.random());
        return commit(client, rows, attempt + 1);
      }
      // Other errors, such as a missing table, affect all rows.
      if (!violatesConstraint(error))
        throw error instanceof DatabaseError ? unavailable(location, error) : error;
      if (rows.length === 1) return [{ error: rowRejected(error) }];
      const half = Math.ceil(rows.length / 2);
      const first = await commit(client, rows.slice(0, half));
      return [...first, ...(await commit(client, rows.slice(half)))];
    }
  }

  async function check(client: Client, rows: readonly Row[]): Promise<void> {
    await checkStandby(client, location);
    const task = async (inner: ClientBase) => void (insert && (await insertAll(inner, rows)));
    await rehearse(client, task).catch((error: unknown) => {
      if (!violatesConstraint(error)) throw unavailable(location, error);
    });
  }

  async function runTask(task: Task): Promise<Outcome> {
    try {
      return { result: await connections.use(task, true) };
    } catch (error) {
      if (error instanceof Unavailable || error instanceof NotStarted) throw error;
      return { error: taskError(error) };
    }
  }

  const rowsOf = (calls: readonly (Row | Task)[]): Row[] =>
    calls.flatMap((call) => (isTask(call) ? [] : [call]));

  const { add, ready, stats, close } = createQueue<Row | Task>(
    {
      location,
      maxCommits: max,
      shares: (call) => !isTask(call),
      checksConcurrently: true,
      async commit(calls) {
        const [first] = calls;
        if (isTask(first)) return [await runTask(first)];
        return connections.use((client) => commit(client, rowsOf(calls)));
      },
      check: (calls) => connections.use((client) => check(client, rowsOf(calls))),
      stats: connections.stats,
      close: connections.end,
    },
    { ...options, timeout },
  );

  return {
    location,
    // The queue does not change the result of insert.
    add: (row) => add(row) as Promise<Result>,
    run: (task) => add(task) as Promise<never>,
    transaction: (task) => add((client) => transact(client, task, settings)) as Promise<never>,
    ready,
    stats,
    close,
  };
}
