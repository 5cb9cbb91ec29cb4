import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, expect, test } from '@jest/globals';
import { eventually } from 'test-support/eventually';
import { exchange, request } from 'test-support/raw-http';
import { endAll, launch, MAIN, post, postAlmost } from '../support/launch.ts';
import { plantsIn } from './support/plant-service.ts';

/** The number of stops per test. */
const ROUNDS = Number(process.env.STOP_ROUNDS ?? 1);
const CLIENTS = 24;
const HEADERS = { Authorization: 'Bearer token', 'Content-Type': 'application/json' };

const folder = mkdtempSync(join(tmpdir(), 'plants-stop-'));
afterEach(endAll);
afterAll(() => rmSync(folder, { recursive: true }));

/**
 * Sends plants from many clients. Each client sends one plant at a time, and connects again when the
 * service closes its connection. Ends when no client can connect.
 */
function load(port: number) {
  const lost: string[] = [];
  const acknowledged: bigint[] = [];
  let ids = 0;
  let answered = 0;
  const client = async (): Promise<void> => {
    while (await connection());
  };
  /** Resolves to false if the port was closed. */
  const connection = (): Promise<boolean> =>
    new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1');
      let connected = false;
      let waiting = 0;
      let received = '';
      const send = () => {
        ids += 1;
        waiting = ids;
        socket.write(
          request('POST /plants', HEADERS, JSON.stringify({ id: waiting, name: 'Fern' })),
        );
      };
      socket.on('connect', () => {
        connected = true;
        send();
      });
      socket.on('data', (chunk) => {
        received += chunk;
        const [head = '', body] = received.split('\r\n\r\n');
        const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? Number.POSITIVE_INFINITY);
        if (body === undefined || body.length < length) return;
        if (head.startsWith('HTTP/1.1 200')) acknowledged.push(BigInt(waiting));
        else lost.push(head);
        answered += 1;
        waiting = 0;
        received = '';
        if (/^connection: close$/im.test(head)) socket.end();
        else send();
      });
      let reason = 'closed';
      socket.on('error', (error) => {
        reason = error.message;
      });
      socket.on('close', () => {
        if (connected && waiting !== 0) lost.push(`${reason} after ${answered} answers`);
        resolve(connected);
      });
    });
  return { lost, acknowledged, over: Promise.all(Array.from({ length: CLIENTS }, client)) };
}

test(
  'a stop under load resets no request',
  async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const database = join(folder, `${round}.db`);
      const env = { ACCESS_TOKENS: 'token', DATABASE_URL: `sqlite:${database}` };
      const service = launch(env);
      const { lost, acknowledged, over } = load(Number(new URL(await service.url).port));
      await eventually(() => acknowledged.length > 10 * CLIENTS);
      service.child.kill('SIGTERM');
      await over;
      const log = lost.length === 0 ? '' : service.stdout();
      expect({ round, lost, log }).toEqual({ round, lost: [], log: '' });
      expect(await service.exit).toBe(0);
      // Each accepted request got a response, so no other plant is stored.
      expect(new Set(plantsIn(database).keys())).toEqual(new Set(acknowledged));
    }
  },
  300_000 + ROUNDS * 10_000,
);

const plantOf = (id: number) =>
  request('POST /plants', HEADERS, JSON.stringify({ id, name: 'Fern' }));

test('during a drain, the service is not ready, answers requests and closes connections; a second signal aborts it', async () => {
  const service = launch({ ACCESS_TOKENS: 'token', DRAIN_SECONDS: '60' });
  const url = await service.url;
  const port = Number(new URL(url).port);
  const idle = connect(port, '127.0.0.1');
  let received = '';
  idle.on('data', (chunk) => {
    received += chunk;
  });
  idle.write(plantOf(1));
  await eventually(() => received.includes('Fern'));
  expect(received).toMatch(/^HTTP\/1\.1 200 /);
  expect(received).toMatch(/\r\nConnection: keep-alive\r\n/);
  const finish = await postAlmost(url, { id: 2, name: 'Fern' });
  await eventually(async () => (await fetch(`${url}/readyz`)).ok);

  service.child.kill('SIGTERM');
  expect(await service.line(({ msg }) => msg === 'stopping')).toMatchObject({
    level: 30,
    reason: 'SIGTERM',
    drainSeconds: 60,
  });
  expect((await fetch(`${url}/readyz`)).status).toBe(503);
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  const { responses } = await exchange(port, plantOf(3));
  expect(responses).toMatchObject([{ status: 200, headers: { connection: 'close' } }]);
  received = '';
  idle.write(plantOf(4));
  await new Promise((resolve) => idle.once('close', resolve));
  expect(received).toMatch(/^HTTP\/1\.1 200 /);
  expect(received).toMatch(/\r\nConnection: close\r\n/);

  // Signals within a second count as one.
  await delay(1_100);
  service.child.kill('SIGTERM');
  expect(await service.exit).toBe(1);
  expect(service.lines().at(-1)).toMatchObject({
    level: 40,
    msg: 'a second signal: aborting in-flight requests',
  });
  expect(await finish()).toBe('');
});

