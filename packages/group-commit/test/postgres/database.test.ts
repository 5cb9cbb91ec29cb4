import { once } from 'node:events';
import { createServer } from 'node:net';
import { inspect } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import type { ClientBase } from 'pg';
import { eventually } from 'test-support/eventually';
import { openDatabase, RowRejected, Unavailable, Unusable } from '../../src/postgres/database.ts';
import { readUrl } from '../../src/postgres/url.ts';
import { open, optionsFor, server, TABLE, useServer } from './support.ts';

useServer();

test('waiting rows share a statement, and other statements run concurrently', async () => {
  const batches: number[] = [];
  const database = await open(await server.createSchema(), {
    onBatch: (rows) => batches.push(rows),
  });
  await Promise.all(Array.from({ length: 600 }, (_, at) => database.add(`note ${at}`)));
  expect(batches).toEqual([600]);
  const { rows } = await database.run((client) => client.query('SELECT count(*)::int FROM notes'));
  expect(rows).toEqual([{ count: 600 }]);
  await database.close();
  await expect(database.run(async () => 1)).rejects.toThrow('The database is closed.');
});

test.each([
  ['SELECT nothing', { name: 'Error', code: '42703', constraint: undefined }],
  [
    "INSERT INTO notes (text) VALUES ('')",
    { name: 'RowRejected', code: '23514', constraint: 'notes_text_check' },
  ],
  ["SELECT 'secret'::int", { name: 'RowRejected', code: '22P02', constraint: undefined }],
])(
  'a statement that is wrong itself, as %s, fails with its code, and its error quotes no value',
  async (sql, fields) => {
    const database = await open(await server.createSchema());
    const error = await database
      .run((client) => client.query(sql))
      .catch((error: unknown) => error);
    expect(error).toMatchObject(fields);
    expect(inspect(error)).not.toMatch(/secret|Failing row/);
    await database.add('a');
    await database.close();
  },
);

test('a temporary error of the server is reported as unavailable', async () => {
  const database = await open(await server.createSchema());
  const end = database.run((client) =>
    client.query('SELECT pg_terminate_backend(pg_backend_pid())'),
  );
  await expect(end).rejects.toThrow(Unavailable);
  await database.close();
});

test('only the row that violates a constraint is rejected', async () => {
  const database = await open(await server.createSchema());
  const outcomes = await Promise.allSettled(['a', '', 'b'].map((text) => database.add(text)));
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(outcomes[1]).toHaveProperty('reason', expect.any(RowRejected));
  expect(outcomes[1]).toHaveProperty(
    'reason.cause.message',
    expect.stringContaining('notes_text_check'),
  );
  await database.close();
});

describe('resolved means on disk', () => {
  /** The rows that another session sees after the database is closed. */
  async function keptAfter(task: (client: ClientBase) => Promise<unknown>) {
    const url = `${await server.createSchema()}&max=1`;
    const database = await open(url);
    const outcome = await database.run(task).then(
      () => 'resolved',
      (error: unknown) => String(error),
    );
    await database.add('kept');
    const settings = await database.run((client) => client.query('SHOW synchronous_commit'));
    expect(settings.rows).toEqual([{ synchronous_commit: 'on' }]);
    await database.close();
    return { outcome, rows: await server.query('SELECT text FROM notes', url) };
  }

  test.each<[string, string]>([
    ['BEGIN', 'left a transaction open'],
    ["BEGIN; INSERT INTO notes (text) VALUES ('mine')", 'left a transaction open'],
    ['SET synchronous_commit = off', 'turned synchronous_commit off'],
    ['SET search_path = pg_temp', 'resolved'],
    ['SET default_transaction_read_only = on', 'resolved'],
    ['CREATE TEMP TABLE notes (text text)', 'resolved'],
    ['SET SESSION AUTHORIZATION pg_monitor', 'resolved'],
    ['SELECT pg_advisory_lock(1)', 'resolved'],
  ])('for a call after a task that says %s, which %s', async (sql, outcome) => {
    const after = await keptAfter((client) => client.query(sql));
    expect(after.outcome).toContain(outcome);
    expect(after.rows).toEqual([{ text: 'kept' }]);
  });

  test('for a call after a task that does not wait for its BEGIN', async () => {
    const after = await keptAfter(async (client) => void client.query('BEGIN'));
    expect(after.outcome).toContain('left a transaction open');
    expect(after.rows).toEqual([{ text: 'kept' }]);
  });

  test('for rows whose insert turned synchronous_commit off, or opened a transaction', async () => {
    const url = `${await server.createSchema()}&max=1`;
    const seen: unknown[] = [];
    await server.query(
      `${TABLE};
      CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO settings VALUES (current_setting('synchronous_commit')); RETURN NULL; END $$;
      CREATE TABLE settings (value text);
      CREATE CONSTRAINT TRIGGER see AFTER INSERT ON notes DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION see()`,
      url,
    );
    const database = await open(url, {
      async insert(client, texts) {
        await client.query('SET LOCAL synchronous_commit = off; BEGIN');
        await client.query('INSERT INTO notes (text) SELECT unnest($1::text[])', [texts]);
      },
    });
    await database.add('kept');
    seen.push(await server.query('SELECT text, value FROM notes, settings', url));
    expect(seen).toEqual([[{ text: 'kept', value: 'on' }]]);
  });
});

