import { expect, test } from '@jest/globals';
import { RowRejected, Unavailable } from '../../src/errors.ts';
import { FileLost, threadErrorOf, unavailable } from '../../src/sqlite/errors.ts';
import { open, useFolder } from './support.ts';

useFolder();

test.each([
  ["INSERT INTO rules VALUES (1, 'b', 1)", '23505', 'rules.id'],

  ['INSERT INTO rules VALUES (2, NULL, 1)', '23502', 'rules.name'],
  ["INSERT INTO rules VALUES (2, '', 1)", '23514', 'name_given'],
  ["INSERT INTO rules VALUES (2, 'b', 7)", '23503', undefined],
  ["INSERT INTO rules VALUES ('x', 'b', 1)", '22023', undefined],

  ["INSERT INTO rules VALUES (2, 'moss', 1)", '23000', undefined],
  ['INSERT INTO rules SELECT 3, zeroblob(1000000001), 1', '22001', undefined],
  ['INSERT INTO plain (rowid) VALUES (1), (1)', '23505', 'plain.rowid'],
])('the error of the statement %s has the SQLSTATE %s', async (sql, code, constraint) => {
  const database = await open({ file: ':memory:' });
  await database.write(
    'exec',
    `CREATE TABLE rules (
       id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE CONSTRAINT name_given CHECK (name <> ''),
       parent INTEGER REFERENCES rules (id)
     );
     CREATE TABLE typed (n INTEGER) STRICT;
     CREATE TABLE plain (n);
     INSERT INTO rules VALUES (1, 'a', NULL);
     CREATE TRIGGER no_moss BEFORE INSERT ON rules WHEN new.name = 'moss'
     BEGIN SELECT raise(ABORT, 'no moss'); END`,
  );
  const error = await database.write('exec', sql).catch((error: unknown) => error);
  expect(error).toBeInstanceOf(RowRejected);
  expect(error).toMatchObject({ code, constraint, cause: { errcode: expect.any(Number) } });
});

const sqliteError = (errcode: number) =>
  Object.assign(new Error('the text of SQLite'), { code: 'ERR_SQLITE_ERROR', errcode });

test.each<[unknown, string, boolean, RegExp]>([
  [sqliteError(5), 'SQLITE_BUSY', false, /is locked by another process/],

  [sqliteError(1032), 'SQLITE_READONLY', true, /cannot be written/],
  [sqliteError(778), 'SQLITE_IOERR', false, /check the disk/],
  [sqliteError(11), 'SQLITE_CORRUPT', true, /restore a backup/],
  [sqliteError(13), 'SQLITE_FULL', false, /disk is full/],
  [sqliteError(14), 'SQLITE_CANTOPEN', true, /must be a file/],

  [sqliteError(26), 'SQLITE_NOTADB', true, /is not a SQLite database/],

  [new Error('no table'), 'UNKNOWN', true, /cannot be used: no table\.$/],

  [new FileLost('notes.db-wal'), 'FILE_LOST', true, /^notes\.db-wal was moved, deleted or repl/],
])(
  'the failure of a request by %p has the code %s, permanent: %s',
  (error, code, permanent, text) => {
    const failure = structuredClone(threadErrorOf('/a/notes.db', error));
    expect(failure).toMatchObject({ code, permanent, message: expect.stringMatching(text) });
    const rejection = unavailable(failure);
    expect(rejection).toBeInstanceOf(Unavailable);
    expect(rejection).toMatchObject({ code, message: failure.message, cause: expect.any(Error) });
  },
);
