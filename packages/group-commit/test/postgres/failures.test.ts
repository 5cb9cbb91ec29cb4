import { inspect } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { DatabaseError } from 'pg';
import { Unavailable } from '../../src/errors.ts';
import {
  isOutage,
  taskError,
  unavailable,
  unusable,
  violatesConstraint,
} from '../../src/postgres/failures.ts';

const serverError = (code: string, message = 'the message', fields = {}) =>
  Object.assign(new DatabaseError(message, 0, 'error'), { code, ...fields });

const systemError = (code: string, message = 'the message') =>
  Object.assign(new Error(message), { code });

describe('an error of the server', () => {
  test.each<[string, 'constraint' | 'outage' | 'other']>([
    ['23505', 'constraint'],

    ['54000', 'constraint'],

    ['25006', 'outage'],
    ['40001', 'outage'],
    ['53100', 'outage'],

    ['55P03', 'outage'],
    ['57014', 'outage'],

    ['XX000', 'outage'],

    ['25P02', 'other'],
    ['42P01', 'other'],

    ['55000', 'other'],
  ])('with the SQLSTATE %s is of the kind: %s', (code, kind) => {
    const error = serverError(code);
    expect(violatesConstraint(error)).toBe(kind === 'constraint');
    expect(isOutage(error)).toBe(kind === 'outage');
    // The code of another error is not an SQLSTATE.
    expect(violatesConstraint(systemError(code))).toBe(false);
    expect(isOutage(systemError(code))).toBe(false);
  });
});

describe('the error of a task', () => {
  test('that is neither an outage nor a violated constraint keeps its code and constraint, without details', () => {
    const fields = { detail: 's3cret', constraint: 'notes_fkey' };
    const error = taskError(serverError('42P01', 'no table', fields));
    expect(error).toMatchObject({ name: 'Error', code: '42P01', constraint: 'notes_fkey' });
    expect(error).toHaveProperty('message', 'no table (SQLSTATE 42P01)');
    expect(inspect(error)).not.toContain('s3cret');
  });

  test.each<[string, unknown]>([
    ['of the system', systemError('23505')],

    ['that is undefined', undefined],
  ])('%s is passed on', (_name, error) => {
    expect(taskError(error)).toBe(error);
  });
});

describe('unavailable', () => {
  test.each<[string, unknown, string, string]>([
    [
      'an error of the server',
      serverError('57P03', 'starting up'),
      '57P03',
      'starting up (SQLSTATE 57P03)',
    ],
    ['an error of the system', systemError('ECONNREFUSED', 'refused'), 'ECONNREFUSED', 'refused'],

    ['an error without a message', systemError('EPIPE', ''), 'EPIPE', 'Error'],
    [
      'the errors of several addresses',
      new AggregateError([systemError('ECONNREFUSED', 'no v6'), serverError('22P02', 's3cret')]),
      'ECONNREFUSED',
      'no v6; SQLSTATE 22P02',
    ],
    [
      'the errors of several hosts with several addresses',
      new AggregateError([new AggregateError([systemError('E1', 'a')]), systemError('E2', 'b')]),
      'UNKNOWN',
      'a; b',
    ],
  ])('has the code and the message of %s', (_name, error, code, message) => {
    const result = unavailable('a:1/notes', error);
    expect(result).toBeInstanceOf(Unavailable);
    expect(result.code).toBe(code);
    expect(result.message).toBe(`PostgreSQL at a:1/notes is unavailable: ${message}`);
    expect(result.cause).toHaveProperty('message', message);
  });
});

describe('unusable', () => {
  const TABLE = 'CREATE TABLE notes (price $$ text)';
  const TABLE_ADVICE = `grant SELECT, INSERT and UPDATE on it to this user: ${TABLE}`;
  const URL_ADVICE = 'Correct the PostgreSQL URL: user, password, database and options';
  const TLS_ADVICE = 'sslmode, sslrootcert, sslcert and sslkey for TLS';

  test.each<[string, unknown, string]>([
    ['a wrong password', serverError('28P01'), URL_ADVICE],

    ['a missing database', serverError('3D000'), URL_ADVICE],
    ['a wrong option', serverError('22023'), URL_ADVICE],

    [
      'PgBouncer',
      serverError('08P01', 'unsupported startup parameter: statement_timeout'),
      'statement_timeout=0 for PgBouncer',
    ],
    ['a missing privilege', serverError('42501'), TABLE_ADVICE],

    ['a missing table', serverError('42P01'), TABLE_ADVICE],
    ['a server without TLS', new Error('The server does not support SSL connections'), TLS_ADVICE],
    ['a key of another certificate', systemError('ERR_OSSL_X509_KEY_VALUES_MISMATCH'), TLS_ADVICE],

    [
      'a certificate of an unknown authority',
      systemError('UNABLE_TO_VERIFY_LEAF_SIGNATURE'),
      TLS_ADVICE,
    ],
  ])('has advice for %s', (_name, error, advice) => {
    const { message } = unusable('a/notes', error, TABLE) ?? {};
    expect(message).toMatch(/^PostgreSQL at a\/notes: .+\. [A-Za-z]/);
    expect(message).toContain(advice);
  });

  test('has no advice for codes that are only in the message of another error', () => {
    const error = new Error(
      'a message with 28P01 08P01 unsupported startup parameter ERR_OSSL SASL',
    );
    expect(unusable('a/notes', error, TABLE)).toBeUndefined();
  });

  test.each<[string, unknown]>([
    ['a server that starts', serverError('57P03')],
    ['a protocol violation', serverError('08P01', 'a protocol error')],
    ['a host that does not listen', systemError('ECONNREFUSED')],
    ['a timeout', new Error('timeout')],

    ['undefined', undefined],
  ])('has no advice for %s', (_name, error) => {
    expect(unusable('a/notes', error, TABLE)).toBeUndefined();
  });

  test('applies to several hosts only if all reject permanently', () => {
    const permanent = serverError('3D000', 'no database');
    const both = new AggregateError([permanent, serverError('28P01', 'no')]);
    const { message } = unusable('a,b/notes', both, TABLE) ?? {};
    expect(message).toMatch(
      /^PostgreSQL at a,b\/notes: no database \(SQLSTATE 3D000\); no \(SQLSTATE 28P01\)\. Correct/,
    );
    const one = new AggregateError([permanent, systemError('ECONNREFUSED')]);
    expect(unusable('a,b/notes', one, TABLE)).toBeUndefined();
  });
});
