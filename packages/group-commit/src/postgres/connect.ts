import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import type { readUrl, Target } from './url.ts';

/** How long a connection that ends waits for the server, in milliseconds. */
const GOODBYE_MS = 1_000;

/** What `target_session_attrs` asks for, in SQL. */
const SESSION = {
  any: 'true',
  'read-write': "current_setting('transaction_read_only') = 'off'",
  'read-only': "current_setting('transaction_read_only') = 'on'",
  primary: 'NOT pg_is_in_recovery()',
  standby: 'pg_is_in_recovery()',
};

/** A client of pg, with what pg offers no public interface for. */
export type Connection = ReturnType<typeof createConnection>;

/** Opens connections to the hosts of a URL. */
export type Connector = ReturnType<typeof createConnector>;

/**
 * Makes a connection that is not open yet.
 *
 * It relies on `processID` and `secretKey` of a client, and on `startup` and `cancel` of its connection, which are not
 * documented: this is why the version of pg is exact.
 */
function createConnection(target: Target) {
  const client = new Client(target.config);
  client.on('error', () => {});
  return {
    target,
    client,
    /** Resolves when the server has been asked to cancel what the client does, or does not answer. */
    async cancel(): Promise<void> {
      const { processID, secretKey } = Object(client);
      const other = new Client(target.config);
      const { connection } = other;
      other.on('error', () => {});
      // The first message over this connection cancels. The server says nothing, and closes it.
      Object.assign(connection, { startup: () => Object(connection).cancel(processID, secretKey) });
      await other.connect().catch(() => {});
    },
    /** Ends the connection, in order if the server answers. */
    async end(): Promise<void> {
      await Promise.race([client.end(), delay(GOODBYE_MS, undefined, { ref: false })]);
      client.connection.stream.destroy();
    },
  };
}

/** @param setUp runs over each new connection. */
export function createConnector(
  { targets, session, shuffled, prefersTls }: ReturnType<typeof readUrl>,
  setUp: (client: Client) => Promise<void>,
  warn: (message: string) => void,
) {
  let first = 0;
  for (const target of targets) if (target.config.ssl === false) warnOf(target);

  function warnOf({ remote, location }: Target): void {
    const advice = 'sslmode=verify-full makes sure it is';
    if (remote) warn(`the connection to PostgreSQL at ${location} is not encrypted; ${advice}`);
  }

  async function open(target: Target, expected: keyof typeof SESSION): Promise<Connection> {
    const connection = createConnection(target);
    const { client } = connection;
    try {
      await client.connect();
      const { rows } = await client.query<{ fits: boolean }>(`SELECT ${SESSION[expected]} AS fits`);
      if (!rows[0]?.fits) throw new Error(`${target.location} is not ${expected}`);
      await setUp(client);
      return connection;
    } catch (error) {
      await connection.end();
      const hasNoTls = /does not support SSL/.test(String(Object(error).message));
      if (!prefersTls || target.config.ssl === false || !hasNoTls) throw error;
      target.config.ssl = false;
      warnOf(target);
      return open(target, expected);
    }
  }

  return {
    /** To the first host that answers and is what `target_session_attrs` asks for, beginning with the last good one. */
    async connect(): Promise<Connection> {
      const start = shuffled ? Math.floor(Math.random() * targets.length) : first;
      const errors: unknown[] = [];
      for (const expected of session === 'prefer-standby' ? (['standby', 'any'] as const) : [session]) {
        for (const target of [...targets.slice(start), ...targets.slice(0, start)]) {
          try {
            const connection = await open(target, expected);
            first = targets.indexOf(target);
            return connection;
          } catch (error) {
            errors.push(error);
          }
        }
      }
      throw errors.length === 1 ? errors[0] : new AggregateError(errors);
    },
    /** Begins with the host after that of a connection, which turned out to be only readable. */
    avoid({ target }: Connection): void {
      first = (targets.indexOf(target) + 1) % targets.length;
    },
  };
}
