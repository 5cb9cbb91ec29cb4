import type { Client } from 'pg';
import { createClient, type OwnClient } from './client.ts';
import type { readUrl, Target } from './url.ts';

/** An open connection. */
export interface Connection extends OwnClient {
  readonly target: Target;
  /** When it was opened, by `performance.now()`. */
  readonly since: number;
}

/** Opens connections to the hosts of a URL. */
export type Connector = ReturnType<typeof createConnector>;

/** What `target_session_attrs` asks for, in SQL. */
const SESSION = {
  any: 'true',
  'read-write': "current_setting('transaction_read_only') = 'off'",
  'read-only': "current_setting('transaction_read_only') = 'on'",
  primary: 'NOT pg_is_in_recovery()',
  standby: 'pg_is_in_recovery()',
};

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

  async function open(target: Target, wanted: keyof typeof SESSION): Promise<Connection> {
    const own = createClient(target.config);
    const { client } = own;
    try {
      await client.connect();
      const { rows } = await client.query<{ fits: boolean }>(`SELECT ${SESSION[wanted]} AS fits`);
      if (!rows[0]?.fits) throw new Error(`${target.location} is not ${wanted}`);
      await setUp(client);
    } catch (error) {
      await own.end();
      const hasNoTls = /does not support SSL/.test(String(Object(error).message));
      if (!prefersTls || target.config.ssl === false || !hasNoTls) throw error;
      target.config.ssl = false;
      warnOf(target);
      return open(target, wanted);
    }
    return { ...own, target, since: performance.now() };
  }

  return {
    /** To the first host that answers and is what `target_session_attrs` asks for, beginning with the last good one. */
    async connect(): Promise<Connection> {
      const start = shuffled ? Math.floor(Math.random() * targets.length) : first;
      const errors: unknown[] = [];
      for (const wanted of session === 'prefer-standby' ? (['standby', 'any'] as const) : [session]) {
        for (const target of [...targets.slice(start), ...targets.slice(0, start)]) {
          try {
            const connection = await open(target, wanted);
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
