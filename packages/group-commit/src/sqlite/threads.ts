import { once } from 'node:events';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { BatchResult, Request, Source } from './session.ts';

/** A session in this thread or in a worker. Requests are answered in order. */
export interface RemoteSession {
  send(request: Request): Promise<BatchResult>;
  close(): Promise<void>;
}

/** This file runs as TypeScript in the repository and as JavaScript in the package. */
const THREAD = new URL(`./thread${extname(import.meta.filename)}`, import.meta.url);

/** Opens a session in this thread, for databases in memory, which never wait for a disk. */
export async function openHere(source: Source): Promise<RemoteSession> {
  const { openSession } = await import('./session.ts');
  const { run, close } = await openSession(source);
  return { send: async (request) => run(request), close: async () => close() };
}

/** Opens a session in a new worker. */
export function openThread(source: Source): RemoteSession {
  // Node 24 still prints a warning for node:sqlite. Without a listener for its `error` event, an
  // uncaught error in the worker ends the process.
  const worker = new Worker(THREAD, {
    name: source.readOnly ? 'sqlite-reader' : 'sqlite',
    workerData: source,
    execArgv: ['--disable-warning=ExperimentalWarning'],
    resourceLimits: { maxYoungGenerationSizeMb: 6 },
  });
  /** The functions that resolve the requests in progress, oldest first. */
  const resolvers: ((answer: BatchResult) => void)[] = [];
  worker.on('message', (answer: BatchResult) => resolvers.shift()?.(answer));

  return {
    send(request) {
      worker.postMessage(request);
      return new Promise((resolve) => resolvers.push(resolve));
    },
    async close() {
      worker.postMessage('close');
      await once(worker, 'exit');
    },
  };
}
