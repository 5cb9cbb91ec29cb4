import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../test/support/free-port.ts';
import type { Contender } from './contenders/index.ts';
import type { Measured, Order } from './fire.ts';
import { type Cores, cpuSeconds, launch, residentMemory, stop } from './processes.ts';

const token = 'a-token-for-the-benchmark-only';
const startLimit = 20_000;

export interface Running {
  readonly contender: Contender;
  readonly url: string;
  /** Milliseconds from the start of the process to its first 200. */
  readonly started: number;
  /** Resident bytes, if the system tells. */
  memory(): number | undefined;
  /** CPU seconds of all threads, if the system tells. */
  cpu(): number | undefined;
  stop(): Promise<void>;
  /** Number of plants in its SQLite file, if it has one. */
  stored(): number | undefined;
}

/**
 * Starts a contender on a free port and checks its answers.
 *
 * @param folder the contender's own folder; created here
 * @throws {Error} with the end of the contender's output, after a wrong answer or none within 20 s
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
    if (contender.checks) await checkRejections(url);
    return {
      contender,
      url,
      started,
      memory: () => residentMemory(child.pid),
      cpu: () => cpuSeconds(child.pid),
      stop: () => stop(child),
      stored: () => (contender.database === undefined ? undefined : countPlants(`${folder}/${contender.database}`)),
    };
  } catch (error) {
    await stop(child);
    const tail = readFileSync(log, 'utf8').trim().split('\n').slice(-15).join('\n');
    throw new Error(`${contender.name} ${error instanceof Error ? error.message : error}\n${tail}`);
  }
}

/** The process that sends the requests. One process sends all of them, so that it is warm. */
export interface Load {
  fire(order: Omit<Order, 'token'>): Promise<Measured>;
  stop(): Promise<void>;
}

export function startLoad(cores: Cores | undefined): Load {
  const child = launch(fileURLToPath(new URL('./load.ts', import.meta.url)), cores?.load, {
    env: {},
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const ended = new AbortController();
  child.once('exit', () => ended.abort(new Error('The load process ended early.')));
  return {
    async fire(order) {
      const limit = AbortSignal.timeout(order.seconds * 1000 + startLimit);
      child.send({ ...order, token });
      const signal = AbortSignal.any([limit, ended.signal]);
      return (await once(child, 'message', { signal }))[0];
    },
    stop: () => stop(child),
  };
}

const plant = { id: -1, name: 'Monstera deliciosa', tag: 'tropical' };

/** Sends one plant again and again until the answer is 200. Resolves to the time of that answer. */
async function firstAnswer(url: string, child: ChildProcess): Promise<number> {
  const deadline = performance.now() + startLimit;
  for (let wait = 2; performance.now() < deadline; wait = 5) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error('ended before its first answer.');
    const response = await post(url, token, plant).catch(() => undefined);
    const now = performance.now();
    const text = await response?.text();
    if (response?.status === 200) {
      if (text === JSON.stringify({ name: plant.name, tag: plant.tag })) return now;
      throw new Error(`answered ${text} instead of the plant.`);
    }
    if (response !== undefined && response.status < 500) throw new Error(`answered ${response.status}: ${text}`);
    await sleep(wait);
  }
  throw new Error(`did not answer within ${startLimit / 1000} s.`);
}

/** A contender that checks nothing would be faster because it does less. */
async function checkRejections(url: string): Promise<void> {
  const cases = [
    { what: 'a request without a token', status: 401, response: await post(url, undefined, plant) },
    { what: 'a plant without a name', status: 400, response: await post(url, token, { id: 1 }) },
  ];
  for (const { what, status, response } of cases) {
    await response.arrayBuffer();
    if (response.status !== status) throw new Error(`answered ${response.status} to ${what}; expected ${status}.`);
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

function countPlants(file: string): number {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    return Number(database.prepare('SELECT count(*) AS count FROM plants').get()?.count);
  } finally {
    database.close();
  }
}
