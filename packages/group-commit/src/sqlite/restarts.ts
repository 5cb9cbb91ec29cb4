import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { type Answer, type Message, packError, type Request, type ThreadData } from './protocol.ts';

/** This file runs as TypeScript in the repository and as JavaScript in the package; so does the thread. */
const THREAD = new URL(`./thread${extname(import.meta.filename)}`, import.meta.url);

/** Starts the thread. After an unexpected end, the next request starts another one. */
export function startThread(data: Omit<ThreadData, 'create'>, warn: (message: string) => void) {
  let current = runThread({ ...data, create: true }, warn);
  let opened = false;

  return {
    /** Resolves to the thread's answer, or to its end. Rejects only if the request cannot be cloned. */
    async ask(request: Exclude<Request, 'close'>): Promise<Answer> {
      if (current.hasEnded()) current = runThread({ ...data, create: !opened }, warn);
      const answer = await current.ask(request);
      if (!('trouble' in answer)) opened = true;
      return answer;
    },
    /** Answers what was asked before, closes the database and ends the thread. */
    close: (): Promise<void> => current.close(),
  };
}

function runThread(workerData: ThreadData, warn: (message: string) => void) {
  const asked: ((answer: Answer) => void)[] = [];
  const exit = Promise.withResolvers<void>();
  let cause: unknown;
  let ended = false;
  // Node 24 still warns of node:sqlite.
  const execArgv = ['--disable-warning=ExperimentalWarning'];
  const worker = new Worker(THREAD, { name: 'sqlite', workerData, execArgv });
  worker.on('message', (message: Message) => {
    if (typeof message === 'string') warn(message);
    else asked.shift()?.(message);
  });
  worker.on('error', (error: unknown) => {
    cause = error;
  });
  worker.on('exit', () => {
    const trouble = `The database thread of ${workerData.file} ended (${cause}); the next call starts another one.`;
    ended = true;
    for (const answer of asked) answer({ trouble, code: 'THREAD_ENDED', cause: packError(cause), lasting: true });
    exit.resolve();
  });

  return {
    hasEnded: () => ended,
    async ask(request: Request): Promise<Answer> {
      worker.postMessage(request);
      return new Promise((resolve) => asked.push(resolve));
    },
    close(): Promise<void> {
      worker.postMessage('close');
      return exit.promise;
    },
  };
}
