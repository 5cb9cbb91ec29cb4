import {
  Counter,
  collectDefaultMetrics,
  exponentialBuckets,
  Gauge,
  Histogram,
  Registry,
} from 'prom-client';
import { versions } from './log.ts';

const BATCH_SIZES = exponentialBuckets(1, 2, 10);
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

function measureProcess(register: Registry, lostLines: () => number): void {
  collectDefaultMetrics({ register });
  // Removes gauges that end in `_total`, which Prometheus reserves for counters.
  for (const kind of ['handles', 'requests', 'resources']) {
    register.removeSingleMetric(`nodejs_active_${kind}_total`);
  }
  new Counter({
    name: 'log_lines_lost_total',
    help: 'Lines of the log that were dropped because standard output was too slow',
    registers: [register],
    collect() {
      this.reset();
      this.inc(lostLines());
    },
  });
  new Gauge({
    name: 'service_build_info',
    help: 'The versions in use; always 1',
    labelNames: ['service', 'version', 'runtime', 'node'],
    registers: [register],
  }).set(versions, 1);
}

/**
 * Creates the metrics of a service: of Node, of requests and of the backend.
 *
 * @param lostLines returns the number of lines of the log that were dropped.
 */
export function createMetrics(lostLines: () => number) {
  const register = new Registry();
  const registers = [register];
  measureProcess(register, lostLines);
  const counter = (name: string, help: string, ...labelNames: string[]) =>
    new Counter({ name, help, labelNames, registers });
  const histogram = (name: string, help: string, buckets = SECONDS, ...labelNames: string[]) =>
    new Histogram({ name, help, buckets, labelNames, registers });

  const requests = counter(
    'http_requests_total',
    'Responses by operationId and status; 499 if the client disconnected first',
    'document',
    'operation',
    'status',
  );
  const duration = histogram(
    'http_request_duration_seconds',
    'Time from a request to the end of its response, or to the start of a stream, by operationId',
    SECONDS,
    'document',
    'operation',
  );
  const deprecatedRequests = counter(
    'http_deprecated_requests_total',
    'Requests to deprecated operations, by operationId',
    'document',
    'operation',
  );

  const createStoreMetrics = () => ({
    batches: histogram(
      'store_batch_size',
      'Requests that shared a commit of the store',
      BATCH_SIZES,
    ),
    commits: histogram('store_commit_duration_seconds', 'Time of one commit of the store'),
    connects: histogram('store_connect_duration_seconds', 'Time to open a connection to the store'),
    unavailable: counter(
      'store_unavailable_total',
      'Requests that the store could not serve, by reason',
      'code',
    ),
  });
  let registered: ReturnType<typeof createStoreMetrics> | undefined;
  /** Registered on their first use, since a service may have no store. */
  const storeMetrics = () => {
    registered ??= createStoreMetrics();
    return registered;
  };

  return {
    read: async () => ({ type: register.contentType, body: await register.metrics() }),
    /**
     * @param deprecated the ids of the deprecated operations.
     * @param documentLabel the name of one of several documents.
     */
    observer(deprecated: ReadonlySet<string>, documentLabel: { readonly document?: string }) {
      return (operation: string, status: number, seconds: number): void => {
        const labels = { ...documentLabel, operation };
        requests.inc({ ...labels, status });
        duration.observe(labels, seconds);
        if (deprecated.has(operation)) deprecatedRequests.inc(labels);
      };
    },
    onRejected: (status: number): void => requests.inc({ operation: '(rejected)', status }),
    store: {
      onBatch(size: number, seconds: number): void {
        storeMetrics().batches.observe(size);
        storeMetrics().commits.observe(seconds);
      },
      onConnect: (seconds: number): void => storeMetrics().connects.observe(seconds),
      onUnavailable: (code: string): void => storeMetrics().unavailable.inc({ code }),
    },
    watch(stats: () => Readonly<Record<string, number>>): void {
      storeMetrics();
      for (const name of Object.keys(stats())) {
        new Gauge({
          name: `store_${name}`,
          help: `Current value of the store: ${name.replaceAll('_', ' ')}`,
          registers,
          collect() {
            this.set(stats()[name] ?? 0);
          },
        });
      }
    },
  };
}
