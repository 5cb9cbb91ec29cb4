import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import autocannon, { type Client } from 'autocannon';

export interface Measurement {
  /** Responses per second. */
  readonly rate: number;
  readonly responses: number;
  /** The number of requests that failed: an error status, or no response. */
  readonly failures: number;
  /** Percentiles of the time to the response, in milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

/** Sends POST requests with new plants, one at a time on each connection. */
export type Load = (options: {
  readonly url: string;
  readonly connections: number;
  readonly seconds: number;
  readonly firstId: number;
}) => Promise<Measurement>;

export const TOKEN = 'a-token-for-the-benchmark-only';

export const HEADERS = {
  Authorization: `Bearer ${TOKEN}`,
  'Content-Type': 'application/json',
};

export const plantOf = (id: number): string =>
  `{"id":${id},"name":"Monstera deliciosa","tag":"tropical"}`;

/** wrk needs less CPU time than autocannon. */
export const hasWrk = (): boolean => spawnSync('wrk', ['--version']).error === undefined;

const useWrk: Load = async ({ url, connections, seconds, firstId }) => {
  const script = join(import.meta.dirname, 'wrk.lua');
  const args = ['-t1', `-c${connections}`, `-d${Math.ceil(seconds)}s`, '-s', script, url, '--'];
  const wrk = spawn('wrk', [...args, TOKEN, String(firstId)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const output = await text(wrk.stdout);
  const [, json] = /^RESULT (.*)$/m.exec(output) ?? [];
  if (json === undefined) throw new Error(`wrk printed no result:\n${output}`);
  const { responses, failures, microseconds, p50, p99 } = JSON.parse(json);
  return {
    rate: (responses / microseconds) * 1e6,
    responses,
    failures,
    p50: p50 / 1000,
    p99: p99 / 1000,
  };
};

/** The number of prepared requests per second. Below this rate, no plant is sent twice. */
const PREPARED_PER_SECOND = 50_000;

const useAutocannon: Load = async ({ url, connections, seconds, firstId }) => {
  const requestsPerConnection = Math.ceil((PREPARED_PER_SECOND * seconds) / connections);
  let connection = 0;
  // The ids of all connections are interleaved. With a block of ids for each connection, an insert
  // into a sorted index would take twice as long.
  const setupClient = (client: Client) => {
    const first = firstId + connection++;
    const idAt = (index: number) => first + index * connections;
    client.setRequests(
      Array.from({ length: requestsPerConnection }, (_, index) => ({ body: plantOf(idAt(index)) })),
    );
  };
  // A run ends at a multiple of "sampleInt" milliseconds.
  const options = { url, connections, duration: seconds, sampleInt: 50, setupClient };
  const run = autocannon({ ...options, method: 'POST', headers: HEADERS }, () => {});
  const times: number[] = [];
  let first = 0;
  let last = 0;
  run.on('response', (_client, _status, _bytes, milliseconds) => {
    last = performance.now();
    // Not measured: the first request of a connection waits until all requests are prepared.
    if (times.push(milliseconds) === connections) first = last;
  });
  const [totals] = await once(run, 'done');
  const sorted = times.slice(connections).sort((a, b) => a - b);
  const percentile = (share: number) => sorted[Math.ceil(share * sorted.length) - 1] ?? 0;
  return {
    rate: (sorted.length / Math.max(1, last - first)) * 1000,
    responses: times.length,
    failures: totals.non2xx + totals.errors,
    p50: percentile(0.5),
    p99: percentile(0.99),
  };
};

export const LOADS: Readonly<Record<'wrk' | 'autocannon', Load>> = {
  wrk: useWrk,
  autocannon: useAutocannon,
};
