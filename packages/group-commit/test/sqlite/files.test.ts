import { existsSync, linkSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
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
  test('leaves an existing file as it is', () => {
    writeFileSync(file, 'notes', { mode: 0o644 });
    for (const mayCreate of [true, false]) createFile(file, mayCreate);
    expect(readFileSync(file, 'utf8')).toBe('notes');
    expect(modeOf(file)).toBe('644');
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
});
