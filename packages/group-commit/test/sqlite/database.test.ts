import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { eventually } from 'test-support/eventually';
import { openDatabase, Unavailable, Unusable } from '../../src/sqlite/database.ts';
import { readiness } from '../readiness.ts';
import { connect, file, folder, ids, open, useFolder } from './support.ts';

useFolder();

const moduleOf = (body: string): URL =>
  new URL(`data:text/javascript,${encodeURIComponent(`export default (db) => { ${body} }`)}`);

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
    const [first, second] = [{ id: 1, text: 'a' } as const, { id: 2, text: 'b' } as const];
    const promise: Promise<number> = database.write('addBoth', first, second);
    await promise;
    // @ts-expect-error text is missing
    await expect(database.write('add', { id: 3 })).rejects.toThrow();
    // @ts-expect-error there is no such function
    await expect(database.write('remove', 1)).rejects.toThrow('defines no function remove');
  });

  test('that throws keeps the properties of its error, and needs no separate commit', async () => {
    const database = await open();
    await database.write('add', { id: 0, text: 'a' });
    const before = commitsIn(`${file}-wal`);
    const calls = Array.from({ length: 200 }, (_, at) =>
      at % 50 === 49
        ? database.write('fail', 'tea')
        : database.write('add', { id: at + 1, text: 'a' }),
    );
    const failed = (await Promise.allSettled(calls)).filter(({ status }) => status === 'rejected');
    expect(failed).toHaveLength(4);
    expect(failed[0]).toMatchObject({
      reason: { name: 'RangeError', message: 'no tea', code: 'NO_NAME', status: 418 },
    });
    expect(failed[0]).toHaveProperty('reason.stack', expect.stringContaining('notes.ts'));
    expect(ids()).toHaveLength(197);
    expect(commitsIn(`${file}-wal`) - before).toBe(1);
  });

  test('whose error cannot be cloned is rejected, even if it opens the database', async () => {
    const module = moduleOf("throw Object.assign(new Error('a fault'), { retry() {} })");
    await expect(openDatabase({ file, module })).rejects.toThrow('a fault');
  });
});

