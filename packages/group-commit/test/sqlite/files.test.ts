import {
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { createFile, fileSizes, watchFiles } from '../../src/sqlite/files.ts';
import { file, folder, useFolder } from './support.ts';

useFolder();

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

test('the sizes are those of the database and of its log, and 0 for missing files', () => {
  expect(fileSizes(file)).toEqual({ database_bytes: 0, log_bytes: 0 });
  writeFileSync(file, 'four');
  writeFileSync(`${file}-wal`, 'eleven more');
  expect(fileSizes(file)).toEqual({ database_bytes: 4, log_bytes: 11 });
  symlinkSync(file, join(folder, 'link.db'));
  expect(fileSizes(join(folder, 'link.db'))).toEqual({ database_bytes: 4, log_bytes: 11 });
});

describe('createFile', () => {
  test('creates a file that only its owner can read, and the folder of the file', () => {
    const path = join(folder, 'new', 'notes.db');
    createFile(path, true);
    expect(modeOf(path)).toBe('600');
    expect(readFileSync(path, 'utf8')).toBe('');
  });

  test('leaves an existing file as it is', () => {
    writeFileSync(file, 'notes', { mode: 0o644 });
    for (const mayCreate of [true, false]) createFile(file, mayCreate);
    expect(readFileSync(file, 'utf8')).toBe('notes');
    expect(modeOf(file)).toBe('644');
  });

  test('rejects a missing file that it may not create', () => {
    expect(() => createFile(file, false)).toThrow(`${file} was moved, deleted or replaced`);
    expect(existsSync(file)).toBe(false);
  });

  test('creates one folder, not those above it', () => {
    expect(() => createFile(join(folder, 'a/b/notes.db'), true)).toThrow('ENOENT');
    expect(existsSync(join(folder, 'a'))).toBe(false);
  });

  test('does not throw if the file cannot be created, since the error of SQLite is clearer', () => {
    symlinkSync(join(folder, 'none/notes.db'), file);
    createFile(file, true);
    expect(existsSync(file)).toBe(false);
  });
});

describe('watchFiles', () => {
  const replace = (path: string) => {
    cpSync(path, `${path}.copy`, { preserveTimestamps: true });
    renameSync(`${path}.copy`, path);
  };
  const log = () => `${file}-wal`;

  test.each<[string, () => void]>([
    ['nothing happens', () => {}],
    ['the files grow', () => writeFileSync(file, 'more notes', { flag: 'a' })],
    ['the file gets another name', () => linkSync(file, join(folder, 'b'))],
  ])('if %s, the check passes', (_event, happen) => {
    for (const path of [file, log()]) writeFileSync(path, 'notes');
    const check = watchFiles(file);
    check();
    happen();
    expect(check).not.toThrow();
  });

  test.each<[string, RegExp, () => void]>([
    ['the database is deleted', /notes\.db was moved/, () => rmSync(file)],
    ['the database is replaced by a copy', /notes\.db was moved/, () => replace(file)],
    ['the log is deleted', /notes\.db-wal was moved/, () => rmSync(log())],
    ['the log is replaced by a copy', /notes\.db-wal was moved/, () => replace(log())],
  ])('if %s, the check throws %p', (_event, error, happen) => {
    for (const path of [file, log()]) writeFileSync(path, 'notes');
    const check = watchFiles(file);
    check();
    happen();
    expect(check).toThrow(error);
  });

  test('rejects a log that appears after the first check', () => {
    writeFileSync(file, 'notes');
    const check = watchFiles(file);
    check();
    writeFileSync(log(), 'notes');
    expect(check).toThrow(/notes\.db-wal was moved/);
  });

  test('watches the log beside the target of a link', () => {
    const [away, link] = [join(folder, 'away'), join(folder, 'link.db')];
    mkdirSync(away);
    for (const name of ['notes.db', 'notes.db-wal']) writeFileSync(join(away, name), 'notes');
    symlinkSync(join(away, 'notes.db'), link);
    const check = watchFiles(link);
    check();
    rmSync(join(away, 'notes.db-wal'));
    expect(check).toThrow(/away\/notes\.db-wal was moved/);
  });
});
