import { existsSync, readdirSync, readlinkSync, renameSync, rmSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Call } from '../../src/sqlite/runner.ts';
import { openSession, type Request, type Source } from '../../src/sqlite/session.ts';
import { connect, file, ids, useFolder } from './support.ts';

useFolder();

const NOTES = new URL('./notes.ts', import.meta.url).href;
const sessions: { close(): void }[] = [];

async function open(source: Partial<Source> = {}) {
  const session = await openSession({ file, module: NOTES, readOnly: false, ...source });
  sessions.push(session);
  const run = (kind: Request['kind'], ...calls: Call[]) =>
    session.run({ kind, calls, milliseconds: 50 });
  return { send: session.run, close: session.close, run };
}

const moduleOf = (body: string): string =>
  `data:text/javascript,${encodeURIComponent(`export default (db) => { ${body} }`)}`;

const add = (id: number): Call => ['add', { id, text: 'a' }];

beforeEach(() => {
  sessions.length = 0;
});
afterEach(() => {
  for (const session of sessions) session.close();
});

test('a session waits for the disk at each commit, and bounds its log', async () => {
  const names = [
    'synchronous',
    'fullfsync',
    'journal_mode',
    'wal_autocheckpoint',
    'journal_size_limit',
  ];
  const module = moduleOf(`return { settings: () => ${JSON.stringify(names)}.map(
    (name) => db.prepare('PRAGMA ' + name).get()[name]) };`);
  const FULL = 2;
  expect((await open({ module })).run('read', ['settings'])).toEqual([
    { result: [FULL, 1, 'wal', 10_000, 48 * 1024 ** 2] },
  ]);
});

test.each(['COMMIT', 'ROLLBACK', 'BEGIN'])(
  'a function that runs %s is rejected, and so is a module',
  async (sql) => {
    const { run } = await open();
    expect(run('write', ['exec', sql], add(1))).toMatchObject([
      { error: { message: 'not authorized' } },
      undefined,
    ]);
    expect(ids()).toEqual([1]);
    const module = moduleOf(`db.exec('${sql}'); return {};`);
    expect((await open({ module })).run('rehearse')).toMatchObject({
      message: `${file} cannot be used: not authorized.`,
      permanent: true,
    });
  },
);

test('a module that throws changes no file, and runs again at the next request', async () => {
  const module = moduleOf(`
    db.exec('CREATE TABLE IF NOT EXISTS half (x)');
    globalThis.attempts = (globalThis.attempts ?? 0) + 1;
    if (globalThis.attempts === 1) throw new Error('it is the wrong one');
    return {};`);
  const { run } = await open({ module });
  expect(run('rehearse')).toMatchObject({
    message: `${file} cannot be used: it is the wrong one.`,
  });
  expect(connect().prepare('SELECT * FROM sqlite_schema').all()).toEqual([]);
  expect(run('rehearse')).toEqual([]);
});

test('a lock rejects a request at its time limit (real time), and leaves the session open', async () => {
  const session = await open();
  session.run('write', ['exec', 'CREATE TEMP TABLE mine (x)']);
  const other = connect();
  other.exec('BEGIN IMMEDIATE');
  const start = performance.now();
  expect(session.run('write', add(1))).toMatchObject({ code: 'SQLITE_BUSY', permanent: false });
  const waited = performance.now() - start;
  expect(waited).toBeGreaterThan(45);
  expect(waited).toBeLessThan(5_000);
  const longStart = performance.now();
  session.send({ kind: 'write', calls: [add(1)], milliseconds: 200 });
  expect(performance.now() - longStart).toBeGreaterThan(195);
  other.exec('COMMIT');
  expect(session.run('write', ['exec', 'INSERT INTO mine VALUES (1)'], add(2))).toEqual([]);
  expect(ids()).toEqual([2]);
});

describe('after an error of the file', () => {
  test('the file is opened again', async () => {
    const { run } = await open();
    run('write', add(1), ['exec', 'CREATE TEMP TABLE mine (x)']);
    for (const name of ['', '-wal', '-shm']) renameSync(file + name, `${file}${name}.away`);
    expect(run('write', add(2))).toHaveProperty('code', 'FILE_LOST');
    // The file is not created again: its data would be missing.
    expect(run('write', add(3))).toHaveProperty('code', 'FILE_LOST');
    expect(existsSync(file)).toBe(false);
    for (const name of ['', '-wal', '-shm']) renameSync(`${file}${name}.away`, file + name);
    expect(run('write', add(4))).toEqual([]);
    expect(run('write', ['exec', 'INSERT INTO mine VALUES (1)'])).toMatchObject([
      { error: { message: 'no such table: mine' } },
    ]);
    expect(ids()).toEqual(expect.arrayContaining([1, 4]));
  });

  test('a database in memory is kept', async () => {
    const { run } = await open({ file: ':memory:' });
    run('write', add(1));
    expect(run('write', ['exec', 'PRAGMA query_only = ON'])).toEqual([]);
    expect(run('write', add(2))).toHaveProperty('code', 'SQLITE_READONLY');
    expect(run('read', ['exec', 'PRAGMA query_only = OFF'])).toEqual([undefined]);
    expect(run('read', ['list'])).toEqual([{ result: [{ id: 1n, text: 'a' }] }]);
  });
});

test('close closes the file and removes the log, and closes a file that was deleted', async () => {
  const { run, close } = await open();
  run('write', add(1));
  close();
  close();
  expect(openFilesOf(file)).toEqual([]);
  expect(existsSync(`${file}-wal`)).toBe(false);
  expect(ids()).toEqual([1]);
  run('write', add(2));
  for (const name of ['', '-wal', '-shm']) rmSync(file + name);
  close();
  expect(openFilesOf(file)).toEqual([]);
});

function openFilesOf(path: string): string[] {
  if (process.platform !== 'linux') return [];
  const links = readdirSync('/proc/self/fd').map((name) => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`);
    } catch {
      // The descriptor of the listing itself is closed.
      return '';
    }
  });
  return links.filter((link) => link.startsWith(path));
}
