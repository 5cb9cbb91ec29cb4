/**
 * Floods the service in different ways, one at a time. Measures the latency of requests of another
 * client, by default of `/healthz`, and the memory of the service. ATTACK_SECONDS is the length of each flood, ATTACK_ONLY a
 * pattern of their names. Needs about 10,100 open files (`ulimit -n`).
 */
import type { StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isMainThread, Worker, workerData } from 'node:worker_threads';
import { eventually } from 'test-support/eventually';
import { request } from 'test-support/raw-http';
import { endAll, launch, START } from '../support/launch.ts';

interface Flood {
  readonly name: string;
  readonly connections: number;
  /** Sent once on each connection. Closed connections are opened again. */
  readonly first?: string;
  /** Sent repeatedly, as fast as the service reads it. */
  readonly again?: string;
  /** True if the responses are not read. */
  readonly unread?: boolean;
  /** True if it floods the service in `costly`. */
  readonly costly?: boolean;
  /** The request of the other client, with the token of another caller. By default a probe. */
  readonly other?: { readonly path: string; readonly body: string };
}

/** Of the client that floods the service, and of another one. */
const ACCESS_TOKENS = 'ann:token,bob:other';

const JSON_TYPE = { 'Content-Type': 'application/json' };
const GOOD = { ...JSON_TYPE, Authorization: 'Bearer token' };
const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
/** A token that the service cannot verify, because its issuer does not respond. */
const UNVERIFIABLE = `${part({ alg: 'RS256', kid: 'a' })}.${part({ sub: 'a', exp: 4e9 })}.${'a'.repeat(340)}`;
const withLength = (length: number, headers = {}): string =>
  `POST /plants HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n${lines({ ...JSON_TYPE, ...headers })}\r\n`;
const inChunks = (headers = {}): string =>
  `POST /plants HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n${lines({ ...JSON_TYPE, ...headers })}\r\n`;
const lines = (headers: object): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
const head = (line: string, fields: object): string =>
  `${line} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n${lines(fields)}\r\n`;
const headers = (count: number, length: number): string =>
  Array.from({ length: count }, (_, index) => `${index}:${'x'.repeat(length)}\r\n`).join('');
const plants = (body: string, headers = GOOD): string => request('POST /plants', headers, body);

const FLOODS: readonly Flood[] = [
  { name: 'nothing', connections: 0 },
  {
    name: 'bodies of blank lines',
    connections: 50,
    first: withLength(1e12),
    again: '\r\n\r\n'.repeat(16_384),
  },

  {
    name: 'chunks of one byte',
    connections: 50,
    first: inChunks(),
    again: '1\r\n\n\r\n'.repeat(10_000),
  },

  {
    name: 'chunks of one byte during the verification of a token',
    connections: 300,
    first: inChunks({ Authorization: `Bearer ${UNVERIFIABLE}` }),
    again: '1\r\nx\r\n'.repeat(10_000),
  },
  {
    name: 'pipelined probes, unread',
    connections: 40,
    again: request('GET /healthz').repeat(500),
    unread: true,
  },

  {
    name: 'files of the page, unread',
    connections: 40,
    again: request('GET /docs/swagger-ui-bundle.js'),
    unread: true,
  },

  {
    name: 'wrong tokens',
    connections: 40,
    again: plants('{"id":1}', { ...JSON_TYPE, Authorization: 'Bearer x' }),
  },

  { name: 'bodies that are not JSON', connections: 40, again: plants('['.repeat(90_000)) },
  {
    name: 'plants with a long name',
    connections: 40,
    again: plants(`{"id":1,"name":"${'x'.repeat(90_000)}"}`),
  },

  { name: 'long headers', connections: 40, again: `GET / HTTP/1.1\r\n${'a:\r\n'.repeat(16_000)}` },

  { name: 'connections that send nothing', connections: 1_000 },
  {
    name: 'heads that do not end',
    connections: 5_000,
    first: `GET / HTTP/1.1\r\n${headers(900, 10)}`,
  },

  {
    name: 'bodies of 99 kB of many clients',
    connections: 3_000,
    again: plants(`{"id":1,"name":"${'x'.repeat(99_000)}"}`),
  },
  {
    name: 'plants with 9,500 further members',
    connections: 40,
    again: plants(
      `{"id":1,"name":"Fern"${Array.from({ length: 9_500 }, (_, index) => `,"${index}":1`).join('')}}`,
    ),
  },
  {
    name: 'plants with 12,000 large numbers',
    connections: 40,
    again: plants(`{"id":1,"name":"Fern","a":[${Array(12_000).fill('1e18').join()}]}`),
  },
  {
    name: 'plants with long paths in their errors',
    connections: 40,
    again: plants(`{"id":1,"name":{"${'x'.repeat(90_000)}":1}}`),
  },
  {
    name: 'forms of 17,000 fields',
    connections: 40,
    costly: true,
    again: request(
      'POST /form',
      { ...GOOD, 'Content-Type': 'application/x-www-form-urlencoded' },
      Array.from({ length: 17_000 }, (_, index) => `${index.toString(36)}=1`).join('&'),
    ),
  },
  {
    name: 'blank lines of a sequence',
    connections: 40,
    costly: true,
    first: `${head('POST /lines', { ...GOOD, 'Content-Type': 'application/jsonl' })}`,
    again: `${(65_536).toString(16)}\r\n${'\n'.repeat(65_536)}\r\n`,
  },

  {
    name: 'objects that match no alternative',
    connections: 40,
    costly: true,
    again: request('POST /shapes', GOOD, JSON.stringify(Array(2_000).fill({}))),
  },
  {
    name: 'empty objects while the handler waits',
    connections: 600,
    costly: true,
    first: request('POST /waiting', GOOD, `[${Array(33_000).fill('{}').join()}]`),
    other: { path: '/lists', body: '[{}]' },
  },

  {
    name: 'bodies of 100 kB in chunks of one byte while the handler waits',
    connections: 90,
    costly: true,
    first: `${head('POST /waiting', GOOD)}${'1\r\n1\r\n'.repeat(100_000)}0\r\n\r\n`,
  },
  {
    name: 'ten connections of one caller, against another one',
    connections: 10,
    costly: true,
    again: request('POST /lists', GOOD, JSON.stringify(Array(33_000).fill({}))),
    other: { path: '/lists', body: '[{}]' },
  },
  { name: 'connections that close', connections: 40, first: 'GET', again: ' ' },
];

