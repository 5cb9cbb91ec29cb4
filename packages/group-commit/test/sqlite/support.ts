import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach } from '@jest/globals';
import { openDatabase, type SqliteOptions } from '../../src/sqlite/database.ts';
import type notes from './notes.ts';

export type Notes = Awaited<ReturnType<typeof open>>;

export let folder = '';
export let file = '';
const opened: { close(): unknown }[] = [];
const mounts: string[] = [];

/** Creates a folder for each test. Closes the databases before the folder is removed. */
export function useFolder(): void {
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'notes-'));
    file = join(folder, 'notes.db');
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((each) => each.close()));
    for (const mount of mounts.splice(0)) execFileSync('umount', [mount]);
    rmSync(folder, { recursive: true });
  });
}

export async function open(options: Partial<SqliteOptions> = {}) {
  const module = new URL('./notes.ts', import.meta.url);
  const database = await openDatabase<typeof notes>({ file, module, ...options });
  opened.push(database);
  return database;
}

export function connect(path = file): DatabaseSync {
  const connection = new DatabaseSync(path);
  opened.push(connection);
  return connection;
}

/** Closes the connections of {@link connect} before the test ends. */
export function disconnect(): void {
  for (const each of opened.splice(0))
    if (each instanceof DatabaseSync) each.close();
    else opened.push(each);
}

export function ids(path = file): unknown[] {
  const connection = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
  try {
    return connection
      .prepare('SELECT id FROM notes ORDER BY id')
      .all()
      .map(({ id }) => id);
  } finally {
    connection.close();
  }
}

export function mountMemory(size: string): string {
  const mount = join(folder, 'disk');
  mkdirSync(mount);
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', mount], { stdio: 'ignore' });
  mounts.push(mount);
  return mount;
}

/** Mounts a file over itself, so that it can be made read-only even for root. */
export function bindMount(path: string): void {
  execFileSync('mount', ['--bind', path, path]);
  mounts.push(path);
}

/** Returns true if this process can mount file systems: as root, outside a container. */
export function canMount(): boolean {
  folder = mkdtempSync(join(tmpdir(), 'notes-'));
  try {
    mountMemory('1m');
    return true;
  } catch {
    return false;
  } finally {
    for (const mount of mounts.splice(0)) execFileSync('umount', [mount]);
    rmSync(folder, { recursive: true });
  }
}
