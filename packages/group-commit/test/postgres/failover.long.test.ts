import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
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

async function setStandby(name: string): Promise<void> {
  await primary.query(`ALTER SYSTEM SET synchronous_standby_names = '${name}'`);
  await primary.query('SELECT pg_reload_conf()');
}

describe('while the synchronous standby is missing', () => {
  beforeAll(async () => {
    // The primary notices a changed setting with the next report. By default, every 10 s.
    await standby.query("ALTER SYSTEM SET wal_receiver_status_interval = '1s'");
    await standby.query('SELECT pg_reload_conf()');
  });

  /** Opens a database, and removes the standby. Resolves when a commit waits for it. */
  async function openWithoutStandby(parameters: string): Promise<PostgresDatabase<number>> {
    const database = await open(`target_session_attrs=primary&${parameters}`);
    await setStandby('nobody');
    // The server reads its settings again after a moment.
    await eventually(async () => {
      database.add(--nextId).catch(() => {});
      await delay(20);
      return (await waiting()).length > 0;
    });
    return database;
  }

  let nextId = 0;
  afterEach(() => setStandby('standby'));

  const waiting = () =>
    primary.query("SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'");

  test('commits are not cancelled, keep at most max connections, and succeed when it is back', async () => {
    const database = await openWithoutStandby('max=3&statement_timeout=300');
    const visible = `SELECT FROM notes WHERE id = ${nextId}`;
    const counts: number[] = [];
    for (let round = 0; round < 8; round += 1) {
      const adds = [1, 2, 3, 4].map(() => database.add(--nextId));
      for (const outcome of await Promise.allSettled(adds))
        expect(outcome).toHaveProperty('reason.name', 'Unavailable');
      counts.push(await backends());
    }
    // Another connection checks the readiness.
    expect(Math.max(...counts)).toBeLessThanOrEqual(4);
    await eventually(() => expect(database.ready()).rejects.toMatchObject({ code: 'NO_STANDBY' }));
    // A task that only reads is not rejected while there is a connection left.
    const { rows } = await database.run((client) => client.query(visible));
    expect(rows).toEqual([]);

    await setStandby('standby');
    await eventually(() => database.ready());
    await eventually(async () => expect(await waiting()).toEqual([]));
    expect(await primary.query(visible)).toHaveLength(1);
    await database.close();
    await eventually(async () => expect(await backends()).toBe(0));
  });

  test('a commit that an operator cancels is Unavailable', async () => {
    const database = await open('target_session_attrs=primary');
    await setStandby('nobody');
    const codes = new Set<string>();
    await eventually(async () => {
      const add = database.add(--nextId).catch((error: { code: string }) => codes.add(error.code));
      await delay(20);
      await primary.query(
        "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'",
      );
      await add;
      return codes.size > 0;
    });
    expect([...codes]).toEqual(['NO_STANDBY']);
    await database.close();
  });

  test('a database closes', async () => {
    const database = await openWithoutStandby('statement_timeout=300');
    await database.close();
  });
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