test.each([
  ['a cursor', 'DECLARE c CURSOR WITH HOLD FOR SELECT 1', 'SELECT FROM pg_cursors'],
  ['a channel', 'LISTEN news', 'SELECT FROM pg_listening_channels()'],
  [
    'an advisory lock',
    'SELECT pg_advisory_lock(1)',
    "SELECT FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()",
  ],
  [
    'a temporary table',
    'CREATE TEMP TABLE mine (text text)',
    "SELECT FROM pg_class WHERE relname = 'mine'",
  ],
  [
    'a setting',
    "SET work_mem = '1MB'",
    "SELECT FROM pg_settings WHERE name = 'work_mem' AND setting = '1024'",
  ],
])('%s of a task is gone at the next task of its connection', async (_what, sql, remains) => {
  const database = await open(`${await server.createSchema()}&max=1`);
  const query = (text: string) => database.run((client) => client.query(text));
  const pid = async () => (await query('SELECT pg_backend_pid() AS pid')).rows;
  const before = await pid();
  await query(sql);
  expect((await query(remains)).rowCount).toBe(0);
  expect(await pid()).toEqual(before);
});

describe('a transaction', () => {
  const insert = (client: ClientBase, text: string) =>
    client.query('INSERT INTO notes (text) VALUES ($1) RETURNING id::int', [text]);

  test('resolves to the result of its task, after the commit', async () => {
    const url = await server.createSchema();
    const database = await open(url);
    const ids = await database.transaction(async (client) => [
      (await insert(client, 'a')).rows[0],
      (await insert(client, 'b')).rows[0],
    ]);
    expect(ids).toEqual([{ id: 1 }, { id: 2 }]);
    expect(await server.query('SELECT text FROM notes', url)).toHaveLength(2);
  });

  test.each<[string, (client: ClientBase) => Promise<unknown>, object]>([
    [
      'throws',
      async (client) => {
        await insert(client, 'a');
        throw new RangeError('no tea');
      },
      { name: 'RangeError', message: 'no tea' },
    ],
    [
      'hides that a statement failed',
      async (client) => {
        await insert(client, 'a');
        await insert(client, '').catch(() => {});
      },
      { message: expect.stringContaining('rolled back') },
    ],
    [
      'breaks a rule',
      async (client) => {
        await insert(client, 'a');
        await insert(client, '');
      },
      { name: 'RowRejected', code: '23514' },
    ],
  ])('whose task %s is undone', async (_, task, error) => {
    const url = await server.createSchema();
    const database = await open(url);
    await expect(database.transaction(task)).rejects.toMatchObject(error);
    expect(await server.query('SELECT FROM notes', url)).toEqual([]);
    await database.add('b');
  });
});

