import { once } from 'node:events';
import { statSync } from 'node:fs';
import { extname, resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import { Unavailable, Unusable } from '../errors.ts';
import { createQueue, type Database, type Outcome, type QueueOptions } from '../queue.ts';
import { unpackError } from './errors.ts';
import type { Answer, Call, Functions } from './session.ts';

export { Unavailable, Unusable };

/** How to open a SQLite database. */
export interface SqliteOptions extends QueueOptions {
  /** A path, relative or absolute, or `:memory:`, which needs no thread. A missing file and its folder are created. */
  readonly file: string;
  /** The module that runs in the thread. Its default export takes the database and returns the functions. */
  readonly module: URL;
  /** Called with what the operator should know: a reader keeps the log from being cut. */
  readonly warn?: ((message: string) => void) | undefined;
}

/** An open database, with the functions of its module: each now returns a promise, which resolves after the commit. */
export type SqliteDatabase<Define extends (db: DatabaseSync) => Functions> = Database & {
  readonly [Name in Exclude<keyof ReturnType<Define>, keyof Database>]: (
    ...args: Parameters<ReturnType<Define>[Name]>
  ) => Promise<ReturnType<ReturnType<Define>[Name]>>;
};

/** This file runs as TypeScript in the repository and as JavaScript in the package; so does the thread. */
const THREAD = new URL(`./thread${extname(import.meta.filename)}`, import.meta.url);

/**
 * Opens a SQLite database in a thread of its own. Calls that wait share one transaction; each promise resolves after the
 * commit, when the data is on disk.
 *
 * A database that cannot be reached for now (locked, disk full) opens all the same, and is not ready until it can.
 *
 * @throws {Unusable} if the file is not a database, the module rejects it, or it can be neither read nor created.
 */
export async function openDatabase<Define extends (db: DatabaseSync) => Functions>({
  file: path,
  module,
  warn = () => {},
  ...options
}: SqliteOptions): Promise<SqliteDatabase<Define>> {
  const file = path === ':memory:' ? path : resolve(path);
  const session = path === ':memory:' ? await openHere(module, warn) : openThread(file, module, warn);

  async function commit(calls: readonly Call[]): Promise<readonly Outcome[]> {
    const answer = await session.send(calls);
    if (!('permanent' in answer)) {
      return answer.map((outcome) => (outcome?.[1] ? [undefined, unpackError(outcome[1])] : outcome));
    }
    const cause = unpackError(answer.cause);
    if (answer.permanent && !opened) throw new Unusable(answer.message, { cause });
    throw new Unavailable(answer.message, answer.code, cause);
  }

  let opened = false;
  await commit([]).catch(async (error: unknown) => {
    if (!(error instanceof Unusable)) return;
    await session.close();
    throw error;
  });
  opened = true;

  const sizeOf = (name: string) => statSync(name, { throwIfNoEntry: false })?.size ?? 0;
  const { add, ...own } = createQueue<Call>(
    {
      location: path,
      lanes: 1,
      commit,
      check: async () => void (await commit([])),
      stats: () => ({ database_bytes: sizeOf(file), log_bytes: sizeOf(`${file}-wal`) }),
      close: session.close,
    },
    options,
  );
  const database = new Proxy(own, {
    get(target, name) {
      if (typeof name === 'symbol' || name === 'then' || name in target) return Reflect.get(target, name);
      return (...args: unknown[]) => add([name, ...args]);
    },
  });
  return database as SqliteDatabase<Define>;
}

/** A session in this thread: in memory there is no disk to wait for. */
async function openHere(module: URL, warn: (message: string) => void) {
  const { openSession } = await import('./session.ts');
  const { run, close } = await openSession(':memory:', module.href, warn);
  return { send: async (calls: readonly Call[]) => run(calls), close: async () => close() };
}

/** A session in a thread of its own, which answers requests in their order. */
function openThread(file: string, module: URL, warn: (message: string) => void) {
  // Node 24 still warns of node:sqlite. An error that the thread does not catch ends the process, as in the main thread.
  const worker = new Worker(THREAD, {
    name: 'sqlite',
    workerData: { file, module: module.href },
    execArgv: ['--disable-warning=ExperimentalWarning'],
    resourceLimits: { maxYoungGenerationSizeMb: 6 },
  });
  const asked: ((answer: Answer) => void)[] = [];
  worker.on('message', (message: Answer | string) => {
    if (typeof message === 'string') warn(message);
    else asked.shift()?.(message);
  });
  return {
    send(calls: readonly Call[]): Promise<Answer> {
      worker.postMessage(calls);
      return new Promise((resolve) => asked.push(resolve));
    },
    async close(): Promise<void> {
      worker.postMessage('close');
      await once(worker, 'exit');
    },
  };
}
