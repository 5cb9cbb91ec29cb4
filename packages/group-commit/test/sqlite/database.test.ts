import { readdirSync, readFileSync, statSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { eventually } from 'test-support/eventually';
import { openDatabase, RowRejected, Unavailable, Unusable } from '../../src/sqlite/database.ts';
import { readiness } from '../readiness.ts';
import type seeded from './seeded.ts';
import { connect, file, folder, ids, open, useFolder } from './support.ts';

useFolder();

describe('A call', () => {
  test('returns the result of its function, such as a bigint or bytes', async () => {
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

  test('shares a transaction with the other waiting calls', async () => {
    const batches: number[] = [];
    const database = await open({ onBatch: (calls) => batches.push(calls) });
    await Promise.all(
      Array.from({ length: 300 }, (_, id) => database.write('add', { id, text: 'a' })),
    );
    expect(batches).toEqual([300]);
  });

  test('that throws is rolled back alone, and its error keeps its properties', async () => {
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

  test('of an async function is rejected, and later calls succeed', async () => {
    const database = await open();
    for (const kind of ['write', 'read'] as const) {
      await expect(database[kind]('later')).rejects.toThrow('the function later must not be async');
    }
    await database.write('add', { id: 1, text: 'a' });
    expect(ids()).toEqual([1]);
  });

  test('that drops a table while it reads it is rejected alone', async () => {
    const database = await open();
    await database.write('add', { id: 1, text: 'a' });
    const outcomes = await Promise.allSettled([
      database.write('add', { id: 2, text: 'b' }),
      database.write('dropWhileReading'),
      database.write('add', { id: 3, text: 'c' }),
    ]);
    expect(outcomes).toMatchObject([
      { status: 'fulfilled' },
      { status: 'rejected', reason: { name: 'Error', message: 'database table is locked' } },
      { status: 'fulfilled' },
    ]);
    expect(ids()).toEqual([1, 2, 3]);
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
    expect(await readiness(database)).toBeUndefined();
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
    const rejected = expect(database.read('sleep', 1_500)).rejects.toHaveProperty(
      'code',
      'TIMEOUT',
    );
    // On a busy machine, a write may reach the time limit, too.
    let id = 1;
    await eventually(() => database.write('add', { id: id++, text: 'a' }));
    await rejected;
    await eventually(async () => expect(await database.read('list')).not.toEqual([]));
  });

  test('that writes is rejected, and changes nothing', async () => {
    const database = await open();
    await expect(database.read('add', { id: 1, text: 'a' })).rejects.toThrow('readonly');
    expect(ids()).toEqual([]);
    expect(await readiness(database)).toBeUndefined();
  });

  test('sees the rows that the module inserts, and cannot write', async () => {
    const module = new URL('./seeded.ts', import.meta.url);
    const database = await openDatabase<typeof seeded>({ file, module });
    expect(await database.read('list')).toEqual(['green', 'red']);
    await expect(database.read('add', 'blue')).rejects.toThrow('readonly');
    await database.write('add', 'blue');
    expect(await database.read('list')).toEqual(['blue', 'green', 'red']);
    await database.close();
  });
});

describe('A database', () => {
  test('in memory is new each time', async () => {
    const database = await open({ file: ':memory:' });
    await database.write('add', { id: 1, text: 'a' });
    expect(await database.read('list')).toHaveLength(1);
    expect(await (await open({ file: ':memory:' })).read('list')).toEqual([]);
    expect(readdirSync(folder)).toEqual([]);
  });

  test('in memory commits calls together and rolls back those that throw, as in a file', async () => {
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

  test('commits the waiting calls when it closes, leaves one file, and rejects later calls', async () => {
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

  test('is not opened if its module cannot be loaded', async () => {
    const opening = openDatabase({ file, module: new URL('./none.ts', import.meta.url) });
    await expect(opening).rejects.toThrow(Unusable);
    await expect(opening).rejects.toThrow(/Cannot find module .*none\.ts/);
  });
});

/** Counts the commits in a log (https://sqlite.org/fileformat.html#the_write_ahead_log). */
function commitsIn(log: string): number {
  const bytes = readFileSync(log);
  const frameSize = 24 + bytes.readUInt32BE(8);
  let commits = 0;
  for (let at = 32; at + frameSize <= bytes.length; at += frameSize) {
    if (bytes.readUInt32BE(at + 4) > 0) commits += 1;
  }
  return commits;
}
