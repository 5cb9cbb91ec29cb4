import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { childrenOf, endAll, isRunning, type Launched, launch, post, postAlmost } from '../support/launch.ts';

const folder = mkdtempSync(join(tmpdir(), 'plants-workers-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** What they do needs no store. */
const main = join(import.meta.dirname, 'support/storeless.ts');
const launchTwo = (env: Record<string, string> = {}, options = {}): Launched =>
  launch({ WORKERS: '2', ACCESS_TOKENS: 'token', ...env }, { main, ...options });

/** Waits until no worker is ready. */
async function draining(url: string): Promise<void> {
  const ready = () => fetch(`${url}/readyz`, { headers: { Connection: 'close' } });
  await eventually(async () =>
    (await Promise.all([ready(), ready(), ready(), ready()])).every(({ status }) => status === 503),
  );
}

/** What holds a worker right before it listens: after `hold`, the next one that comes so far, until `release`. */
function holder() {
  const name = 'hold';
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

/** One of its workers hangs while the other tests run. */
let hanging: Launched;
let hung = 0;
beforeAll(async () => {
  hanging = launchTwo();
  await hanging.url;
  [hung = 0] = childrenOf(hanging.pid);
  process.kill(hung, 'SIGSTOP');
});
afterAll(endAll);

describe('several workers, one after the other', () => {
  const tokens = join(folder, 'read-again');
  let service: Launched;
  let url = '';
  beforeAll(async () => {
    writeFileSync(tokens, 'token\nrevoked\n');
    service = launchTwo({ ACCESS_TOKENS: '', ACCESS_TOKENS_FILE: tokens });
    url = await service.url;
  });

  test('share one port and one log, whose lines do not mix', async () => {
    expect(childrenOf(service.pid)).toHaveLength(2);
    for (let id = 1; id <= 20; id += 1) {
      const statuses = await Promise.all(Array.from({ length: 8 }, () => post(url, { id, name: 'Fern' })));
      expect(new Set(statuses)).toEqual(new Set([200]));
    }
    const answers = () => service.lines().filter(({ operationId }) => operationId === 'createPlant');
    await eventually(() => answers().length === 160);
    expect(new Set(answers().map(({ worker }) => worker)).size).toBe(2);
    const others = service.lines().filter(({ operationId }) => operationId === undefined);
    expect(others.map(({ msg }) => msg)).toEqual(['listening']);
  });

  test('read the file of tokens again, all of them', async () => {
    expect(new Set(await sixTimes(url, 'revoked'))).toEqual(new Set([200]));
    writeFileSync(tokens, 'token\n');
    service.child.kill('SIGHUP');
    await eventually(() => service.lines().filter(({ msg }) => msg === 'access tokens read again').length === 2);
    expect(new Set(await sixTimes(url, 'revoked'))).toEqual(new Set([401]));
  });

  test('serve on when one is killed, which is replaced after a pause', async () => {
    const [victim = 0] = childrenOf(service.pid);
    process.kill(victim, 'SIGKILL');
    const died = await service.line(({ msg, worker }) => msg === 'a worker died' && worker === victim);
    expect(died).toMatchObject({ level: 50, exit: 'SIGKILL' });
    expect(await post(url, { id: 1, name: 'Fern' })).toBe(200);
    const replaced = await service.line(({ msg }) => /took its place/.test(String(msg)));
    expect(childrenOf(service.pid)).toHaveLength(2);
    process.kill(Number(replaced.worker), 'SIGKILL');
    await service.line(({ msg, worker }) => msg === 'a worker died' && worker === replaced.worker);
    // A stop does not wait for the next one.
    service.child.kill('SIGTERM');
    expect(await service.exit).toBe(0);
    expect(service.lines().slice(-2)).toMatchObject([{ msg: 'stopping' }, { msg: 'stopped' }]);
  });
});

describe('several workers', () => {
  test('stop by Ctrl-C, which reaches all: readiness falls, requests in flight are finished, all end with 0', async () => {
    const service = launchTwo({ DRAIN_SECONDS: '1' }, { detached: true });
    const url = await service.url;
    const workers = childrenOf(service.pid);
    const finish = await Promise.all([1, 2, 3].map((id) => postAlmost(url, { id, name: 'Fern' })));
    process.kill(-service.pid, 'SIGINT');
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
  });

  test('end at once at a second signal', async () => {
    const service = launchTwo({ DRAIN_SECONDS: '60' });
    const url = await service.url;
    const workers = childrenOf(service.pid);
    service.child.kill('SIGTERM');
    await draining(url);
    await delay(1_100);
    service.child.kill('SIGTERM');
    expect(await service.exit).toBe(1);
    await eventually(() => !workers.some(isRunning));
  });

  test('end with the first process if that is killed, while they are busy', async () => {
    const busy = 'data:text/javascript,process.on("SIGUSR2", () => { for (;;); })';
    const killed = launchTwo({}, { flags: ['--import', busy] });
    await killed.url;
    const workers = childrenOf(killed.pid);
    expect(workers).toHaveLength(2);
    for (const worker of workers) process.kill(worker, 'SIGUSR2');
    killed.child.kill('SIGKILL');
    await eventually(() => !workers.some(isRunning));
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

  test('fail the start with one message if the first of them cannot serve', async () => {
    const document = join(folder, 'broken.yaml');
    writeFileSync(document, 'openapi: [\n');
    const service = launchTwo({ WORKERS: '3', OPENAPI_FILE: document });
    expect(await service.exit).toBe(1);
    expect(service.stdout()).toBe('');
    expect(JSON.parse(service.stderr()).reason).toMatch(/^\S+broken\.yaml:\d+:\d+ [^\n]+$/);
  });

  test('end and replace one that hangs', async () => {
    const hangs = await hanging.line(({ msg }) => msg === 'a worker hangs and is ended');
    expect(hangs).toMatchObject({ level: 50, worker: hung, seconds: 10 });
    await hanging.line(({ msg, worker }) => msg === 'a worker died' && worker === hung);
    await hanging.line(({ msg }) => /took its place/.test(String(msg)));
    expect(childrenOf(hanging.pid)).toHaveLength(2);
    expect(await sixTimes(await hanging.url, 'token')).toEqual([200, 200, 200, 200, 200, 200]);
  });
});
