import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { openSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../../test/support/free-port.ts';
import type { Contender } from './contenders.ts';
import { HEADERS, TOKEN } from './load.ts';

const children: ChildProcess[] = [];
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

/** Puts this process on the last core. Returns the others; `undefined` without `taskset` or a second core. */
export function takeCore(): string | undefined {
  const last = availableParallelism() - 1;
  const taken = last > 0 && spawnSync('taskset', ['-acp', String(last), String(process.pid)]).status === 0;
  return taken ? `0-${last - 1}` : undefined;
}

/** Starts a contender. Resolves at its first 200. @throws {Error} with its output, after 20 s without one */
export async function start({ name, file, env }: Contender, log: string, cores: string | undefined) {
  const port = String(await freePort());
  const url = `http://127.0.0.1:${port}/plants`;
  const output = openSync(log, 'a');
  const pin = cores === undefined ? [] : ['taskset', '-c', cores];
  const [program = '', ...args] = [...pin, process.execPath, '--import', 'spec-first-server/compile-cache', file];
  const child = spawn(program, args, {
    env: { PATH: process.env.PATH, ...env, PORT: port, ACCESS_TOKENS: TOKEN },
    stdio: ['ignore', output, output],
  });
  children.push(child);
  const body = '{"id":0,"name":"Monstera deliciosa","tag":"tropical"}';
  const latest = performance.now() + 20_000;
  while (performance.now() < latest && child.exitCode === null) {
    const headers = { ...HEADERS, Connection: 'close' };
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
