import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from '@jest/globals';
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
afterEach(endAll);
afterAll(() => rmSync(folder, { recursive: true }));

/** The documented primary, with two workers. On SIGUSR2, it disconnects a worker. */
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
`,
);

async function launchTwo(): Promise<{ readonly primary: Launched; readonly url: string }> {
  const port = String(await freePort());
  const primary = launch({ ACCESS_TOKENS: 'token', PORT: port }, { main: PRIMARY });
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

test('a worker finishes its requests on SIGTERM and SIGINT, and the primary replaces it', async () => {
  const { primary, url } = await launchTwo();
  const finish = sendPlants(url);
  for (const [index, signal] of (['SIGTERM', 'SIGINT'] as const).entries()) {
    process.kill(childrenOf(primary.pid)[0] ?? 0, signal);
    await eventually(() => ends(primary).length === index + 1);
    await eventually(() => starts(primary).length === index + 3);
  }
  expect(await finish()).toEqual(new Set([200]));
  expect(ends(primary)).toMatchObject([
    { code: 0, signal: null },
    { code: 0, signal: null },
  ]);
});

test('a disconnected worker finishes its requests and exits', async () => {
  const { primary, url } = await launchTwo();
  const sendRest = await Promise.all(
    [1, 2, 3, 4].map((id) => postAlmost(url, { id, name: 'Fern' })),
  );
  primary.child.kill('SIGUSR2');
  await primary.line(({ msg }) => msg === 'disconnected');
  for (const response of await Promise.all(sendRest.map((send) => send()))) {
    expect(response).toMatch(/^HTTP\/1\.1 200 /);
  }
  await eventually(() => ends(primary).length === 1);
  expect(ends(primary)).toMatchObject([{ code: 0, signal: null }]);
});

test('each worker has a separate port for metrics', async () => {
  const { primary, url } = await launchTwo();
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

test('all workers end when the primary is stopped, or killed', async () => {
  const [stopped, killed] = await Promise.all([launchTwo(), launchTwo()]);
  stopped.primary.child.kill('SIGTERM');
  expect(await stopped.primary.exit).toBe(0);
  expect(ends(stopped.primary)).toMatchObject([{ code: 0 }, { code: 0 }]);
  const workers = childrenOf(killed.primary.pid);
  killed.primary.child.kill('SIGKILL');
  await eventually(() => !workers.some(isRunning));
});
