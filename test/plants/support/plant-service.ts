import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Writable } from 'node:stream';
import { loadDocument } from 'openapi-document';
import { pino } from 'pino';
import { ENVIRONMENT } from 'test-support/environment';
import type { AnyHandler } from '../../../packages/spec-first-server/src/core/handlers/types.ts';
import { type Limits, listen } from '../../../packages/spec-first-server/src/listener/listen.ts';
import {
  createAppService,
  createListener,
  failureResponder,
} from '../../../packages/spec-first-server/src/serve/app.ts';
import { errorBody } from '../../../src/errors.ts';
import { plantBackend } from '../../../src/plants.ts';
import { openStore } from '../../../src/stores/index.ts';
import type { PlantStore } from '../../../src/stores/store.ts';

const project = join(import.meta.dirname, '../../..');

export const TOKEN = 'a-token.of-the_tests~1';

/** A service in this process. */
export interface Service {
  readonly port: number;
  log(): string;
  connections(): Promise<number>;
  stop(): Promise<void>;
}

/** The differences from the service in production. */
export interface Differences {
  readonly store?: PlantStore;
  readonly handlers?: Readonly<Record<string, AnyHandler>>;
  readonly limits?: Partial<Limits>;
  readonly maxWaiting?: number;
}

/** Serves openapi.yaml on 127.0.0.1, by default with a store in memory. */
export async function serve({
  store,
  handlers,
  limits,
  maxWaiting = 1_000,
}: Differences = {}): Promise<Service> {
  const lines: string[] = [];
  const sink = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  const log = pino(sink);
  const backend = plantBackend(store ?? (await openStore('sqlite::memory:', { maxWaiting })));
  const app = await createAppService({
    document: await loadDocument(join(project, 'openapi.yaml')),
    handlers: handlers ?? backend.handlers,
    accessTokens: [TOKEN],
    log,
    errorBody,
    bodyLimit: 100 * 1024,
    ready: backend.ready,
  });
  const { url, server, stop } = await listen(await createListener(app, {}), {
    host: '127.0.0.1',
    port: 0,
    limits,
    onRejected: ({ status, message: reason }, client) =>
      log.info({ client, status, reason }, 'rejected'),
    respond: failureResponder(app),
    resources: app.resources,
  });
  return {
    port: Number(new URL(url).port),
    log: () => lines.join(''),
    connections: () =>
      new Promise((resolve) => server.getConnections((_error, count) => resolve(count))),
    async stop() {
      await stop();
      await backend.close?.();
    },
  };
}

/** A service in a child process. */
export interface ServiceProcess {
  readonly child: ChildProcess;
  readonly port: number;
  output(): string;
  /** Resolves to the bytes of heap and buffers after a garbage collection. */
  memory(): Promise<number>;
  /** Resolves to the number of plants that wait for the store. Needs `METRICS_PORT`. */
  waiting(): Promise<number>;
  /** Resolves to the exit code, or to the signal that ended the process, after the last output. */
  readonly exit: Promise<number | string>;
}

/** A module that responds to each message with the used memory of the process. */
const MEASURE_MEMORY = `data:text/javascript,process.on('message', () => {
  gc();
  const { heapUsed, external } = process.memoryUsage();
  process.send(heapUsed + external);
}).channel.unref()`.replaceAll('\n', ' ');

/**
 * Starts a service with {@link TOKEN} on a free port. The caller must end it.
 *
 * @throws {Error} with its output, if it ends before it listens.
 */
export async function start(
  env: Readonly<Record<string, string>>,
  main = join(project, 'src/main.ts'),
): Promise<ServiceProcess> {
  const child = spawn(process.execPath, ['--expose-gc', '--import', MEASURE_MEMORY, main], {
    cwd: project,
    env: { ...ENVIRONMENT, PORT: '0', HOST: '127.0.0.1', ACCESS_TOKENS: TOKEN, ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let output = '';
  const exit = once(child, 'close').then(([code, signal]): number | string => code ?? signal);
  const port = await new Promise<number>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      output += chunk;
      const [, loggedPort] = /"url":"http:\/\/127\.0\.0\.1:(\d+)/.exec(output) ?? [];
      if (loggedPort !== undefined) resolve(Number(loggedPort));
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
    exit.then((code) => reject(new Error(`the service ended with ${code}:\n${output}`)));
  });
  return {
    child,
    port,
    output: () => output,
    async memory() {
      // The service also sends a message when it has started.
      const measured = new Promise<number>((resolve) => {
        child.on('message', (message) => typeof message === 'number' && resolve(message));
      });
      child.send('measure');
      return measured;
    },
    async waiting() {
      const [, metrics = ''] = /"metrics":"([^"]+)"/.exec(output) ?? [];
      const [, waiting] = /^store_waiting (\d+)$/m.exec(await (await fetch(metrics)).text()) ?? [];
      return Number(waiting);
    },
    exit,
  };
}

export function plantsIn(path: string): Map<bigint, { name: unknown; tag: unknown }> {
  const database = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
  const select = database.prepare('SELECT id, name, tag FROM plants');
  select.setReadBigInts(true);
  const plants = new Map(
    select.all().map(({ id, name, tag }) => [BigInt(String(id)), { name, tag }]),
  );
  database.close();
  return plants;
}