/** Options for a service that starts as with `npm start`. */
const AS_SHIPPED = {
  node: START,
  stdio: ['ignore', 'pipe', 'inherit'] satisfies StdioOptions,
};

const COSTLY = join(import.meta.dirname, 'costly');

if (isMainThread) await attack();
else
  for (let index = 0; index < workerData.flood.connections; index += 1)
    flood(workerData.flood, workerData.port);

/** Floods from a worker thread, so the measurements are not delayed. */
function flood(kind: Flood, port: number): void {
  const { first = '', again, unread = false } = kind;
  const socket = connect(port, '127.0.0.1');
  const send = (): void => {
    while (again !== undefined && !socket.destroyed && socket.write(again, 'latin1'));
  };
  socket.on('error', () => undefined);
  socket.on('close', () => setTimeout(flood, 10, kind, port));
  socket.on('drain', send);
  socket.once('connect', () => {
    if (first !== '') socket.write(first, 'latin1');
    send();
  });
  if (!unread) socket.resume();
}

async function attack(): Promise<void> {
  const seconds = Number(process.env.ATTACK_SECONDS ?? 3);
  const chosen = new RegExp(process.env.ATTACK_ONLY ?? '');
  const stalled = createServer((socket) => void socket.on('error', () => undefined)).listen(
    0,
    '127.0.0.1',
  );
  await once(stalled, 'listening');
  const address = stalled.address();
  const rows: Record<string, object> = {};
  let passed = true;
  for (const kind of FLOODS.filter(({ name }) => chosen.test(name))) {
    const issuer = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/`;
    const service = kind.costly
      ? launch(
          { ACCESS_TOKENS, OPENAPI_FILE: `${COSTLY}/openapi.yaml` },
          {
            ...AS_SHIPPED,
            main: `${COSTLY}/service.ts`,
          },
        )
      : launch({ ACCESS_TOKENS, JWKS_URL: issuer }, AS_SHIPPED);
    const { port } = new URL(await service.url);
    const { path, body } = { path: '/healthz', body: undefined, ...kind.other };
    const probe = async () => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { ...JSON_TYPE, Authorization: 'Bearer other' },
        body,
        signal: AbortSignal.timeout(20_000),
      }).catch(() => undefined);
      await response?.arrayBuffer();
      return response?.ok;
    };
    for (let warm = 0; warm < 20; warm += 1) await probe();
    const descriptors = () => readdirSync(`/proc/${service.pid}/fd`).length;
    const before = descriptors();
    const flooder = new Worker(new URL(import.meta.url), {
      workerData: { flood: kind, port: Number(port) },
    });
    const times: number[] = [];
    let mebibytes = 0;
    for (const end = performance.now() + seconds * 1000; performance.now() < end; await delay(10)) {
      const started = performance.now();
      const healthy = await probe();
      times.push(healthy ? performance.now() - started : Number.POSITIVE_INFINITY);
      const [, kibibytes] =
        /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${service.pid}/status`, 'utf8')) ?? [];
      mebibytes = Math.round(Number(kibibytes) / 1024);
    }
    await flooder.terminate();
    // The service may have a connection to the server of keys.
    const isClean = await eventually(() => descriptors() <= before + 1).then(
      () => true,
      () => false,
    );
    service.child.kill('SIGKILL');
    const sorted = times.toSorted((a, b) => a - b);
    const percentile = (share: number) =>
      Number(sorted[Math.ceil(share * sorted.length) - 1]?.toFixed(1));
    const ok = percentile(0.99) <= 100 && mebibytes < 300 && isClean;
    rows[kind.name] = {
      'p50 ms': percentile(0.5),
      'p99 ms': percentile(0.99),
      'peak MiB': mebibytes,
      'connections are closed': isClean,
      ok,
    };
    console.error(kind.name, rows[kind.name]);
    passed &&= ok;
  }
  console.table(rows);
  await endAll();
  stalled.close();
  process.exit(passed ? 0 : 1);
}
