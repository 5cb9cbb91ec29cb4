import { statSync } from 'node:fs';
import { extname, resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import { Unavailable, Unusable } from '../errors.ts';
import { createQueue, type Database, type Outcome, type QueueOptions } from '../queue.ts';
import type { Functions } from './connection.ts';
import { unpackError } from './errors.ts';
import type { Answer, Call, Message, Request, ThreadData } from './protocol.ts';

/** How to open a SQLite database. */
export interface SqliteOptions extends QueueOptions {
  /** A path, relative or absolute, or `:memory:`. A missing file and its folder are created. */
  readonly file: string;
  /** The module that runs in the database thread. Its default export takes the database and returns the functions. */
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
  const thread = startThread({ file, module: module.href }, warn);

  async function commit(request: readonly Call[] | 'check'): Promise<readonly Outcome[]> {
    const answer = await thread.ask(request);
    if ('trouble' in answer) throw new Unavailable(answer.trouble, answer.code, unpackError(answer.cause));
    return answer.map((outcome) => (outcome?.[1] ? [undefined, unpackError(outcome[1])] : outcome));
  }

  const first = await thread.ask('check');
  if ('trouble' in first && first.lasting) {
    await thread.close();
    throw new Unusable(first.trouble, { cause: unpackError(first.cause) });
  }

  const check = async () => void (await commit('check'));
  const sizeOf = (name: string) => statSync(name, { throwIfNoEntry: false })?.size ?? 0;
  const stats = () => ({ database_bytes: sizeOf(file), log_bytes: sizeOf(`${file}-wal`) });
  const engine = { location: path, lanes: 1, commit, check, stats, close: thread.close };
  const { add, ...own } = createQueue<Call>(engine, options);
  const database = new Proxy(own, {
    get(target, name) {
      if (typeof name === 'symbol' || name === 'then' || name in target) return Reflect.get(target, name);
      return (...args: unknown[]) => add([name, ...args]);
    },
  });
  return database as SqliteDatabase<Define>;
}

/** An error that the thread does not catch ends the process, as it does in the main thread. */
function startThread(workerData: ThreadData, warn: (message: string) => void) {
  const asked: ((answer: Answer) => void)[] = [];
  const exit = Promise.withResolvers<void>();
  // Node 24 still warns of node:sqlite.
  const execArgv = ['--disable-warning=ExperimentalWarning'];
  const worker = new Worker(THREAD, { name: 'sqlite', workerData, execArgv });
  worker.on('message', (message: Message) => {
    if (typeof message === 'string') warn(message);
    else asked.shift()?.(message);
  });
  worker.on('exit', () => exit.resolve());
  return {
    /** Rejects only if the request cannot be cloned. */
    async ask(request: Exclude<Request, 'close'>): Promise<Answer> {
      worker.postMessage(request);
      return new Promise((resolve) => asked.push(resolve));
    },
    /** Answers what was asked before, closes the database and ends the thread. */
    close(): Promise<void> {
      worker.postMessage('close');
      return exit.promise;
    },
  };
}
