import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from 'test-support/eventually';
import { freePort } from 'test-support/free-port';
import {
  childrenOf,
  endAll,
  isRunning,
  type Launched,
  launch,
  PROJECT,
  post,
  postAlmost,
} from '../support/launch.ts';

const folder = mkdtempSync(join(tmpdir(), 'plants-cluster-'));
afterAll(async () => {
  await endAll();
  rmSync(folder, { recursive: true });
});

/**
 * The documented primary, with two workers. On SIGUSR2, it disconnects a worker. On SIGALRM, it
 * is busy while clients connect and a worker stops.
 */
const PRIMARY = join(folder, 'cluster.ts');
writeFileSync(
  PRIMARY,
  `${readFileSync(join(PROJECT, 'docs/operating/cluster.ts'), 'utf8')
    .replace('WORKERS = 4', 'WORKERS = 2')
    .replace('METRICS_PORT + index', '0')}
cluster.on('exit', ({ process: { pid } }, code, signal) =>
  console.log(JSON.stringify({ msg: 'worker ended', worker: pid, code, signal })));
process.on('SIGUSR2', () => {
  Object.values(cluster.workers)[0].disconnect();
  console.log('{"msg":"disconnected"}');
});
process.on('SIGALRM', () => {
  console.log('{"msg":"busy"}');
  const beBusy = (milliseconds) => {
    const end = Date.now() + milliseconds;
    while (Date.now() < end);
  };
  beBusy(500);
  Object.values(cluster.workers)[0].process.kill('SIGTERM');
  beBusy(1_500);
});
`,
);

const TOKENS = join(folder, 'tokens');
writeFileSync(TOKENS, 'token');

async function launchTwo(): Promise<{ readonly primary: Launched; readonly url: string }> {
  const port = String(await freePort());
  const primary = launch({ ACCESS_TOKENS_FILE: TOKENS, PORT: port }, { main: PRIMARY });
  await eventually(() => starts(primary).length === 2);
  return { primary, url: `http://127.0.0.1:${port}` };
}

const starts = (primary: Launched) => primary.lines().filter(({ msg }) => msg === 'listening');
const ends = (primary: Launched) => primary.lines().filter(({ msg }) => msg === 'worker ended');

/** Sends plants until the returned function is called, which resolves to the statuses. */
function sendPlants(url: string): () => Promise<Set<number>> {
  const statuses = new Set<number>();
  let isStopped = false;
  const client = async (): Promise<void> => {
    while (!isStopped) statuses.add(await post(url, { id: 1, name: 'Fern' }));
  };
  const clients = Promise.all([client(), client(), client(), client()]);
  return async () => {
    isStopped = true;
    await clients;
    return statuses;
  };
}

describe('workers of one primary', () => {
  let primary: Launched;
  let url = '';
  beforeAll(async () => {
    ({ primary, url } = await launchTwo());
  });

  test('have separate ports for metrics', async () => {
    for (let id = 0; id < 10; id += 1) {
      expect(await post(url, { id, name: 'Fern' })).toBe(200);
    }
    const counts = await Promise.all(
      starts(primary).map(async ({ metrics }) => {
        const text = await (await fetch(String(metrics))).text();
        return Number(/^http_requests_total\{operation="createPlant".*\} (\d+)$/m.exec(text)?.[1]);
      }),
    );
    expect(counts).toHaveLength(2);
    expect(Math.min(...counts)).toBeGreaterThan(0);
    expect(counts.reduce((sum, count) => sum + count)).toBe(10);
  });

  test('read the file of tokens again when the primary gets SIGHUP', async () => {
    primary.child.kill('SIGHUP');
    const reloads = () => primary.lines().filter(({ msg }) => msg === 'access tokens read again');
    await eventually(() => reloads().length === 2);
    expect(await post(url, { id: 1, name: 'Fern' })).toBe(200);
    expect(ends(primary)).toEqual([]);
  });

  test('finish their requests on SIGTERM and SIGINT, and are replaced', async () => {
    for (const [index, signal] of (['SIGTERM', 'SIGINT'] as const).entries()) {
      const finish = sendPlants(url);
      process.kill(childrenOf(primary.pid)[0] ?? 0, signal);
      await eventually(() => ends(primary).length === index + 1);
      expect(await finish()).toEqual(new Set([200]));
      await eventually(() => starts(primary).length === index + 3);
    }
    expect(ends(primary)).toMatchObject([
      { code: 0, signal: null },
      { code: 0, signal: null },
    ]);
  });

  test('finish their requests when they are disconnected, and exit', async () => {
    const sendRest = await Promise.all(
      [1, 2, 3, 4].map((id) => postAlmost(url, { id, name: 'Fern' })),
    );
    primary.child.kill('SIGUSR2');
    await primary.line(({ msg }) => msg === 'disconnected');
    for (const response of await Promise.all(sendRest.map((send) => send()))) {
      expect(response).toMatch(/^HTTP\/1\.1 200 /);
    }
    await eventually(() => ends(primary).length === 3);
    expect(ends(primary).at(-1)).toMatchObject({ code: 0, signal: null });
  });

  test('finish requests that the primary sends them while they stop', async () => {
    await eventually(() => starts(primary).length === 5);
    primary.child.kill('SIGALRM');
    await primary.line(({ msg }) => msg === 'busy');
    const plants = [1, 2, 3, 4, 5, 6].map((id) => post(url, { id, name: 'Fern' }));
    expect(new Set(await Promise.all(plants))).toEqual(new Set([200]));
    await eventually(() => ends(primary).length === 4);
    expect(ends(primary).at(-1)).toMatchObject({ code: 0, signal: null });
  });

  test('lose no request when they are all killed at once: its client gets an error', async () => {
    await eventually(() => starts(primary).length === 6);
    const sendAll = async (): Promise<unknown> => {
      const plants = Array.from({ length: 30 }, (_, id) => post(url, { id, name: 'Fern' }));
      return Promise.allSettled(plants);
    };
    for (let round = 0; round < 3; round += 1) {
      const [first, second] = [sendAll(), sendAll()];
      for (const worker of childrenOf(primary.pid)) process.kill(worker, 'SIGKILL');
      // A lost request would never settle.
      await Promise.all([first, second, sendAll()]);
      await eventually(() => starts(primary).length === 8 + 2 * round);
    }
  });

  test('end when the primary is stopped', async () => {
    // A signal ends a worker that is still starting.
    await eventually(() => starts(primary).length === 12);
    const endedBefore = ends(primary).length;
    primary.child.kill('SIGTERM');
    expect(await primary.exit).toBe(0);
    const codes = ends(primary).map(({ code }) => code);
    expect(codes.slice(endedBefore)).toEqual([0, 0]);
  });
});

test('all workers end when the primary is killed', async () => {
  const { primary } = await launchTwo();
  const workers = childrenOf(primary.pid);
  expect(workers).toHaveLength(2);
  primary.child.kill('SIGKILL');
  await eventually(() => !workers.some(isRunning));
});
