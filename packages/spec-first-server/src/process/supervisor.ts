import cluster, { type Worker } from 'node:cluster';
import { createInterface } from 'node:readline';
import { Worker as Thread } from 'node:worker_threads';
import type { Logger } from 'pino';
import type { Config } from './configuration.ts';
import type { SupervisorMessage, WorkerMessage } from './messages.ts';
import type { Service } from './service.ts';
import type { Started } from './terminal.ts';

/** How long after its end a worker is replaced: less would waste the machine on one that ends at once. Milliseconds. */
const PAUSE = 1_000;

/** How often each worker reports its metrics, as a sign of life, in milliseconds; how many reports may be missing. */
export const HEARTBEAT = 1_000;
const MOST_MISSED = 10;

/** How long a worker without a supervisor may take to end by itself. Milliseconds. */
const ORPHANED = 2_000;

/** Ends this worker when the supervisor is gone, also while the event loop is busy: a thread of its own watches. */
export function endWithSupervisor(): void {
  const { pid, ppid } = process;
  const watch = `setInterval(() => {
    if (process.ppid !== ${ppid}) setTimeout(() => process.kill(${pid}, 'SIGKILL'), ${ORPHANED});
  }, 500);`;
  new Thread(watch, { eval: true, execArgv: [] }).unref();
}

/**
 * Starts as many processes as `WORKERS` says, which share the port. Replaces each one that ends or hangs, after a
 * pause. None of them outlives this process.
 *
 * @param env variables that the workers get besides those of this process.
 * @param writeLine writes a line of a worker's log. The lines of several processes would mix on one standard output.
 * @throws {Error} with the reason, if one of the first workers cannot serve.
 */
export async function superviseWorkers(
  config: Config,
  env: Readonly<Record<string, string>>,
  log: Logger,
  writeLine: (line: string) => void,
): Promise<Service> {
  const running = new Map<Worker, Promise<void>>();
  /** Those that serve, each with the number of reports that are missing. */
  const serving = new Map<Worker, number>();
  let stopping = false;
  let reloaded = false;
  process.on('exit', () => {
    for (const worker of running.keys()) worker.process.kill('SIGKILL');
  });
  cluster.setupPrimary({ stdio: ['inherit', 'pipe', 'inherit', 'ipc'] });

  const metrics =
    config.METRICS_PORT === undefined ? undefined : await (await import('./metrics.ts')).openSupervisorMetrics(config);
  const [started] = await Promise.all([spawn(true), ...Array.from({ length: config.WORKERS - 1 }, () => spawn(true))]);
  const heartbeat = setInterval(() => {
    for (const [worker, missed] of serving) {
      serving.set(worker, missed + 1);
      if (missed < MOST_MISSED) continue;
      log.error({ worker: worker.process.pid, seconds: (missed * HEARTBEAT) / 1000 }, 'a worker hangs and is ended');
      worker.process.kill('SIGKILL');
    }
  }, HEARTBEAT);
  return {
    started: { ...started, metrics: metrics?.url },
    metrics: metrics?.text,
    async reload() {
      reloaded = true;
      for (const worker of serving.keys()) tell(worker, 'reload');
    },
    async stop() {
      stopping = true;
      clearInterval(heartbeat);
      for (const worker of running.keys()) {
        if (serving.has(worker)) tell(worker, 'stop');
        else worker.process.kill('SIGKILL');
      }
      await Promise.all(running.values());
      await metrics?.close?.();
    },
  };

  /** Resolves once the new worker serves. A worker is replaced when it ends, except one of the `first` that never served. */
  function spawn(first: boolean): Promise<Started> {
    const worker = cluster.fork(env);
    const { pid, stdout } = worker.process;
    const start = Promise.withResolvers<Started>();
    const end = Promise.withResolvers<void>();
    running.set(worker, end.promise);
    if (stdout) createInterface(stdout).on('line', (line) => writeLine(`${line}\n`));
    let reason: string | undefined;
    worker.on('message', (message: WorkerMessage) => {
      if (serving.has(worker)) serving.set(worker, 0);
      if ('ping' in message) tell(worker, 'pong');
      if ('metrics' in message) metrics?.workers.set(worker.id, message.metrics);
      if ('failed' in message) reason = message.failed;
      if (!('started' in message)) return;
      serving.set(worker, 0);
      // It may have read the tokens before they changed.
      if (reloaded) tell(worker, 'reload');
      if (!first) log.info({ worker: pid }, 'another worker took its place');
      start.resolve(message.started);
    });
    worker.process.once('close', (code, signal) => {
      const served = serving.delete(worker);
      running.delete(worker);
      metrics?.workers.delete(worker.id);
      end.resolve();
      start.reject(new Error(reason ?? `A worker ended with ${signal ?? code} before it served.`));
      if (stopping || (first && !served)) return;
      log.error({ worker: pid, exit: signal ?? code, reason }, 'a worker died');
      metrics?.onRestart();
      setTimeout(() => {
        if (!stopping) spawn(false).catch(() => undefined);
      }, PAUSE);
    });
    return start.promise;
  }
}

function tell(worker: Worker, what: SupervisorMessage): void {
  worker.send(what, () => undefined);
}
