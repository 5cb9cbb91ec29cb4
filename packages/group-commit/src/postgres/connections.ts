import { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, type ClientConfig, DatabaseError } from 'pg';
import { notifier } from '../database.ts';
import { Unavailable, Unusable } from '../errors.ts';
import { limit } from '../limit.ts';
import { NotStarted } from '../queue.ts';
import { isOutage, READ_ONLY, unavailable } from './failures.ts';
import { guardMessages } from './messages.ts';
import { cancelStatement, isCancelledWait, notReplicated } from './standby.ts';
import type { SessionAttributes, Target, UrlSettings } from './url.ts';

/** The time limit for closing a connection, in milliseconds. */
const END_MS = 1_000;

const CONDITIONS: Readonly<Record<SessionAttributes, string>> = {
  any: 'true',
  'read-write': "current_setting('transaction_read_only') = 'off'",
  'read-only': "current_setting('transaction_read_only') = 'on'",
  primary: 'NOT pg_is_in_recovery()',
  standby: 'pg_is_in_recovery()',
};

/** Enables `synchronous_commit` if the settings of the server or the role disable it. */
const DURABLE_SESSION = `SELECT set_config('synchronous_commit', 'on', false)
  WHERE current_setting('synchronous_commit', true) = 'off'`;

/** Keeps prepared statements, since pg uses them again. */
const RESET = `CLOSE ALL; RESET SESSION AUTHORIZATION; RESET ALL; UNLISTEN *;
  SELECT pg_advisory_unlock_all(); DISCARD TEMP; DISCARD SEQUENCES; ${DURABLE_SESSION}`;

const READ_SETTING = "SELECT current_setting('synchronous_commit', true) AS setting";

interface Connection {
  readonly client: Client;
  readonly socket: Socket;
  readonly target: Target;
  /** The time when the attempt to connect began, by `performance.now()`. */
  readonly startTime: number;
  /** The process id of the session in the server. Missing until the connection is ready to use. */
  readonly pid?: number;
  /** True while its task has ended for the caller, but its commit waits for a standby. */
  isWaiting?: boolean;
  /** True if a commit was cancelled while it waited for a standby. */
  isUnreplicated?: boolean;
}

