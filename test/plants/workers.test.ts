import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { childrenOf, endAll, isRunning, type Launched, launch, post, postAlmost } from '../support/launch.ts';
import { plantsIn } from './support/plant-service.ts';

const folder = mkdtempSync(join(tmpdir(), 'plants-workers-'));
afterEach(endAll);
afterAll(() => rmSync(folder, { recursive: true }));

let database = '';
let files = 0;
beforeEach(() => {
  files += 1;
  database = join(folder, `${files}.db`);
});

const launchTwo = (env: Record<string, string> = {}, options = {}): Launched =>
  launch({ WORKERS: '2', ACCESS_TOKENS: 'token', DATABASE_URL: `sqlite:${database}`, ...env }, options);

/** Waits until no worker is ready. */
async function draining(url: string): Promise<void> {
  const ready = () => fetch(`${url}/readyz`, { headers: { Connection: 'close' } });
  await eventually(async () =>
    (await Promise.all([ready(), ready(), ready(), ready()])).every(({ status }) => status === 503),
  );
}

/** What holds a worker right before it listens: after `hold`, the next one that comes so far, until `release`. */
function holder() {
  const name = `hold-${files}`;
  const order = join(folder, name);
  const waiting = `import cluster from 'node:cluster';
    import { existsSync, renameSync } from 'node:fs';
    import { Server } from 'node:net';
    const { listen } = Server.prototype;
    Server.prototype.listen = function (...args) {
      const order = ${JSON.stringify(order)};
      const held = order + '.' + process.pid;
      try {
        if (cluster.isWorker) renameSync(order, held);
      } catch {}
      const go = () => existsSync(held) ? setTimeout(go, 10) : listen.apply(this, args);
      go();
      return this;
    };`;
  const isHeld = (file: string): boolean => file.startsWith(`${name}.`);
  return {
    flags: ['--import', `data:text/javascript,${encodeURIComponent(waiting)}`],
    hold: () => writeFileSync(order, ''),
    /** Resolves to the worker that is held. */
    async held(): Promise<number> {
      await eventually(() => readdirSync(folder).some(isHeld));
      return Number(readdirSync(folder).find(isHeld)?.split('.')[1]);
    },
    release() {
      for (const file of readdirSync(folder)) if (isHeld(file)) rmSync(join(folder, file));
    },
  };
}

/** Posts a plant often enough for each of two workers. */
const sixTimes = (url: string, token: string): Promise<number[]> =>
  Promise.all([1, 2, 3, 4, 5, 6].map(() => post(url, { id: 1, name: 'Fern' }, token)));

