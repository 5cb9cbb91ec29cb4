import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import type { Client } from 'pg';
import { eventually } from 'test-support/eventually';
import { Unavailable } from '../../src/errors.ts';
import { createConnections } from '../../src/postgres/connections.ts';
import { createHosts } from '../../src/postgres/hosts.ts';
import { readUrl } from '../../src/postgres/url.ts';
import { open, opened, proxy, server, session, useServer } from './support.ts';

useServer();

/** Creates connections, closed after the test. */
function create(url: string) {
  const settings = readUrl(url, 'notes');
  const hosts = createHosts(
    settings,
    async () => {},
    () => {},
  );
  const connections = createConnections(hosts, settings);
  opened.push({ close: connections.end });
  return { ...connections, hosts };
}

const pidOf = async (client: Client): Promise<unknown> =>
  (await client.query('SELECT pg_backend_pid() AS pid')).rows[0];

describe('use', () => {
  test('resolves to the result of a task, and keeps the connection', async () => {
    const { use, stats } = create(await server.createSchema());
    expect(stats()).toEqual({ connections: 0, connections_idle: 0 });
    const pid = await use(pidOf, 5_000);
    expect(await use(pidOf, 5_000)).toEqual(pid);
    expect(stats()).toEqual({ connections: 1, connections_idle: 1 });
  });

  test('runs at most max tasks at a time, in the order of the calls', async () => {
    const { use, stats } = create(`${await server.createSchema()}&max=2`);
    const started: number[] = [];
    const ends = [0, 1, 2, 3, 4].map(() => Promise.withResolvers<void>());
    const tasks = ends.map(({ promise }, index) =>
      use(async () => {
        started.push(index);
        await promise;
      }, 5_000),
    );
    await eventually(() => started.length === 2);
    await delay(20);
    expect(started).toHaveLength(2);
    expect(stats()).toEqual({ connections: 2, connections_idle: 0 });
    for (const { resolve } of ends) resolve();
    await Promise.all(tasks);
    expect(started.slice(2)).toEqual([2, 3, 4]);
    expect(stats()).toEqual({ connections: 2, connections_idle: 2 });
  });

  test('rejects a call that gets no connection in time, and later calls succeed', async () => {
    const { use } = create(`${await server.createSchema()}&max=1`);
    const end = Promise.withResolvers<void>();
    const first = use(() => end.promise, 5_000);
    const late = use(pidOf, 30);
    await expect(late).rejects.toBeInstanceOf(Unavailable);
    await expect(late).rejects.toMatchObject({
      code: 'TIMEOUT',
      message: expect.stringMatching(/^PostgreSQL at .+ cannot answer now: timeout after \d+ ms$/),
    });
    end.resolve();
    await first;
    await use(pidOf, 5_000);
  });

  test.each<[string, (client: Client) => Promise<unknown>]>([
    ['rejects', () => Promise.reject(new TypeError('a bug'))],
    [
      'throws synchronously',
      () => {
        throw new TypeError('a bug');
      },
    ],
    ['fails with a statement', (client) => client.query('SELECT nothing')],
    [
      'rejects in a transaction',
      async (client) => {
        await client.query('BEGIN; SET LOCAL work_mem = 100');
        await client.query('SELECT nothing');
      },
    ],
  ])('passes on the error of a task that %s, and resets the session', async (_name, task) => {
    const { use, stats } = create(`${await server.createSchema()}&max=1`);
    let error: unknown;
    const failing = use(async (client) => {
      try {
        return await task(client);
      } catch (reason) {
        error = reason;
        throw reason;
      }
    }, 5_000);
    await expect(failing).rejects.not.toBeInstanceOf(Unavailable);
    await expect(failing).rejects.toBe(error);
    expect(await use(async (client) => client.getTransactionStatus(), 5_000)).toBe('I');
    expect(stats()).toEqual({ connections: 1, connections_idle: 1 });
  });

  test.each([true, false])(
    'rejects a task that leaves a transaction open (reset: %p)',
    async (isReset) => {
      const { use } = create(`${await server.createSchema()}&max=1`);
      const failing = use((client) => client.query('BEGIN'), 5_000, isReset);
      await expect(failing).rejects.not.toBeInstanceOf(Unavailable);
      await expect(failing).rejects.toThrow(
        'the task left a transaction open: use transaction(), or end it with COMMIT',
      );
      expect(await use(async (client) => client.getTransactionStatus(), 5_000)).toBe('I');
    },
  );

  test('limits the time of a task, and cancels its statement', async () => {
    const { use, stats } = create(`${await server.createSchema()}&statement_timeout=300`);
    const start = performance.now();
    const task = (client: Client) =>
      client.query('SET statement_timeout = 0').then(() => client.query('SELECT pg_sleep(602)'));
    await expect(use(task, 5_000)).rejects.toHaveProperty('code', 'TIMEOUT');
    expect(performance.now() - start).toBeGreaterThan(290);
    await eventually(() => stats().connections === 0);
    const active =
      "SELECT FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(602)' AND state = 'active'";
    await eventually(async () => expect(await server.query(active)).toEqual([]));
  });
});

