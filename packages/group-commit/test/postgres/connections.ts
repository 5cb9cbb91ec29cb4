import { connect as connectSocket, createServer } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import type { Client, ClientBase } from 'pg';
import { eventually } from 'test-support/eventually';
import { Unavailable, Unusable } from '../../src/errors.ts';
import { createConnections } from '../../src/postgres/connections.ts';
import { readUrl } from '../../src/postgres/url.ts';
import { readiness } from '../readiness.ts';
import { listen, open, opened, proxy, server } from './support.ts';

function create(url: string, setUp: (client: Client) => Promise<void> = async () => {}) {
  const warnings: string[] = [];
  const seconds: number[] = [];
  const connections = createConnections(
    readUrl(url, 'notes'),
    setUp,
    (message) => warnings.push(message),
    (took) => seconds.push(took),
  );
  opened.push({ close: connections.end });
  return { ...connections, warnings, seconds };
}

const withHosts = (url: string, before: string, after = ''): string =>
  url.replace(`@127.0.0.1:${server.port}`, `@${before}127.0.0.1:${server.port}${after}`);

async function startDeadHost() {
  const state = { port: 0, attempts: 0 };
  const listener = createServer((socket) => {
    state.attempts += 1;
    socket.destroy();
  });
  opened.push({ close: () => listener.close() });
  state.port = await listen(listener);
  return state;
}

const OPEN_TRANSACTION =
  'the task left a transaction open: use transaction(), or end it with COMMIT';

const pidOf = async (client: ClientBase): Promise<unknown> =>
  (await client.query('SELECT pg_backend_pid() AS pid')).rows[0];

describe('use', () => {
  test('keeps at most max connections', async () => {
    const { use, stats } = create(`${await server.createSchema()}&max=2`);
    const allStarted = Promise.withResolvers<void>();
    let running = 0;
    const task = async () => {
      running += 1;
      if (running === 3) allStarted.resolve();
      await allStarted.promise;
    };
    await Promise.all([use(task), use(task), use(task)]);
    await eventually(() => expect(stats()).toEqual({ connections: 2, connections_idle: 2 }));
  });

  test.each<[string, boolean, (client: Client) => Promise<unknown>, string]>([
    ['rejects', false, () => Promise.reject(new TypeError('a bug')), 'a bug'],

    ['leaves a transaction open', false, (client) => client.query('BEGIN'), OPEN_TRANSACTION],

    [
      'hides a failed transaction',
      true,
      (client) => client.query('BEGIN; SELECT nothing').catch(() => {}),
      OPEN_TRANSACTION,
    ],

    [
      'turns synchronous_commit off',
      true,
      (client) => client.query('SET synchronous_commit = off'),
      'the task turned synchronous_commit off: its changes may be lost',
    ],
  ])(
    'rejects a task that %s (reset: %p), and resets the session',
    async (_, isReset, task, message) => {
      const { use, stats } = create(`${await server.createSchema()}&max=1`);
      const failing = use(task, isReset);
      await expect(failing).rejects.not.toBeInstanceOf(Unavailable);
      await expect(failing).rejects.toThrow(message);
      expect(await use(async (client) => client.getTransactionStatus())).toBe('I');
      const { rows } = await use((client) => client.query('SHOW synchronous_commit'));
      expect(rows).toEqual([{ synchronous_commit: 'on' }]);
      expect(stats()).toEqual({ connections: 1, connections_idle: 1 });
    },
  );

  test('limits the time of a task, and cancels its statement', async () => {
    const { use, stats } = create(`${await server.createSchema()}&statement_timeout=300`);
    const start = performance.now();
    const task = (client: Client) =>
      client.query('SET statement_timeout = 0').then(() => client.query('SELECT pg_sleep(602)'));
    await expect(use(task)).rejects.toHaveProperty('code', 'TIMEOUT');
    expect(performance.now() - start).toBeGreaterThan(290);
    await eventually(() => stats().connections === 0);
    const active =
      "SELECT FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(602)' AND state = 'active'";
    await eventually(async () => expect(await server.query(active)).toEqual([]));
  });
});

