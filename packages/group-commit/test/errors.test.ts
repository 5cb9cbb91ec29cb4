import { expect, test } from '@jest/globals';
import { RowRejected, Unavailable, Unusable } from '../src/errors.ts';

const cause = new Error('the disk is full');

test('Unavailable has the properties that http-errors uses: 503, a retry, a hidden message', () => {
  const error = new Unavailable('The database is closed.', 'CLOSED', cause);
  expect(error).toBeInstanceOf(Error);
  expect({ ...error, message: error.message, cause: error.cause }).toEqual({
    name: 'Unavailable',
    status: 503,
    expose: false,
    headers: { 'Retry-After': '1' },
    code: 'CLOSED',
    message: 'The database is closed.',
    cause,
  });
});

test('Unusable has a status, its message and its cause', () => {
  const error = new Unusable('The file is damaged.', { cause });
  expect(String(error)).toBe('Unusable: The file is damaged.');
  expect(error.status).toBe(500);
  expect(error.cause).toBe(cause);
});

test('RowRejected has the SQLSTATE and the name of the constraint', () => {
  const error = new RowRejected('a duplicate key', '23505', 'notes.id', cause);
  expect(String(error)).toBe('RowRejected: a duplicate key');
  expect(error).toMatchObject({ code: '23505', constraint: 'notes.id', cause });
});
