import cluster from 'node:cluster';
import { Counter, collectDefaultMetrics, Gauge, Histogram, register } from 'prom-client';
import { listen } from '../http-server/index.ts';
import { type Config, rejectAddress } from './configuration.ts';
import { lostLines, versions } from './log.ts';

const SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** What each process measures of itself, also the supervisor. With `WORKERS`, the label `worker` tells them apart. */
function measureProcess(): void {
  if (cluster.worker) register.setDefaultLabels({ worker: String(cluster.worker.id) });
  collectDefaultMetrics();
  // Gauges with a name of counters, which Prometheus advises against.
  for (const kind of ['handles', 'requests', 'resources']) register.removeSingleMetric(`nodejs_active_${kind}_total`);
  new Counter({
    name: 'log_lines_lost_total',
    help: 'Lines of the log that were dropped, since standard output was too slow',
    collect() {
      this.reset();
      this.inc(lostLines);
    },
  });
  new Gauge({
    name: 'service_build_info',
    help: 'The versions in use; always 1',
    labelNames: ['service', 'version', 'runtime', 'node'],
  }).set(versions, 1);
}

/** The metrics of this process: of requests and of the backend, beside those of Node (event-loop delay, memory). */
function createMetrics() {
  measureProcess();
  const counter = (name: string, help: string, ...labelNames: string[]) => new Counter({ name, help, labelNames });
  const histogram = (name: string, help: string, buckets = SECONDS, ...labelNames: string[]) =>
    new Histogram({ name, help, buckets, labelNames });
  const answers = 'Requests answered, by operationId and status; 499 where the client was gone before its answer';
  const requests = counter('http_requests_total', answers, 'operation', 'status');
  const time = 'Time from a request to the end of its answer, by operationId';
  const duration = histogram('http_request_duration_seconds', time, SECONDS, 'operation');
  const batches = histogram('store_batch_size', 'Requests that shared a commit of the store', SIZES);
  const commits = histogram('store_commit_duration_seconds', 'Time of one commit of the store');
  const connects = histogram('store_connect_duration_seconds', 'Time to open a connection to the store');
  const unavailable = counter('store_unavailable_total', 'Requests that the store could not serve, by reason', 'code');
  return {
    text: () => register.metrics(),
    /** Counts an answer. `status` is 499 where the client was gone before it. */
    observe(operation: string, status: number, seconds: number): void {
      requests.inc({ operation, status });
      duration.observe({ operation }, seconds);
    },
    onRejected: (status: number): void => requests.inc({ operation: '(rejected)', status }),
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
          help: `The store's ${name.replaceAll('_', ' ')}, now`,
          collect() {
            this.set(stats()[name] ?? 0);
          },
        });
      }
    },
  };
}

/** The metrics of the supervisor, beside the last ones of each worker. */
function createSupervisorMetrics() {
  measureProcess();
  const restarts = new Counter({ name: 'worker_restarts_total', help: 'Workers that ended and were replaced' });
  const workers = new Map<number, string>();
  return {
    onRestart: (): void => restarts.inc(),
    /** The last metrics of each worker, by its id. */
    workers,
    text: async (): Promise<string> => merge([await register.metrics(), ...workers.values()]),
  };
}

/** Several texts in Prometheus's format as one, in which the lines of a metric follow its description. */
function merge(texts: readonly string[]): string {
  const blocks = texts.filter(Boolean).flatMap((text) => text.trim().split('\n\n'));
  const metrics = Map.groupBy(blocks, (block) => block.split('\n', 2).join('\n'));
  const merged = [...metrics].map(([head, parts]) => head + parts.map((part) => part.slice(head.length)).join(''));
  return `${merged.join('\n\n')}\n`;
}

/** The metrics of this process, read by the supervisor or on a port. @throws {ConfigError} if that cannot be listened on. */
export const openMetrics = async (config: Config) => served(createMetrics(), config);

/** Those of the supervisor and its workers, read on a port. @throws {ConfigError} if it cannot be listened on. */
export const openSupervisorMetrics = (config: Config) => served(createSupervisorMetrics(), config);

async function served<T extends { text(): Promise<string> }>(
  metrics: T,
  { HOST: host, METRICS_PORT: port = 0 }: Config,
) {
  if (cluster.isWorker) return { ...metrics, url: undefined, close: undefined };
  const { url, stop } = await listen(
    async ({ url, method }, response) => {
      if (url !== '/metrics') return void response.writeHead(404).end();
      if (method !== 'GET') return void response.writeHead(405, { Allow: 'GET' }).end();
      const text = await metrics.text().catch(() => undefined);
      response.writeHead(text === undefined ? 503 : 200, { 'Content-Type': register.contentType }).end(text);
    },
    { host, port, limits: { quietTimeout: 0, idleStopTimeout: 0, stopTimeout: 1_000 } },
  ).catch(rejectAddress('METRICS_PORT'));
  return { ...metrics, url: `${url}/metrics`, close: stop };
}
