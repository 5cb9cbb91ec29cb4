import { once } from 'node:events';
import autocannon, { type Client, type Result } from 'autocannon';

export interface Measured {
  readonly answered: number;
  readonly failures: number;
  /** Answers per second. */
  readonly throughput: number;
  /** Milliseconds within which half of the answers came, and 99 of 100. */
  readonly p50: number;
  readonly p99: number;
}

export const TOKEN = 'a-token-for-the-benchmark-only';
export const HEADERS = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' };

/** Requests that are made before each measurement: no plant is sent twice below this rate. */
const PREPARED_PER_SECOND = 50_000;

let id = 0;

/** POSTs plants to `url`, one request at a time on each connection. */
export async function fire(url: string, connections: number, seconds: number): Promise<Measured> {
  const each = Math.ceil((PREPARED_PER_SECOND * seconds) / connections);
  const request = () => ({ body: `{"id":${++id},"name":"Monstera deliciosa","tag":"tropical"}` });
  const setupClient = (client: Client) => client.setRequests(Array.from({ length: each }, request));
  // A run ends at a multiple of "sampleInt" milliseconds.
  const load = { url, connections, duration: seconds, sampleInt: 50, setupClient };
  const run = autocannon({ ...load, method: 'POST', headers: HEADERS }, () => {});
  const times: number[] = [];
  let first = Number.POSITIVE_INFINITY;
  let last = 0;
  run.on('start', () => {
    first = performance.now();
  });
  run.on('response', (_client, _status, _bytes, milliseconds) => {
    last = performance.now();
    // The first request of a connection waits until those of all are prepared.
    if (last - milliseconds >= first) times.push(milliseconds);
  });
  const totals: Result = (await once(run, 'done'))[0];
  const sorted = Float64Array.from(times).sort();
  const percentile = (share: number) => sorted[Math.ceil(share * sorted.length) - 1] ?? 0;
  return {
    answered: totals['2xx'],
    failures: totals.non2xx + totals.errors,
    throughput: (totals['2xx'] / (last - first)) * 1000,
    p50: percentile(0.5),
    p99: percentile(0.99),
  };
}
