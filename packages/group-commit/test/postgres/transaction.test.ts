import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Client, ClientBase } from 'pg';
import { rehearse, transact } from '../../src/postgres/transaction.ts';
import { server, session, TABLE, useServer } from './support.ts';

useServer();

let url: string;
let client: Client;
beforeEach(async () => {
  url = await server.createSchema();
  await server.query(TABLE, url);
  client = await session(url);
});

const LIMITS = { statementMs: 3_000, pooled: false };

const insert = (inner: ClientBase, text: string) =>
  inner.query('INSERT INTO notes (text) VALUES ($1)', [text]);
const texts = async () =>
  (await server.query('SELECT text FROM notes', url)).map(({ text }) => text);
const status = async () =>
  (await client.query('SELECT pg_current_xact_id_if_assigned() AS id')).rows;

describe('transact', () => {
  const bug = new RangeError('no tea');
  test.each<[string, (inner: ClientBase) => Promise<unknown>, object]>([
    ['that throws', () => Promise.reject(bug), bug],
    ['that violates a constraint', (inner) => insert(inner, ''), { code: '23514' }],
    [
      'that catches the error of a statement',
      (inner) => insert(inner, '').catch(() => {}),
      {
        message: 'the transaction was rolled back because one of its statements failed',
        cause: expect.objectContaining({ code: '25P02' }),
      },
    ],
  ])('rolls back a task %s', async (_name, task, error) => {
    const transaction = transact(
      client,
      async (inner) => {
        await insert(inner, 'a');
        await task(inner);
      },
      LIMITS,
    );
    await expect(transaction).rejects.toMatchObject(error);
    expect(await texts()).toEqual([]);
    expect(await status()).toEqual([{ id: null }]);
  });

  test('rejects if the commit fails', async () => {
    await server.query(
      'CREATE TABLE replies (note bigint UNIQUE DEFERRABLE INITIALLY DEFERRED)',
      url,
    );
    const transaction = transact(
      client,
      (inner) => inner.query('INSERT INTO replies VALUES (1), (1)'),
      LIMITS,
    );
    await expect(transaction).rejects.toHaveProperty('code', '23505');
    expect(await status()).toEqual([{ id: null }]);
  });

  test.each([[200, '200ms']])(
    'with the time limit %p limits statements to %s, until it ends',
    async (limit, value) => {
      const show = async () => (await client.query('SHOW statement_timeout')).rows;
      expect(await transact(client, show, { ...LIMITS, statementMs: limit })).toEqual([
        { statement_timeout: value },
      ]);
      expect(await show()).toEqual([{ statement_timeout: '0' }]);
    },
  );

  test('waits for the disk, even if the task turned synchronous_commit off', async () => {
    await server.query(
      `CREATE FUNCTION record() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO settings VALUES (current_setting('synchronous_commit')); RETURN NULL; END $$;
      CREATE TABLE settings (value text);
      CREATE CONSTRAINT TRIGGER record AFTER INSERT ON notes DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION record()`,
      url,
    );
    const task = async (inner: ClientBase) => {
      await inner.query('SET LOCAL synchronous_commit = off; BEGIN');
      await insert(inner, 'a');
    };
    await transact(client, task, LIMITS);
    // The trigger runs at the commit.
    expect(await server.query('SELECT text, value FROM notes, settings', url)).toEqual([
      { text: 'a', value: 'on' },
    ]);
  });
});

describe('rehearse', () => {
  test('runs a task and rolls it back', async () => {
    let rowCount: number | null = 0;
    await rehearse(client, async (inner) => {
      ({ rowCount } = await insert(inner, 'a'));
    });
    expect(rowCount).toBe(1);
    expect(await texts()).toEqual([]);
    expect(await status()).toEqual([{ id: null }]);
  });

  test('rejects with the error of the task, after rolling back', async () => {
    await expect(rehearse(client, (inner) => insert(inner, ''))).rejects.toHaveProperty(
      'code',
      '23514',
    );
    await insert(client, 'b');
    expect(await texts()).toEqual(['b']);
  });
});