describe('use with a reset', () => {
  test.each<[string, string, unknown[]]>([
    ['DECLARE c CURSOR WITH HOLD FOR SELECT 1', 'SELECT FROM pg_cursors', []],
    ['LISTEN news', 'SELECT FROM pg_listening_channels()', []],
    [
      'SELECT pg_advisory_lock(1)',
      "SELECT FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()",
      [],
    ],
    ['CREATE TEMP TABLE mine (x text)', "SELECT FROM pg_class WHERE relname = 'mine'", []],
    ["SET work_mem = '1MB'", 'SHOW work_mem', [{ work_mem: '4MB' }]],
    [
      'SET search_path = pg_temp',
      'SHOW search_path',
      [{ search_path: expect.stringMatching(/^s/) }],
    ],
    [
      'SET default_transaction_read_only = on',
      'SHOW transaction_read_only',
      [{ transaction_read_only: 'off' }],
    ],
    ['SET SESSION AUTHORIZATION pg_monitor', 'SELECT user::text', [{ user: 'postgres' }]],
    [
      'CREATE SEQUENCE numbers; SELECT nextval($$numbers$$)',
      'SELECT pg_sequence_last_value($$numbers$$)::int AS last',
      [{ last: 1 }],
    ],
  ])('ends the effects of %s on the session', async (text, check, rows) => {
    const { use } = create(`${await server.createSchema()}&max=1`);
    const pid = await use(pidOf, 5_000);
    await use((client) => client.query(text), 5_000, true);
    expect((await use((client) => client.query(check), 5_000)).rows).toEqual(rows);
    expect(await use(pidOf, 5_000)).toEqual(pid);
  });

  test('rejects a task that turned synchronous_commit off, and turns it on', async () => {
    const { use } = create(`${await server.createSchema()}&max=1`);
    await expect(
      use((client) => client.query('SET synchronous_commit = off'), 5_000, true),
    ).rejects.toThrow('the task turned synchronous_commit off: its changes may be lost');
    const show = (client: Client) => client.query('SHOW synchronous_commit');
    expect((await use(show, 5_000)).rows).toEqual([{ synchronous_commit: 'on' }]);
  });

  test('rejects a task that hides a failed transaction', async () => {
    const { use } = create(`${await server.createSchema()}&max=1`);
    const task = (client: Client) => client.query('BEGIN; SELECT nothing').catch(() => {});
    await expect(use(task, 5_000, true)).rejects.toThrow('left a transaction open');
    expect(await use(async (client) => client.getTransactionStatus(), 5_000)).toBe('I');
  });

  test('follows statements that the task did not await', async () => {
    const { use } = create(`${await server.createSchema()}&max=1`);
    const task = async (client: Client) => void client.query('BEGIN');
    await expect(use(task, 5_000, true)).rejects.toThrow('left a transaction open');
    expect(await use(async (client) => client.getTransactionStatus(), 5_000)).toBe('I');
  });
});

