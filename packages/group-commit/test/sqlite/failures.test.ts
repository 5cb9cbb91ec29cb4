import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { chmodSync, readdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { eventually } from 'test-support/eventually';
import { Unavailable, Unusable } from '../../src/sqlite/database.ts';
import { readiness } from '../readiness.ts';
import {
  bindMount,
  canMount,
  connect,
  disconnect,
  file,
  folder,
  ids,
  mountMemory,
  open,
  useFolder,
} from './support.ts';

useFolder();

const testWithMount = canMount() ? test : test.skip;
const asRoot = process.getuid?.() === 0;

const contents = () =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true }).map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return [entry.name, entry.isFile() ? hash('sha256', readFileSync(path)) : 'folder'];
    }),
  );

/** Checks that a path is rejected with a reason, and that no files change, except for new ones. */
async function expectUnusable(
  path: string,
  reason: string | RegExp,
  newFiles: object = {},
): Promise<void> {
  const before = contents();
  const error = await open({ file: path }).catch((error: unknown) => error);
  expect(contents()).toEqual({ ...before, ...newFiles });
  expect(error).toBeInstanceOf(Unusable);
  expect(error).toHaveProperty('message', expect.stringMatching(reason));
  expect(error).toHaveProperty('message', expect.stringContaining(path));
}

describe('openDatabase rejects a path, and changes no file,', () => {
  test('if the file is not a database', async () => {
    writeFileSync(file, 'These are my notes, not a database. '.repeat(100));
    await expectUnusable(file, 'is not a SQLite database');
  });

  test('if the file is damaged', async () => {
    connect().exec('CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT');
    disconnect();
    writeFileSync(file, readFileSync(file).fill(0xa5, 100));
    await expectUnusable(file, 'is damaged');
  });

  test('if the folder cannot be created', async () => {
    writeFileSync(join(folder, 'file'), '');
    await expectUnusable(join(folder, 'file/below/notes.db'), /cannot be used .*its folder/);
  });

  (asRoot ? testWithMount : test)('if only the file is read-only', async () => {
    await (await open()).close();
    if (asRoot) {
      bindMount(file);
      execFileSync('mount', ['-o', 'remount,bind,ro', file]);
    } else {
      chmodSync(file, 0o444);
    }
    // SQLite creates these files even to read a database in WAL mode.
    const log = { 'notes.db-shm': expect.any(String), 'notes.db-wal': hash('sha256', '') };
    await expectUnusable(file, 'cannot be written', log);
  });
});

describe('A full disk', () => {
  testWithMount(
    'does not prevent opening; the database is ready once there is space (needs root)',
    async () => {
      const mount = mountMemory('1m');
      const { bavail, bsize } = statfsSync(mount);
      writeFileSync(join(mount, 'ballast'), Buffer.alloc(bavail * bsize));
      const database = await open({ file: join(mount, 'notes.db') });
      expect(await readiness(database)).toHaveProperty(
        'message',
        expect.stringMatching(/full|I\/O/),
      );
      await expect(database.write('add', { id: 1, text: 'a' })).rejects.toThrow(Unavailable);
      rmSync(join(mount, 'ballast'));
      expect(await readiness(database)).toBeUndefined();
      await database.write('add', { id: 1, text: 'a' });
    },
  );

  testWithMount(
    'never commits part of a batch; calls succeed once there is space (needs root)',
    async () => {
      const mount = mountMemory('2m');
      const path = join(mount, 'notes.db');
      const database = await open({ file: path });
      const acknowledged: number[] = [];
      let failure: unknown;
      let id = 0;
      for (; failure === undefined; id += 10) {
        const batch = Array.from({ length: 10 }, (_, n) => id + n);
        const outcomes = await Promise.allSettled(
          batch.map((id) => database.write('add', { id, text: 'a'.repeat(2_000) })),
        );
        expect(new Set(outcomes.map(({ status }) => status)).size).toBe(1);
        if (outcomes[0]?.status === 'rejected') failure = outcomes[0].reason;
        else acknowledged.push(...batch);
      }
      expect(failure).toBeInstanceOf(Unavailable);
      expect(failure).toHaveProperty('message', expect.stringContaining('disk is full'));
      expect(failure).toHaveProperty('cause.message', expect.stringContaining('full'));
      expect(ids(path)).toEqual(acknowledged);

      execFileSync('mount', ['-o', 'remount,size=20m', mount]);
      expect(await readiness(database)).toBeUndefined();
      await database.write('add', { id, text: 'a' });
      expect(ids(path)).toEqual([...acknowledged, id]);
    },
  );
});

describe('A lock of another process', () => {
  test('rejects all waiting calls and the readiness check, and lets the database close', async () => {
    const reasons: string[] = [];
    const database = await open({ timeout: 1_000, onUnavailable: (code) => reasons.push(code) });
    await database.write('exec', 'CREATE TEMP TABLE mine (x)');
    const other = connect();
    other.exec('BEGIN IMMEDIATE');
    const first = database.write('add', { id: 1, text: 'a' });
    // The commit of the first call begins; the other calls stay in the queue.
    await delay(100);
    const waiting = [2, 3, 4].map((id) => database.write('add', { id, text: 'a' }));
    const ready = readiness(database);
    const outcomes = await Promise.allSettled([first, ...waiting]);
    for (const outcome of outcomes) expect(outcome).toHaveProperty('reason.code', 'SQLITE_BUSY');
    expect(await ready).toHaveProperty('code', 'SQLITE_BUSY');
    expect(reasons).toEqual(Array(4).fill('SQLITE_BUSY'));

    expect(await readiness(database)).toHaveProperty(
      'message',
      expect.stringContaining('locked by another process'),
    );
    other.exec('ROLLBACK');
    // The connection stays open.
    await eventually(() => database.write('exec', 'INSERT INTO mine VALUES (1)'));
    other.exec('BEGIN IMMEDIATE');
    const late = database.write('add', { id: 5, text: 'a' }).catch((error) => error);
    await database.close();
    expect(await late).toHaveProperty('code', 'SQLITE_BUSY');
  });

  test('on a new file is not taken for damage by reads and by the scheduled check', async () => {
    const other = connect();
    other.exec('BEGIN IMMEDIATE');
    const warnings: string[] = [];
    const warn = (message: string) => void warnings.push(message);
    const database = await open({ timeout: 1_000, checkMs: 86_400_000, warn });
    expect(await database.read('list').catch((error) => error)).toHaveProperty(
      'message',
      `${file} is locked by another process: end that process.`,
    );
    await eventually(() => expect(warnings).toHaveLength(2));
    expect(warnings[1]).toContain('is locked by another process');
    other.exec('ROLLBACK');
    await eventually(async () => expect(await database.read('list')).toEqual([]));
  });
});
