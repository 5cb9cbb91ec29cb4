import { resolve as absolute } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { StoreLimits } from './index.ts';
import type { Answer, Question, SqliteWorkerData, Trouble } from './sqlite-worker.ts';
import {
  type AddOutcome,
  type PlantStore,
  proveStorable,
  type StoredPlant,
  StoreRefused,
  StoreUnavailable,
  Unstorable,
} from './store.ts';

/** How long a check of readiness waits for the database, in milliseconds. */
const READY_MS = 1_000;

/** The pause after the database thread died, in milliseconds: the first one, and how far doubling takes it. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 30_000;

/** The most plants in one transaction, and about the most characters. */
const BATCH_PLANTS = 1_000;
const BATCH_CHARACTERS = 1_000_000;

/** Plants that share a transaction, and who waits for what becomes of them. */
interface Gathered {
  readonly batch: (bigint | string | null)[];
  readonly waiters: Waiter[];
  characters: number;
}

interface Waiter {
  resolve(outcome: AddOutcome): void;
  reject(reason: Error): void;
}

/**
 * Opens, and if need be makes, a SQLite database: a path, or `:memory:`.
 *
 * SQLite runs in a thread of its own, so that the event loop never waits for the disk. While one transaction is there,
 * further adds gather for the next one, so that all of them share one commit.
 *
 * @throws {StoreRefused} if the file is no database, has another table `plants`, or can be neither read nor made.
 */
export async function openSqlite(path: string, { maxWaiting, onBatch }: StoreLimits): Promise<PlantStore> {
  const file = path === ':memory:' ? path : absolute(path);
  const queue: Gathered[] = [];
  let waiting = 0;
  let committing: Promise<void> | undefined;
  let checking: Promise<void> | undefined;
  let closing: Promise<void> | undefined;

  let thread = startThread({ path: file, create: true });
  let opened = false;
  let pause = FIRST_PAUSE_MS;

  async function ask(question: Question): Promise<Answer> {
    if (thread.death !== undefined) {
      if (performance.now() < thread.death.at + pause) return thread.death;
      pause = Math.min(2 * pause, LONGEST_PAUSE_MS);
      thread = startThread({ path: file, create: !opened });
    }
    const answer = await thread.ask(question);
    if (!('trouble' in answer)) {
      opened = true;
      pause = FIRST_PAUSE_MS;
    }
    return answer;
  }

  function wait({ id, name, tag }: StoredPlant): Promise<AddOutcome> {
    let last = queue.at(-1);
    if (!last || last.waiters.length >= BATCH_PLANTS || last.characters >= BATCH_CHARACTERS) {
      last = { batch: [], waiters: [], characters: 0 };
      queue.push(last);
    }
    const { batch, waiters } = last;
    batch.push(id, name, tag ?? null);
    last.characters += name.length + (tag?.length ?? 0);
    waiting += 1;
    committing ??= commit();
    return new Promise((resolve, reject) => waiters.push({ resolve, reject }));
  }

  async function commit(): Promise<void> {
    await turn();
    for (let sent = queue.shift(); sent; sent = queue.shift()) {
      onBatch?.(sent.waiters.length);
      const answer = await ask(sent.batch);
      waiting -= sent.waiters.length;
      settle(sent.waiters, answer);
    }
    committing = undefined;
  }

  async function check(): Promise<void> {
    const late = Promise.withResolvers<Trouble>();
    const timer = setTimeout(() => {
      late.resolve({ trouble: `${file} has not answered for ${READY_MS / 1000} s.`, cause: undefined, lasting: false });
    }, READY_MS);
    const answer = await Promise.race([ask('check'), late.promise]);
    clearTimeout(timer);
    if ('trouble' in answer) throw unavailable(answer);
  }

  async function finish(): Promise<void> {
    await committing;
    await thread.close();
  }

  const first = await ask('check');
  if ('trouble' in first && first.lasting) {
    await finish();
    throw new StoreRefused(first.trouble, { cause: first.cause });
  }

  return {
    async add(plant) {
      if (closing) throw new StoreUnavailable('The store is closed.');
      proveStorable(plant);
      if (waiting >= maxWaiting) throw new StoreUnavailable(`The store is busy: ${waiting} plants are waiting.`);
      return wait(plant);
    },
    async ready() {
      if (closing) throw new StoreUnavailable('The store is closed.');
      checking ??= check().finally(() => {
        checking = undefined;
      });
      return checking;
    },
    stats: () => ({ waiting }),
    close() {
      closing ??= finish();
      return closing;
    },
  };
}

function unavailable({ trouble, cause }: Trouble): StoreUnavailable {
  return new StoreUnavailable(trouble, { cause });
}

function settle(waiters: readonly Waiter[], answer: Answer): void {
  if ('trouble' in answer) {
    const error = unavailable(answer);
    for (const { reject } of waiters) reject(error);
    return;
  }
  for (const [at, outcome] of answer.entries()) {
    if (typeof outcome === 'string') waiters[at]?.resolve(outcome);
    else waiters[at]?.reject(new Unstorable(outcome.refusal, { cause: outcome.cause }));
  }
}

interface Thread {
  /** Never rejects: a thread that dies answers with its death. */
  ask(question: Question): Promise<Answer>;
  /** Answers what was asked before, closes the database and ends the thread. */
  close(): Promise<void>;
  /** Set once the thread has ended, `at` what `performance.now()` then said. */
  readonly death: Death | undefined;
}

type Death = Trouble & { readonly at: number };

function startThread(workerData: SqliteWorkerData): Thread {
  const asked: ((answer: Answer) => void)[] = [];
  const ended = Promise.withResolvers<void>();
  let cause: unknown;
  let death: Death | undefined;

  function end(): void {
    const trouble = `The database thread of ${workerData.path} ended (${cause}); it is started again when it is needed.`;
    death = { trouble, cause, lasting: true, at: performance.now() };
    for (const answer of asked.splice(0)) answer(death);
    ended.resolve();
  }

  let worker: Worker | undefined;
  try {
    worker = new Worker(new URL('./sqlite-worker.ts', import.meta.url), {
      name: 'sqlite',
      workerData,
      // Node 24 still warns of node:sqlite.
      execArgv: ['--disable-warning=ExperimentalWarning'],
    });
    worker.on('message', (answer: Answer) => asked.shift()?.(answer));
    worker.on('error', (error: unknown) => {
      cause = error;
    });
    worker.on('exit', end);
  } catch (error) {
    cause = error;
    end();
  }

  return {
    ask(question) {
      return new Promise((resolve) => {
        if (death) return resolve(death);
        asked.push(resolve);
        worker?.postMessage(question);
      });
    },
    close() {
      const closing: Question = 'close';
      worker?.postMessage(closing);
      return ended.promise;
    },
    get death() {
      return death;
    },
  };
}