async function launchLocked(name: string, main = MAIN) {
  const database = join(folder, name);
  const env = { ACCESS_TOKENS: 'token', DATABASE_URL: `sqlite:${database}`, METRICS_PORT: '0' };
  const service = launch(env, { main });
  const url = await service.url;
  const { metrics } = await service.line(({ msg }) => msg === 'listening');
  const blocker = new DatabaseSync(database);
  blocker.exec('BEGIN IMMEDIATE');
  const waiting = async (count: number) => {
    const text = await (await fetch(String(metrics))).text();
    expect(text).toContain(`\nstore_waiting ${count}\n`);
  };
  return { service, url, database, blocker, waiting };
}

test('a stop finishes accepted requests, accepts no connections, and does not wait for idle ones; two signals at once count as one', async () => {
  // A call of the default service waits at most 5 s for the lock.
  const main = join(import.meta.dirname, 'support/long-timeout-service.ts');
  const { service, url, database, blocker, waiting } = await launchLocked('locked.db', main);
  const idle = connect(Number(new URL(url).port), '127.0.0.1');
  idle.write(request('GET /healthz'));
  await once(idle, 'data');
  const unfinished = await postAlmost(url, { id: 10, name: 'Fern' });
  const answers = Array.from({ length: 10 }, (_, id) => post(url, { id, name: 'Fern' }));
  await eventually(() => waiting(10));

  // npm and a terminal may each send a signal.
  service.child.kill('SIGQUIT');
  service.child.kill('SIGINT');
  await eventually(() => expect(fetch(`${url}/healthz`)).rejects.toThrow('fetch failed'));
  blocker.exec('ROLLBACK');
  blocker.close();
  expect(await Promise.all(answers)).toEqual(Array(10).fill(200));
  expect(await unfinished()).toMatch(/^HTTP\/1\.1 200 /);
  expect(await service.exit).toBe(0);
  const warnings = service.lines().filter(({ level }) => Number(level) > 30);
  expect(warnings.map(({ msg }) => msg)).toEqual([expect.stringMatching(/: it is a new database/)]);
  expect(service.lines().at(-1)).toMatchObject({ msg: 'stopped' });
  expect(plantsIn(database).size).toBe(11);
});

(existsSync('/usr/bin/script') ? test : test.skip)(
  'a service with redirected output stops when its terminal is closed (needs script)',
  async () => {
    const output = join(folder, 'output.log');
    const main = `exec ${process.execPath} ${MAIN} > ${output}`;
    const env = { ACCESS_TOKENS: 'token' };
    const terminal = launch(env, { node: 'script', flags: ['-qec'], main, args: ['/dev/null'] });
    const messages = () =>
      readFileSync(output, 'utf8').match(/(?<="msg":")(listening|[^"]*SIGHUP[^"]*|stopped)/g);
    await eventually(() => expect(messages()).toEqual(['listening']));
    terminal.child.kill('SIGKILL');
    await eventually(() => expect(messages()).toEqual(['listening', 'stopped']));
  },
);

test('a stop answers 503 to requests that wait for a lock, and exits with 0', async () => {
  const { service, url, blocker, waiting } = await launchLocked('still-locked.db');
  const answers = [1, 2, 3].map((id) => post(url, { id, name: 'Fern' }));
  await eventually(() => waiting(3));
  service.child.kill('SIGTERM');
  expect(await Promise.all(answers)).toEqual([503, 503, 503]);
  expect(await service.exit).toBe(0);
  blocker.close();
});