describe('A read', () => {
  test('does not wait for the lock of a write, and sees all resolved writes', async () => {
    const database = await open();
    await database.write('add', { id: 1, text: 'a' });
    const other = connect();
    other.exec('BEGIN IMMEDIATE');
    const write = database.write('add', { id: 2, text: 'b' });
    const read = database.read('list');
    expect(database.stats().waiting).toBe(2);
    expect(await read).toEqual([{ id: 1n, text: 'a' }]);
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

  test.each([
    ['a file', 'DataCloneError', {}],
    ['memory', undefined, { file: ':memory:' }],
  ])(
    'of %s that writes, or whose result cannot be cloned, is rejected alone',
    async (_place, uncloneable, options) => {
      const database = await open(options);
      const outcomes = await Promise.allSettled([
        database.read('add', { id: 1, text: 'a' }),
        database.read('uncloneable'),
        database.read('later'),
        database.read('list'),
      ]);
      const errors = outcomes.map((outcome) => Object(outcome).reason?.name);
      expect(errors).toEqual(['Error', uncloneable, 'TypeError', undefined]);
      expect(await database.read('list')).toEqual([]);
      expect(await readiness(database)).toBeUndefined();
    },
  );
});

test('a call that has ended the transaction of its batch is not run again', async () => {
  const database = await open();
  const notes = [1, 2, 3].map((id) => database.write('add', { id, text: 'a' }));
  await expect(database.write('endQuietly')).rejects.toThrow('endQuietly ended the transaction');
  await Promise.all(notes);
  expect(await database.read('countReplies')).toBe(1);
  expect(ids()).toEqual([1, 2, 3]);
});

describe('A database', () => {
  test('that is full is ready once its failed calls would succeed, and stores none of them', async () => {
    const database = await open({ file: ':memory:' });
    await database.write('add', { id: 1, text: 'a' });
    await database.write('exec', 'PRAGMA max_page_count = 20');
    const large = database.write('add', { id: 2, text: 'a'.repeat(100_000) });
    await expect(large).rejects.toHaveProperty('code', 'SQLITE_FULL');
    for (let check = 0; check < 2; check += 1)
      expect(await readiness(database)).toHaveProperty('code', 'SQLITE_FULL');
    await database.read('exec', 'PRAGMA max_page_count = 1000');
    for (let check = 0; check < 2; check += 1) expect(await readiness(database)).toBeUndefined();
    expect(await database.read('list')).toEqual([{ id: 1n, text: 'a' }]);
  });

  test('commits the waiting calls when it closes, leaves one file, and rejects later calls', async () => {
    const database = await open();
    // Opens the connection for reads, too.
    await database.read('list');
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

  test('creates files that only their owner can read, and one folder', async () => {
    await expect(open({ file: `${folder}/none/new/notes.db` })).rejects.toThrow('ENOENT');
    const database = await open({ file: `${folder}/new/notes.db` });
    await database.write('add', { id: 1, text: 'a' });
    for (const name of ['', '-wal', '-shm']) {
      expect((statSync(`${folder}/new/notes.db${name}`).mode & 0o777).toString(8)).toBe('600');
    }
    expect(readdirSync(folder)).toEqual(['new']);
  });

  test.each([
    ['is missing', new URL('./none.ts', import.meta.url), /Cannot find module .*none\.ts/],
    ['throws', moduleOf("db.exec('CREATE TABLE half (x)'); throw new Error('no')"), /: no\.$/],
    [
      'begins a transaction',
      moduleOf("db.exec('CREATE TABLE half (x)'); db.exec('BEGIN IMMEDIATE')"),
      /notes\.db cannot be used: remove BEGIN: .* run in a transaction of group-commit\.$/,
    ],
    ['ends the transaction', moduleOf("db.exec('COMMIT')"), /: remove COMMIT: /],
  ])('is not opened if its module %s, and its file stays empty', async (_name, module, message) => {
    const error = await openDatabase({ file, module }).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(Unusable);
    expect(error).toHaveProperty('message', expect.stringMatching(message));
    expect(connect().prepare('SELECT * FROM sqlite_schema').all()).toEqual([]);
  });

  test('waits for the disk at each commit, bounds its log, and keeps the user version', async () => {
    const settings = {
      synchronous: 2,
      fullfsync: 1,
      journal_mode: 'wal',
      wal_autocheckpoint: 10_000,
      journal_size_limit: 48 * 1024 ** 2,
      user_version: 3,
    };
    const first = await open();
    await first.write('exec', 'PRAGMA user_version = 3');
    await first.close();
    const database = await open();
    const values = Object.values(settings);
    expect(await database.write('pragmas', ...Object.keys(settings))).toEqual(values);
  });

  test('runs in threads with a small heap for new objects', async () => {
    const database = await open();
    const thread = { isMainThread: false, maxYoungGenerationSizeMb: 6 };
    expect(await database.write('thread')).toEqual({ ...thread, name: 'sqlite' });
    expect(await database.read('thread')).toEqual({ ...thread, name: 'sqlite-reader' });
  });

  test('writes nothing when it is checked', async () => {
    const database = await open();
    const version = connect().prepare('SELECT data_version FROM pragma_data_version');
    const before = version.get();
    await database.ready();
    expect(version.get()).toEqual(before);
  });
});

test('an uncaught error in a thread ends the process', () => {
  const program = `import { openDatabase } from '${new URL('../../src/sqlite/database.ts', import.meta.url)}';
    const module = new URL('${new URL('./notes.ts', import.meta.url)}');
    const database = await openDatabase({ file: ${JSON.stringify(file)}, module });
    await database.write('failLater');
    setInterval(() => {}, 1000);`;
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
  });
  expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining('a fault') });
  expect(stderr).not.toContain('Warning');
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
