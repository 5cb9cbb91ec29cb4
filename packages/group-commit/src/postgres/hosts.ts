import { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, type ClientConfig, Pool, type PoolClient } from 'pg';
import type { SessionAttributes, Target, UrlSettings } from './url.ts';

/** The time limit for closing a connection, in milliseconds. */
const END_MS = 1_000;

/** The SQL conditions of the values of `target_session_attrs`. */
const CONDITIONS: Readonly<Record<SessionAttributes, string>> = {
  any: 'true',
  'read-write': "current_setting('transaction_read_only') = 'off'",
  'read-only': "current_setting('transaction_read_only') = 'on'",
  primary: 'NOT pg_is_in_recovery()',
  standby: 'pg_is_in_recovery()',
};

/** Enables `synchronous_commit` if the settings of the server or the role disable it. */
export const DURABLE = `SELECT set_config('synchronous_commit', 'on', false)
  WHERE current_setting('synchronous_commit', true) = 'off'`;

/** A client whose socket can be closed even if the server does not respond. */
class SocketClient extends Client {
  readonly socket: Socket;

  constructor(config: ClientConfig) {
    const socket = new Socket();
    super({ ...config, stream: () => socket });
    this.socket = socket;
  }
}

/** Closes the socket of a client. */
function close(client: Client): void {
  if (client instanceof SocketClient) client.socket.destroy();
}

/** A connection to a server. */
export interface HostConnection {
  readonly client: PoolClient;
  readonly target: Target;
  /** The time when it was opened, by `performance.now()`. */
  readonly opened: number;
  /** The process id of the session in the server, to cancel its statement. */
  readonly pid: number;
}

/** Connects to the hosts of a URL. */
export type Hosts = ReturnType<typeof createHosts>;

/** @param setUp called with each new connection. */
export function createHosts(
  { targets, sessionAttributes, prefersTls, connectMs }: UrlSettings,
  setUp: (client: Client) => Promise<void>,
  warn: (message: string) => void,
  onConnect?: (seconds: number) => void,
) {
  /** The clients with an open connection. */
  const openClients = new Set<Client>();
  /** The connections of clients that are ready to use. */
  const connections = new WeakMap<Client, HostConnection>();
  /** The host of the next new connection. */
  let current = targets[0];

  const pool = new Pool({
    Client: class extends SocketClient {
      constructor() {
        super(current.config);
      }
    },
    connectionTimeoutMillis: connectMs,
    idleTimeoutMillis: 0,
    max: 100,
  });
  // The pool removes a client that fails while it is idle.
  pool.on('error', () => {});
  pool.on('connect', (client) => {
    openClients.add(client);
    client.on('error', () => {});
    client.once('end', () => openClients.delete(client));
  });
  for (const target of targets) checkEncryption(target);

  function checkEncryption({ remote, location, config }: Target): void {
    if (!remote || config.ssl !== false) return;
    const advice = 'add sslmode=verify-full to the URL';
    warn(`the connection to PostgreSQL at ${location} is not encrypted: ${advice}`);
  }

  /** Uses the next host for new connections, unless another call has already changed it. */
  function avoid(target: Target): void {
    if (current !== target) return;
    current = targets[(targets.indexOf(target) + 1) % targets.length] ?? target;
  }

  /**
   * Checks a new connection and sets it up.
   *
   * @throws {Error} if the session does not have the expected attributes, or if `setUp` fails.
   */
  async function prepare(client: PoolClient, target: Target): Promise<HostConnection> {
    const text = `SELECT pg_backend_pid() AS pid, ${CONDITIONS[sessionAttributes]} AS "isAccepted"`;
    const { rows } = await client.query<{ pid: number; isAccepted: boolean }>(text);
    if (!rows[0]?.isAccepted)
      throw new Error(`${target.location} does not have target_session_attrs=${sessionAttributes}`);
    await client.query(DURABLE);
    await setUp(client);
    return { client, target, opened: performance.now(), pid: rows[0].pid };
  }

  /** Uses an idle connection or opens one to the current host. */
  async function connectTo(target: Target): Promise<HostConnection> {
    const start = performance.now();
    const client = await poolClient(target);
    const idle = connections.get(client);
    if (idle) return idle;
    try {
      const connection = await prepare(client, target);
      connections.set(client, connection);
      onConnect?.((performance.now() - start) / 1000);
      return connection;
    } catch (error) {
      discard(client);
      throw error;
    }
  }

  /** Connects without TLS if the server does not support it and `sslmode` allows it. */
  async function poolClient(target: Target): Promise<PoolClient> {
    try {
      return await pool.connect();
    } catch (error) {
      const hasNoTls = /does not support SSL/.test(String(Object(error).message));
      if (!prefersTls || !hasNoTls) throw error;
      // A concurrent attempt may have turned TLS off.
      if (target.config.ssl !== false) {
        target.config.ssl = false;
        checkEncryption(target);
      }
      return pool.connect();
    }
  }

  /** Closes a connection. Destroys its socket if the server does not respond. */
  function discard(client: PoolClient): void {
    client.release(true);
    void delay(END_MS, undefined, { ref: false }).then(() => close(client));
  }

  return {
    avoid,
    discard,

    /**
     * Returns an idle connection, or connects to the first host that responds and has the required
     * `target_session_attrs`. Starts with the host of the last connection.
     */
    async connect(): Promise<HostConnection> {
      const errors: unknown[] = [];
      for (const _ of targets) {
        const target = current;
        try {
          return await connectTo(target);
        } catch (error) {
          errors.push(error);
          avoid(target);
        }
      }
      throw errors.length === 1 ? errors[0] : new AggregateError(errors);
    },

    /** Cancels the statement of a connection through another connection. */
    async cancel({ target, pid }: HostConnection): Promise<void> {
      const name = 'group-commit cancel';
      const client = new SocketClient({ ...target.config, application_name: name });
      client.on('error', () => {});
      try {
        await client.connect();
        await client.query('SELECT pg_cancel_backend($1)', [pid]);
        await client.end();
      } catch {
        client.socket.destroy();
      }
    },

    stats: () => ({ connections: pool.totalCount, connections_idle: pool.idleCount }),

    async end(): Promise<void> {
      const clients = [...openClients];
      const ended = clients.map((client) => new Promise((resolve) => client.once('end', resolve)));
      void pool.end();
      const late = delay(END_MS, undefined, { ref: false });
      await Promise.race([Promise.all(ended), late]);
      for (const client of clients) close(client);
    },
  };
}