describe('several workers', () => {
  test('share one port, one token and one SQLite file, which keeps a plant once; their log lines do not mix', async () => {
    const service = launchTwo({ ACCESS_TOKENS: '' });
    const url = await service.url;
    const token = String(service.lines()[0]?.token);
    expect(childrenOf(service.pid)).toHaveLength(2);
    for (let id = 1; id <= 20; id += 1) {
      const statuses = await Promise.all(Array.from({ length: 8 }, () => post(url, { id, name: 'Fern' }, token)));
      expect(new Set(statuses)).toEqual(new Set([200]));
    }
    service.child.kill('SIGTERM');
    expect(await service.exit).toBe(0);
    const stored = new DatabaseSync(database, { readOnly: true });
    expect(stored.prepare('SELECT count(*) AS plants FROM plants').get()).toEqual({ plants: 20 });
    stored.close();
    expect(service.lines().filter(({ operationId }) => operationId === 'createPlant')).toHaveLength(160);
    const others = service.lines().filter(({ operationId }) => operationId === undefined);
    expect(others.map(({ msg }) => msg)).toEqual(['listening', 'stopping', 'stopped']);
  });

  test('serve on when one is killed, which is replaced after a pause that grows if it ends at once', async () => {
    const service = launchTwo();
    const url = await service.url;
    let [victim = 0] = childrenOf(service.pid);
    for (const [round, pauseMs] of [500, 1000].entries()) {
      process.kill(victim, 'SIGKILL');
      const died = await service.line(({ msg, worker }) => msg === 'a worker died' && worker === victim);
      expect(died).toMatchObject({ level: 50, exit: 'SIGKILL', pauseMs });
      expect(await post(url, { id: round, name: 'Fern' })).toBe(200);
      const replaced = await service.line(({ msg, worker }) => /took its place/.test(String(msg)) && worker !== victim);
      victim = Number(replaced.worker);
      expect(childrenOf(service.pid)).toHaveLength(2);
      expect(childrenOf(service.pid)).toContain(victim);
    }
    process.kill(victim, 'SIGKILL');
    await service.line(({ worker, pauseMs }) => worker === victim && pauseMs === 2000);
    // A stop does not wait for the next one.
    service.child.kill('SIGTERM');
    expect(await service.exit).toBe(0);
  });

  test.each([
    ['SIGTERM to the first', (pid: number) => process.kill(pid, 'SIGTERM')],
    ['Ctrl-C, which reaches all,', (pid: number) => process.kill(-pid, 'SIGINT')],
  ])('stop by %s: readiness falls, requests in flight are finished, all end with 0', async (_what, signal) => {
    const service = launchTwo({ DRAIN_SECONDS: '2' }, { detached: true });
    const url = await service.url;
    const workers = childrenOf(service.pid);
    const finish = await Promise.all([1, 2, 3].map((id) => postAlmost(url, { id, name: 'Fern' })));
    signal(service.pid);
    await draining(url);
    // Node's cluster can keep a connection of this very moment until the end: it is not waited for.
    await eventually(() =>
      fetch(url, { headers: { Connection: 'close' }, signal: AbortSignal.timeout(2_000) }).then(
        () => false,
        () => true,
      ),
    );
    for (const answer of await Promise.all(finish.map((send) => send()))) expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(await service.exit).toBe(0);
    expect(workers.filter(isRunning)).toEqual([]);
    expect(plantsIn(database).size).toBe(3);
  });

  test('end at once at a second signal, and with the first process if that is killed', async () => {
    const [twice, killed] = [launchTwo({ DRAIN_SECONDS: '60' }), launchTwo({ DATABASE_URL: `sqlite:${database}2` })];
    const [url] = await Promise.all([twice.url, killed.url]);
    const workers = [twice, killed].flatMap(({ pid }) => childrenOf(pid));
    expect(workers).toHaveLength(4);
    twice.child.kill('SIGTERM');
    await draining(url);
    await delay(1_100);
    twice.child.kill('SIGTERM');
    expect(await post(await killed.url, { id: 1, name: 'Fern' })).toBe(200);
    killed.child.kill('SIGKILL');
    expect(await twice.exit).toBe(1);
    expect(await killed.exit).toBe('SIGKILL');
    await eventually(() => !workers.some(isRunning));
    expect(killed.lines().map(({ msg }) => msg)).toEqual(['listening', 'answered']);
  });

  test('end with the first process if that is killed, also while they are busy', async () => {
    const busy = 'data:text/javascript,process.on("SIGUSR2", () => { for (;;); })';
    const killed = launchTwo({}, { flags: ['--import', busy] });
    await killed.url;
    const workers = childrenOf(killed.pid);
    expect(workers).toHaveLength(2);
    for (const worker of workers) process.kill(worker, 'SIGUSR2');
    killed.child.kill('SIGKILL');
    await eventually(() => !workers.some(isRunning));
  });

  test('read the file of tokens again, all of them', async () => {
    const tokens = join(folder, 'tokens');
    writeFileSync(tokens, 'token\nrevoked\n');
    const service = launchTwo({ ACCESS_TOKENS: '', ACCESS_TOKENS_FILE: tokens });
    const url = await service.url;
    expect(new Set(await sixTimes(url, 'revoked'))).toEqual(new Set([200]));
    writeFileSync(tokens, 'token\n');
    service.child.kill('SIGHUP');
    await eventually(() => service.lines().filter(({ msg }) => msg === 'access tokens read again').length === 2);
    expect(new Set(await sixTimes(url, 'revoked'))).toEqual(new Set([401]));
  });

  test('read the file of tokens again, also a worker that read it before and serves later', async () => {
    const tokens = join(folder, 'tokens');
    writeFileSync(tokens, 'token\nrevoked\n');
    const { flags, hold, held, release } = holder();
    const service = launchTwo({ ACCESS_TOKENS: '', ACCESS_TOKENS_FILE: tokens }, { flags });
    const url = await service.url;
    const [victim] = childrenOf(service.pid);
    hold();
    process.kill(victim ?? 0, 'SIGKILL');
    await held();
    writeFileSync(tokens, 'token\n');
    service.child.kill('SIGHUP');
    const rereads = () => service.lines().filter(({ msg }) => msg === 'access tokens read again').length;
    await eventually(() => rereads() === 1);
    release();
    await service.line(({ msg }) => /took its place/.test(String(msg)));
    await eventually(() => rereads() === 2);
    expect(new Set(await sixTimes(url, 'revoked'))).toEqual(new Set([401]));
  });

  test('serve on when one ends before the others serve, and replace it', async () => {
    const { flags, hold, held, release } = holder();
    hold();
    const port = String(await freePort());
    const service = launchTwo({ PORT: port }, { flags });
    const last = await held();
    await eventually(() => fetch(`http://127.0.0.1:${port}/healthz`));
    const [victim = 0] = childrenOf(service.pid).filter((worker) => worker !== last);
    process.kill(victim, 'SIGKILL');
    await eventually(() => !isRunning(victim));
    release();
    const url = await service.url;
    await service.line(({ msg, worker }) => msg === 'a worker died' && worker === victim);
    await service.line(({ msg }) => /took its place/.test(String(msg)));
    expect(childrenOf(service.pid)).toHaveLength(2);
    expect(await post(url, { id: 1, name: 'Fern' })).toBe(200);
  });

  test('serve on when one hangs, which is ended and replaced', async () => {
    const service = launchTwo();
    const url = await service.url;
    const [victim = 0] = childrenOf(service.pid);
    process.kill(victim, 'SIGSTOP');
    const hangs = await service.line(({ msg }) => msg === 'a worker hangs and is ended');
    expect(hangs).toMatchObject({ level: 50, worker: victim, seconds: 10 });
    await service.line(({ msg, worker }) => msg === 'a worker died' && worker === victim);
    await service.line(({ msg }) => /took its place/.test(String(msg)));
    expect(childrenOf(service.pid)).toHaveLength(2);
    expect(await sixTimes(url, 'token')).toEqual([200, 200, 200, 200, 200, 200]);
  });

  test('fail the start with one message if the first of them cannot serve', async () => {
    const document = join(folder, 'broken.yaml');
    writeFileSync(document, 'openapi: [\n');
    const service = launchTwo({ WORKERS: '3', OPENAPI_FILE: document });
    expect(await service.exit).toBe(1);
    expect(service.stdout()).toBe('');
    expect(JSON.parse(service.stderr()).reason).toMatch(/^\S+broken\.yaml:\d+:\d+ [^\n]+$/);
  });
});
