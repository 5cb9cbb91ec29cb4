import { setTimeout as delay } from 'node:timers/promises';
import { type Client, DatabaseError } from 'pg';
import { Unavailable } from '../errors.ts';
import type { Connection, Connector } from './connect.ts';

/** SQLSTATE of a server that only reads, as after another one became the primary. */
const READ_ONLY = '25006';

/** While no connection can be opened, calls wait no longer than this, in milliseconds. */
const OUTAGE_MS = 200;

/** How long a cancelled statement may take to end, in milliseconds. */
const CANCELLED_MS = 1_000;

/**
 * A pool of at most `max` connections. A connection counts until the server has ended what it did, so that statements that
 * are given up never add up there. One that failed is not used again.
 *
 * @param patience how long a task may take, in milliseconds.
 */
export function createConnections(
  { connect, avoid }: Connector,
  { max, patience }: { readonly max: number; readonly patience: number },
  onConnect?: (seconds: number) => void,
) {
  const idle: Connection[] = [];
  /** All that are open, and since when by `performance.now()`. */
  const all = new Map<Connection, number>();
  const waiters: (() => void)[] = [];
  /** How many connections are there, begin or end. */
  let open = 0;
  /** When the server was last silent or could only read: the connections of before lead to the same place. */
  let distrusted = 0;
  /** Why the last attempt to connect failed. */
  let failure: unknown;
  let ended = false;

  async function acquire(patient: boolean): Promise<Connection> {
    for (;;) {
      if (ended) throw new Unavailable('The database is closed.', 'CLOSED');
      const connection = idle.pop();
      if (connection && (all.get(connection) ?? 0) >= distrusted) return connection;
      if (connection) void discard(connection);
      else if (open < max) return add(patient);
      else if (failure !== undefined && !patient) throw failure;
      else await new Promise<void>((resolve) => waiters.push(resolve));
    }
  }

  /** Opens a connection. In an outage the attempt goes on while its caller is told at once; a later call uses it. */
  async function add(patient: boolean): Promise<Connection> {
    open += 1;
    const former = failure;
    const attempt = begin();
    if (former === undefined || patient) return attempt;
    const connection = await Promise.race([attempt, delay(OUTAGE_MS, undefined, { ref: false })]);
    if (connection) return connection;
    attempt.then(release, () => {});
    throw former;
  }

  async function begin(): Promise<Connection> {
    const begun = performance.now();
    try {
      const connection = await connect();
      failure = undefined;
      onConnect?.((performance.now() - begun) / 1000);
      all.set(connection, performance.now());
      connection.client.once('end', () => remove(connection));
      return connection;
    } catch (error) {
      failure = error;
      freePlace();
      throw error;
    }
  }

  function release(connection: Connection): void {
    if (ended) void discard(connection);
    else if (all.has(connection)) idle.push(connection);
    waiters.shift()?.();
  }

  function remove(connection: Connection): void {
    if (!all.delete(connection)) return;
    const at = idle.indexOf(connection);
    if (at >= 0) idle.splice(at, 1);
    freePlace();
  }

  function freePlace(): void {
    open -= 1;
    waiters.shift()?.();
  }

  /** @param task what the connection may still be doing: it is cancelled first. */
  async function discard(connection: Connection, task?: Promise<unknown>): Promise<void> {
    if (task) {
      await connection.cancel();
      await Promise.race([task.catch(() => {}), delay(CANCELLED_MS, undefined, { ref: false })]);
    }
    await connection.end();
    remove(connection);
  }

  return {
    /**
     * Runs a task over a free connection.
     *
     * @param patient whether to wait for a connection in an outage, too.
     */
    async use<T>(task: (client: Client) => Promise<T>, patient = false): Promise<T> {
      const connection = await acquire(patient);
      const running = task(connection.client);
      try {
        const result = await within(patience, running);
        release(connection);
        return result;
      } catch (error) {
        const silent = !(error instanceof DatabaseError);
        const onlyReads = Object(error).code === READ_ONLY;
        if (silent || onlyReads) distrusted = performance.now();
        if (onlyReads) avoid(connection);
        void discard(connection, silent ? running : undefined);
        throw error;
      }
    },
    /** How many connections there are, and how many of them are free. */
    stats: () => ({ connections: open, connections_idle: idle.length }),
    async end(): Promise<void> {
      ended = true;
      for (const wake of waiters.splice(0)) wake();
      await Promise.all([...all.keys()].map((connection) => discard(connection)));
    },
  };
}

/** @throws {Error} if the promise is not settled in time. */
async function within<T>(milliseconds: number, promise: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timeout = Object.assign(new Error(`timeout: no answer for ${milliseconds} ms`), { code: 'TIMEOUT' });
  const timer = setTimeout(late.reject, milliseconds, timeout);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
