import { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Pool, type PoolClient } from 'pg';
import { codeOf, hasNoTls } from './errors.ts';
import { readUrl } from './url.ts';

/** SQLSTATE of a server that only reads, as after another one became the primary. */
const READ_ONLY = '25006';

/** How long `end` waits for the server to end the connections, in milliseconds. */
const GOODBYE_MS = 1_000;

/** Connections that are replaced when they fail. */
export interface Connections {
  /** Host, port and database, without user and password. */
  readonly location: string;
  /** How many there may be. */
  readonly max: number;
  /** Runs a task over a free connection. A connection that failed is not used again. */
  use<T>(task: (client: PoolClient) => Promise<T>): Promise<T>;
  end(): Promise<void>;
}

/** Opens no connection yet. @throws {Unusable} if the URL is wrong. */
export function createConnections(url: string, name: string, warn: (message: string) => void): Connections {
  const { config, location, remote, prefersTls } = readUrl(url, name);
  const sockets = new Set<Socket>();
  const pool = new Pool({
    ...config,
    stream() {
      const socket = new Socket();
      sockets.add(socket);
      return socket.on('close', () => sockets.delete(socket));
    },
  });
  const connectedAt = new WeakMap<PoolClient, number>();
  pool.on('error', () => {});
  pool.on('connect', (client) =>
    connectedAt.set(
      client.on('error', () => {}),
      performance.now(),
    ),
  );
  /** When the server was last silent or could only read: the connections of before lead to the same place. */
  let distrusted = 0;

  function warnOfPlainText(): void {
    if (remote)
      warn(`the connection to PostgreSQL at ${location} is not encrypted; sslmode=verify-full makes sure it is`);
  }
  if (config.ssl === false) warnOfPlainText();

  return {
    location,
    max: config.max ?? 1,
    async use(task) {
      let client: PoolClient | undefined;
      try {
        client = await pool.connect();
        while ((connectedAt.get(client) ?? 0) < distrusted) {
          client.release(true);
          client = await pool.connect();
        }
        const result = await task(client);
        client.release();
        return result;
      } catch (error) {
        client?.release(true);
        const code = codeOf(error);
        if (code === undefined || code === READ_ONLY) distrusted = performance.now();
        if (!prefersTls || !hasNoTls(error)) throw error;
        pool.options.ssl = false;
        warnOfPlainText();
        return this.use(task);
      }
    },
    async end() {
      await Promise.race([pool.end(), delay(GOODBYE_MS, undefined, { ref: false })]);
      for (const socket of sockets) socket.destroy();
    },
  };
}
