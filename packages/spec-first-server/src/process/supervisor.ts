import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { Worker as Thread } from 'node:worker_threads';
import type { Logger } from 'pino';
import type { Config } from './configuration.ts';
import { type Started, tellWorker, type WorkerMessage } from './messages.ts';
import { writeLines } from './output.ts';
import type { Service } from './service.ts';

/** A worker that ends sooner after its start is replaced after a pause. Milliseconds. */
const SHORT_LIFE = 10_000;

/** The first pause, and how far doubling takes it. Milliseconds. */
const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 30_000;

/** How often each worker is asked for its metrics, as a sign of life, in milliseconds; how often it may fail to answer. */
const HEARTBEAT = 1_000;
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
 * Starts as many processes as `WORKERS` says, which share the port. Replaces each one that ends or hangs: at once, or
 * after a growing pause if it ended soon after its start. None of them outlives this process.
 *
 * @param env variables that the workers get besides those of this process.
 * @throws {Error} with the reason, if one of the first workers cannot serve.
 */
export async function superviseWorkers(
  config: Config,
  env: Readonly<Record<string, string>>,
  log: Logger,
): Promise<Service> {
  /** The workers that serve, each with the number of its heartbeats without an answer. */
  const serving = new Map<Worker, number>();
  let stopping = false;
  let reloads = 0;
  let pause = 0;
  process.on('exit', () => {
    for (const worker of workers()) worker.process.kill('SIGKILL');
  });

  const metrics = await openMetrics(config);
  const [started] = await Promise.all(Array.from({ length: config.WORKERS }, () => spawn(true)));
  if (started === undefined) throw new Error('WORKERS must be 1 or more');
  const heartbeat = setInterval(beat, HEARTBEAT);
  return {
    started: { ...started, metrics: metrics?.url },
    async reload() {
      reloads += 1;
      for (const worker of serving.keys()) tellWorker(worker, 'reload');
    },
    async stop() {
      stopping = true;
      clearInterval(heartbeat);
      await Promise.all(
        workers().map(async (worker) => {
          if (serving.has(worker)) tellWorker(worker, 'stop');
          else worker.process.kill('SIGKILL');
          // The last lines of its log come before it disconnects.
          if (worker.isConnected()) await once(worker, 'disconnect');
          if (!worker.isDead()) await once(worker, 'exit');
        }),
      );
      await metrics?.close();
    },
  };

  /** Resolves once the new worker serves. A worker is replaced when it ends, except one of the `first` that never served. */
  function spawn(first: boolean): Promise<Started> {
    const born = performance.now();
    const known = reloads;
    const worker = cluster.fork(env);
    let reason: string | undefined;
    const start = Promise.withResolvers<Started>();
    worker.on('message', (message: WorkerMessage) => {
      if (serving.has(worker)) serving.set(worker, 0);
      if ('log' in message) writeLines(message.log);
      if ('ping' in message) tellWorker(worker, 'pong');
      if ('failed' in message) reason = message.failed;
      if (!('started' in message)) return;
      serving.set(worker, 0);
      // It may have read the tokens before they changed.
      if (known !== reloads) tellWorker(worker, 'reload');
      if (!first) log.info({ worker: worker.process.pid }, 'another worker took its place');
      start.resolve(message.started);
    });
    worker.once('exit', (code, signal) => {
      const served = serving.delete(worker);
      start.reject(new Error(reason ?? `A worker ended with ${signal ?? code} before it served.`));
      if (stopping || (first && !served)) return;
      pause = performance.now() - born > SHORT_LIFE ? 0 : Math.min(LONGEST_PAUSE, pause * 2 || FIRST_PAUSE);
      log.error({ worker: worker.process.pid, exit: signal ?? code, reason, pauseMs: pause }, 'a worker died');
      metrics?.onRestart();
      setTimeout(() => {
        if (!stopping) spawn(false).catch(() => undefined);
      }, pause);
    });
    return start.promise;
  }

  /** Asks each worker for a sign of life, and ends those that have given none for long. */
  function beat(): void {
    for (const [worker, missed] of serving) {
      if (missed >= MOST_MISSED) {
        log.error({ worker: worker.process.pid, seconds: (missed * HEARTBEAT) / 1000 }, 'a worker hangs and is ended');
        worker.process.kill('SIGKILL');
      } else {
        serving.set(worker, missed + 1);
        tellWorker(worker, 'report');
      }
    }
  }
}

const workers = (): Worker[] => Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);

/** Serves the sum of the metrics that the workers have reported. */
async function openMetrics({ HOST, METRICS_PORT }: Config) {
  if (METRICS_PORT === undefined) return undefined;
  const { createSupervisorMetrics, serveMetrics, Totals } = await import('./metrics.ts');
  const totals = new Totals();
  const { values, onRestart } = createSupervisorMetrics();
  cluster.on('message', (worker, message: WorkerMessage) => {
    if ('metrics' in message && !worker.isDead()) totals.update(worker.id, message.metrics);
  });
  cluster.on('exit', ({ id }) => totals.retain(id));
  const served = await serveMetrics(HOST, METRICS_PORT, async () => totals.text(await values()));
  return { ...served, onRestart };
}