describe('use with a reset', () => {
  test.each<[string, string, unknown[]]>([
    [
      'SELECT pg_advisory_lock(1)',
      "SELECT FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()",
      [],
    ],

    ["SET work_mem = '1MB'", 'SHOW work_mem', [{ work_mem: '4MB' }]],
    ['SET SESSION AUTHORIZATION pg_monitor', 'SELECT user::text', [{ user: 'postgres' }]],
    [
      'CREATE SEQUENCE numbers CACHE 10; SELECT nextval($$numbers$$)',
      'SELECT nextval($$numbers$$)::int AS next',
      [{ next: 11 }],
    ],
  ])('ends the effects of %s on the session', async (text, check, rows) => {
    const { use } = create(`${await server.createSchema()}&max=1`);
    const pid = await use(pidOf);
    await use((client) => client.query(text), true);
    expect((await use((client) => client.query(check))).rows).toEqual(rows);
    expect(await use(pidOf)).toEqual(pid);
  });
});

describe('an outage', () => {
  test('closes the connections that were opened before it', async () => {
    const { use, stats } = create(`${await server.createSchema()}&max=2&statement_timeout=200`);
    const openTwo = () => {
      const both = Promise.withResolvers<void>();
      let running = 0;
      const task = async (client: Client) => {
        running += 1;
        if (running === 2) both.resolve();
        await both.promise;
        return pidOf(client);
      };
      return Promise.all([use(task), use(task)]);
    };
    let pids: unknown[] = [];
    // On a busy machine, a task may take longer than the time limit.
    await eventually(async () => {
      pids = await openTwo();
    });
    await expect(use(() => new Promise(() => {}))).rejects.toBeInstanceOf(Unavailable);
    await eventually(async () => expect(pids).not.toContainEqual(await use(pidOf)));
    await eventually(() => {
      expect(stats()).toEqual({ connections: 1, connections_idle: 1 });
    });
  });

  test('of a server that became read-only closes older connections, too', async () => {
    const { use } = create(`${await server.createSchema()}&max=2`);
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const pids = await Promise.all([
      use((client) => first.promise.then(() => pidOf(client))),
      use(async (client) => {
        first.resolve();
        second.resolve();
        return pidOf(client);
      }),
      second.promise,
    ]);
    const write = (client: Client) => client.query('BEGIN READ ONLY; CREATE TABLE plants (id int)');
    await expect(use(write)).rejects.toMatchObject({ name: 'Unavailable', code: '25006' });
    // The other connection may point to the same server, although the URL leads to another one now.
    expect(pids).not.toContainEqual(await use(pidOf));
  });
});

test('a connection whose setUp fails is closed', async () => {
  const { connect, stats, seconds } = create(await server.createSchema(), async () => {
    throw new Unusable('The table has no column id.');
  });
  await expect(connect()).rejects.toThrow('The table has no column id.');
  expect(stats()).toEqual({ connections: 0, connections_idle: 0 });
  expect(seconds).toEqual([]);
});

test('a connection turns on synchronous_commit if the role turned it off', async () => {
  await server.query(
    "CREATE ROLE hasty LOGIN PASSWORD 'p'; ALTER ROLE hasty SET synchronous_commit = off",
  );
  const { use } = create((await server.createSchema()).replace(/\/\/.*@/, '//hasty:p@'));
  const { rows } = await use((client) => client.query('SHOW synchronous_commit'));
  expect(rows).toEqual([{ synchronous_commit: 'on' }]);
});

describe('With several hosts', () => {
  test('connect uses the first host that responds, and starts with it the next time', async () => {
    const dead = await startDeadHost();
    const { connect, use, stats } = create(
      withHosts(await server.createSchema(), `127.0.0.1:${dead.port},`),
    );
    await Promise.all([connect(), connect()]);
    expect(dead.attempts).toBe(2);
    const third = Promise.withResolvers<void>();
    await Promise.all([
      use(() => third.promise),
      use(() => third.promise),
      use(async () => third.resolve()),
    ]);
    expect(stats().connections).toBe(3);
    expect(dead.attempts).toBe(2);
  });

  test('connect returns to the first host after it has tried the last one', async () => {
    const dead = await startDeadHost();
    const url = withHosts(await server.createSchema(), '', `,127.0.0.1:${dead.port}`);
    const { use } = create(url);
    const write = (client: Client) => client.query('BEGIN READ ONLY; CREATE TABLE plants (id int)');
    // The host is avoided, and then used since the other one does not respond.
    await expect(use(write)).rejects.toHaveProperty('code', '25006');
    await use(pidOf);
    expect(dead.attempts).toBe(1);
  });
});

