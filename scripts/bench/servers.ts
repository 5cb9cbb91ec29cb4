import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { openSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import autocannon, { type Client, type Result } from 'autocannon';
import { freePort } from '../../test/support/free-port.ts';
import type { Contender } from './contenders.ts';

export const TOKEN = 'a-token-for-the-benchmark-only';
const HEADERS = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' };

/** Requests that are made before each measurement: no plant is sent twice below this rate. */
const PREPARED_PER_SECOND = 50_000;

let id = 0;
const newPlant = () => `{"id":${++id},"name":"Monstera deliciosa","tag":"tropical"}`;

/** Puts this process on the last core. Returns the others; `undefined` without `taskset` or a second core. */
export function takeCore(): string | undefined {
  const last = availableParallelism() - 1;
  const taken = last > 0 && spawnSync('taskset', ['-acp', String(last), String(process.pid)]).status === 0;
  return taken ? `0-${last - 1}` : undefined;
}

/** Starts a contender. Resolves at its first 200. @throws {Error} with its output, after a minute without one */
export async function start({ name, file, env }: Contender, log: string, cores?: string) {
  const port = String(await freePort());
  const url = `http://127.0.0.1:${port}/plants`;
  const output = openSync(log, 'a');
  const pin = cores === undefined ? [] : ['taskset', '-c', cores];
  const [program = '', ...args] = [...pin, process.execPath, '--import', 'spec-first-server/compile-cache', file];
  const child = spawn(program, args, {
    env: { PATH: process.env.PATH, ...env, PORT: port, ACCESS_TOKENS: TOKEN },
    stdio: ['ignore', output, output],
  });
  const end = () => child.kill('SIGKILL');
  process.on('exit', end);
  const server = { name, end, url, fire: (connections: number, seconds: number) => fire(url, connections, seconds) };
  const latest = performance.now() + 60_000;
  while (performance.now() < latest && child.exitCode === null) {
    const headers = { ...HEADERS, Connection: 'close' };
    const response = await fetch(url, { method: 'POST', headers, body: newPlant() }).catch(() => undefined);
    await response?.arrayBuffer();
    if (response?.status === 200) return server;
    await delay(10);
  }
  throw new Error(`${name} does not answer 200:\n${readFileSync(log, 'utf8').slice(-2_000)}`);
}

/** POSTs plants, one request at a time on each connection. Resolves to answers per second, and percentiles in milliseconds. */
async function fire(url: string, connections: number, seconds: number) {
  const each = Math.ceil((PREPARED_PER_SECOND * seconds) / connections);
  const setupClient = (client: Client) =>
    client.setRequests(Array.from({ length: each }, () => ({ body: newPlant() })));
  // A run ends at a multiple of "sampleInt" milliseconds.
  const load = { url, connections, duration: seconds, sampleInt: 50, setupClient };
  const run = autocannon({ ...load, method: 'POST', headers: HEADERS }, () => {});
  const times: number[] = [];
  let first = 0;
  let last = 0;
  run.on('response', (_client, _status, _bytes, milliseconds) => {
    last = performance.now();
    // The first request of each connection waits until those of all are prepared.
    if (times.push(milliseconds) === connections) first = last;
  });
  const totals: Result = (await once(run, 'done'))[0];
  const sorted = times.slice(connections).sort((a, b) => a - b);
  const percentile = (share: number) => sorted[Math.ceil(share * sorted.length) - 1] ?? 0;
  const throughput = (sorted.length / Math.max(1, last - first)) * 1000;
  return { failures: totals.non2xx + totals.errors, throughput, p50: percentile(0.5), p99: percentile(0.99) };
}
