import { readdirSync, statSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { openDatabase, Unavailable, Unusable } from '../../src/sqlite/database.ts';
import { connect, file, folder, ids, open, useFolder } from './support.ts';

useFolder();

describe('A call', () => {
  test('returns what the function returns, with bigints and bytes', async () => {
    const database = await open();
    await database.add({ id: 2n ** 63n - 1n, text: 'last' });
    expect(await database.addBoth({ id: 1, text: 'a' }, { id: 2, text: 'b' })).toBe(2);
    expect(await database.list()).toEqual([
      { id: 1n, text: 'a' },
      { id: 2n, text: 'b' },
      { id: 2n ** 63n - 1n, text: 'last' },
    ]);
    expect(await database.bytes(3)).toEqual(new Uint8Array([7, 7, 7]));
  });

  test('has the types of the module', async () => {
    const database = await open();
    const promise: Promise<number> = database.addBoth({ id: 1, text: 'a' }, { id: 2, text: 'b' });
    await promise;
    // @ts-expect-error text is missing
    await expect(database.add({ id: 3 })).rejects.toThrow();
    // @ts-expect-error there is no such function
    await expect(database.remove(1)).rejects.toThrow('the module defines no function remove');
  });

  test('resolves after the commit: another connection sees the data', async () => {
    const database = await open();
    for (let id = 1; id <= 20; id++) {
      await database.add({ id, text: 'a' });
      expect(ids()).toContain(id);
    }
  });

  test('shares one transaction with the calls that wait', async () => {
    const batches: number[] = [];
    const database = await open({ onBatch: (calls) => batches.push(calls) });
    await Promise.all(Array.from({ length: 300 }, (_, id) => database.add({ id, text: 'a' })));
    expect(batches).toEqual([300]);
  });

  test('shares a transaction of at most 1,000 calls and about a million characters', async () => {
    const batches: number[] = [];
    const database = await open({ maxWaiting: 10_000, onBatch: (calls) => batches.push(calls) });
    await Promise.all(Array.from({ length: 2_500 }, (_, id) => database.add({ id, text: 'a' })));
    const text = 'a'.repeat(100_000);
    await Promise.all(Array.from({ length: 25 }, (_, id) => database.add({ id: -1 - id, text })));
    expect(batches).toEqual([1_000, 1_000, 500, 10, 10, 5]);
  });

  test('that throws undoes only what it did itself, and keeps name, message and code', async () => {
    const database = await open();
    const outcomes = await Promise.allSettled([
      database.add({ id: 1, text: 'a' }),
      database.fail('tea'),
      database.addBoth({ id: 2, text: 'b' }, { id: 1, text: 'taken' }),
      database.add({ id: 3, text: 'c' }),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled']);
    const [, failed, taken] = outcomes;
    expect(failed).toHaveProperty('reason', expect.any(Error));
    expect(failed).toMatchObject({ reason: { name: 'RangeError', message: 'no tea', code: 'NO_NAME', status: 418 } });
    expect(failed).toHaveProperty('reason.stack', expect.stringContaining('notes.ts'));
    expect(taken).toMatchObject({ reason: { code: 'ERR_SQLITE_ERROR', errcode: 1555 } });
    expect(ids()).toEqual([1, 3]);
  });

  test('of an async function is rejected, and undone', async () => {
    const database = await open();
    await expect(database.later()).rejects.toThrow('the function later must not be async');
    expect(ids()).toEqual([]);
  });

  test('whose argument or result cannot be cloned fails, and the next one works', async () => {
    const database = await open();
    await expect(database.uncloneable()).rejects.toThrow('could not be cloned');
    const symbol: unknown = Symbol('id');
    await expect(database.add({ id: symbol as number, text: 'd' })).rejects.toHaveProperty('name', 'DataCloneError');
    await database.add({ id: 4, text: 'e' });
    expect(ids()).toEqual([4]);
    expect(database.stats().waiting).toBe(0);
  });

  test('that ends the transaction takes no other call with it', async () => {
    const database = await open();
    connect().exec(
      `CREATE TRIGGER no BEFORE INSERT ON notes WHEN new.text = 'no' BEGIN SELECT raise(ROLLBACK, 'no'); END`,
    );
    const outcomes = await Promise.allSettled(['a', 'no', 'b'].map((text, id) => database.add({ id, text })));
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(ids()).toEqual([0, 2]);
  });

  test('is rejected at once if too many wait', async () => {
    const reasons: string[] = [];
    const database = await open({ maxWaiting: 2, onUnavailable: (code) => reasons.push(code) });
    const adds = [1, 2, 3].map((id) => database.add({ id, text: 'a' }));
    expect(database.stats().waiting).toBe(2);
    await expect(adds[2]).rejects.toThrow(Unavailable);
    await expect(adds[2]).rejects.toMatchObject({ status: 503, expose: false, headers: { 'Retry-After': '1' } });
    await Promise.all(adds.slice(0, 2));
    expect(database.stats().waiting).toBe(0);
    expect(reasons).toEqual(['BUSY']);
    await database.add({ id: 4, text: 'a' });
    expect(database.stats()).toEqual({
      waiting: 0,
      database_bytes: statSync(file).size,
      log_bytes: expect.any(Number),
    });
  });

  test('is rejected at once if too much waits, however few calls they are', async () => {
    const database = await open();
    const text = 'a'.repeat(7_000_000);
    const adds = [1, 2, 3].map((id) => database.add({ id, text }));
    await expect(adds[2]).rejects.toThrow(/busy: 2 calls of 14\d{6} characters/);
    await Promise.all(adds.slice(0, 2));
    await database.add({ id: 3, text: 'a'.repeat(17_000_000) });
    expect(ids()).toEqual([1, 2, 3]);
  });
});

describe('A database', () => {
  test('waits for the disk at each commit, past its cache too', async () => {
    const database = await open();
    connect().exec(`CREATE TABLE seen (synchronous, fullfsync);
      CREATE TRIGGER see AFTER INSERT ON notes BEGIN
        INSERT INTO seen SELECT synchronous, fullfsync FROM pragma_synchronous, pragma_fullfsync;
      END`);
    await database.add({ id: 1, text: 'a' });
    const FULL = 2;
    expect(connect().prepare('SELECT * FROM seen').all()).toEqual([{ synchronous: FULL, fullfsync: 1 }]);
    expect(connect().prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' });
  });

  test('in memory is a new one each time', async () => {
    const database = await open({ file: ':memory:' });
    await database.add({ id: 1, text: 'a' });
    expect(await database.list()).toHaveLength(1);
    expect(await (await open({ file: ':memory:' })).list()).toEqual([]);
    expect(readdirSync(folder)).toEqual([]);
  });

  test('in memory groups calls and undoes what throws, as one in a file', async () => {
    const batches: number[] = [];
    const database = await open({ file: ':memory:', onBatch: (calls) => batches.push(calls) });
    const calls = [database.add({ id: 1, text: 'a' }), database.fail('tea'), database.add({ id: 1, text: 'taken' })];
    const [added, ...failed] = await Promise.allSettled(calls);
    expect(added).toHaveProperty('status', 'fulfilled');
    expect(failed).toMatchObject([{ reason: { code: 'NO_NAME', status: 418 } }, { reason: { errcode: 1555 } }]);
    expect(await database.list()).toEqual([{ id: 1n, text: 'a' }]);
    expect(batches).toEqual([3, 1]);
    await database.close();
  });

  test('finishes what waits when it closes, leaves one file, and rejects further calls', async () => {
    const database = await open();
    const adds = Promise.all(Array.from({ length: 100 }, (_, id) => database.add({ id, text: 'a' })));
    const closed = Promise.all([database.close(), database.close()]);
    await expect(database.add({ id: 100, text: 'a' })).rejects.toThrow('The database is closed');
    await expect(database.ready()).rejects.toThrow(Unavailable);
    await closed;
    await adds;
    expect(readdirSync(folder)).toEqual(['notes.db']);
    expect(ids()).toHaveLength(100);
  });

  test('creates files that only their owner can read', async () => {
    const database = await open({ file: `${folder}/new/notes.db` });
    await database.add({ id: 1, text: 'a' });
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
    const opening = openDatabase({ file, module: new URL(`data:text/javascript,${encodeURIComponent(source)}`) });
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
