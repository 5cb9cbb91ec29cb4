import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Trace } from '../response/trace.ts';
import { explainAddress } from './configuration.ts';
import { type Order, report } from './workers.ts';

/** What Prometheus is told of this process. */
export interface Metrics {
  readonly registry: Registry;
  /** Counts an answer. `status` is 499 where the client was gone before it. */
  observe(trace: Trace, status: number, seconds: number): void;
  /** Counts an answer to what never became a request of an operation. */
  onRefused(status: number): void;
  /** Counts what shared one commit of the store. */
  onBatch(size: number): void;
  /** Measures what waits for the store. */
  watch(waiting: () => number): void;
}

/** Metrics of requests and of the store, beside those of Node (event-loop delay, memory). */
export function createMetrics(): Metrics {
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
    registry,
    observe({ operationId: operation = '' }, status, seconds) {
      requests.inc({ operation, status });
      duration.observe({ operation }, seconds);
    },
    onRefused: (status) => requests.inc({ operation: '', status }),
    onBatch: (size) => batches.observe(size),
    watch(waiting) {
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

/** Tells the metrics of this worker whenever the first process asks for them. */
export function shareMetrics({ registry }: Metrics): void {
  process.on('message', async (order: Order) => {
    if (order === 'metrics') await report({ metrics: await registry.getMetricsAsJSON() });
  });
}

/** The metrics of several processes as one, of which some come and go. */
export interface Totals {
  /** Takes what a process says of itself now. */
  tell(process: number, metrics: readonly object[]): void;
  /** Keeps what a process has counted, which is no more. */
  bury(process: number): void;
  /** All of it added up (or as each says of itself: a delay is averaged), in Prometheus's text format. */
  text(): Promise<string>;
}

/**
 * Adds up the metrics of processes so that no counter falls while they come and go: of one that is slow its last word
 * counts, and of one that is gone what it had counted by then. What it counted after its last word is lost, which a rate
 * shows as fewer requests, never as ones that were not.
 */
export function createTotals(): Totals {
  const told = new Map<number, readonly object[]>();
  let gone: readonly object[] = [];
  return {
    tell: (process, metrics) => void told.set(process, metrics),
    bury(process) {
      const counted = told.get(process)?.filter(isCount) ?? [];
      told.delete(process);
      gone = AggregatorRegistry.aggregate([gone, counted]).getMetricsAsArray();
    },
    text: () => AggregatorRegistry.aggregate([gone, ...told.values()]).metrics(),
  };
}

/** Whether a metric only grows: a counter or a histogram. A gauge ends with its process. */
const isCount = (metric: object): boolean =>
  'type' in metric && (metric.type === 'counter' || metric.type === 'histogram');

/** Serves `GET /metrics` on a port of its own. @throws {ConfigError} if it cannot be had. */
export async function serveMetrics(
  host: string,
  port: number,
  read: () => Promise<string>,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = createServer(async ({ url, method }, response) => {
    if (url !== '/metrics') response.writeHead(404).end();
    else if (method !== 'GET' && method !== 'HEAD') response.writeHead(405, { Allow: 'GET, HEAD' }).end();
    else {
      const text = await read().catch(() => undefined);
      if (text === undefined) response.writeHead(503).end();
      else response.writeHead(200, { 'Content-Type': Registry.PROMETHEUS_CONTENT_TYPE }).end(text);
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(explainAddress(error, 'METRICS_PORT')));
    server.listen(port, host, resolve);
  });
  const { address, family, port: bound } = server.address() as AddressInfo;
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${bound}/metrics`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