test.each([
  ['any', true],

  ['read-only', false],

  ['standby', false],
])('with target_session_attrs=%s, a primary is accepted: %p', async (session, isAccepted) => {
  const url = await server.createSchema();
  const { connect, stats } = create(`${url}&target_session_attrs=${session}`);
  if (isAccepted) await connect();
  else {
    await expect(connect()).rejects.toThrow(
      `127.0.0.1:${server.port} does not have target_session_attrs=${session}`,
    );
    expect(stats().connections).toBe(0);
  }
});

test.each(['use', 'end'] as const)(
  '%s destroys the socket if the server does not close it within a second',
  async (name) => {
    const destroyed = Promise.withResolvers<void>();
    // Forwards everything but the end of the server's side.
    const listener = createServer({ allowHalfOpen: true }, (near) => {
      const far = connectSocket(server.port, '127.0.0.1');
      let interval: NodeJS.Timeout | undefined;
      near.on('data', (data) => void far.write(data));
      far.on('data', (data) => void near.write(data));
      far.on('error', () => {});
      near.on('error', () => {});
      near.on('end', () => {
        // Writing to a socket that the client has destroyed resets the connection: 'close' follows.
        interval = setInterval(() => near.write('S\0\0\0\x08a\0b\0'), 50);
      });
      near.on('close', () => {
        clearInterval(interval);
        far.destroy();
        destroyed.resolve();
      });
    });
    opened.push({ close: () => listener.close() });
    const port = await listen(listener);
    const url = (await server.createSchema()).replace(String(server.port), String(port));
    const { connect, end, use } = create(`${url}&sslmode=disable`);
    await connect();
    const start = performance.now();
    if (name === 'use') await use((client) => client.query('BEGIN')).catch(() => {});
    else {
      opened.pop();
      await end();
    }
    await destroyed.promise;
    expect(performance.now() - start).toBeGreaterThan(900);
  },
);

test('a database opens if the server does not respond, and closes while a call waits', async () => {
  const through = await proxy();
  through.silent = true;
  const database = await open(`postgres://u:p@127.0.0.1:${through.port}/plants?connect_timeout=1`);
  const lost = expect(database.add('Basil')).rejects.toThrow(Unavailable);
  await database.close();
  await lost;
});

test('a database is unavailable while the network is silent, recovers, and can close', async () => {
  const through = await proxy();
  const url = (await server.createSchema()).replace(String(server.port), String(through.port));
  const database = await open(`${url}&statement_timeout=300&connect_timeout=1&max=1`);
  const silence = () => {
    through.silent = true;
    through.silence();
  };
  silence();
  await expect(database.add('Basil')).rejects.toThrow(/timeout/);
  await expect(database.ready()).rejects.toThrow(Unavailable);
  through.silent = false;
  await eventually(() => database.add('Basil'));
  silence();
  const lost = database.add('Basil').catch((error: unknown) => error);
  await database.close();
  expect(await lost).toBeInstanceOf(Unavailable);
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
  expect(await readiness(database)).toBeUndefined();
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

describe('run', () => {
  test('reports the code of an outage', async () => {
    const codes: string[] = [];
    const database = await open(await server.createSchema(), {
      onUnavailable: (code) => codes.push(code),
    });
    const cut = database.run((client) =>
      client.query('SELECT pg_terminate_backend(pg_backend_pid())'),
    );
    await expect(cut).rejects.toThrow(Unavailable);
    expect(codes).toEqual(['57P01']);
  });

  test('on the only connection does not affect readiness', async () => {
    const database = await open(`${await server.createSchema()}&max=1&statement_timeout=60000`);
    const started = Promise.withResolvers<void>();
    const end = Promise.withResolvers<void>();
    const slow = database.run(() => {
      started.resolve();
      return end.promise;
    });
    await started.promise;
    expect(await readiness(database)).toBeUndefined();
    expect(database.stats().waiting).toBe(1);
    end.resolve();
    await slow;
    await eventually(() => expect(database.stats().connections).toBe(1));
  });
});
