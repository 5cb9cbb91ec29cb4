import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import type { ClientBase } from 'pg';
import { adviceOn, codeOf, DatabaseUnavailable, DatabaseUnusable, RowRejected, reason } from './errors.ts';
import { createConnections } from './pool.ts';

/** How to open a database. */
export interface DatabaseOptions<Row> {
  /** `postgres://USER:PASSWORD@HOST:PORT/DATABASE?…`, with the parameters of libpq, and `max` for the connections. */
  readonly url: string;
  /** `application_name`, if the URL has none. */
  readonly name: string;
  /** The statement that creates the table, for error messages. */
  readonly table: string;
  /**
   * Checks the database, and creates its table if it is missing. Called over the first connection, and again after an
   * error that says that the table is not there. @throws {DatabaseUnusable} if waiting does not help.
   */
  setUp(client: ClientBase): Promise<void>;
  /** Inserts rows with one statement. It is called with no rows to find out whether a row could be inserted. */
  insert(client: ClientBase, rows: readonly Row[]): Promise<void>;
  /** About how many characters a row holds. */
  lengthOf(row: Row): number;
  /** How many rows may wait; further ones are rejected with {@link DatabaseUnavailable}. 1,000 by default. */
  readonly maxWaiting?: number | undefined;
  /** Called with the number of rows of each statement. */
  readonly onBatch?: ((rows: number) => void) | undefined;
  /** Called with what the operator should know, though the database opens. */
  readonly warn?: ((message: string) => void) | undefined;
}

/** An open database. */
export interface PostgresDatabase<Row> {
  /** Host, port and database, without user and password. */
  readonly location: string;
  /**
   * Resolves after the commit that holds the row.
   *
   * @throws {RowRejected} if the row breaks a rule of its table; the other rows of its statement are inserted.
   * @throws {DatabaseUnavailable} within the time for a connection and a statement.
   */
  add(row: Row): Promise<void>;
  /** Runs other statements over a free connection. @throws {DatabaseUnavailable} if they fail. */
  run<T>(task: (client: ClientBase) => Promise<T>): Promise<T>;
  /** @throws {DatabaseUnavailable} if no row could be inserted now. */
  ready(): Promise<void>;
  /** How many rows wait. */
  waiting(): number;
  /** Finishes what waits, then ends the connections. */
  close(): Promise<void>;
}

/** The most rows in one statement, and about the most characters. */
const BATCH_ROWS = 500;
const BATCH_CHARACTERS = 1_000_000;

/** The longest time that a statement waits for rows while each turn of the event loop brings more. Milliseconds. */
const GATHER_MS = 2;

/** SQLSTATE values, https://www.postgresql.org/docs/current/errcodes-appendix.html. */
const NO_TABLE = ['42P01', '42P10'];
const ROLLED_BACK = ['40001', '40P01'];

/** Rows that share a statement, and the error of each. */
interface Batch<Row> {
  readonly rows: Row[];
  characters: number;
  readonly done: Promise<(RowRejected | undefined)[]>;
}

/**
 * Opens a PostgreSQL database. Rows that wait for a connection share one statement. Whatever the server does, every call
 * is answered within `connect_timeout` and `statement_timeout`. No statement is sent twice, unless the server has rolled it
 * back. A database that cannot be reached for now opens all the same, and is not ready until it can.
 *
 * @throws {DatabaseUnusable} if the URL is wrong, or if the server will go on saying no.
 */
