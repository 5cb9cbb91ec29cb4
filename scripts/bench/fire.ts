import autocannon from 'autocannon';

/** What to do: POST to `url` over so many connections, one request at a time on each, for so many seconds. */
export interface Order {
  readonly url: string;
  readonly token: string;
  readonly connections: number;
  readonly seconds: number;
}

/** What was seen. Percentiles are in milliseconds, over every answer. */
export interface Seen {
  /** Answers 2xx. */
  readonly answered: number;
  /** Other answers, broken connections and timeouts. */
  readonly failures: number;
  /** Answers 2xx in a second. */
  readonly throughput: number;
  readonly p50: number;
  readonly p975: number;
  readonly p99: number;
}

let id = 0;

/** Fires, each request with an id that this process has not used yet. */
export async function fire({ url, token, connections, seconds }: Order): Promise<Seen> {
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
  const run = autocannon({
    url,
    connections,
    duration: seconds,
    sampleInt: 50,
    // autocannon's own ways to vary a body build the whole request anew and cost it up to half of its speed.
    setupClient: (client) => {
      client.getRequestBuffer = next;
    },
  });
  run.on('start', () => {
    first = performance.now();
  });
  run.on('response', (_client, _status, _bytes, milliseconds) => {
    times.push(milliseconds);
    last = performance.now();
  });
  const totals = await run;

  const sorted = Float64Array.from(times).sort();
  const percentile = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
  return {
    answered: totals['2xx'],
    failures: totals.non2xx + totals.errors,
    throughput: last > first ? (totals['2xx'] / (last - first)) * 1000 : 0,
    p50: percentile(0.5),
    p975: percentile(0.975),
    p99: percentile(0.99),
  };
}
