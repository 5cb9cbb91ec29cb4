import { setTimeout as delay } from 'node:timers/promises';
import type { ClientBase } from 'pg';
import { Unavailable, Unusable } from '../errors.ts';
import { createQueue, type Database, type Outcome, type QueueOptions } from '../queue.ts';
import { createConnector } from './connect.ts';
import { createConnections } from './connections.ts';
import { adviceOn, reason } from './errors.ts';
import { readUrl } from './url.ts';

export { Unavailable, Unusable };

/** The database rejects one row: it breaks a rule of its table. `cause` says which, and quotes no row. */
export class RowRejected extends Error {
  override readonly name = 'RowRejected';
}

/** How to open a PostgreSQL database. */
export interface PostgresOptions<Row> extends QueueOptions {
  /** `postgres://USER:PASSWORD@HOST:PORT/DATABASE?…`, with the parameters of libpq, and `max` for the connections. */
  readonly url: string;
  /** The password, asked for at each connection. By default that of the URL. */
  readonly password?: (() => Promise<string>) | undefined;
  /** `application_name`, if the URL has none. */
  readonly name: string;
  /** The statement that creates the table, for error messages. */
  readonly table: string;
  /**
   * Runs over each new connection: checks the database, and creates its table if it is missing. @throws {Unusable} if waiting
   * does not help.
   */
  setUp(client: ClientBase): Promise<void>;
  /** Inserts rows with one statement. It is called with no rows to find out whether a row could be inserted. */
  insert(client: ClientBase, rows: readonly Row[]): Promise<void>;
  /** Called after each new connection, with the seconds that it took. */
  readonly onConnect?: ((seconds: number) => void) | undefined;
  /** Called with what the operator should know, though the database opens. */
  readonly warn?: ((message: string) => void) | undefined;
}

/** An open database. */
export interface PostgresDatabase<Row> extends Database {
  /**
   * Resolves after the commit that holds the row.
   *
   * @throws {RowRejected} if the row breaks a rule of its table; the other rows of its statement are inserted.
   * @throws {Unavailable} within the time for a connection and a statement.
   */
  add(row: Row): Promise<void>;
  /**
   * Runs other statements over a free connection.
   *
   * @throws {Error} if a statement is wrong or breaks a rule (SQLSTATE classes 21 to 23, 42 and P0): with the SQLSTATE as `code`
   * and the `constraint`, if there is one. It quotes no value.
   * @throws {Unavailable} if a statement fails for another reason.
   */
  run<T>(task: (client: ClientBase) => Promise<T>): Promise<T>;
}

/** SQLSTATE values of what the server rolled back for the sake of others, https://www.postgresql.org/docs/current/errcodes-appendix.html. */
const ROLLED_BACK = ['40001', '40P01'];

/** SQLSTATE values of statements that are wrong themselves. */
const WRONG = /^(2[123]|42|P0)/;

/** How often a statement is sent that the server has rolled back for the sake of others. */
const ATTEMPTS = 20;

/**
 * Opens a PostgreSQL database. Rows that wait for a connection share one statement. Whatever the server does, every call
 * is answered within `connect_timeout` and `statement_timeout`. No statement is sent twice, unless the server has rolled it
 * back. A database that cannot be reached for now opens all the same, and is not ready until it can.
 *
 * @throws {Unusable} if the URL is wrong, or if the server rejects permanently.
 */
export async function openDatabase<Row>(options: PostgresOptions<Row>): Promise<PostgresDatabase<Row>> {
  const { warn = () => {}, setUp } = options;
  const target = readUrl(options.url, options.name, options.password);
  const { location, max } = target;
  const connections = createConnections(createConnector(target, setUp, warn), target, options.onConnect);

  /**
   * Inserts rows together, again if the server rolled them back for the sake of another transaction, and in halves if one of
   * them breaks a rule of the table.
   */
  async function insert(client: ClientBase, rows: readonly Row[], attempt = 1): Promise<readonly Outcome[]> {
    try {
      await options.insert(client, rows);
      return [];
    } catch (error) {
      const { code } = Object(error);
      if (ROLLED_BACK.includes(code) && attempt < ATTEMPTS) {
        await delay(20 * Math.random());
        return insert(client, rows, attempt + 1);
      }
      if (!/^2[23]/.test(code)) throw error;
      if (rows.length === 1) {
        return [[undefined, new RowRejected('the row breaks a rule of its table', { cause: reason(error) })]];
      }
      const half = Math.ceil(rows.length / 2);
      const outcomes = [...(await insert(client, rows.slice(0, half)))];
      outcomes.length = half;
      return [...outcomes, ...(await insert(client, rows.slice(half)))];
    }
  }

  function failUnavailable(error: unknown): never {
    const cause = reason(error);
    const code = String(Object(error).code ?? Object(error).errors?.[0]?.code ?? 'UNKNOWN');
    throw new Unavailable(`PostgreSQL at ${location} cannot answer now: ${cause.message}`, code, cause);
  }

  await connections
    .use(async () => {})
    .catch(async (error: unknown) => {
      const advice = error instanceof Unusable ? '' : adviceOn(error, options.table);
      if (advice === undefined) return;
      await connections.end();
      throw new Unusable(`PostgreSQL at ${location}: ${[reason(error).message, advice].filter(Boolean).join('. ')}`);
    });

  const { add, ...database } = createQueue<Row>(
    {
      location,
      lanes: max,
      commit: (rows) => connections.use((client) => insert(client, rows)).catch(failUnavailable),
      check: () => connections.use((client) => options.insert(client, []), true).catch(failUnavailable),
      stats: connections.stats,
      close: connections.end,
    },
    options,
  );
  return {
    ...database,
    async add(row) {
      await add(row);
    },
    run: (task) =>
      connections.use(task).catch((error: unknown) => {
        const { code, constraint } = Object(error);
        if (WRONG.test(code)) throw Object.assign(reason(error), { code, constraint });
        failUnavailable(error);
      }),
  };
}