test('the error of a task is passed on unchanged, and connections stay open', async () => {
  const reasons: string[] = [];
  const url = `${await server.createSchema()}&max=1`;
  const database = await open(url, { onUnavailable: (code) => reasons.push(code) });
  const pid = () => database.run((client) => client.query('SELECT pg_backend_pid() AS pid'));
  const before = (await pid()).rows;
  const bug = new TypeError('undefined is not a function');
  const fail = () => Promise.reject(bug);
  await expect(database.run(fail)).rejects.toBe(bug);
  await expect(database.transaction(fail)).rejects.toBe(bug);
  await expect(
    database.run(() => {
      throw bug;
    }),
  ).rejects.toBe(bug);
  await expect(database.run((client) => client.query('SELECT nothing'))).rejects.toThrow('nothing');
  expect((await pid()).rows).toEqual(before);
  expect(reasons).toEqual([]);
});

describe('insert', () => {
  test('returns one result for each call', async () => {
    const database = await openDatabase<string, number>({
      ...optionsFor(await server.createSchema()),
      async insert(client, texts) {
        const { rows } = await client.query<{ id: number }>(
          'INSERT INTO notes (text) SELECT unnest($1::text[]) RETURNING id::int',
          [texts],
        );
        return rows.map(({ id }) => id);
      },
    });
    const ids: readonly number[] = await Promise.all(['a', 'b', 'c'].map(database.add));
    expect(ids).toEqual([1, 2, 3]);
    const outcomes = await Promise.allSettled(['d', '', 'e'].map(database.add));
    expect(outcomes).toMatchObject([
      { value: expect.any(Number) },
      { reason: { code: '23514', constraint: 'notes_text_check' } },
      { value: expect.any(Number) },
    ]);
    await database.close();
  });

  test('that returns another number of results inserts nothing', async () => {
    const url = await server.createSchema();
    const database = await openDatabase<string, number>({
      ...optionsFor(url),
      async insert(client, texts) {
        await client.query('INSERT INTO notes (text) SELECT unnest($1::text[])', [texts]);
        return [1, 2];
      },
    });
    await expect(database.add('a')).rejects.toThrow('insert returned 2 results for 1 rows');
    expect(await server.query('SELECT FROM notes', url)).toEqual([]);
    await database.close();
  });

  test('may be left out, and so may setUp and the table', async () => {
    const database = await openDatabase({ url: await server.createSchema(), name: 'notes' });
    await database.ready();
    const { rows } = await database.run((client) => client.query('SELECT 1 AS one'));
    expect(rows).toEqual([{ one: 1 }]);
    await database.close();
  });

  test('of a duplicate key rejects no other row', async () => {
    const url = await server.createSchema();
    const database = await open(url);
    await server.query('CREATE UNIQUE INDEX once ON notes (text)', url);
    const outcomes = await Promise.allSettled(['a', 'b', 'a', 'c'].map(database.add));
    expect(outcomes.filter(({ status }) => status === 'rejected')).toMatchObject([
      { reason: { name: 'RowRejected', code: '23505', constraint: 'once' } },
    ]);
    expect(await server.query('SELECT FROM notes', url)).toHaveLength(3);
  });
});

