import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { openSync, readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from 'test-support/free-port';
import type { Contender } from './contenders.ts';
import { HEADERS, plantOf, type Target, TOKEN } from './load.ts';

export interface Server extends Target {
  readonly name: string;
  end(): Promise<void>;
}

/** The maximum time until a contender answers 200, in milliseconds. */
const START_MS = 60_000;

/** The command of `npm start`. It starts each contender. */
const START = 'node_modules/.bin/spec-first-server';

/**
 * Moves this process to the last core. Returns the first core, for the servers; `undefined` without
 * `taskset` or a second core.
 */
export function takeCore(): string | undefined {
  const last = availableParallelism() - 1;
  const args = ['-acp', String(last), String(process.pid)];
  const isMoved = last > 0 && spawnSync('taskset', args).status === 0;
  return isMoved ? '0' : undefined;
}

/**
 * Starts a contender. Resolves when it answers 200.
 *
 * @throws {Error} with its output, if it ends or does not answer 200 within a minute.
 */
export async function start(
  { name, file, env }: Contender,
  folder: string,
  core?: string,
): Promise<Server> {
  const port = String(await freePort());
  const url = `http://127.0.0.1:${port}/plants`;
  const log = join(folder, `${port}.log`);
  const output = openSync(log, 'a');
  const pin = core === undefined ? [] : ['taskset', '-c', core];
  const [program = '', ...args] = [...pin, START, file];
  const child = spawn(program, args, {
    env: {
      PATH: process.env.PATH,
      NODE_ENV: 'production',
      ...env,
      PORT: port,
      ACCESS_TOKENS: TOKEN,
    },
    stdio: ['ignore', output, output],
  });
  const kill = () => child.kill('SIGKILL');
  process.on('exit', kill);
  const server: Server = {
    name,
    url,
    cpu: () => cpuTime(child.pid),
    async end() {
      const ended = once(child, 'exit');
      kill();
      await ended;
      process.off('exit', kill);
    },
  };
  const deadline = performance.now() + START_MS;
  while (performance.now() < deadline && child.exitCode === null) {
    if (await answers(url)) return server;
    await delay(10);
  }
  throw new Error(`${name} does not answer 200:\n${readFileSync(log, 'utf8').slice(-2_000)}`);
}

async function answers(url: string): Promise<boolean> {
  const headers = { ...HEADERS, Connection: 'close' };
  const request = fetch(url, { method: 'POST', headers, body: plantOf(0) });
  const response = await request.catch(() => undefined);
  await response?.arrayBuffer();
  return response?.status === 200;
}

/** Linux counts the nanoseconds of each thread. */
function cpuTime(pid: number | undefined): number {
  try {
    const tasks = `/proc/${pid}/task`;
    const times = readdirSync(tasks).map((thread) =>
      Number(readFileSync(`${tasks}/${thread}/schedstat`, 'utf8').split(' ')[0]),
    );
    return times.reduce((sum, time) => sum + time, 0) / 1000;
  } catch {
    return NaN;
  }
}
