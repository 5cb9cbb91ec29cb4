import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from '@jest/globals';
import { makeCertificate } from 'test-support/certificate';
import { Unusable } from '../../src/errors.ts';
import { readUrl } from '../../src/postgres/url.ts';

const environment = { ...process.env };
afterEach(() => {
  process.env = { ...environment };
});

const folder = mkdtempSync(join(tmpdir(), 'notes-url-'));
afterAll(() => rmSync(folder, { recursive: true }));
const { cert } = makeCertificate('127.0.0.1');
const authority = join(folder, 'authority.pem');
writeFileSync(authority, cert);

const read = (url: string) => readUrl(url, 'notes');
const readQuery = (query: string) => read(`postgres://me@db.example/notes?${query}`);

describe('the hosts', () => {
  test.each<[string, string, (string | number)[][]]>([
    [
      'postgres://me:secret@a:1,b/notes',
      'a:1,b/notes',
      [
        ['a', 1],
        ['b', 5432],
      ],
    ],

    ['postgres://me@a', 'a/me', [['a', 5432]]],

    ['postgres://ignored/notes?host=a', 'a/notes', [['a', 5432]]],
    ['postgres:///notes?host=/run/postgres', '/run/postgres/notes', [['/run/postgres', 5432]]],
    ['postgres://me:p%40%2F%3F@a/my%20notes', 'a/my notes', [['a', 5432]]],
  ])('of %s are %s', (url, location, addresses) => {
    const settings = read(url);
    expect(settings.location).toBe(location);
    expect(settings.targets.map(({ config }) => [config.host, config.port])).toEqual(addresses);
  });

  test('share the user, the password and the database', () => {
    for (const { config } of read('postgres://me:p%40ss@a,b/my%20notes').targets) {
      expect(config).toMatchObject({ user: 'me', password: 'p@ss', database: 'my notes' });
    }
  });

  test.each([
    ['localhost', false],
    ['127.0.0.1', false],

    ['[::1]', false],
    ['%2Frun', false],
    ['localhost.example', true],

    ['db.example', true],
  ])('such as %s are on another machine: %s', (host, remote) => {
    expect(read(`postgres://me@${host}/notes`).targets[0].remote).toBe(remote);
  });
});

describe('the parameter', () => {
  test.each<[string, object]>([
    ['max=100', { max: 100 }],

    ['statement_timeout=250', { statementMs: 250, pooled: false }],
    ['statement_timeout=0', { statementMs: 3_000, pooled: true }],
    ['target_session_attrs=standby', { sessionAttributes: 'standby' }],
    ['sslmode=prefer', { prefersTls: true }],

    ['sslmode=disable', { prefersTls: false }],
  ])('%s changes the settings: %j', (query, settings) => {
    expect(readQuery(query)).toMatchObject(settings);
  });

  test.each<[string, object]>([
    ['connect_timeout=7', { connectionTimeoutMillis: 7_000 }],
    ['statement_timeout=250', { statement_timeout: 250, query_timeout: 750 }],
    ['statement_timeout=0', { statement_timeout: 0, query_timeout: 3_500 }],
    ['keepalives_idle=60', { keepAliveInitialDelayMillis: 60_000 }],
    ['application_name=mine', { application_name: 'mine' }],
    ['options=-csearch_path%3Da', { options: '-csearch_path=a' }],
    ['user=you&password=p', { user: 'you', password: 'p' }],
    ['sslmode=disable', { ssl: false }],
  ])('%s changes each connection', (query, config) => {
    expect(readQuery(query).targets[0].config).toMatchObject(config);
  });

  test('sslmode applies to a Unix socket only if it is set', () => {
    const sslOf = (url: string) => read(url).targets[0].config.ssl;
    expect(sslOf('postgres:///notes?host=/run')).toBe(false);
    expect(sslOf('postgres:///notes?host=/run&sslmode=require')).toEqual({
      rejectUnauthorized: false,
    });
  });

  test.each([
    ['hostaddr=10.0.0.1', 'unknown parameter "hostaddr"; use application_name, connect_timeout'],
    ['target_session_attrs=writable', 'target_session_attrs must be one of any, read-write, read'],
    ['sslmode=allow', 'sslmode must be one of disable, prefer, require, verify-ca, verify-full'],
    ['max=0', 'max must be an integer from 1 to 100, got "0"'],

    ['connect_timeout=0', 'connect_timeout must be an integer from 1 to 60, got "0"'],

    ['statement_timeout=-1', 'statement_timeout must be an integer from 0 to 60000, got "-1"'],

    ['host=a,b', 'host must be one host; use postgres://USER@HOST:PORT,HOST:PORT/DATABASE'],
  ])('%s is rejected: %s', (query, message) => {
    const run = () => read(`postgres://me:s3cret@a:1,b:2/notes?${query}`);
    expect(run).toThrow(Unusable);
    expect(run).toThrow(`The PostgreSQL URL is wrong: ${message}`);
    expect(run).not.toThrow('s3cret');
  });
});

test.each([
  ['', 'it must have the form postgres://USER:PASSWORD@HOST:PORT/DATABASE, with %2F'],
  ['db.example', 'it must have the form'],
  ['postgres:/s3cret@a/notes', 'it must have the form'],
  ['postgres://me:s3/cret@a/notes', 'it must have the form'],

  ['postgres://me:s3cret@a:port/notes', 'it must have the form'],

  ['postgres://me:s3cret%E0@a/notes', 'it must have the form'],
  ['postgres://me:s3cret@a/notes?sslrootcert=/none', 'ENOENT'],
])('the URL %j is rejected without showing its password: %s', (url, message) => {
  expect(() => read(url)).toThrow(message);
  expect(() => read(url)).toThrow(/^The PostgreSQL URL is wrong: /);
  expect(() => read(url)).not.toThrow(/s3.?cret/);
});

test.each<[Record<string, string>, string, object]>([
  [{ PGSSLMODE: 'disable' }, '', { prefersTls: false }],
  [{ PGSSLMODE: 'disable' }, 'sslmode=prefer', { prefersTls: true }],
  [{ PGTARGETSESSIONATTRS: 'standby' }, '', { sessionAttributes: 'standby' }],
  [{ PGTARGETSESSIONATTRS: 'standby' }, 'target_session_attrs=any', { sessionAttributes: 'any' }],
])('with the variables %j the URL ?%s has %j', (variables, query, settings) => {
  Object.assign(process.env, variables);
  expect(readQuery(query)).toMatchObject(settings);
});

test.each<[title: string, variable: string, query: string, ca: unknown]>([
  ['is the default of sslrootcert', authority, 'sslmode=verify-full', cert],
  ['may be system', 'system', 'sslmode=verify-full', undefined],
  [
    'is ignored if the URL has sslrootcert=system',
    authority,
    'sslmode=verify-full&sslrootcert=system',
    undefined,
  ],
  [
    'is not read if the URL has another sslrootcert',
    '/none',
    `sslmode=verify-full&sslrootcert=${authority}`,
    cert,
  ],
])('PGSSLROOTCERT %s', (_title, variable, query, ca) => {
  process.env.PGSSLROOTCERT = variable;
  expect(Object(readQuery(query).targets[0].config.ssl).ca).toBe(ca);
});
