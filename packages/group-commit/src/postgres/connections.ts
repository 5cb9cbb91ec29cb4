import { setTimeout as delay } from 'node:timers/promises';
import { type Client, DatabaseError } from 'pg';
import { Unavailable } from '../errors.ts';
import { hasTooManyConnections, isOutage, READ_ONLY, unavailable } from './failures.ts';
import { DURABLE, type HostConnection, type Hosts } from './hosts.ts';
import type { UrlSettings } from './url.ts';

/** The time limit for a cancelled statement to end, in milliseconds. */
const CANCELLED_MS = 1_000;

/** Resets a session. Keeps prepared statements, since pg uses them again. */
const RESET = `CLOSE ALL; RESET SESSION AUTHORIZATION; RESET ALL; UNLISTEN *;
  SELECT pg_advisory_unlock_all(); DISCARD TEMP; DISCARD SEQUENCES; ${DURABLE}`;

const READ_SETTING = "SELECT current_setting('synchronous_commit', true) AS setting";

/** Runs tasks with at most `max` connections. */
export function createConnections(
  hosts: Hosts,
  { max, statementMs, pooled, location }: UrlSettings,
) {
  /** The number of attempts to connect that are in progress. */
  let opening = 0;
  /** The number of connections that run a task or cancel its statement. */
  let inUse = 0;
  const waiters = new Set<() => void>();
  /** The time of the last failure. Older connections may still point to the failed host. */
  let lastFailure = 0;
  let ended = false;

  function wakeNext(): void {
    const [wake] = waiters;
    if (wake === undefined) return;
    waiters.delete(wake);
    wake();
  }

  /** Waits until another call has ended. @throws {TaskTimeout} after the deadline. */
  async function waitForTurn(deadline: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    waiters.add(resolve);
    try {
      await within(deadline - performance.now(), promise);
    } finally {
      waiters.delete(resolve);
    }
  }

  /** Returns a free connection or opens one. Waits if another call may release a connection. */
  async function acquire(milliseconds: number): Promise<HostConnection> {
    const deadline = performance.now() + milliseconds;
    for (;;) {
      while (!ended && opening + inUse >= max) await waitForTurn(deadline);
      if (ended) throw new Unavailable('The database is closed.', 'CLOSED');
      try {
        const connection = await connect();
        if (connection.opened >= lastFailure) return connection;
        void discard(connection);
      } catch (error) {
        // A connection in use may become free. If the server has too many connections, waits for
        // connections that are being opened, too.
        const { connections, connections_idle: idle } = hosts.stats();
        if ((hasTooManyConnections(error) ? connections : inUse) === 0) throw error;
        if (idle === 0) await waitForTurn(deadline);
      }
    }
  }

  /** Connects, and counts the connection. */
  async function connect(): Promise<HostConnection> {
    opening += 1;
    try {
      const connection = await hosts.connect();
      inUse += 1;
      return connection;
    } catch (error) {
      wakeNext();
      throw error;
    } finally {
      opening -= 1;
    }
  }

  /**
   * Closes a connection.
   *
   * @param running a task whose statement is cancelled first.
   */
  async function discard(connection: HostConnection, running?: Promise<unknown>): Promise<void> {
    if (running && !pooled) {
      await hosts.cancel(connection);
      await Promise.race([running.catch(() => {}), delay(CANCELLED_MS, undefined, { ref: false })]);
    }
    hosts.discard(connection.client);
    inUse -= 1;
    wakeNext();
  }

  /**
   * Resets the session after all statements of a task, including those that it did not await.
   *
   * @returns true if the connection can be used again.
   * @throws {UnsafeTask} if the changes of the task may be lost.
   */
  async function reset(client: Client): Promise<boolean> {
    const reading = client.query<{ setting: string }>(READ_SETTING).catch(() => undefined);
    const hasReset = await within(statementMs, client.query(RESET)).then(
      () => true,
      (error: unknown) => {
        if (error instanceof DatabaseError) return false;
        throw error;
      },
    );
    checkIdle(client);
    if ((await reading)?.rows[0]?.setting === 'off') {
      throw new UnsafeTask('the task turned synchronous_commit off: its changes may be lost');
    }
    return hasReset;
  }

  function release(connection: HostConnection): void {
    connection.client.release();
    inUse -= 1;
    wakeNext();
  }

  /**
   * Runs a task with a free connection. Rethrows errors of the task.
   *
   * @param milliseconds the time limit to get a connection.
   * @param isReset true to reset the session after the task.
   */
  async function use<T>(
    task: (client: Client) => Promise<T>,
    milliseconds: number,
    isReset = false,
  ): Promise<T> {
    const connection = await acquire(milliseconds).catch((error: unknown) => {
      throw unavailable(location, error);
    });
    const { client, target } = connection;
    const running = Promise.try(task, client);
    try {
      const result = await within(statementMs, running);
      if (!isReset) checkIdle(client);
      if (!isReset || (await reset(client))) release(connection);
      else void discard(connection);
      return result;
    } catch (error) {
      const lost = await isLost(client, error);
      const isReadOnly = Object(error).code === READ_ONLY;
      if (lost || isReadOnly) lastFailure = performance.now();
      if (isReadOnly) hosts.avoid(target);
      if (lost || isOutage(error)) {
        void discard(connection, error instanceof TaskTimeout ? running : undefined);
        throw unavailable(location, error);
      }
      if (await reset(client).catch(() => false)) release(connection);
      else void discard(connection);
      throw error;
    }
  }

  /** Returns true if an error is caused by the connection, not by the task. */
  async function isLost(client: Client, error: unknown): Promise<boolean> {
    if (error instanceof TaskTimeout) return true;
    if (error instanceof DatabaseError || error instanceof UnsafeTask) return false;
    return within(statementMs, client.query('SELECT 1')).then(
      () => false,
      (reason: unknown) => !(reason instanceof DatabaseError),
    );
  }

  return {
    use,
    stats: hosts.stats,

    /** Opens a connection or uses a free one. @throws {unknown} the original error. */
    async connect(milliseconds: number): Promise<void> {
      release(await acquire(milliseconds));
    },

    async end(): Promise<void> {
      ended = true;
      for (const wake of waiters) wake();
      await hosts.end();
    },
  };
}

/** A task has timed out. */
class TaskTimeout extends Error {
  readonly code = 'TIMEOUT';
}

/** A task has ended, but its changes may be lost. */
class UnsafeTask extends Error {}

/** @throws {UnsafeTask} if a transaction is open. */
function checkIdle(client: Client): void {
  if (client.getTransactionStatus() === 'I') return;
  throw new UnsafeTask(
    'the task left a transaction open: use transaction(), or end it with COMMIT',
  );
}

/** Waits for a promise. @throws {TaskTimeout} after the time limit. */
async function within<T>(milliseconds: number, promise: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const error = new TaskTimeout(`timeout after ${Math.round(milliseconds)} ms`);
  const timer = setTimeout(late.reject, milliseconds, error);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
