import cluster, { type Worker } from 'node:cluster';
import type { Logger } from 'pino';
import type { Config } from './configuration.ts';
import type { Service, Started } from './service.ts';

/** What the first process tells a worker. */
export type Order = 'stop' | 'reload' | 'metrics';

/** What a worker tells the first process: that it serves, why it cannot, or its metrics. */
export type Report =
  | { readonly started: Started }
  | { readonly failed: string }
  | { readonly metrics: readonly object[] };

/** A worker that lived shorter than this died of its start. Milliseconds. */
const SHORT_LIFE = 10_000;

/** Before a worker is replaced that died of its start: the first pause, and how far doubling takes it. Milliseconds. */
const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 30_000;

/** How long a worker may take to tell its metrics. Milliseconds. */
const METRICS_TIMEOUT = 2_000;

/**
 * Starts as many processes as the configuration says, which share the port, and replaces each one that dies: at once, or
 * after a growing pause if it died soon after it was started. None of them outlives this process.
 *
 * @param env variables that the workers get besides those of this process.
 * @throws {Error} that says why, if one of the first workers cannot serve.
 */
export async function superviseWorkers(
  config: Config,
  env: Readonly<Record<string, string>>,
  log: Logger,
): Promise<Service> {
  const serving = new Set<Worker>();
  let stopping = false;
  let reloads = 0;
  let pause = 0;
  process.on('exit', () => {
    for (const worker of workers()) worker.process.kill('SIGKILL');
  });

  const metrics = await openMetrics(config, serving);
  const [started] = await Promise.all(Array.from({ length: config.workers }, () => spawn(true)));
  if (started === undefined) throw new Error('WORKERS must be 1 or more');
  return {
    started: { ...started, metrics: metrics?.url },
    async reload() {
      reloads += 1;
      for (const worker of serving) tell(worker, 'reload');
    },
    async stop() {
      stopping = true;
      await Promise.all(
        workers().map(async (worker) => {
          if (serving.has(worker)) tell(worker, 'stop');
          else worker.process.kill('SIGKILL');
          await exitOf(worker);
        }),
      );
      await metrics?.close();
    },
  };

  /** Resolves once the new worker serves. It is replaced when it dies, unless it is of the `first` and never served. */
  function spawn(first: boolean): Promise<Started> {
    const born = performance.now();
    const known = reloads;
    const worker = cluster.fork(env);
    let reason: string | undefined;
    const start = Promise.withResolvers<Started>();
    worker.on('message', (report: Report) => {
      if ('failed' in report) reason = report.failed;
      if (!('started' in report)) return;
      serving.add(worker);
      // It may have read the tokens before they changed.
      if (known !== reloads) tell(worker, 'reload');
      if (!first) log.info({ worker: worker.process.pid }, 'another worker took its place');
      start.resolve(report.started);
    });
    worker.once('exit', (code, signal) => {
      const served = serving.delete(worker);
      start.reject(new Error(reason ?? `A worker ended with ${signal ?? code} before it served.`));
      if (stopping || (first && !served)) return;
      pause = performance.now() - born > SHORT_LIFE ? 0 : Math.min(LONGEST_PAUSE, pause * 2 || FIRST_PAUSE);
      log.error({ worker: worker.process.pid, exit: signal ?? code, reason, pauseMs: pause }, 'a worker died');
      setTimeout(() => {
        if (!stopping) spawn(false).catch(() => undefined);
      }, pause);
    });
    return start.promise;
  }
}

/** Tells the first process that this worker serves, and does what that says. */
export function obeySupervisor(service: Service, stop: () => void): void {
  process.on('message', (order: Order) => {
    if (order === 'stop') stop();
    if (order === 'reload') void service.reload();
  });
  report({ started: service.started });
}

/** Tells the first process why this worker cannot serve. */
export const reportFailure = (failed: string): Promise<void> => report({ failed });

/** Resolves once it is sent, or if nobody is there to read it. */
export function report(message: Report): Promise<void> {
  return new Promise((resolve) => {
    if (process.send === undefined) resolve();
    else process.send(message, undefined, undefined, () => resolve());
  });
}

const workers = (): Worker[] => Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);

const exitOf = (worker: Worker): Promise<void> =>
  worker.isDead() ? Promise.resolve() : new Promise((resolve) => worker.once('exit', () => resolve()));

function tell(worker: Worker, order: Order): void {
  // A worker that has just died is told nothing.
  worker.send(order, () => undefined);
}

/** Serves the metrics of all workers added up, each as it is now or, if it does not tell in time, as it told last. */
async function openMetrics({ host, metricsPort }: Config, serving: ReadonlySet<Worker>) {
  if (metricsPort === undefined) return undefined;
  const { createTotals, serveMetrics } = await import('./metrics.ts');
  const totals = createTotals();
  cluster.on('message', (worker, report: Report) => {
    if ('metrics' in report && !worker.isDead()) totals.tell(worker.id, report.metrics);
  });
  cluster.on('exit', ({ id }) => totals.bury(id));
  return serveMetrics(host, metricsPort, async () => {
    await Promise.all([...serving].map(toldMetrics));
    return totals.text();
  });
}

/** Resolves once the worker has told its metrics, has ended, or has had its time. */
function toldMetrics(worker: Worker): Promise<void> {
  return new Promise((resolve) => {
    const settle = (): void => {
      clearTimeout(timer);
      worker.off('message', read).off('exit', settle);
      resolve();
    };
    const read = (message: Report) => 'metrics' in message && settle();
    const timer = setTimeout(settle, METRICS_TIMEOUT);
    worker.on('message', read).once('exit', settle);
    tell(worker, 'metrics');
  });
}
