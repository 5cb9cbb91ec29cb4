import { once } from 'node:events';
import autocannon, { type Result } from 'autocannon';
import type { Round } from './results.ts';

/** The requests to send: POST to `url`, one request at a time on each connection. */
export interface Order {
  readonly url: string;
  readonly token: string;
  readonly connections: number;
  readonly seconds: number;
}

export type Measured = Omit<Round, 'cpu'>;

let id = 0;

/** Sends requests. Each one has an id that this process has not used before. */
export async function fire({ url, token, connections, seconds }: Order): Promise<Measured> {
  const { host, pathname } = new URL(url);
  const head = [
    `POST ${pathname} HTTP/1.1`,
    `Host: ${host}`,
    'Connection: keep-alive',
    `Authorization: Bearer ${token}`,
    'Content-Type: application/json',
    'Content-Length: ',
  ].join('\r\n');
  const next = () => {
    id += 1;
    const body = `{"id":${id},"name":"Monstera deliciosa","tag":"tropical"}`;
    return `${head}${body.length}\r\n\r\n${body}`;
  };

  const times: number[] = [];
  let first = performance.now();
  let last = first;
  // autocannon's own ways to vary a body build the whole request again. That costs up to half of its speed.
  const setupClient = (client: object) => Object.assign(client, { getRequestBuffer: next });
  // A run ends at a multiple of "sampleInt" milliseconds.
  const run = autocannon({ url, connections, duration: seconds, sampleInt: 50, setupClient }, () => {});
  run.on('start', () => {
    first = performance.now();
  });
  run.on('response', (_client, _status, _bytes, milliseconds) => {
    times.push(milliseconds);
    last = performance.now();
  });
  const totals: Result = (await once(run, 'done'))[0];

  const sorted = Float64Array.from(times).sort();
  const percentile = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
  return {
    answered: totals['2xx'],
    failures: totals.non2xx + totals.errors,
    throughput: last > first ? (totals['2xx'] / (last - first)) * 1000 : 0,
    p50: percentile(0.5),
    p99: percentile(0.99),
  };
}
