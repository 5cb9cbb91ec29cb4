import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { Unusable } from 'group-commit';
import { openStore, sqliteFile } from '../../../src/stores/index.ts';
import { plantsIn } from '../support/plant-service.ts';

const folder = mkdtempSync(join(tmpdir(), 'plants-url-'));
afterAll(() => rmSync(folder, { recursive: true }));

test.each([
  ['sqlite:data/plants.db', 'data/plants.db'],
  ['sqlite:/data/plants.db', '/data/plants.db'],
  ['SQLite:plants.db', 'plants.db'],
  ['sqlite::memory:', ':memory:'],
])('%s has the SQLite file %s', (url, file) => {
  expect(sqliteFile(url)).toBe(file);
});

test.each(['postgres://me:secret@host/db', 'postgresql://host/db?max=1', 'Postgres:///db'])(
  '%s has no SQLite file',
  (url) => {
    expect(sqliteFile(url)).toBeUndefined();
  },
);

test.each([
  '',
  'data/plants.db',
  'mysql://root:hunter2@localhost/plants',
  'x+sqlite://hunter2',
  'root:hunter2@localhost',
  'postgres:hunter2',
  '/postgres://hunter2',
  ' sqlite:plants.db',
  'sqlite:',
  'sqlite:data/',
  'sqlite:data\\',
  'sqlite://data/plants.db',
  'sqlite:data/plants.db?mode=ro',
  'sqlite:plants.db#1',
])('the URL %j is rejected, and the valid forms are listed', async (url) => {
  const error = new Unusable(
    'This is not a valid database URL. Use sqlite:data/plants.db (a file, relative or absolute), ' +
      'sqlite::memory: (lost at a stop), or postgres://user:password@host:5432/database.',
  );
  expect(() => sqliteFile(url)).toThrow(error);
  await expect(openStore(url, { maxWaiting: 1 })).rejects.toThrow(error);
});

test('a relative and an absolute URL open one file, in a new folder', async () => {
  const file = join(folder, 'new/plants.db');
  for (const [index, url] of [`sqlite:${relative('', file)}`, `SQLite:${file}`].entries()) {
    const store = await openStore(url, { maxWaiting: 1 });
    await store.add({ id: BigInt(index), name: 'Fern' });
    await store.close();
  }
  expect([...plantsIn(file).keys()]).toEqual([0n, 1n]);
});

test('a store in memory leaves no file', async () => {
  const store = await openStore('sqlite::memory:', { maxWaiting: 1 });
  await store.add({ id: 2n ** 63n - 1n, name: 'Fern' });
  await store.close();
  expect(existsSync(':memory:')).toBe(false);
});

test.each([
  ['sqlite::memory:', 'sqlite::memory:'],
  ['postgresql://me:secret@127.0.0.1:1/x?max=1', 'postgres://127.0.0.1:1/x'],
  ['postgres:///x?host=/nowhere', 'postgres:///nowhere/x'],
  ['postgres://127.0.0.1:1/x?host=/nowhere', 'postgres:///nowhere/x'],
])('the location of the store of %s is %s', async (url, location) => {
  const store = await openStore(url, { maxWaiting: 1 });
  await store.close();
  expect(store.location).toBe(location);
});
