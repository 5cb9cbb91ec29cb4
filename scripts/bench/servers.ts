import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../test/support/free-port.ts';
import type { Contender } from './contenders/index.ts';
import type { Order, Seen } from './fire.ts';

/** The token that every contender is started with. */
export const token = 'a-token-for-the-benchmark-only';

const startLimit = 20_000;
const stopLimit = 5_000;
const children = new Set<ChildProcess>();

/** Ends every process that was started here, at once. Safe in an `exit` listener. */
export function killAll(): void {
  for (const child of children) child.kill('SIGKILL');
}

/** Which cores the servers and the load run on; `undefined` where there is no `taskset`, or no core for each. */
export interface Cores {
  readonly servers: string;
  readonly load: string;
}

/** The last core for the load, all others for the servers. */
export function splitCores(): Cores | undefined {
  const last = availableParallelism() - 1;
  if (last < 1) return undefined;
  const cores = { servers: last === 1 ? '0' : `0-${last - 1}`, load: String(last) };
  const works = Object.values(cores).every((list) => spawnSync('taskset', ['-c', list, 'true']).status === 0);
  return works ? cores : undefined;
}

export interface Running {
  readonly contender: Contender;
  readonly url: string;
  /** Milliseconds from the start of the process to its first 200. */
  readonly started: number;
  /** Resident memory in bytes; `undefined` where the system has no /proc. */
  memory(): number | undefined;
  /** Seconds that all threads of the process have computed; `undefined` where the system has no /proc. */
  computed(): number | undefined;
  stop(): Promise<void>;
  /** How many plants its SQLite file holds; `undefined` if it has none. */
  stored(): number | undefined;
}

/**
 * Starts a contender on a free port and sees that it serves as it should.
 *
 * @param folder its own; made here
 * @throws {Error} with the end of its output, if it does not answer in 20 s or not as it should
 */
export async function start(contender: Contender, folder: string, cores: Cores | undefined): Promise<Running> {
  mkdirSync(folder, { recursive: true });
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/plants`;
  const log = `${folder}/output.log`;
  const output = openSync(log, 'a');
  const began = performance.now();
  const child = launch(contender.file, cores?.servers, {
    env: { PORT: String(port), ACCESS_TOKENS: token, NODE_ENV: 'production', ...contender.env(folder) },
    stdio: ['ignore', output, output],
  });
  closeSync(output);
  try {
    const started = (await firstAnswer(url, child)) - began;
    if (contender.checks) await seesChecks(url);
    return {
      contender,
      url,
      started,
      memory: () => residentMemory(child.pid),
      computed: () => computingTime(child.pid),
      stop: () => stop(child),
      stored: () => (contender.database === undefined ? undefined : countPlants(`${folder}/${contender.database}`)),
    };
  } catch (error) {
    await stop(child);
    const tail = readFileSync(log, 'utf8').trim().split('\n').slice(-15).join('\n');
    throw new Error(`${contender.name} ${error instanceof Error ? error.message : error}\n${tail}`);
  }
}

/** The process that fires; one for the whole run, so that it is warm. */
export interface Load {
  fire(order: Omit<Order, 'token'>): Promise<Seen>;
  stop(): Promise<void>;
}

export function startLoad(cores: Cores | undefined): Load {
  const child = launch(fileURLToPath(new URL('./load.ts', import.meta.url)), cores?.load, {
    env: {},
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  return {
    async fire(order) {
      const ended = new AbortController();
      const limit = AbortSignal.timeout(order.seconds * 1000 + startLimit);
      const exited = once(child, 'exit', { signal: ended.signal }).then(() => {
        throw new Error('The load process ended early.');
      });
      try {
        child.send({ ...order, token });
        const [seen]: Seen[] = await Promise.race([once(child, 'message', { signal: limit }), exited]);
        if (seen === undefined) throw new Error('The load process sent nothing.');
        return seen;
      } finally {
        exited.catch(() => {});
        ended.abort();
      }
    },
    stop: () => stop(child),
  };
}

function launch(
  file: string,
  cores: string | undefined,
  { env, stdio }: { env: Record<string, string>; stdio: ('ignore' | 'inherit' | 'ipc' | number)[] },
): ChildProcess {
  const pin = cores === undefined ? [] : ['taskset', '-c', cores];
  const [program = process.execPath, ...args] = [...pin, process.execPath, file];
  const child = spawn(program, args, { env: { PATH: process.env.PATH, ...env }, stdio });
  children.add(child);
  child.once('exit', () => children.delete(child));
  return child;
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  const force = setTimeout(() => child.kill('SIGKILL'), stopLimit);
  await exited;
  clearTimeout(force);
}

const plant = { id: -1, name: 'Monstera deliciosa', tag: 'tropical' };

/** Posts one plant until it is taken. Resolves to the time of the first 200. */
async function firstAnswer(url: string, child: ChildProcess): Promise<number> {
  const deadline = performance.now() + startLimit;
  for (let wait = 2; performance.now() < deadline; wait = 5) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error('ended before it answered.');
    const answer = await post(url, token, plant).catch(() => undefined);
    if (answer?.status === 200) {
      const now = performance.now();
      const body = await answer.text();
      if (body !== JSON.stringify({ name: plant.name, tag: plant.tag })) {
        throw new Error(`answered ${body} instead of the plant.`);
      }
      return now;
    }
    const text = await answer?.text();
    if (answer !== undefined && answer.status < 500) throw new Error(`answered ${answer.status}: ${text}`);
    await sleep(wait);
  }
  throw new Error(`did not answer within ${startLimit / 1000} s.`);
}

/** A contender that lets everything pass would win by not doing the work. */
async function seesChecks(url: string): Promise<void> {
  const cases = [
    { what: 'a request without a token', status: 401, answer: await post(url, undefined, plant) },
    { what: 'a plant without a name', status: 400, answer: await post(url, token, { id: 1 }) },
  ];
  for (const { what, status, answer } of cases) {
    await answer.arrayBuffer();
    if (answer.status !== status) throw new Error(`answered ${answer.status} to ${what}, where ${status} is right.`);
  }
}

function post(url: string, credentials: string | undefined, body: object): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Connection: 'close',
      ...(credentials !== undefined && { Authorization: `Bearer ${credentials}` }),
    },
    body: JSON.stringify(body),
  });
}

function residentMemory(pid: number | undefined): number | undefined {
  try {
    const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
  } catch {
    return undefined;
  }
}

function computingTime(pid: number | undefined): number | undefined {
  try {
    // proc_pid_stat(5): utime and stime are fields 14 and 15, in ticks of 10 ms; field 2 may hold spaces and brackets.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) / 100;
  } catch {
    return undefined;
  }
}

function countPlants(file: string): number {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    return Number(database.prepare('SELECT count(*) AS count FROM plants').get()?.count);
  } finally {
    database.close();
  }
}
