import { resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { Database, DatabaseOptions } from '../database.ts';
import { RowRejected, Unavailable, Unusable } from '../errors.ts';
import { createQueue, type Outcome } from '../queue.ts';
import { isDamage, type ThreadError, unavailable, unpackError } from './errors.ts';
import { fileSizes, isVacant } from './files.ts';
import type { Call, Functions, SentOutcome } from './runner.ts';
import type { Request } from './session.ts';
import { openLocal, openThread, type SessionClient } from './threads.ts';

export { RowRejected, Unavailable, Unusable };

/** Options of a SQLite database. */
export interface SqliteOptions extends DatabaseOptions {
  /** A path or `:memory:`. A missing file and its folder are created. */
  readonly file: string;
  /** A module whose default export takes the database and returns the functions to call. */
  readonly module: URL;
  /**
   * The milliseconds between two checks of the file for damage, by `PRAGMA quick_check` in a thread
   * of its own. The first one begins when the file is open. None by default.
   */
  readonly checkMs?: number | undefined;
}

/** Calls a function of the module by its name. */
type Invoke<Module extends Functions> = <Name extends keyof Module>(
  name: Name,
  ...args: Parameters<Module[Name]>
) => Promise<ReturnType<Module[Name]>>;

/** An open database, with the functions of its module. */
export interface SqliteDatabase<Define extends (db: DatabaseSync) => Functions> extends Database {
  /**
   * Calls a function. Resolves to its result after its changes are committed.
   *
   * @throws {RowRejected} if it violates a constraint.
   * @throws {Unavailable} if the database cannot be used now.
   */
  readonly write: Invoke<ReturnType<Define>>;
  /**
   * Calls a function that only reads. It sees the changes of all resolved calls. With a file, it
   * runs concurrently with commits.
   *
   * @throws {Unavailable} if the database cannot be used now.
   */
  readonly read: Invoke<ReturnType<Define>>;
}

/** The maximum number of reads that are sent to the thread at once. Others wait in the queue. */
const MAX_READS = 8;

/**
 * Opens a SQLite database in a thread, or `:memory:` in the current one. Waiting calls share one
 * transaction. Each promise resolves after the commit. The data is then on disk, unless it is in
 * memory.
 *
 * Also resolves if the database is locked or its disk is full. `ready` rejects until the database
 * is usable.
 *
 * @throws {Unusable} if the file is not a database or not writable, or if the module throws.
 */
export async function openDatabase<Define extends (db: DatabaseSync) => Functions>({
  file: location,
  module: { href: module },
  checkMs,
  ...options
}: SqliteOptions): Promise<SqliteDatabase<Define>> {
  const { warn = () => {} } = options;
  const inMemory = location === ':memory:';
  const file = inMemory ? location : resolve(location);
  const isNew = !inMemory && isVacant(file);
  const source = { file, module, readOnly: false };
  const writer = inMemory ? await openLocal(source) : openThread(source);
  let reader: SessionClient | undefined;

  const response = await writer.send({ kind: 'rehearse', calls: [], milliseconds: OPEN_MS });
  if ('permanent' in response && response.permanent) {
    await writer.close();
    throw new Unusable(response.message, { cause: unpackError(response.cause) });
  }
  if (isNew) warn(`${location} was missing or empty: it is a new database now.`);

  /** The error of a damaged file. It is final, since further calls could lose more data. */
  let damage: ThreadError | undefined;

  /** @throws {Unavailable} if the whole request fails, or the file is damaged. */
  async function send(session: SessionClient, request: Request): Promise<readonly SentOutcome[]> {
    const response = damage ?? (await session.send(request));
    if (!('permanent' in response)) return response;
    if (isDamage(response)) {
      if (session !== writer && isVacant(file)) {
        // A lock kept the writer from setting up a new file, or somebody has emptied the file.
        await send(writer, { kind: 'rehearse', calls: [], milliseconds: 0 });
        return send(session, request);
      }
      damage = response;
    }
    throw unavailable(response);
  }

  /** Returns a function that sends requests to a session. */
  const sender =
    (kind: Request['kind'], session: () => SessionClient) =>
    async (calls: readonly Call[], milliseconds: number): Promise<readonly Outcome[]> =>
      (await send(session(), { kind, calls, milliseconds })).map((outcome) =>
        outcome && 'error' in outcome ? { error: unpackError(outcome.error) } : outcome,
      );

  async function inspect(): Promise<void> {
    const inspector = openThread({ ...source, readOnly: true });
    const request = { kind: 'inspect', calls: [], milliseconds: OPEN_MS } as const;
    await send(inspector, request).catch(({ message }) => warn(message));
    await inspector.close();
  }

  let inspection: Promise<void> | undefined;
  function startInspection(): void {
    if (damage) return;
    inspection ??= inspect().finally(() => {
      inspection = undefined;
    });
  }
  const isInspected = checkMs !== undefined && !inMemory;
  if (isInspected) startInspection();
  const inspections = isInspected ? setInterval(startInspection, checkMs).unref() : undefined;

  function readerSession(): SessionClient {
    if (inMemory) return writer;
    reader ??= openThread({ ...source, readOnly: true });
    return reader;
  }

  const writes = createQueue<Call>(
    {
      location,
      maxCommits: 1,
      commit: sender('write', () => writer),
      check: sender('rehearse', () => writer),
      stats: () => fileSizes(file),
      async close() {
        clearInterval(inspections);
        await inspection;
        // One after the other: the last connection to close removes the log.
        await reads.close();
        await writer.close();
      },
    },
    options,
  );

  const reads = createQueue<Call>(
    {
      location,
      maxCommits: MAX_READS,
      shares: () => false,
      commit: sender('read', readerSession),
      check: async () => {},
      stats: () => ({}),
      close: async () => reader?.close(),
    },
    options,
  );

  return {
    location,
    // The functions of the module determine the types of the results.
    write: (name, ...args) => writes.add([String(name), ...args]) as Promise<never>,
    read: (name, ...args) => reads.add([String(name), ...args]) as Promise<never>,
    ready: writes.ready,
    stats: () => {
      const { waiting = 0, ...sizes } = writes.stats();
      return { waiting: waiting + (reads.stats().waiting ?? 0), ...sizes };
    },
    close() {
      void reads.close();
      return writes.close();
    },
  };
}

/** The time limit of the first connection, in milliseconds. */
const OPEN_MS = 5_000;
