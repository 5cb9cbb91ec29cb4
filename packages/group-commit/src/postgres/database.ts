import { setTimeout as delay } from 'node:timers/promises';
import { type ClientBase, DatabaseError } from 'pg';
import { Unavailable, Unusable } from '../errors.ts';
import { createQueue, type Database, type Outcome, type QueueOptions } from '../queue.ts';
import { createConnector } from './connect.ts';
import { createConnections } from './connections.ts';
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
  add(row: Row): Promise<unknown>;
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

/** What would be right, by SQLSTATE (https://www.postgresql.org/docs/current/errcodes-appendix.html) or error code. */
const ADVICE: readonly (readonly [RegExp, string])[] = [
  [/^28P01|^SASL/, 'The PostgreSQL URL must hold the right user and password'],
  [/^28/, 'The PostgreSQL URL must name a user that pg_hba.conf lets in from here; sslmode=require asks for TLS'],
  [/^3D000/, "Create the database with CREATE DATABASE … ENCODING 'UTF8', or name another one in the PostgreSQL URL"],
  [/^42501/, 'The user must own the table, or have SELECT and INSERT on it once its owner has created it: TABLE'],
  [/^(22023|42704)/, 'The options and parameters of the PostgreSQL URL must be such as the server knows'],
  [/^08P01.*unsupported startup parameter/, 'Say statement_timeout=0 in the PostgreSQL URL, as for PgBouncer'],
  [/^(0A|3F|42)/, 'The server must understand the SQL of PostgreSQL, and the table must be: TABLE'],
  [/server does not support SSL/, 'Turn on TLS there, or say sslmode=disable in the PostgreSQL URL'],
  [/^ERR_OSSL/, 'sslcert and sslkey in the PostgreSQL URL must name a PEM certificate and its own key'],
  [/^ERR_TLS_CERT_ALTNAME/, 'The PostgreSQL URL must name the host as its certificate does; or sslmode=verify-ca'],
  [/^\S*(CERT|SIGNATURE|ERR_TLS)/, 'sslrootcert=FILE in the PostgreSQL URL must name the authority of its certificate'],
];

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

  const database = createQueue<Row>(
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
    run: (task) =>
      connections.use(task).catch((error: unknown) => {
        const { code, constraint } = Object(error);
        if (WRONG.test(code)) throw Object.assign(reason(error), { code, constraint });
        failUnavailable(error);
      }),
  };
}

/** What would be right, if waiting does not help. */
function adviceOn(error: unknown, table: string): string | undefined {
  const { code = '', message = '' } = Object(error);
  // Several hosts: waiting helps if it helps for one of them.
  if (error instanceof AggregateError) {
    const advice = error.errors.map((each: unknown) => adviceOn(each, table));
    return advice.includes(undefined) ? undefined : advice[0];
  }
  const text = `${code} ${message}`.trim();
  return ADVICE.find(([pattern]) => pattern.test(text))?.[1].replace('TABLE', () => table);
}

/** The error without what may quote a row: further fields, and the message of class 22. */
function reason(error: unknown): Error {
  const { message, code, errors } = Object(error);
  // A host with several addresses has an error for each.
  if (Array.isArray(errors)) return new Error(errors.map((each) => reason(each).message).join('; '));
  if (!(error instanceof DatabaseError)) return new Error(String(message || error), { cause: error });
  return new Error(code?.startsWith('22') ? `SQLSTATE ${code}` : `${message} (SQLSTATE ${code})`);
}
