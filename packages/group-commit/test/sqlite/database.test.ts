import { readdirSync, readFileSync, statSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { eventually } from 'test-support/eventually';
import { openDatabase, RowRejected, Unavailable, Unusable } from '../../src/sqlite/database.ts';
import { connect, file, folder, ids, open, useFolder } from './support.ts';

useFolder();

describe('A call', () => {
  test('returns what the function returns, with bigints and bytes', async () => {
    const database = await open();
    await database.write('add', { id: 2n ** 63n - 1n, text: 'last' });
    expect(await database.write('addBoth', { id: 1, text: 'a' }, { id: 2, text: 'b' })).toBe(2);
    expect(await database.read('list')).toEqual([
      { id: 1n, text: 'a' },
      { id: 2n, text: 'b' },
      { id: 2n ** 63n - 1n, text: 'last' },
    ]);
    expect(await database.read('bytes', 3)).toEqual(new Uint8Array([7, 7, 7]));
  });

  test('has the types of the module', async () => {
    const database = await open();
    const promise: Promise<number> = database.write(
      'addBoth',
      { id: 1, text: 'a' },
      { id: 2, text: 'b' },
    );
    await promise;
    // @ts-expect-error text is missing
    await expect(database.write('add', { id: 3 })).rejects.toThrow();
    // @ts-expect-error there is no such function
    await expect(database.write('remove', 1)).rejects.toThrow(
      'the module defines no function remove',
    );
  });

  test('resolves after the commit: another connection sees the data', async () => {
    const database = await open();
    for (let id = 1; id <= 20; id++) {
      await database.write('add', { id, text: 'a' });
      expect(ids()).toContain(id);
    }
  });

  test('shares one transaction with the calls that wait', async () => {
    const batches: number[] = [];
    const database = await open({ onBatch: (calls) => batches.push(calls) });
    await Promise.all(
      Array.from({ length: 300 }, (_, id) => database.write('add', { id, text: 'a' })),
    );
    expect(batches).toEqual([300]);
  });

  test('shares a transaction of at most 1,000 calls and about a million characters', async () => {
    const batches: number[] = [];
    const database = await open({ maxWaiting: 10_000, onBatch: (calls) => batches.push(calls) });
    await Promise.all(
      Array.from({ length: 2_500 }, (_, id) => database.write('add', { id, text: 'a' })),
    );
    const text = 'a'.repeat(100_000);
    await Promise.all(
      Array.from({ length: 25 }, (_, id) => database.write('add', { id: -1 - id, text })),
    );
    expect(batches).toEqual([1_000, 1_000, 500, 10, 10, 5]);
  });

  test('that throws undoes only its own changes, and keeps name, message and code', async () => {
    const database = await open();
    const outcomes = await Promise.allSettled([
      database.write('add', { id: 1, text: 'a' }),
      database.write('fail', 'tea'),
      database.write('addBoth', { id: 2, text: 'b' }, { id: 1, text: 'taken' }),
      database.write('add', { id: 3, text: 'c' }),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'rejected',
      'fulfilled',
    ]);
    const [, failed, taken] = outcomes;
    expect(failed).toHaveProperty('reason', expect.any(Error));
    expect(failed).toMatchObject({
      reason: { name: 'RangeError', message: 'no tea', code: 'NO_NAME', status: 418 },
    });
    expect(failed).toHaveProperty('reason.stack', expect.stringContaining('notes.ts'));
    expect(taken).toMatchObject({ reason: { code: '23505', constraint: 'notes.id' } });
    expect(ids()).toEqual([1, 3]);
  });

  test('that throws needs no separate commit', async () => {
    const database = await open();
    await database.write('add', { id: 0, text: 'a' });
    const before = commitsIn(`${file}-wal`);
    const calls = Array.from({ length: 200 }, (_, at) =>
      at % 50 === 49
        ? database.write('fail', 'tea')
        : database.write('add', { id: at + 1, text: 'a' }),
    );
    const outcomes = await Promise.allSettled(calls);
    expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(4);
    expect(ids()).toHaveLength(197);
    expect(commitsIn(`${file}-wal`) - before).toBe(1);
  });

  test.each([
    ["INSERT INTO rules VALUES (1, 'b', 1)", '23505', 'rules.id'],
    ["INSERT INTO rules VALUES (2, 'a', 1)", '23505', 'rules.name'],
    ['INSERT INTO rules VALUES (2, NULL, 1)', '23502', 'rules.name'],
    ["INSERT INTO rules VALUES (2, '', 1)", '23514', 'name_given'],
    ["INSERT INTO rules VALUES (2, 'b', 7)", '23503', undefined],
    ["INSERT INTO rules VALUES ('x', 'b', 1)", '22023', undefined],
    ["INSERT INTO rules VALUES (2, 'moss', 1)", '23000', undefined],
  ])('that breaks a rule, %s, fails with the SQLSTATE %s', async (sql, code, constraint) => {
    const database = await open();
    await database.write(
      'exec',
      `CREATE TABLE rules (
         id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE CONSTRAINT name_given CHECK (name <> ''),
         parent INTEGER REFERENCES rules (id)
       );
       INSERT INTO rules VALUES (1, 'a', NULL);
       CREATE TRIGGER no_moss BEFORE INSERT ON rules WHEN new.name = 'moss'
       BEGIN SELECT raise(ABORT, 'no moss'); END`,
    );
    const error = await database.write('exec', sql).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(RowRejected);
    expect(error).toMatchObject({ code, constraint });
  });

  test.each(['COMMIT', 'ROLLBACK', 'BEGIN'])(
    'that says %s is rejected, and the calls beside it are kept',
    async (sql) => {
      const database = await open();
      const outcomes = await Promise.allSettled([
        database.write('add', { id: 1, text: 'a' }),
        database.write('exec', sql),
        database.write('add', { id: 2, text: 'b' }),
      ]);
      expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
      expect(outcomes[1]).toHaveProperty('reason.message', 'not authorized');
      expect(ids()).toEqual([1, 2]);
    },
  );

  test('of an async function is rejected, and undone', async () => {
    const database = await open();
    await expect(database.write('later')).rejects.toThrow('the function later must not be async');
    expect(ids()).toEqual([]);
  });

  test('whose argument or result cannot be cloned fails, and the next one works', async () => {
    const database = await open();
    await expect(database.write('uncloneable')).rejects.toThrow('could not be cloned');
    const symbol: unknown = Symbol('id');
    await expect(database.write('add', { id: symbol as number, text: 'd' })).rejects.toHaveProperty(
      'name',
      'DataCloneError',
    );
    await database.write('add', { id: 4, text: 'e' });
    expect(ids()).toEqual([4]);
    expect(database.stats().waiting).toBe(0);
  });

  test('that ends the transaction fails alone', async () => {
    const database = await open();
    connect().exec(
      `CREATE TRIGGER no BEFORE INSERT ON notes WHEN new.text = 'no' BEGIN SELECT raise(ROLLBACK, 'no'); END`,
    );
    const outcomes = await Promise.allSettled(
      ['a', 'no', 'b'].map((text, id) => database.write('add', { id, text })),
    );
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(ids()).toEqual([0, 2]);
  });

  test('is rejected at once if too many wait', async () => {
    const reasons: string[] = [];
    const database = await open({ maxWaiting: 2, onUnavailable: (code) => reasons.push(code) });
    const adds = [1, 2, 3].map((id) => database.write('add', { id, text: 'a' }));
    expect(database.stats().waiting).toBe(2);
    await expect(adds[2]).rejects.toThrow(Unavailable);
    await expect(adds[2]).rejects.toMatchObject({
      status: 503,
      expose: false,
      headers: { 'Retry-After': '1' },
    });
    await Promise.all(adds.slice(0, 2));
    expect(database.stats().waiting).toBe(0);
    expect(reasons).toEqual(['BUSY']);
    await database.write('add', { id: 4, text: 'a' });
    expect(database.stats()).toEqual({
      waiting: 0,
      database_bytes: statSync(file).size,
      log_bytes: expect.any(Number),
    });
  });

  test('is rejected at once if the waiting calls are too large, even if they are few', async () => {
    const database = await open();
    const text = 'a'.repeat(7_000_000);
    const adds = [1, 2, 3].map((id) => database.write('add', { id, text }));
    await expect(adds[2]).rejects.toThrow(/2 are waiting, with 14\d{6} characters/);
    await Promise.all(adds.slice(0, 2));
    await database.write('add', { id: 3, text: 'a'.repeat(17_000_000) });
    expect(ids()).toEqual([1, 2, 3]);
  });
});

describe('A read', () => {
  test('does not wait for the lock of a write, and sees all resolved writes', async () => {
    const database = await open();
    await database.write('add', { id: 1, text: 'a' });
    const other = connect();
    other.exec('BEGIN IMMEDIATE');
    const write = database.write('add', { id: 2, text: 'b' });
    expect(await database.read('list')).toEqual([{ id: 1n, text: 'a' }]);
    expect(database.stats().waiting).toBe(1);
    other.exec('ROLLBACK');
    await write;
    expect(await database.read('list')).toHaveLength(2);
  });

  test('is rejected at its time limit while SQLite continues; later reads and writes succeed', async () => {
    const database = await open({ timeout: 1_000 });
    await eventually(() => database.read('list'));
    const slow = database.read('sleep', 3_000);
    await database.write('add', { id: 1, text: 'a' });
    await expect(slow).rejects.toHaveProperty('code', 'TIMEOUT');
    await eventually(async () => expect(await database.read('list')).toHaveLength(1));
  });

  test('that changes something is rejected, and changes nothing', async () => {
    const database = await open();
    await expect(database.read('add', { id: 1, text: 'a' })).rejects.toThrow('readonly');
    expect(ids()).toEqual([]);
    await database.ready();
  });

  test('that throws fails alone', async () => {
    const database = await open();
    const outcomes = await Promise.allSettled([
      database.read('list'),
      database.read('fail', 'tea'),
      database.read('list'),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });
});

describe('A database', () => {
  test('waits for the disk at each commit, past its cache too', async () => {
    const database = await open();
    connect().exec(`CREATE TABLE seen (synchronous, fullfsync);
      CREATE TRIGGER see AFTER INSERT ON notes BEGIN
        INSERT INTO seen SELECT synchronous, fullfsync FROM pragma_synchronous, pragma_fullfsync;
      END`);
    await database.write('add', { id: 1, text: 'a' });
    const FULL = 2;
    expect(connect().prepare('SELECT * FROM seen').all()).toEqual([
      { synchronous: FULL, fullfsync: 1 },
    ]);
    expect(connect().prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' });
  });

  test('in memory is a new one each time', async () => {
    const database = await open({ file: ':memory:' });
    await database.write('add', { id: 1, text: 'a' });
    expect(await database.read('list')).toHaveLength(1);
    expect(await (await open({ file: ':memory:' })).read('list')).toEqual([]);
    expect(readdirSync(folder)).toEqual([]);
  });

  test('in memory groups calls and undoes what throws, as one in a file', async () => {
    const batches: number[] = [];
    const database = await open({ file: ':memory:', onBatch: (calls) => batches.push(calls) });
    const calls = [
      database.write('add', { id: 1, text: 'a' }),
      database.write('fail', 'tea'),
      database.write('add', { id: 1, text: 'taken' }),
    ];
    const [added, ...failed] = await Promise.allSettled(calls);
    expect(added).toHaveProperty('status', 'fulfilled');
    expect(failed).toMatchObject([
      { reason: { code: 'NO_NAME', status: 418 } },
      { reason: expect.any(RowRejected) },
    ]);
    expect(await database.read('list')).toEqual([{ id: 1n, text: 'a' }]);
    expect(batches).toEqual([3]);
    await database.close();
  });

  test('finishes what waits when it closes, leaves one file, and rejects further calls', async () => {
    const database = await open();
    const adds = Promise.all(
      Array.from({ length: 100 }, (_, id) => database.write('add', { id, text: 'a' })),
    );
    const closed = Promise.all([database.close(), database.close()]);
    await expect(database.write('add', { id: 100, text: 'a' })).rejects.toThrow(
      'The database is closed',
    );
    await expect(database.ready()).rejects.toThrow(Unavailable);
    await closed;
    await adds;
    expect(readdirSync(folder)).toEqual(['notes.db']);
    expect(ids()).toHaveLength(100);
  });

  test('creates files that only their owner can read', async () => {
    const database = await open({ file: `${folder}/new/notes.db` });
    await database.write('add', { id: 1, text: 'a' });
    for (const name of ['', '-wal', '-shm']) {
      expect((statSync(`${folder}/new/notes.db${name}`).mode & 0o777).toString(8)).toBe('600');
    }
  });

  test('leaves the rights of a file that is there', async () => {
    connect().exec('CREATE TABLE other (x)');
    const { mode } = statSync(file);
    await open();
    expect(statSync(file).mode).toBe(mode);
  });

  test('is not opened if its module fails, and stays as it was', async () => {
    const source = `export default (db) => { db.exec('CREATE TABLE half (x)'); throw new Error('it is the wrong one'); }`;
    const opening = openDatabase({
      file,
      module: new URL(`data:text/javascript,${encodeURIComponent(source)}`),
    });
    await expect(opening).rejects.toThrow(Unusable);
    await expect(opening).rejects.toThrow(`${file} cannot be used: it is the wrong one.`);
    expect(connect().prepare('SELECT * FROM sqlite_schema').all()).toEqual([]);
  });

  test('is not opened if its module cannot be loaded', async () => {
    const opening = openDatabase({ file, module: new URL('./none.ts', import.meta.url) });
    await expect(opening).rejects.toThrow(Unusable);
    await expect(opening).rejects.toThrow(/Cannot find module .*none\.ts/);
  });
});

/** The number of commits in a write-ahead log, https://sqlite.org/fileformat.html#the_write_ahead_log. */
function commitsIn(log: string): number {
  const bytes = readFileSync(log);
  const frameSize = 24 + bytes.readUInt32BE(8);
  let commits = 0;
  for (let at = 32; at + frameSize <= bytes.length; at += frameSize) {
    if (bytes.readUInt32BE(at + 4) > 0) commits += 1;
  }
  return commits;
}
