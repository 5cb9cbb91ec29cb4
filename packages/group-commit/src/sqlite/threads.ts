import { once } from 'node:events';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { packError } from './errors.ts';
import type { SentOutcome } from './runner.ts';
import type { BatchResult, Request, Source } from './session.ts';

/** Sends requests to a session in this thread or in a worker. Responses arrive in order. */
export interface SessionClient {
  send(request: Request): Promise<BatchResult>;
  close(): Promise<void>;
}

/** This file runs as TypeScript in the repository and as JavaScript in the package. */
const THREAD = new URL(`./thread${extname(import.meta.filename)}`, import.meta.url);

/** Opens a session in this thread, for a database in memory: no disk can block the thread. */
export async function openLocal(source: Source): Promise<SessionClient> {
  const { openSession } = await import('./session.ts');
  const { run, close } = await openSession(source);
  return { send: async (request) => run(request), close: async () => close() };
}

export function openThread(source: Source): SessionClient {
  // The worker has no listener for `error`, so an uncaught error in it ends the process.
  const worker = new Worker(THREAD, {
    name: source.readOnly ? 'sqlite-reader' : 'sqlite',
    workerData: source,
    // Node 24 prints an ExperimentalWarning for node:sqlite.
    execArgv: ['--disable-warning=ExperimentalWarning'],
    // With the default limit, short-lived objects take tens of MiB more.
    resourceLimits: { maxYoungGenerationSizeMb: 6 },
  });
  /** The functions that resolve the requests in progress, oldest first. */
  const resolvers: ((response: BatchResult) => void)[] = [];
  worker.on('message', (response: BatchResult) => resolvers.shift()?.(response));

  async function send(request: Request): Promise<BatchResult> {
    try {
      worker.postMessage(request);
    } catch (error) {
      return sendSeparately(request, error);
    }
    return new Promise((resolve) => resolvers.push(resolve));
  }

  /** Sends each call alone, so that only those whose arguments cannot be cloned fail. */
  async function sendSeparately(request: Request, error: unknown): Promise<BatchResult> {
    const { calls } = request;
    if (calls.length === 1) return [{ error: packError(error) }];
    const responses = await Promise.all(calls.map((call) => send({ ...request, calls: [call] })));
    const outcomes: SentOutcome[] = [];
    for (const response of responses) {
      if ('permanent' in response) return response;
      outcomes.push(response[0]);
    }
    return outcomes;
  }

  return {
    send,
    async close() {
      worker.postMessage('close');
      await once(worker, 'exit');
    },
  };
}
