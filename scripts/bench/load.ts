import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

/** A server that is loaded. */
export interface Target {
  readonly url: string;
  /** Returns the CPU time of all its threads in microseconds; NaN outside Linux. */
  cpu(): number;
}

export interface Measurement {
  /** Responses per second. */
  readonly rate: number;
  /** The number of requests that failed: an error status, or no response. */
  readonly failures: number;
  /** The 99th percentile of the time to the response, in milliseconds. */
  readonly p99: number;
  /** CPU time of the server for each request, in microseconds; NaN outside Linux. */
  readonly cpu: number;
}

export const TOKEN = 'a-token-for-the-benchmark-only';

export const HEADERS = {
  Authorization: `Bearer ${TOKEN}`,
  'Content-Type': 'application/json',
};

export const plantOf = (id: number): string =>
  `{"id":${id},"name":"Monstera deliciosa","tag":"tropical"}`;

/**
 * Sends POST requests with new plants, one at a time on each connection.
 *
 * @throws {Error} if wrk is not installed.
 */
export async function load(
  server: Target,
  options: { readonly connections: number; readonly seconds: number; readonly firstId: number },
): Promise<Measurement> {
  const { connections, seconds, firstId } = options;
  const script = join(import.meta.dirname, 'wrk.lua');
  const args = ['-t1', `-c${connections}`, `-d${Math.ceil(seconds)}s`, '-s', script, server.url];
  const before = server.cpu();
  const wrk = spawn('wrk', [...args, '--', TOKEN, String(firstId)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  wrk.on('error', (error) =>
    wrk.stdout.destroy(new Error('wrk must be installed', { cause: error })),
  );
  const output = await text(wrk.stdout);
  const cpu = server.cpu() - before;
  const [, json] = /^RESULT (.*)$/m.exec(output) ?? [];
  if (json === undefined) throw new Error(`wrk printed no result:\n${output}`);
  const { responses, failures, microseconds, p99 } = JSON.parse(json);
  return {
    rate: (responses / microseconds) * 1e6,
    failures,
    p99: p99 / 1000,
    cpu: cpu / responses,
  };
}
