import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { listen } from '../http-server/index.ts';
import { rejectAddress } from './address.ts';
import { lostLines } from './output.ts';
import { versions } from './versions.ts';

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** What each process measures of itself, also the supervisor. */
function createRegistry() {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  // Gauges with a name of counters, which Prometheus advises against.
  for (const kind of ['handles', 'requests', 'resources']) registry.removeSingleMetric(`nodejs_active_${kind}_total`);
  const lost = new Counter({
    name: 'log_lines_lost_total',
    help: 'Lines of the log that were dropped, since standard output was too slow',
    registers,
    collect() {
      this.reset();
      this.inc(lostLines());
    },
  });
  lost.inc(0);
  const { service, version, runtime, node } = versions();
  new Gauge({
    name: 'service_build_info',
    help: 'The versions in use; always 1',
    labelNames: ['service', 'version', 'runtime', 'node'],
    aggregator: 'first',
    registers,
  }).set({ service, version, runtime, node }, 1);
  return { registry, registers };
}

/** The metrics of this process: of requests and of the backend, beside those of Node (event-loop delay, memory). */
export function createMetrics() {
  const { registry, registers } = createRegistry();
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
    buckets: SECONDS,
    registers,
  });
  const batches = new Histogram({
    name: 'store_batch_size',
    help: 'How many requests shared one statement and one commit of the store',
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
    registers,
  });
  const help = 'Time of one commit of the store';
  const commits = new Histogram({ name: 'store_commit_duration_seconds', help, buckets: SECONDS, registers });
  const connects = new Histogram({
    name: 'store_connect_duration_seconds',
    help: 'Time to open a connection to the store',
    buckets: SECONDS,
    registers,
  });
  const unavailable = new Counter({
    name: 'store_unavailable_total',
    help: 'Requests that the store could not serve, by reason',
    labelNames: ['code'],
    registers,
  });
  return {
    /** All of them in Prometheus's text format. */
    text: (): Promise<string> => registry.metrics(),
    /** All of them as objects, for {@link Totals}. */
    values: (): Promise<readonly object[]> => registry.getMetricsAsJSON(),
    /** Counts an answer. `status` is 499 where the client was gone before it. */
    observe(operation: string, status: number, seconds: number): void {
      requests.inc({ operation, status });
      duration.observe({ operation }, seconds);
    },
    /** Counts an answer to a request that the app never got. */
    onRejected: (status: number): void => requests.inc({ operation: '(rejected)', status }),
    /** What the store reports. */
    store: {
      onBatch(size: number, seconds: number): void {
        batches.observe(size);
        commits.observe(seconds);
      },
      onConnect: (seconds: number): void => connects.observe(seconds),
      onUnavailable: (code: string): void => unavailable.inc({ code }),
    },
    /** Measures the store at each reading, under its own names. */
    watch(stats: () => Readonly<Record<string, number>>): void {
      for (const name of Object.keys(stats())) {
        new Gauge({
          name: `store_${name}`,
          help: HELP[name] ?? `${name.replaceAll('_', ' ')} of the store`,
          // The workers share the files.
          aggregator: name.endsWith('_bytes') ? 'max' : 'sum',
          registers,
          collect() {
            this.set(stats()[name] ?? 0);
          },
        });
      }
    },
  };
}

const HELP: Readonly<Record<string, string>> = {
  waiting: 'Requests that wait for the store',
  connections: 'Open connections to the store',
  connections_idle: 'Open connections to the store that nothing uses',
  database_bytes: 'Size of the database file',
  log_bytes: 'Size of the write-ahead log',
};

/** The metrics of the supervisor. */
export function createSupervisorMetrics() {
  const { registry, registers } = createRegistry();
  const restarts = new Counter({
    name: 'worker_restarts_total',
    help: 'Workers that ended and were replaced',
    registers,
  });
  return {
    values: (): Promise<readonly object[]> => registry.getMetricsAsJSON(),
    onRestart: (): void => restarts.inc(),
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

  /** In Prometheus's text format. The delay of the event loop is the largest. @param own the supervisor's metrics */
  text(own: readonly object[]): Promise<string> {
    const all = [this.#ended, ...this.#latest.values(), own.filter(isCounted)];
    return AggregatorRegistry.aggregate(all.map((metrics) => metrics.map(withAggregator))).metrics();
  }
}

const nameOf = (metric: object): string => ('name' in metric ? String(metric.name) : '');

/** Whether a metric of the supervisor counts beside those of the workers: it has no load of its own. */
const isCounted = (metric: object): boolean => /^(log_|worker_|process_start_time)/.test(nameOf(metric));

/** A metric of Node as it is added up: the slowest event loop is what clients wait for. */
const withAggregator = (metric: object): object =>
  /^(nodejs_eventloop_lag|process_start_time)/.test(nameOf(metric))
    ? { ...metric, aggregator: nameOf(metric).startsWith('process') ? 'min' : 'max' }
    : metric;

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