describe('a lost connection', () => {
  test('is Unavailable, also if the task hides its error', async () => {
    const { use, stats } = create(`${await server.createSchema()}&max=1`);
    const task = async (client: Client) => {
      await client.query('SELECT pg_terminate_backend(pg_backend_pid())').catch(() => {});
      throw new TypeError('a bug');
    };
    const failing = use(task, 5_000);
    await expect(failing).rejects.toBeInstanceOf(Unavailable);
    await eventually(() => stats().connections === 0);
    await use(pidOf, 5_000);
  });

  test('makes the connections that were opened before unusable', async () => {
    const { use, stats } = create(`${await server.createSchema()}&max=2&statement_timeout=200`);
    const both = Promise.withResolvers<void>();
    let running = 0;
    const pids = await Promise.all(
      [1, 2].map(() =>
        use(async (client) => {
          running += 1;
          if (running === 2) both.resolve();
          await both.promise;
          return pidOf(client);
        }, 5_000),
      ),
    );
    await expect(use(() => new Promise(() => {}), 5_000)).rejects.toBeInstanceOf(Unavailable);
    expect(pids).not.toContainEqual(await use(pidOf, 5_000));
    await eventually(() => {
      expect(stats()).toEqual({ connections: 1, connections_idle: 1 });
    });
  });

  test('to a server that became read-only is Unavailable', async () => {
    const { use } = create(`${await server.createSchema()}&max=2`);
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const pids = await Promise.all([
      use((client) => first.promise.then(() => pidOf(client)), 5_000),
      use(async (client) => {
        first.resolve();
        second.resolve();
        return pidOf(client);
      }, 5_000),
      second.promise,
    ]);
    const write = (client: Client) => client.query('BEGIN READ ONLY; CREATE TABLE plants (id int)');
    await expect(use(write, 5_000)).rejects.toMatchObject({ name: 'Unavailable', code: '25006' });
    // The other connection may point to the same server, although the URL leads to another one now.
    expect(pids).not.toContainEqual(await use(pidOf, 5_000));
  });
});

test('connect rejects with the original error', async () => {
  const { connect } = create(`postgres://u:p@127.0.0.1:1/notes?connect_timeout=1`);
  await expect(connect(5_000)).rejects.toHaveProperty('code', 'ECONNREFUSED');
});

test('connect opens one connection and releases it', async () => {
  const { connect, stats } = create(await server.createSchema());
  await connect(5_000);
  await connect(5_000);
  expect(stats()).toEqual({ connections: 1, connections_idle: 1 });
});

test('end rejects the calls that wait, and later ones', async () => {
  const { use, end } = create(`${await server.createSchema()}&max=1&statement_timeout=60000`);
  // This test ends the connections itself.
  opened.pop();
  const running = Promise.withResolvers<void>();
  const task = use(async () => {
    running.resolve();
    await new Promise(() => {});
  }, 5_000);
  task.catch(() => {});
  await running.promise;
  const waiting = expect(use(pidOf, 5_000)).rejects.toHaveProperty('code', 'CLOSED');
  await end();
  await waiting;
  await expect(use(pidOf, 5_000)).rejects.toThrow('The database is closed.');
});

test('a database opens if the server does not respond, and closes while a call waits', async () => {
  const through = await proxy();
  through.silent = true;
  const database = await open(`postgres://u:p@127.0.0.1:${through.port}/plants?connect_timeout=1`);
  const lost = expect(database.add('Basil')).rejects.toThrow(Unavailable);
  await database.close();
  await lost;
});

test('a database is unavailable while the network is silent, and recovers', async () => {
  const through = await proxy();
  const url = (await server.createSchema()).replace(String(server.port), String(through.port));
  const database = await open(`${url}&statement_timeout=300&connect_timeout=1&max=1`);
  through.silent = true;
  through.silence();
  await expect(database.add('Basil')).rejects.toThrow(/timeout/);
  await expect(database.ready()).rejects.toThrow(Unavailable);
  through.silent = false;
  await eventually(() => database.add('Basil'));
});

