import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { ClientBase } from 'pg';
import { eventually } from 'test-support/eventually';
import { type PostgresServer, startPostgres } from 'test-support/postgres';
import { openDatabase, type PostgresDatabase, Unavailable } from '../../src/postgres/database.ts';

let primary: PostgresServer;
let standby: PostgresServer;

beforeAll(async () => {
  primary = await startPostgres();
  standby = await primary.startStandby();
}, 60_000);
afterAll(async () => {
  await standby.remove();
  await primary.remove();
});

const TABLE = 'CREATE TABLE IF NOT EXISTS notes (id int PRIMARY KEY)';

const urlWith = (parameters: string): string =>
  `postgres://postgres:correct%20horse@127.0.0.1:${primary.port},127.0.0.1:${standby.port}/postgres?${parameters}`;

const createTable = async (client: ClientBase): Promise<void> => void (await client.query(TABLE));

const open = (parameters: string, setUp = createTable): Promise<PostgresDatabase<number>> =>
  openDatabase<number>({
    url: urlWith(parameters),
    name: 'notes',
    table: TABLE,
    setUp,
    async insert(client, ids) {
      await client.query('INSERT INTO notes SELECT unnest($1::int[]) ON CONFLICT DO NOTHING', [
        ids,
      ]);
    },
  });

const backends = async (): Promise<number> => {
  const rows = await primary.query("SELECT FROM pg_stat_activity WHERE application_name = 'notes'");
  return rows.length;
};

test('statements that wait for a missing standby are cancelled, and never use more than max connections', async () => {
  const database = await open('max=3&statement_timeout=300&target_session_attrs=primary');
  // On a busy machine, a commit may take longer than the time limit.
  await eventually(() => database.add(-1));
  await primary.query("ALTER SYSTEM SET synchronous_standby_names = 'nobody'");
  await primary.query('SELECT pg_reload_conf()');
  const counts: number[] = [];
  try {
    // The server reads its settings again after a moment. Only a new row waits for a standby.
    let id = -1_000;
    await eventually(async () =>
      expect(String(await database.add(--id).catch(String))).toMatch(/^Unavailable/),
    );
    for (let round = 0; round < 8; round += 1) {
      const adds = [1, 2, 3, 4].map((at) => database.add(-10 * round - at));
      for (const outcome of await Promise.allSettled(adds))
        expect(outcome).toHaveProperty('reason.name', 'Unavailable');
      counts.push(await backends());
    }
  } finally {
    await primary.query('ALTER SYSTEM RESET synchronous_standby_names');
    await primary.query("ALTER SYSTEM SET synchronous_standby_names = 'standby'");
    await primary.query('SELECT pg_reload_conf()');
  }
  expect(Math.max(...counts)).toBeLessThanOrEqual(3);
  await eventually(() => database.ready());
  await database.close();
  await eventually(async () => expect(await backends()).toBe(0));
});

test.each([
  ['read-write', 'primary'],
  ['primary', 'primary'],
  ['any', 'primary'],
  ['read-only', 'standby'],
  ['standby', 'standby'],
])('target_session_attrs=%s connects to the %s', async (session, role) => {
  const database = await open(`target_session_attrs=${session}`, async () => {});
  const { rows } = await database.run((client) =>
    client.query('SELECT pg_is_in_recovery() AS standby'),
  );
  await database.close();
  expect(rows).toEqual([{ standby: role === 'standby' }]);
});

test('no committed row is lost when the primary is killed and the standby is promoted', async () => {
  const database = await open('target_session_attrs=read-write');
  const acknowledged = new Set<number>();
  const failures: unknown[] = [];
  let next = 1;
  let isDone = false;
  const adders = Array.from({ length: 16 }, async () => {
    while (!isDone) {
      const id = next++;
      for (;;) {
        try {
          await database.add(id);
          acknowledged.add(id);
          break;
        } catch (error) {
          failures.push(error);
          await delay(20);
        }
      }
    }
  });
  await eventually(() => acknowledged.size > 200);
  await primary.kill();
  await eventually(() => failures.length > 20);
  const late = await open('target_session_attrs=read-write');
  await expect(late.ready()).rejects.toThrow(Unavailable);
  await standby.query('SELECT pg_promote()');
  const before = acknowledged.size;
  await eventually(() => acknowledged.size > before + 200);
  isDone = true;
  await Promise.all(adders);
  expect(failures.filter((failure) => !(failure instanceof Unavailable))).toEqual([]);
  const kept = new Set((await standby.query('SELECT id FROM notes')).map(({ id }) => id));
  expect([...acknowledged].filter((id) => !kept.has(id))).toEqual([]);
  await eventually(() => late.ready());
  await Promise.all([database.close(), late.close()]);
});