export async function openDatabase<Row>(options: DatabaseOptions<Row>): Promise<PostgresDatabase<Row>> {
  const { maxWaiting = 1_000, lengthOf } = options;
  const connections = createConnections(options.url, options.name, options.warn ?? (() => {}));
  const { location } = connections;
  const batches = new Set<Batch<Row>>();
  let gathering: Batch<Row> | undefined;
  let prepared = false;
  let waiting = 0;
  let checking: Promise<void> | undefined;
  let closing: Promise<void> | undefined;

  /** Runs a task over a connection to a database that is set up. */
  function connected<T>(task: (client: ClientBase) => Promise<T>): Promise<T> {
    return connections.use(async (client) => {
      try {
        if (!prepared) await options.setUp(client);
        prepared = true;
        return await task(client);
      } catch (error) {
        if (NO_TABLE.includes(codeOf(error) ?? '')) prepared = false;
        throw error;
      }
    });
  }

  /** Begins a batch, which gathers rows until a connection is free and a turn of the event loop brings no further row. */
  function gather(): Batch<Row> {
    const rows: Row[] = [];
    const done = connected(async (client) => {
      const deadline = performance.now() + GATHER_MS;
      let before: number;
      do {
        before = rows.length;
        await turn();
      } while (rows.length > before && gathering === batch && performance.now() < deadline);
      if (gathering === batch) gathering = undefined;
      options.onBatch?.(rows.length);
      return insertEach(client, rows);
    }).finally(() => {
      if (gathering === batch) gathering = undefined;
      batches.delete(batch);
    });
    const batch: Batch<Row> = { rows, characters: 0, done };
    batches.add(batch);
    return batch;
  }

  /** Inserts rows together, and each alone if one of them breaks a rule of the table. */
  async function insertEach(client: ClientBase, rows: readonly Row[]): Promise<(RowRejected | undefined)[]> {
    try {
      await insert(client, rows);
      return [];
    } catch (error) {
      if (!/^2[23]/.test(codeOf(error) ?? '')) throw error;
      if (rows.length === 1) return [new RowRejected('the row breaks a rule of its table', { cause: reason(error) })];
      const errors: (RowRejected | undefined)[] = [];
      for (const row of rows) errors.push((await insertEach(client, [row]))[0]);
      return errors;
    }
  }

  /** Inserts again what the server rolled back for the sake of another transaction. */
  async function insert(client: ClientBase, rows: readonly Row[]): Promise<void> {
    for (;;) {
      try {
        return await options.insert(client, rows);
      } catch (error) {
        if (!ROLLED_BACK.includes(codeOf(error) ?? '')) throw error;
        await delay(20 * Math.random());
      }
    }
  }

  function rejectUnavailable(error: unknown): never {
    const cause = reason(error);
    throw new DatabaseUnavailable(`PostgreSQL at ${location} cannot answer now: ${cause.message}`, { cause });
  }

  function checkOpen(): void {
    if (closing) throw new DatabaseUnavailable('The database is closed.');
  }

  async function finish(): Promise<void> {
    await Promise.allSettled([...batches].map(({ done }) => done));
    await connections.end();
  }

  await connected(async () => {}).catch(async (error: unknown) => {
    const advice = error instanceof DatabaseUnusable ? '' : adviceOn(error, options.table);
    if (advice === undefined) return;
    await connections.end();
    throw new DatabaseUnusable(
      `PostgreSQL at ${location}: ${[reason(error).message, advice].filter(Boolean).join('. ')}`,
    );
  });

  return {
    location,
    async add(row) {
      checkOpen();
      if (waiting >= maxWaiting) throw new DatabaseUnavailable(`The database is busy: ${waiting} rows are waiting.`);
      waiting += 1;
      try {
        if (!gathering || gathering.rows.length >= BATCH_ROWS || gathering.characters >= BATCH_CHARACTERS) {
          gathering = gather();
        }
        gathering.characters += lengthOf(row);
        const at = gathering.rows.push(row) - 1;
        const rejected = (await gathering.done.catch(rejectUnavailable))[at];
        if (rejected) throw rejected;
      } finally {
        waiting -= 1;
      }
    },
    async run(task) {
      checkOpen();
      return connected(task).catch(rejectUnavailable);
    },
    async ready() {
      checkOpen();
      checking ??= connected((client) => insert(client, []))
        .catch(rejectUnavailable)
        .finally(() => {
          checking = undefined;
        });
      return checking;
    },
    waiting: () => waiting,
    close() {
      closing ??= finish();
      return closing;
    },
  };
}