test('calls wait for a free connection if the server accepts no further one', async () => {
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

test('a call whose new connection is refused uses one that has become free', async () => {
  const url = await server.createDatabase();
  await server.query("CREATE ROLE one LOGIN PASSWORD 'p' CONNECTION LIMIT 1");
  await server.query('GRANT CREATE ON SCHEMA public TO one', url);
  const database = await open(url.replace(/\/\/.*@/, '//one:p@'));
  const quick = () => database.run((client) => client.query('SELECT 1'));
  await expect(Promise.all([quick(), quick()])).resolves.toHaveLength(2);
});

test('the table is created again if it was dropped', async () => {
  const url = await server.createSchema();
  const database = await open(url);
  await server.query('DROP TABLE notes', url);
  await expect(database.add('lost')).rejects.toThrow(Unavailable);
  await database.add('kept');
  expect(await server.query('SELECT text FROM notes', url)).toEqual([{ text: 'kept' }]);
  await database.close();
});

test('without the privilege to create the table, the message shows the statement', async () => {
  const url = await server.createDatabase();
  await server.query("CREATE ROLE guest LOGIN PASSWORD 'p'");
  const opening = open(url.replace(/\/\/.*@/, '//guest:p@'));
  await expect(opening).rejects.toThrow(Unusable);
  await expect(opening).rejects.toThrow(TABLE);
});

test('the password function is called for each connection, and connections are measured', async () => {
  const url = (await server.createSchema()).replace(/:[^/@]*@/, '@');
  const [asked, seconds]: [number[], number[]] = [[], []];
  const database = await openDatabase<string>({
    ...optionsFor(url),
    async password() {
      asked.push(1);
      return 'correct horse';
    },
    onConnect: (took) => seconds.push(took),
  });
  await database.add('a');
  expect(database.stats()).toEqual({ waiting: 0, connections: 1, connections_idle: 1 });
  await server.query(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'notes'",
  );
  await eventually(async () => await database.add('b'));
  await database.close();
  expect([asked.length, seconds.length]).toEqual([2, 2]);
});

test('statement_timeout=0 limits transactions on the server, and other statements in the client', async () => {
  const database = await open(`${await server.createSchema()}&statement_timeout=0`);
  const sleep = (seconds: number) => (client: ClientBase) =>
    client.query(`SELECT pg_sleep(${seconds})`);
  const outcomes = await Promise.allSettled([
    database.transaction(sleep(600)),
    database.run(sleep(601)),
  ]);
  for (const outcome of outcomes) expect(outcome).toHaveProperty('reason.name', 'Unavailable');
  await database.add('Basil');
  const running = () =>
    server.query(
      `SELECT query FROM pg_stat_activity
       WHERE query LIKE 'SELECT pg_sleep(60%' AND state = 'active'`,
    );
  await eventually(async () => {
    expect(await running()).toEqual([{ query: 'SELECT pg_sleep(601)' }]);
  });
  await server.query(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(601)'",
  );
});

test('statement_timeout=0 sends no parameter at the start that a pooler could reject', async () => {
  const sent = Promise.withResolvers<string>();
  const pooler = createServer((socket) => {
    socket.once('data', (data) => {
      sent.resolve(String(data));
      socket.destroy();
    });
  });
  await once(pooler.listen(0, '127.0.0.1'), 'listening');
  const { port } = Object(pooler.address());
  const database = await open(
    `postgres://me:secret@127.0.0.1:${port}/notes?sslmode=disable&statement_timeout=0`,
  );
  expect((await sent.promise).split('\0').filter((part) => /^[a-z_]{3,}$/.test(part))).toEqual(
    expect.not.arrayContaining(['statement_timeout', 'options']),
  );
  await database.close();
  pooler.close();
});

test.each([
  ['hostaddr=10.0.0.1', /unknown parameter "hostaddr"; use application_name, connect_timeout/],
  ['target_session_attrs=writable', /target_session_attrs must be one of any, read-write/],
  ['load_balance_hosts=yes', /load_balance_hosts must be one of disable, random, got "yes"/],
])('the parameter %s is rejected by its name', async (parameter, message) => {
  await expect(open(`postgres://me:s3cret@a:1,b:2/notes?${parameter}`)).rejects.toThrow(message);
  await expect(open(`postgres://me:s3cret@a:1,b:2/notes?${parameter}`)).rejects.not.toThrow(
    's3cret',
  );
});

test('the hosts of a URL, and of its parameters, are its location', async () => {
  const locationOf = (url: string) => readUrl(url, 'notes').location;
  expect(locationOf('postgres://me:secret@a:1,b/notes')).toBe('a:1,b/notes');
  expect(locationOf('postgres:///notes?host=a,b&port=1,2')).toBe('a:1,b:2/notes');
  expect(locationOf('postgres:///notes?host=/run/postgres')).toBe('/run/postgres/notes');
});

test('the URL has the documented defaults', () => {
  const { connectMs, patience, max, pooled, session, shuffled, prefersTls, targets } = readUrl(
    'postgres://me@a/notes',
    'notes',
  );
  expect({ connectMs, patience, max, pooled, session, shuffled, prefersTls }).toEqual({
    connectMs: 3_000,
    patience: 3_000,
    max: 4,
    pooled: false,
    session: 'any',
    shuffled: false,
    prefersTls: true,
  });
  expect(targets[0]?.config).toMatchObject({
    connectionTimeoutMillis: 3_000,
    statement_timeout: 3_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 30_000,
    application_name: 'notes',
  });
});
