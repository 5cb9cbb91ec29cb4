import { mkdirSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from '@jest/globals';
import { RowRejected, Unavailable } from '../../src/errors.ts';
import {
  concernsDatabase,
  FileLost,
  isLocked,
  packError,
  threadErrorOf,
  unavailable,
  unpackError,
} from '../../src/sqlite/errors.ts';

function thrownBy(task: () => unknown): unknown {
  try {
    task();
  } catch (error) {
    return error;
  }
  throw new Error('the task threw nothing');
}

/** Packs and clones an error, as the thread of a database sends it. */
const sent = (error: unknown) => structuredClone(packError(error));

const sqliteError = (errcode: number) =>
  Object.assign(new Error('the text of SQLite'), { code: 'ERR_SQLITE_ERROR', errcode });

describe('An error from another thread', () => {
  test('keeps its name, message, stack and members', () => {
    const error = Object.assign(new RangeError('no tea'), { code: 'NO_NAME', status: 418 });
    const { stack } = error;
    const received = unpackError(sent(error));
    expect(received).toBeInstanceOf(Error);
    expect(received).not.toBeInstanceOf(RowRejected);
    expect(received).toMatchObject({ name: 'RangeError', code: 'NO_NAME', status: 418, stack });
    expect(received.message).toBe('no tea');
  });

  test('has a message even if the module threw a string or undefined', () => {
    expect(unpackError(sent('tea'))).toHaveProperty('message', 'tea');
    expect(unpackError(sent(undefined))).toHaveProperty('message', 'undefined');
  });

  test.each([
    ["INSERT INTO rules VALUES (1, 'b', 1)", '23505', 'rules.id'],
    ["INSERT INTO rules VALUES (2, 'a', 1)", '23505', 'rules.name'],
    ['INSERT INTO rules VALUES (2, NULL, 1)', '23502', 'rules.name'],
    ["INSERT INTO rules VALUES (2, '', 1)", '23514', 'name_given'],
    ["INSERT INTO rules VALUES (2, 'b', 7)", '23503', undefined],
    ["INSERT INTO rules VALUES ('x', 'b', 1)", '22023', undefined],
    ["INSERT INTO typed VALUES ('x')", '22023', undefined],
    ["INSERT INTO rules VALUES (2, 'moss', 1)", '23000', undefined],
    ['INSERT INTO rules SELECT 3, zeroblob(1000000001), 1', '22001', undefined],
    ['INSERT INTO plain (rowid) VALUES (1), (1)', '23505', 'plain.rowid'],
  ])('of the statement %s has the SQLSTATE %s', (sql, code, constraint) => {
    const db = new DatabaseSync(':memory:');
    db.exec(`CREATE TABLE rules (
       id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE CONSTRAINT name_given CHECK (name <> ''),
       parent INTEGER REFERENCES rules (id)
     );
     CREATE TABLE typed (n INTEGER) STRICT;
     CREATE TABLE plain (n);
     INSERT INTO rules VALUES (1, 'a', NULL);
     CREATE TRIGGER no_moss BEFORE INSERT ON rules WHEN new.name = 'moss'
     BEGIN SELECT raise(ABORT, 'no moss'); END`);
    const error = thrownBy(() => db.exec(sql));
    const received = unpackError(sent(error));
    expect(received).toBeInstanceOf(RowRejected);
    expect({ ...received }).toMatchObject({ code, constraint });
    expect(received.cause).toMatchObject({ errcode: Object(error).errcode });
    expect(concernsDatabase(error)).toBe(false);
  });
});

describe('A failure', () => {
  test.each<[number, string, boolean, string]>([
    [5, 'BUSY', false, 'is locked by another process: end that process.'],
    [261, 'BUSY', false, 'is locked by another process: end that process.'],
    [7, 'NOMEM', false, 'cannot be used: the text of SQLite.'],
    [
      1032,
      'READONLY',
      true,
      'cannot be written: make the file, its folder and its file system writable.',
    ],
    [778, 'IOERR', false, 'cannot be read or written (I/O error): check the disk.'],
    [
      11,
      'CORRUPT',
      true,
      'is damaged: stop the service, remove its -wal and -shm files, and restore a backup.',
    ],
    [13, 'FULL', false, 'cannot grow: its disk is full. Free some space.'],
    [
      14,
      'CANTOPEN',
      true,
      'cannot be opened: it must be a file or a new name in a writable folder.',
    ],
    [15, 'PROTOCOL', false, 'cannot be used: the text of SQLite.'],
    [26, 'NOTADB', true, 'is not a SQLite database and was not changed. Name another file.'],
  ])('of the result code %d is SQLITE_%s, permanent: %s', (errcode, name, permanent, advice) => {
    const error = sqliteError(errcode);
    const failure = structuredClone(threadErrorOf('/a/notes.db', error));
    expect(failure).toMatchObject({
      code: `SQLITE_${name}`,
      permanent,
      message: `/a/notes.db ${advice}`,
    });
    expect(concernsDatabase(error)).toBe(true);
    expect(isLocked(error)).toBe(name === 'BUSY');
    const rejection = unavailable(failure);
    expect(rejection).toBeInstanceOf(Unavailable);
    expect(rejection).toMatchObject({ code: failure.code, cause: { errcode } });
    expect(rejection.message).toBe(failure.message);
  });

  test.each<[string, unknown, string, string]>([
    ['another error of SQLite', sqliteError(1), 'ERR_SQLITE_ERROR', ': the text of SQLite.'],
    ['an error of the module', new Error('no table'), 'UNKNOWN', ': no table.'],
    ['a string', 'no table', 'UNKNOWN', ': no table.'],
    [
      'a folder that cannot be created',
      thrownBy(() => mkdirSync('/proc/none')),
      'ENOENT',
      " (ENOENT: no such file or directory, mkdir '/proc/none'): create its folder, or make the folder above that one writable.",
    ],
  ])('of %s is permanent', (_name, error, code, reason) => {
    expect(threadErrorOf('notes.db', error)).toMatchObject({
      message: `notes.db cannot be used${reason}`,
      code,
      permanent: true,
    });
    expect(concernsDatabase(error)).toBe(false);
    expect(isLocked(error)).toBe(false);
  });

  test('of a lost file names that file', () => {
    const error = new FileLost('notes.db-wal');
    expect(threadErrorOf('notes.db', error)).toMatchObject({
      message: expect.stringMatching(/^notes\.db-wal was moved, deleted or replaced/),
      code: 'FILE_LOST',
    });
    expect(concernsDatabase(error)).toBe(true);
  });
});
