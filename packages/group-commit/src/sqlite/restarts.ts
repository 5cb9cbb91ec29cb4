import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { type Answer, type Message, packError, type Request, type ThreadData, type Trouble } from './protocol.ts';

/** The pause after the thread ended unexpectedly, in milliseconds: the first, and the longest after doubling. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 30_000;

/** This file runs as TypeScript in the repository and as JavaScript in the package; so does the thread. */
const THREAD = new URL(`./thread${extname(import.meta.filename)}`, import.meta.url);

/** The database thread, which is started again after it ended. */
export interface Thread {
  /** Resolves to the thread's answer, or to its end. Rejects only if the request cannot be cloned. */
  ask(request: Exclude<Request, 'close'>): Promise<Answer>;
  /** Answers what was asked before, closes the database and ends the thread. */
  close(): Promise<void>;
}

/** Starts the thread. After an unexpected end, the next request starts another one, but not before a growing pause. */
export function startThread(data: Omit<ThreadData, 'create'>, warn: (message: string) => void): Thread {
  let current = runThread({ ...data, create: true }, warn);
  let opened = false;
  let pause = FIRST_PAUSE_MS;

  return {
    async ask(request) {
      const ended = current.ended();
      if (ended) {
        if (performance.now() < ended.at + pause) return ended;
        pause = Math.min(2 * pause, LONGEST_PAUSE_MS);
        current = runThread({ ...data, create: !opened }, warn);
      }
      const answer = await current.ask(request);
      if (!('trouble' in answer)) {
        opened = true;
        pause = FIRST_PAUSE_MS;
      }
      return answer;
    },
    close: () => current.close(),
  };
}

type End = Trouble & { readonly at: number };

function runThread(workerData: ThreadData, warn: (message: string) => void) {
  const asked: ((answer: Answer) => void)[] = [];
  const exit = Promise.withResolvers<void>();
  let cause: unknown;
  let end: End | undefined;
  let worker: Worker | undefined;

  function finish(): void {
    const trouble = `The database thread of ${workerData.file} ended (${cause}); the next call starts another one.`;
    end = { trouble, code: 'THREAD_ENDED', cause: packError(cause), lasting: true, at: performance.now() };
    for (const answer of asked.splice(0)) answer(end);
    exit.resolve();
  }

  try {
    // Node 24 still warns of node:sqlite.
    const execArgv = ['--disable-warning=ExperimentalWarning'];
    worker = new Worker(THREAD, { name: 'sqlite', workerData, execArgv });
    worker.on('message', (message: Message) => {
      if (typeof message === 'string') warn(message);
      else asked.shift()?.(message);
    });
    worker.on('error', (error: unknown) => {
      cause = error;
    });
    worker.on('exit', finish);
  } catch (error) {
    cause = error;
    finish();
  }

  return {
    ended: () => end,
    async ask(request: Request): Promise<Answer> {
      if (end) return end;
      worker?.postMessage(request);
      return new Promise((resolve) => asked.push(resolve));
    },
    close(): Promise<void> {
      worker?.postMessage('close');
      return exit.promise;
    },
  };
}
