import { createServer } from 'node:net';
import { inspect } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import type { ClientBase } from 'pg';
import { eventually } from 'test-support/eventually';
import { openDatabase, Unavailable, Unusable } from '../../src/postgres/database.ts';
import { readiness } from '../readiness.ts';
import { listen, open, opened, optionsFor, server, TABLE } from './support.ts';

test('waiting rows share one statement', async () => {
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
])('the error of the statement %s has its SQLSTATE, and no values', async (sql, fields) => {
  const database = await open(await server.createSchema());
  const error = await database.run((client) => client.query(sql)).catch((error: unknown) => error);
  expect(error).toMatchObject(fields);
  expect(inspect(error)).not.toMatch(/secret|Failing row/);
  await database.add('a');
  await database.close();
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

  test.each<[string, (client: ClientBase) => Promise<unknown>, object | undefined]>([
    ['violates a constraint', (client) => insert(client, ''), { code: '23514' }],
    [
      'catches the error of a statement',
      (client) => insert(client, '').catch(() => {}),
      {
        message: 'the transaction was rolled back because one of its statements failed',
        cause: expect.objectContaining({ code: '25P02' }),
      },
    ],
    ['throws nothing', () => Promise.reject(), undefined],
    [
      'fails at the commit',
      (client) =>
        client.query(`CREATE TABLE replies (note int UNIQUE DEFERRABLE INITIALLY DEFERRED);
          INSERT INTO replies VALUES (1), (1)`),
      { name: 'RowRejected', code: '23505' },
    ],
  ])('whose task %s is rolled back and rejected', async (_name, task, error) => {
    const url = await server.createSchema();
    const database = await open(`${url}&max=1`);
    const transaction = database.transaction(async (client) => {
      await insert(client, 'a');
      await task(client);
    });
    await expect(transaction).rejects.toEqual(error && expect.objectContaining(error));
    expect(await server.query('SELECT FROM notes', url)).toEqual([]);
    await database.add('b');
    expect(await server.query('SELECT text FROM notes', url)).toEqual([{ text: 'b' }]);
  });

  test('waits for the disk, even if its task turned synchronous_commit off', async () => {
    const url = await server.createSchema();
    const database = await open(url);
    await server.query(
      `CREATE FUNCTION record() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO settings VALUES (current_setting('synchronous_commit')); RETURN NULL; END $$;
      CREATE TABLE settings (value text);
      CREATE CONSTRAINT TRIGGER record AFTER INSERT ON notes DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION record()`,
      url,
    );
    await database.transaction(async (client) => {
      await client.query('SET LOCAL synchronous_commit = off; BEGIN');
      await insert(client, 'a');
    });
    // The trigger runs at the commit.
    expect(await server.query('SELECT text, value FROM notes, settings', url)).toEqual([
      { text: 'a', value: 'on' },
    ]);
  });
});

test('a check runs the rows of a failed commit again, and rolls them back', async () => {
  const url = await server.createSchema();
  const inserted: (readonly string[])[] = [];
  const options = optionsFor(url);
  const database = await open(url, {
    async insert(client, texts) {
      inserted.push(texts);
      await options.insert?.(client, texts);
      if (inserted.length <= 2) await client.query('SELECT pg_terminate_backend(pg_backend_pid())');
    },
  });
  await expect(database.add('a')).rejects.toThrow(Unavailable);
  expect(await readiness(database)).toBeInstanceOf(Unavailable);
  expect(await readiness(database)).toBeUndefined();
  expect(await readiness(database)).toBeUndefined();
  expect(inserted).toEqual([['a'], ['a'], ['a'], []]);
  expect(await server.query('SELECT FROM notes', url)).toEqual([]);
});

test('a row that the server rolls back each time is unavailable after 20 attempts', async () => {
  let attempts = 0;
  const database = await open(`${await server.createSchema()}&statement_timeout=60000`, {
    async insert(client) {
      attempts += 1;
      await client.query("DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '40001'; END $$");
    },
  });
  await expect(database.add('a')).rejects.toMatchObject({ name: 'Unavailable', code: '40001' });
  expect(attempts).toBe(20);
  await database.close();
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

  test('is optional, and so are setUp and table', async () => {
    const database = await openDatabase({ url: await server.createSchema(), name: 'notes' });
    expect(await readiness(database)).toBeUndefined();
    const { rows } = await database.run((client) => client.query('SELECT 1 AS one'));
    expect(rows).toEqual([{ one: 1 }]);
    await database.close();
  });
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

test('the password function is called, and the time reported, for each connection', async () => {
  const url = (await server.createSchema()).replace(/:[^/@]*@/, '@');
  const calls: number[] = [];
  const seconds: number[] = [];
  const database = await openDatabase<string>({
    ...optionsFor(url),
    async password() {
      calls.push(1);
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
  expect([calls.length, seconds.length]).toEqual([2, 2]);
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

test('statement_timeout=0 sends no startup parameter that a pooler rejects', async () => {
  const sent = Promise.withResolvers<string>();
  const pooler = createServer((socket) => {
    socket.once('data', (data) => {
      sent.resolve(String(data));
      socket.destroy();
    });
  });
  opened.push({ close: () => pooler.close() });
  const port = await listen(pooler);
  const database = await open(
    `postgres://me:secret@127.0.0.1:${port}/notes?sslmode=disable&statement_timeout=0`,
  );
  const names = (await sent.promise).split('\0').filter((part) => /^[a-z_]{3,}$/.test(part));
  expect(names).toContain('application_name');
  expect(names).not.toContain('statement_timeout');
  expect(names).not.toContain('options');
  await database.close();
});
