import { once } from 'node:events';
import { createServer } from 'node:net';
import { inspect } from 'node:util';
import { expect, test } from '@jest/globals';
import { eventually } from '../../../../test/support/eventually.ts';
import { openDatabase, RowRejected, Unavailable, Unusable } from '../../src/postgres/database.ts';
import { readUrl } from '../../src/postgres/url.ts';
import { open, optionsFor, server, TABLE, useServer } from './support.ts';

useServer();

test('rows that wait share a statement, and other statements run beside them', async () => {
  const batches: number[] = [];
  const database = await open(await server.createSchema(), { onBatch: (rows) => batches.push(rows) });
  await Promise.all(Array.from({ length: 600 }, (_, at) => database.add(`note ${at}`)));
  expect(batches).toEqual([600]);
  const { rows } = await database.run((client) => client.query('SELECT count(*)::int FROM notes'));
  expect(rows).toEqual([{ count: 600 }]);
  await database.close();
  await expect(database.run(async () => 1)).rejects.toThrow('The database is closed.');
});

test.each([
  ['SELECT nothing', { code: '42703', constraint: undefined }],
  ["INSERT INTO notes (text) VALUES ('')", { code: '23514', constraint: 'notes_text_check' }],
  ["SELECT 'secret'::int", { code: '22P02', constraint: undefined }],
])(
  'a statement that is wrong itself, as %s, fails with its code, and its error quotes no value',
  async (sql, fields) => {
    const database = await open(await server.createSchema());
    const error = await database.run((client) => client.query(sql)).catch((error: unknown) => error);
    expect(error).toMatchObject({ name: 'Error', ...fields });
    expect(inspect(error)).not.toMatch(/secret|Failing row/);
    await database.add('a');
    await database.close();
  },
);

test('a statement that the server cannot run for now is unavailable', async () => {
  const database = await open(await server.createSchema());
  const end = database.run((client) => client.query('SELECT pg_terminate_backend(pg_backend_pid())'));
  await expect(end).rejects.toThrow(Unavailable);
  await database.close();
});

test('a row that breaks a rule of the table is rejected alone', async () => {
  const database = await open(await server.createSchema());
  const outcomes = await Promise.allSettled(['a', '', 'b'].map((text) => database.add(text)));
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(outcomes[1]).toHaveProperty('reason', expect.any(RowRejected));
  expect(outcomes[1]).toHaveProperty('reason.cause.message', expect.stringContaining('notes_text_check'));
  await database.close();
});

test('the table is created again if it is gone', async () => {
  const url = await server.createSchema();
  const database = await open(url);
  await server.query('DROP TABLE notes', url);
  await expect(database.add('lost')).rejects.toThrow(Unavailable);
  await database.add('kept');
  expect(await server.query('SELECT text FROM notes', url)).toEqual([{ text: 'kept' }]);
  await database.close();
});

test('the right to create the table is missing: the message shows the statement', async () => {
  const url = await server.createDatabase();
  await server.query("CREATE ROLE guest LOGIN PASSWORD 'p'");
  const opening = open(url.replace(/\/\/.*@/, '//guest:p@'));
  await expect(opening).rejects.toThrow(Unusable);
  await expect(opening).rejects.toThrow(TABLE);
});

test('the password is asked for at each connection, and connections are measured', async () => {
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
  await server.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'notes'");
  await eventually(async () => await database.add('b'));
  await database.close();
  expect([asked.length, seconds.length]).toEqual([2, 2]);
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
  const database = await open(`postgres://me:secret@127.0.0.1:${port}/notes?sslmode=disable&statement_timeout=0`);
  expect((await sent.promise).split('\0').filter((part) => /^[a-z_]{3,}$/.test(part))).toEqual(
    expect.not.arrayContaining(['statement_timeout', 'options']),
  );
  await database.close();
  pooler.close();
});

test.each([
  ['hostaddr=10.0.0.1', /the parameter "hostaddr" is unknown; known are application_name, connect_timeout/],
  ['target_session_attrs=writable', /target_session_attrs is "writable", but must be one of any, read-write/],
  ['load_balance_hosts=yes', /load_balance_hosts is "yes", but must be one of disable, random/],
])('the parameter %s is rejected by its name', async (parameter, message) => {
  await expect(open(`postgres://me:s3cret@a:1,b:2/notes?${parameter}`)).rejects.toThrow(message);
  await expect(open(`postgres://me:s3cret@a:1,b:2/notes?${parameter}`)).rejects.not.toThrow('s3cret');
});

test('the hosts of a URL, and of its parameters, are its location', async () => {
  const locationOf = (url: string) => readUrl(url, 'notes').location;
  expect(locationOf('postgres://me:secret@a:1,b/notes')).toBe('a:1,b/notes');
  expect(locationOf('postgres:///notes?host=a,b&port=1,2')).toBe('a:1,b:2/notes');
  expect(locationOf('postgres:///notes?host=/run/postgres')).toBe('/run/postgres/notes');
});
