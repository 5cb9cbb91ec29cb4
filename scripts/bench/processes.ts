import { type ChildProcess, type StdioOptions, spawn, spawnSync } from 'node:child_process';
import { openSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../../test/support/free-port.ts';
import type { Contender } from './contenders.ts';

export const TOKEN = 'a-token-for-the-benchmark-only';

const children: ChildProcess[] = [];
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

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
  const output = openSync(log, 'a');
  const child = run(file, cores, { ...env, PORT: String(port), ACCESS_TOKENS: TOKEN }, ['ignore', output, output]);
  const headers = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json', Connection: 'close' };
  const body = '{"id":0,"name":"Monstera deliciosa","tag":"tropical"}';
  const latest = performance.now() + 20_000;
  while (performance.now() < latest && child.exitCode === null) {
    const response = await fetch(url, { method: 'POST', headers, body }).catch(() => undefined);
    await response?.arrayBuffer();
    if (response?.status === 200) return { name, url, cpu: () => cpuOf(child), end: () => child.kill('SIGKILL') };
    await delay(10);
  }
  throw new Error(`${name} does not answer 200:\n${readFileSync(log, 'utf8').slice(-2_000)}`);
}

/** CPU seconds of all threads of a process: user and system time, in ticks of 10 ms (proc(5)); NaN where there is no /proc. */
function cpuOf({ pid }: ChildProcess): number {
  if (process.platform !== 'linux') return NaN;
  const [, user, system] = /\) \S+(?: \S+){10} (\d+) (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
  return (Number(user) + Number(system)) / 100;
}
