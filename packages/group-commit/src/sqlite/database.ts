import { resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import type { Functions } from './connection.ts';
import { DatabaseUnavailable, DatabaseUnusable } from './errors.ts';
import { type Answer, type Call, type Trouble, unpackError } from './protocol.ts';
import { startThread } from './restarts.ts';

/** How to open a database. */
export interface DatabaseOptions {
  /** A path, relative or absolute, or `:memory:`. A missing file and its folder are created. */
  readonly file: string;
  /** The module that runs in the database thread. Its default export takes the database and returns the functions. */
  readonly module: URL;
  /** How many calls may wait; further ones are rejected with {@link DatabaseUnavailable}. 1,000 by default. */
  readonly maxWaiting?: number | undefined;
  /** Called with the number of calls of each transaction. */
  readonly onBatch?: ((calls: number) => void) | undefined;
}

/** The functions of a module, each of which now returns a promise, and what the database itself can do. */
export type Database<Define extends (db: DatabaseSync) => Functions> = {
  readonly [Name in keyof ReturnType<Define>]: (
    ...args: Parameters<ReturnType<Define>[Name]>
  ) => Promise<ReturnType<ReturnType<Define>[Name]>>;
} & {
  /** @throws {DatabaseUnavailable} if a call would fail now. */
  ready(): Promise<void>;
  /** How many calls wait. */
  waiting(): number;
  /** Finishes what waits, then closes the file and ends the thread. Further calls are rejected. */
  close(): Promise<void>;
};

/** The most calls in one transaction, and about the most characters and bytes. */
const BATCH_CALLS = 1_000;
const BATCH_SIZE = 1_000_000;

/** How long a transaction waits for calls while each turn of the event loop brings some, in milliseconds. */
const GATHER_MS = 2;

/** How long `ready` waits for the database, in milliseconds. */
const READY_MS = 1_000;

interface Caller {
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/** Calls that share a transaction, and who waits for their results. */
interface Batch {
  readonly calls: Call[];
  readonly callers: Caller[];
  size: number;
}

/**
 * Opens a SQLite database in a thread of its own. Calls that wait share one transaction; each promise resolves after the
 * commit, when the data is on disk.
 *
 * A database that cannot be reached for now (locked, disk full) opens all the same, and is not ready until it can.
 *
 * @throws {DatabaseUnusable} if the file is not a database, the module rejects it, or it can be neither read nor created.
 */
export async function openDatabase<Define extends (db: DatabaseSync) => Functions>({
  file: path,
  module,
  maxWaiting = 1_000,
  onBatch,
}: DatabaseOptions): Promise<Database<Define>> {
  const file = path === ':memory:' ? path : resolve(path);
  const thread = startThread({ file, module: module.href });
  const queue: Batch[] = [];
  let waiting = 0;
  let committing: Promise<void> | undefined;
  let checking: Promise<void> | undefined;
  let closing: Promise<void> | undefined;

  function call(name: string, args: readonly unknown[]): Promise<unknown> {
    if (closing) return Promise.reject(new DatabaseUnavailable('The database is closed.'));
    if (waiting >= maxWaiting) {
      return Promise.reject(new DatabaseUnavailable(`The database is busy: ${waiting} calls are waiting.`));
    }
    let last = queue.at(-1);
    if (!last || last.calls.length >= BATCH_CALLS || last.size >= BATCH_SIZE) {
      last = { calls: [], callers: [], size: 0 };
      queue.push(last);
    }
    const { callers } = last;
    last.calls.push([name, ...args]);
    last.size += sizeOf(args);
    waiting += 1;
    committing ??= commit();
    return new Promise((resolve, reject) => callers.push({ resolve, reject }));
  }

  /** What arrives while a transaction runs gathers for the next one. */
  async function commit(): Promise<void> {
    while (queue.length > 0) {
      await gather();
      const batch = queue.shift();
      if (batch) await send(batch.calls, batch.callers);
    }
    committing = undefined;
  }

  /** Waits as long as each turn of the event loop brings further calls: a commit costs far more than a call. */
  async function gather(): Promise<void> {
    const deadline = performance.now() + GATHER_MS;
    let before: number;
    do {
      before = waiting;
      await turn();
    } while (waiting > before && queue.length === 1 && performance.now() < deadline);
  }

  async function send(calls: readonly Call[], callers: readonly Caller[]): Promise<void> {
    try {
      const answer = await thread.ask(calls);
      onBatch?.(calls.length);
      waiting -= calls.length;
      settle(callers, answer);
    } catch (error) {
      // An argument cannot be cloned: its call fails alone.
      if (calls.length > 1) {
        for (const at of calls.keys()) await send(calls.slice(at, at + 1), callers.slice(at, at + 1));
      } else {
        waiting -= 1;
        callers[0]?.reject(error);
      }
    }
  }

  async function check(): Promise<void> {
    const trouble = `${file} has not answered for ${READY_MS / 1000} s.`;
    const late = delay(READY_MS, { trouble, cause: undefined, lasting: false }, { ref: false });
    const answer = await Promise.race([thread.ask('check'), late]);
    if ('trouble' in answer) throw unavailable(answer);
  }

  async function finish(): Promise<void> {
    await committing;
    await thread.close();
  }

  const own = {
    async ready() {
      if (closing) throw new DatabaseUnavailable('The database is closed.');
      checking ??= check().finally(() => {
        checking = undefined;
      });
      return checking;
    },
    waiting: () => waiting,
    close() {
      closing ??= finish();
      return closing;
    },
  };

  const first = await thread.ask('check');
  if ('trouble' in first && first.lasting) {
    await finish();
    throw new DatabaseUnusable(first.trouble, causeOf(first));
  }

  const database = new Proxy(own, {
    get(target, name) {
      if (typeof name === 'symbol' || name === 'then' || name in target) return Reflect.get(target, name);
      return (...args: unknown[]) => call(name, args);
    },
  });
  return database as Database<Define>;
}

/** About how many characters and bytes a value holds; what lies deeper than three levels is not counted. */
function sizeOf(value: unknown, levels = 3): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null || levels === 0) return 0;
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return value.byteLength;
  let size = 0;
  for (const member of Object.values(value)) size += sizeOf(member, levels - 1);
  return size;
}

function settle(callers: readonly Caller[], answer: Answer): void {
  if ('trouble' in answer) {
    const error = unavailable(answer);
    for (const { reject } of callers) reject(error);
    return;
  }
  for (const [at, [result, error] = []] of answer.entries()) {
    if (error) callers[at]?.reject(unpackError(error));
    else callers[at]?.resolve(result);
  }
}

const causeOf = ({ cause }: Trouble): ErrorOptions => ({ cause: cause && unpackError(cause) });

const unavailable = (trouble: Trouble): DatabaseUnavailable =>
  new DatabaseUnavailable(trouble.trouble, causeOf(trouble));
