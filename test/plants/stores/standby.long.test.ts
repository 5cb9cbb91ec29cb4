import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { eventually } from 'test-support/eventually';
import { type PostgresServer, startPostgres } from 'test-support/postgres';
import { openStore } from '../../../src/stores/index.ts';
import { post } from '../../support/launch.ts';
import { type Service, serve, TOKEN } from '../support/plant-service.ts';

let primary: PostgresServer;
let standby: PostgresServer;
const services: Service[] = [];

beforeAll(async () => {
  primary = await startPostgres();
  standby = await primary.startStandby();
  // The primary notices a changed setting with the next report. By default, every 10 s.
  await standby.query("ALTER SYSTEM SET wal_receiver_status_interval = '1s'");
  await standby.query('SELECT pg_reload_conf()');
});

afterAll(async () => {
  await standby.remove();
  await primary.remove();
});

afterEach(() => Promise.all(services.splice(0).map((service) => service.stop())));

/** Starts an instance of the service. By default, its statements have a short time limit. */
async function startService(statementTimeout = 500): Promise<Service> {
  const url =
    `postgres://postgres:correct%20horse@127.0.0.1:${primary.port},127.0.0.1:${standby.port}` +
    `/postgres?target_session_attrs=read-write&statement_timeout=${statementTimeout}`;
  const service = await serve({ store: await openStore(url, { maxWaiting: 1_000 }) });
  services.push(service);
  return service;
}

const add = ({ port }: Service, plant: object): Promise<number> =>
  post(`http://127.0.0.1:${port}`, plant, TOKEN);

const readiness = async ({ port }: Service): Promise<number> =>
  (await fetch(`http://127.0.0.1:${port}/readyz`)).status;

const OLD = { id: 1, name: 'Monstera' };
const NEW = { id: 2, name: 'Fern' };

test('without the synchronous standby, no instance acknowledges a plant, new or old, or is ready', async () => {
  await eventually(async () => expect(await add(await startService(), OLD)).toBe(200));
  await primary.query("ALTER SYSTEM SET synchronous_standby_names = 'nobody'");
  await primary.query('SELECT pg_reload_conf()');
  // The server reads its settings again after a moment. Only a new plant surely waits.
  let id = 100;
  await eventually(async () =>
    expect(await add(await startService(), { id: ++id, name: 'Palm' })).toBe(503),
  );
  const instances = await Promise.all([500, 500, 500].map(startService));
  const statuses: number[] = [];
  for (const instance of instances) {
    statuses.push(await readiness(instance));
    for (const plant of [OLD, NEW, NEW]) statuses.push(await add(instance, plant));
  }
  expect(new Set(statuses)).toEqual(new Set([503]));
  const visible = await primary.query('SELECT FROM plants WHERE id = 2');
  expect(visible).toEqual([]);

  await primary.query("ALTER SYSTEM SET synchronous_standby_names = 'standby'");
  await primary.query('SELECT pg_reload_conf()');
  for (const instance of instances) {
    await eventually(async () => expect(await readiness(instance)).toBe(200));
    expect(await add(instance, NEW)).toBe(200);
  }
});

test('a standby that was frozen and is promoted has every plant that was acknowledged to a client that retries', async () => {
  // The time limit 0 is for a pooler. The server then cancels a commit that waits for 3 s.
  const instances = await Promise.all([500, 500, 0].map(startService));
  const addTo = (attempt: number, plant: object): Promise<number> =>
    add(instances[attempt % instances.length] as Service, plant);
  await eventually(async () => expect(await addTo(0, OLD)).toBe(200));
  const [receiver] = await standby.query('SELECT pid FROM pg_stat_wal_receiver');
  const pid = Number(receiver?.pid);
  process.kill(pid, 'SIGSTOP');

  const acknowledged: number[] = [];
  const clients = Array.from({ length: 20 }, async (_, index) => {
    const id = 1_000 + index;
    for (let attempt = index; attempt < index + 5; attempt += 1) {
      if ((await addTo(attempt, { id, name: 'Palm' })) === 200) return void acknowledged.push(id);
      await delay(100);
    }
  });
  await Promise.all(clients);
  const ready = await Promise.all(instances.map(readiness));

  // The standby loses what its receiver has not read.
  await primary.kill();
  process.kill(pid, 'SIGKILL');
  await standby.kill();
  await standby.start();
  await standby.query('SELECT pg_promote()');
  await eventually(async () => expect(await addTo(0, { id: 2_000, name: 'Palm' })).toBe(200));

  const rows = await standby.query("SELECT id::int FROM plants WHERE name = 'Palm'");
  const missing = acknowledged.filter((id) => !rows.some((row) => row.id === id));
  expect({ missing, ready }).toEqual({ missing: [], ready: [503, 503, 503] });
});