/** Creates a pool of connections to the hosts of a URL. */
export function createConnections(
  { targets, sessionAttributes, prefersTls, max, statementMs, pooled, location }: UrlSettings,
  setUp: (client: Client) => Promise<void>,
  warn: (message: string) => void,
  onConnect?: (seconds: number) => void,
) {
  /** The open connections, and those that are being opened. */
  const connections = new Set<Connection>();
  const idle = new Set<Connection>();
  /** The connections of tasks that took too long. They close when their statements have ended. */
  const abandoned = new Set<Connection>();
  /** The host of the next new connection. */
  let current = targets[0];
  /** The time of the last failure. Older connections may still point to the failed host. */
  let lastFailure = 0;
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

  async function open(target: Target): Promise<Connection> {
    const startTime = performance.now();
    const connection: Connection = { ...createClient(target.config), target, startTime };
    connections.add(connection);
    connection.client.once('end', () => forget(connection));
    connection.client.on('notice', (notice) => {
      if (isCancelledWait(notice)) connection.isUnreplicated = true;
    });
    try {
      await connection.client.connect();
      const pid = await prepare(connection);
      notifier(warn)(onConnect, (performance.now() - startTime) / 1000);
      return Object.assign(connection, { pid });
    } catch (error) {
      discard(connection);
      const hasNoTls = /does not support SSL/.test(String(error));
      if (!prefersTls || !hasNoTls) throw error;
      // A concurrent attempt may have turned TLS off.
      if (target.config.ssl !== false) {
        target.config.ssl = false;
        checkEncryption(target);
      }
      return open(target);
    }
  }

  /** Resolves to the process id of the session. */
  async function prepare({ client, target }: Connection): Promise<number> {
    const text = `SELECT pg_backend_pid() AS pid, ${CONDITIONS[sessionAttributes]} AS "isAccepted"`;
    const { rows } = await client.query<{ pid: number; isAccepted: boolean }>(text);
    if (!rows[0]?.isAccepted)
      throw new Error(`${target.location} does not have target_session_attrs=${sessionAttributes}`);
    await client.query(DURABLE_SESSION);
    await setUp(client);
    return rows[0].pid;
  }

  function forget(connection: Connection): void {
    connections.delete(connection);
    idle.delete(connection);
  }

  function discard(connection: Connection): void {
    forget(connection);
    void close(connection);
  }

  /** Closes a connection whose task took too long, but not while its commit waits for a standby. */
  async function abandon(connection: Connection): Promise<void> {
    forget(connection);
    abandoned.add(connection);
    // The task cannot send further statements. Those that it sent go on.
    const ended = connection.client.end().then(() => true);
    do {
      connection.isWaiting = await cancel(connection);
    } while (
      connection.isWaiting &&
      !(await Promise.race([ended, delay(statementMs, false, { ref: false })]))
    );
    abandoned.delete(connection);
    await close(connection);
  }

  /** Resolves to true if the commit of the connection waits for a standby. */
  async function cancel({ target, pid }: Connection): Promise<boolean> {
    const canceller = createClient({ ...target.config, application_name: 'group-commit cancel' });
    try {
      await canceller.client.connect();
      return await cancelStatement(canceller.client, pid);
    } catch {
      // The server may not respond.
      return false;
    } finally {
      void close(canceller);
    }
  }

  /**
   * Limits the connections that wait for a standby. A user's task may only read, and is rejected
   * last.
   *
   * @throws {Unavailable} if a commit waits.
   */
  function checkWaiting(isUserTask: boolean): void {
    const count = [...abandoned].filter(({ isWaiting }) => isWaiting).length;
    if (count >= (isUserTask ? max : 1)) throw notReplicated(location);
  }

  /**
   * Returns an idle connection, or connects to the first host that responds and has the required
   * `target_session_attrs`. Starts with the host in `current`.
   */
  async function connect(): Promise<Connection> {
    for (const connection of idle) {
      idle.delete(connection);
      if (connection.startTime >= lastFailure) return connection;
      discard(connection);
    }
    const errors: unknown[] = [];
    for (const _ of targets) {
      const target = current;
      try {
        return await open(target);
      } catch (error) {
        errors.push(error);
        avoid(target);
      }
    }
    throw errors.length === 1 ? errors[0] : new AggregateError(errors);
  }

  /**
   * Runs a task with a connection.
   *
   * @param isReset true to reset the session even if the task succeeds.
   * @throws {NotStarted} if no connection can be opened, but one is in use.
   * @throws {Unavailable} if the server cannot run statements now, or the task takes too long.
   * @throws {UnsafeTask} if the task succeeds, but its changes may be lost.
   * @throws {unknown} other errors of the task.
   */
  async function use<T>(task: (client: Client) => Promise<T>, isReset = false): Promise<T> {
    checkWaiting(isReset);
    const connection = await connect().catch((error: unknown) => {
      const isInUse = [...connections].some(({ pid }) => pid !== undefined);
      throw isInUse ? new NotStarted() : unavailable(location, error);
    });
    const { client, target } = connection;
    const late = new TaskTimeout(`timeout after ${statementMs} ms`);
    const running = limit(Promise.try(task, client), statementMs, late);
    const [outcome] = await Promise.allSettled([running]);
    let error: unknown = outcome.status === 'rejected' ? outcome.reason : undefined;
    if (connection.isUnreplicated) error = notReplicated(location);
    const isStopped = isOutage(error) || error instanceof TaskTimeout;
    /** The reason why the connection cannot be used again. */
    let reason = error;
    if (!isStopped) reason = error || isReset ? await reset(client) : openTransaction(client);

    const isReadOnly = Object(error).code === READ_ONLY;
    if (isLost(reason) || isReadOnly) lastFailure = performance.now();
    if (isReadOnly) avoid(target);
    if (error instanceof TaskTimeout && !pooled) void abandon(connection);
    else if (reason === undefined && connections.size <= max) idle.add(connection);
    else discard(connection);

    if (isStopped || isLost(reason)) throw unavailable(location, error ?? reason);
    if (outcome.status === 'rejected') throw error;
    if (reason instanceof UnsafeTask) throw reason;
    return outcome.value;
  }

  return {
    use,
    stats: () => ({ connections: connections.size, connections_idle: idle.size }),

    /** @throws {unknown} the original error. */
    async connect(): Promise<void> {
      idle.add(await connect());
    },

    async end(): Promise<void> {
      await Promise.all([...connections, ...abandoned].map(close));
    },
  };
}

class TaskTimeout extends Error {
  readonly code = 'TIMEOUT';
}

/** A task has ended, but its changes may be lost. */
class UnsafeTask extends Error {}

/** A client whose socket can be destroyed if the server does not respond. */
function createClient(config: ClientConfig) {
  const socket = new Socket();
  const client = new Client({ ...config, stream: () => socket });
  client.on('error', () => {});
  if (client.ssl) {
    client.connection.once('sslconnect', () => guardMessages(client.connection.stream));
  } else guardMessages(socket);
  return { client, socket };
}

async function close({ client, socket }: ReturnType<typeof createClient>): Promise<void> {
  await Promise.race([client.end(), delay(END_MS, undefined, { ref: false })]);
  socket.destroy();
}

/**
 * Resets the session after all statements of a task, including those that it did not await.
 * Resolves to the reason why the connection cannot be used again.
 */
async function reset(client: Client): Promise<unknown> {
  const reading = client.query<{ setting: string }>(READ_SETTING).catch(() => undefined);
  const failure: unknown = await client.query(RESET).then(
    () => undefined,
    (error: unknown) => error,
  );
  // The status of the transaction is not up to date in a lost connection.
  if (isLost(failure)) return failure;
  if ((await reading)?.rows[0]?.setting === 'off') {
    return new UnsafeTask('the task turned synchronous_commit off: its changes may be lost');
  }
  return openTransaction(client) ?? failure;
}

/** Returns an error if a transaction is open. */
function openTransaction(client: Client): UnsafeTask | undefined {
  if (client.getTransactionStatus() === 'I') return undefined;
  return new UnsafeTask(
    'the task left a transaction open: use transaction(), or end it with COMMIT',
  );
}

/** Returns true for the error of a connection that does not work anymore. */
const isLost = (reason: unknown): boolean =>
  reason !== undefined &&
  ![DatabaseError, UnsafeTask, Unavailable, Unusable].some((type) => reason instanceof type);