test('a database closes while the network is silent', async () => {
  const through = await proxy();
  const url = (await server.createSchema()).replace(String(server.port), String(through.port));
  const database = await open(`${url}&statement_timeout=300&connect_timeout=1`);
  through.silent = true;
  through.silence();
  const lost = database.add('Basil').catch((error: unknown) => error);
  await database.close();
  expect(await lost).toBeInstanceOf(Unavailable);
});

test('a closing database commits waiting calls, rejects new ones, and closes its connections', async () => {
  const url = await server.createSchema();
  const database = await open(`${url}&application_name=closed`);
  const waiting = Array.from({ length: 1000 }, () => database.add('Basil'));
  const closed = database.close();
  await expect(database.add('Basil')).rejects.toThrow(Unavailable);
  await Promise.all(waiting);
  await closed;
  await eventually(async () => {
    const rows = await server.query(
      "SELECT FROM pg_stat_activity WHERE application_name = 'closed'",
    );
    return rows.length === 0;
  });
});

test('a database is unavailable while the server accepts no connection', async () => {
  const url = await server.createDatabase();
  await open(url);
  await server.query("CREATE ROLE single LOGIN PASSWORD 'p' CONNECTION LIMIT 1");
  await server.query(
    'GRANT SELECT, INSERT ON notes TO single; GRANT CREATE ON SCHEMA public TO single',
    url,
  );
  const single = url.replace(/\/\/.*@/, '//single:p@');
  const holder = await session(single);
  const database = await open(single);
  await expect(database.add('Basil')).rejects.toThrow(/too many connections.*SQLSTATE 53300/);
  await holder.end();
  await eventually(() => database.ready());
  await database.add('Basil');
});

test('a database is unavailable while the server is read-only, and opens new connections later', async () => {
  const url = await server.createDatabase();
  const database = await open(url);
  const name = new URL(url).pathname.slice(1);
  const backends = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`;
  await server.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on; ${backends}`);
  await eventually(async () =>
    expect(await database.ready().catch(String)).toMatch(/read-only transaction/),
  );
  await expect(database.add('Basil')).rejects.toThrow(Unavailable);
  // Open connections stay read-only, so the database must open a new one.
  await server.query(`ALTER DATABASE ${name} RESET default_transaction_read_only`);
  await database.ready();
  await database.add('Basil');
});

test('calls wait for a free connection if the server accepts no other', async () => {
  const url = await server.createDatabase();
  await open(url);
  await server.query("CREATE ROLE two LOGIN PASSWORD 'p' CONNECTION LIMIT 2");
  await server.query(
    'GRANT SELECT, INSERT ON notes TO two; GRANT CREATE ON SCHEMA public TO two',
    url,
  );
  const reasons: string[] = [];
  const database = await open(`${url.replace(/\/\/.*@/, '//two:p@')}?max=4`, {
    onUnavailable: (code) => reasons.push(code),
  });
  const slow = Array.from({ length: 12 }, () =>
    database.run((client) => client.query('SELECT pg_sleep(0.05)')),
  );
  await Promise.all([
    ...slow,
    ...Array.from({ length: 300 }, (_, at) => database.add(`note ${at}`)),
  ]);
  expect(reasons).toEqual([]);
});

test('a call whose new connection is refused uses a connection that becomes free', async () => {
  const url = await server.createDatabase();
  await server.query("CREATE ROLE one LOGIN PASSWORD 'p' CONNECTION LIMIT 1");
  await server.query('GRANT CREATE ON SCHEMA public TO one', url);
  const database = await open(url.replace(/\/\/.*@/, '//one:p@'));
  const quick = () => database.run((client) => client.query('SELECT 1'));
  await expect(Promise.all([quick(), quick()])).resolves.toHaveLength(2);
});
