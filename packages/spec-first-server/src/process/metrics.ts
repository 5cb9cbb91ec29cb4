import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { listen } from '../http-server/index.ts';
import type { Trace } from '../response/trace.ts';
import { rejectAddress } from './address.ts';

/** The metrics of this process: of requests and of the backend, beside those of Node (event-loop delay, memory). */
export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const requests = new Counter({
    name: 'http_requests_total',
    help: 'Requests answered, by operationId and status; 499 where the client was gone before its answer',
    labelNames: ['operation', 'status'],
    registers,
  });
  const duration = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from a request to the end of its answer, by operationId',
    labelNames: ['operation'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  });
  const batches = new Histogram({
    name: 'store_batch_size',
    help: 'How many requests shared one statement and one commit of the store',
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
    registers,
  });
  return {
    /** All of them in Prometheus's text format. */
    text: (): Promise<string> => registry.metrics(),
    /** All of them as objects, for {@link Totals}. */
    values: (): Promise<readonly object[]> => registry.getMetricsAsJSON(),
    /** Counts an answer. `status` is 499 where the client was gone before it. */
    observe({ operationId: operation = '' }: Trace, status: number, seconds: number): void {
      requests.inc({ operation, status });
      duration.observe({ operation }, seconds);
    },
    /** Counts an answer to a request that the app never got. */
    onRejected: (status: number): void => requests.inc({ operation: '', status }),
    /** Counts the requests that shared a commit. */
    onBatch: (size: number): void => batches.observe(size),
    /** Measures how many requests wait for the backend. */
    watch(waiting: () => number): void {
      new Gauge({
        name: 'store_waiting',
        help: 'Requests that wait for the store',
        registers,
        collect() {
          this.set(waiting());
        },
      });
    },
  };
}

/**
 * The sum of the metrics of several processes. No counter falls while they come and go: the latest metrics of a slow
 * process count, and so do the latest counters of one that has ended. Rates may undercount, never overcount.
 */
export class Totals {
  readonly #latest = new Map<number, readonly object[]>();
  #ended: readonly object[] = [];

  /** Takes the metrics of a process as they are now. */
  update(process: number, metrics: readonly object[]): void {
    this.#latest.set(process, metrics);
  }

  /** Retains the counters of a process that has ended. */
  retain(process: number): void {
    const counters = this.#latest.get(process)?.filter(isCounter) ?? [];
    this.#latest.delete(process);
    this.#ended = AggregatorRegistry.aggregate([this.#ended, counters]).getMetricsAsArray();
  }

  /** In Prometheus's text format. A delay is averaged. */
  text(): Promise<string> {
    return AggregatorRegistry.aggregate([this.#ended, ...this.#latest.values()]).metrics();
  }
}

/** Whether a metric only grows. A gauge ends with its process. */
const isCounter = (metric: object): boolean =>
  'type' in metric && (metric.type === 'counter' || metric.type === 'histogram');

/** Serves `GET /metrics` on a port of its own. @throws {ConfigError} if it cannot be listened on. */
export async function serveMetrics(host: string, port: number, read: () => Promise<string>) {
  // Requests that come while the text is made share it.
  let reading: Promise<string | undefined> | undefined;
  const { url, stop } = await listen(
    async ({ url, method }, response) => {
      if (url !== '/metrics') return void response.writeHead(404).end();
      if (method !== 'GET' && method !== 'HEAD') return void response.writeHead(405, { Allow: 'GET, HEAD' }).end();
      reading ??= read()
        .catch(() => undefined)
        .finally(() => {
          reading = undefined;
        });
      const text = await reading;
      if (text === undefined) response.writeHead(503).end();
      else response.writeHead(200, { 'Content-Type': Registry.PROMETHEUS_CONTENT_TYPE }).end(text);
    },
    { host, port, limits: { quietTimeout: 0, idleStopTimeout: 0, stopTimeout: 1_000 } },
  ).catch(rejectAddress('METRICS_PORT'));
  return { url: `${url}/metrics`, close: stop };
}
