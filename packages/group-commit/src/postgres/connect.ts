import type { Client } from 'pg';
import { createClient, type OwnClient } from './client.ts';
import { hasNoTls } from './errors.ts';
import type { readUrl, Target } from './url.ts';

/** An open connection. */
export interface Connection extends OwnClient {
  readonly target: Target;
  /** When it was opened, by `performance.now()`. */
  readonly since: number;
}

/** Opens connections to the hosts of a URL. */
export interface Connector {
  /** To the first host that answers and is what `target_session_attrs` asks for, beginning with the last good one. */
  connect(): Promise<Connection>;
  /** Begins with the host after that of a connection, which turned out to be only readable. */
  avoid(connection: Connection): void;
}

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
): Connector {
  /** Hosts without TLS, where TLS is only preferred. */
  const plain = new Set<Target>();
  let first = 0;

  function warnOfPlainText({ location, remote }: Target): void {
    if (remote)
      warn(`the connection to PostgreSQL at ${location} is not encrypted; sslmode=verify-full makes sure it is`);
  }
  for (const target of targets) if (target.config.ssl === false) warnOfPlainText(target);

  async function open(target: Target, wanted: keyof typeof SESSION): Promise<Connection> {
    const own = createClient(plain.has(target) ? { ...target.config, ssl: false } : target.config);
    const { client } = own;
    try {
      await client.connect();
      const { rows } = await client.query<{ fits: boolean }>(`SELECT ${SESSION[wanted]} AS fits`);
      if (!rows[0]?.fits) throw new Error(`${target.location} is not ${wanted}`);
      await setUp(client);
    } catch (error) {
      await own.end();
      if (!prefersTls || plain.has(target) || !hasNoTls(error)) throw error;
      plain.add(target);
      warnOfPlainText(target);
      return open(target, wanted);
    }
    return { ...own, target, since: performance.now() };
  }

  return {
    async connect() {
      const start = shuffled ? Math.floor(Math.random() * targets.length) : first;
      const order = [...targets.slice(start), ...targets.slice(0, start)];
      const errors: unknown[] = [];
      for (const wanted of session === 'prefer-standby' ? (['standby', 'any'] as const) : [session]) {
        for (const target of order) {
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
    avoid({ target }) {
      first = (targets.indexOf(target) + 1) % targets.length;
    },
  };
}

/** @throws {Error} if the promise is not settled in time. */
export async function within<T>(milliseconds: number, promise: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timeout = Object.assign(new Error(`timeout: no answer for ${milliseconds} ms`), { code: 'TIMEOUT' });
  const timer = setTimeout(() => late.reject(timeout), milliseconds);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
