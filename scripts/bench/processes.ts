import { type ChildProcess, type StdioOptions, spawn, spawnSync } from 'node:child_process';
import { existsSync, openSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../../test/support/free-port.ts';
import type { Contender } from './contenders.ts';

export const TOKEN = 'a-token-for-the-benchmark-only';

const children: ChildProcess[] = [];
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

const PLANT = '{"id":0,"name":"Monstera deliciosa","tag":"tropical"}';

/** The last core for the load, the others for the servers; `undefined` without `taskset` or a second core. */
export function splitCores(): { readonly servers: string; readonly load: string } | undefined {
  const last = availableParallelism() - 1;
  if (last < 1 || spawnSync('taskset', ['-c', String(last), 'true']).status !== 0) return undefined;
  return { servers: `0-${last - 1}`, load: String(last) };
}

/** Runs a program of Node, on the given cores if there are any, until this process ends. */
export function run(file: string, cores: string | undefined, env: Contender['env'], stdio: StdioOptions): ChildProcess {
  const pin = cores === undefined ? [] : ['taskset', '-c', cores];
  const [program = '', ...args] = [...pin, process.execPath, '--import', 'spec-first-server/compile-cache', file];
  const child = spawn(program, args, { env: { PATH: process.env.PATH, ...env }, stdio });
  children.push(child);
  return child;
}

/** Starts a contender. Resolves at its first 200. @throws {Error} with its output, after 20 s without one */
export async function start({ name, file, env }: Contender, log: string, cores: string | undefined) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/plants`;
  const began = performance.now();
  const output = openSync(log, 'a');
  const variables = { ...env, PORT: String(port), ACCESS_TOKENS: TOKEN };
  const child = run(file, cores, variables, ['ignore', output, output]);
  const headers = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json', Connection: 'close' };
  while (performance.now() < began + 20_000 && child.exitCode === null) {
    const response = await fetch(url, { method: 'POST', headers, body: PLANT }).catch(() => undefined);
    const startMs = performance.now() - began;
    await response?.arrayBuffer();
    if (response?.status === 200) return { url, startMs, ...usageOf(child), end: () => child.kill('SIGKILL') };
    await delay(3);
  }
  throw new Error(`${name} does not answer 200:\n${readFileSync(log, 'utf8').slice(-2_000)}`);
}

/** What Linux tells of a process (proc(5)); NaN on other systems. */
function usageOf({ pid }: ChildProcess) {
  const numbers = (file: string, pattern: RegExp): number[] => {
    const text = existsSync('/proc/self/stat') ? readFileSync(`/proc/${pid}/${file}`, 'utf8') : '';
    return (pattern.exec(text) ?? []).slice(1).map(Number);
  };
  return {
    /** CPU seconds of all threads: user and system time, in ticks of 10 ms. */
    cpu(): number {
      const [user = NaN, system = NaN] = numbers('stat', /\) \S+(?: \S+){10} (\d+) (\d+)/);
      return (user + system) / 100;
    },
    /** Resident MiB. */
    memory: (): number => (numbers('status', /^VmRSS:\s+(\d+) kB$/m)[0] ?? NaN) / 1024,
  };
}
