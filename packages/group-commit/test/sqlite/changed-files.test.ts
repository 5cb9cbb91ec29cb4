import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { eventually } from 'test-support/eventually';
import { Unavailable } from '../../src/sqlite/database.ts';
import { readiness } from '../readiness.ts';
import { connect, disconnect, file, folder, ids, type Notes, open, useFolder } from './support.ts';

useFolder();

const addMany = (database: Notes, first: number, count: number) =>
  Promise.all(
    Array.from({ length: count }, (_, at) =>
      database.write('add', { id: first + at, text: 'a'.repeat(2_000) }),
    ),
  );

describe('A file that was moved, deleted or replaced', () => {
  test('rejects calls until it is back', async () => {
    const database = await open();
    const away = join(folder, 'away');
    mkdirSync(away);
    await database.write('add', { id: 1, text: 'a' });
    for (const name of readdirSync(folder))
      if (name !== 'away') renameSync(join(folder, name), join(away, name));
    await expect(database.write('add', { id: 2, text: 'a' })).rejects.toThrow(
      'moved, deleted or replaced',
    );
    expect(await readiness(database)).toHaveProperty(
      'message',
      expect.stringContaining('moved, deleted or replaced'),
    );
    expect(readdirSync(folder)).toEqual(['away']);
    for (const name of readdirSync(away)) renameSync(join(away, name), join(folder, name));
    expect(await readiness(database)).toBeUndefined();
    await database.write('add', { id: 3, text: 'a' });
    expect(ids()).toEqual(expect.arrayContaining([1, 3]));
  });

  test('is created again if it is the log, and no data is lost', async () => {
    const database = await open();
    await database.write('add', { id: 1, text: 'a' });
    renameSync(`${file}-wal`, join(folder, 'away'));
    await expect(database.write('add', { id: 2, text: 'a' })).rejects.toThrow(
      `${file}-wal was moved, deleted or replaced`,
    );
    expect(await readiness(database)).toBeUndefined();
    await database.write('add', { id: 3, text: 'a' });
    await database.close();
    expect(ids()).toEqual([1, 2, 3]);
  });

  test('is detected at the target of a symbolic link', async () => {
    const [away, link] = [join(folder, 'away'), join(folder, 'link.db')];
    mkdirSync(away);
    symlinkSync(join(away, 'notes.db'), link);
    const database = await open({ file: link });
    await database.write('add', { id: 1, text: 'a' });
    expect(readdirSync(away)).toEqual(['notes.db', 'notes.db-shm', 'notes.db-wal']);
    expect(database.stats().log_bytes).toBe(statSync(join(away, 'notes.db-wal')).size);
    await database.write('add', { id: 2, text: 'a' });
    rmSync(link);
    await expect(database.write('add', { id: 3, text: 'a' })).rejects.toThrow(
      `${link} was moved, deleted or replaced`,
    );
    symlinkSync(join(away, 'notes.db'), link);
    expect(await readiness(database)).toBeUndefined();
    rmSync(join(away, 'notes.db-wal'));
    await expect(database.write('add', { id: 4, text: 'a' })).rejects.toThrow(
      'notes.db-wal was moved, deleted or replaced',
    );
    await database.close();
    expect(ids(link)).toEqual(expect.arrayContaining([1, 2]));
  });

  test('is closed at the next call, and the new file at its path is opened at the call after it', async () => {
    const database = await open();
    await database.write('add', { id: 1, text: 'a' });
    for (const name of readdirSync(folder)) rmSync(join(folder, name));
    connect().exec('CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT');
    disconnect();
    await expect(database.write('add', { id: 2, text: 'a' })).rejects.toThrow(Unavailable);
    await database.write('add', { id: 3, text: 'a' });
    expect(ids()).toEqual([3]);
  });
});

describe('A damaged file', () => {
  /** Creates a file, and overwrites all of its pages but the first and the last ones. */
  async function damage(): Promise<Buffer> {
    const first = await open();
    await addMany(first, 1, 900);
    await first.close();
    const intact = readFileSync(file);
    overwrite(file, Buffer.alloc(intact.length / 2), 8192);
    return intact;
  }

  test.each<[string, (database: Notes) => Promise<unknown>]>([
    ['write', (database) => database.write('add', { id: 1, text: 'a' })],
    ['read', (database) => database.read('list')],
  ])('that a %s finds fails all calls and readiness until a restart', async (_name, call) => {
    const intact = await damage();
    const database = await open();
    // This call does not touch a damaged page.
    await database.write('add', { id: 9_000, text: 'a' });
    await expect(call(database)).rejects.toThrow(Unavailable);
    overwrite(file, intact, 0);
    for (const failing of [
      () => database.write('add', { id: 9_001, text: 'a' }),
      () => database.read('thread'),
      () => database.ready(),
    ])
      await expect(failing()).rejects.toThrow('is damaged: stop the service, remove its -wal');
    await database.close();
    await (await open()).write('add', { id: 9_002, text: 'a' });
  });

  test('is found by a scheduled check, and the operator is warned', async () => {
    await damage();
    const warnings: string[] = [];
    const warn = (message: string) => void warnings.push(message);
    const database = await open({ checkMs: 20, warn });
    await eventually(() => expect(database.ready()).rejects.toThrow('is damaged'));
    expect(warnings).toEqual([expect.stringMatching(/notes\.db is damaged: stop the service/)]);
    await expect(database.write('add', { id: 9_000, text: 'a' })).rejects.toThrow('is damaged');
  });
});

test('A file that was emptied is not used as a new one', async () => {
  const database = await open();
  await addMany(database, 1, 10);
  truncateSync(file);
  await expect(database.write('add', { id: 11, text: 'a' })).rejects.toThrow('is damaged');
  await expect(database.ready()).rejects.toThrow('is damaged');
  await expect(database.write('add', { id: 12, text: 'a' })).rejects.toThrow('is damaged');
});

test('A new database is reported, whether its file is missing or empty', async () => {
  const warnings: string[] = [];
  const warn = (message: string) => void warnings.push(message);
  await (await open({ warn })).close();
  expect(warnings).toEqual([`${file} was missing or empty: it is a new database now.`]);
  await (await open({ warn })).close();
  expect(warnings).toHaveLength(1);
  truncateSync(file);
  await open({ warn });
  expect(warnings).toHaveLength(2);
});

function overwrite(name: string, bytes: Buffer, at: number): void {
  const descriptor = openSync(name, 'r+');
  writeSync(descriptor, bytes, 0, bytes.length, at);
  closeSync(descriptor);
}
