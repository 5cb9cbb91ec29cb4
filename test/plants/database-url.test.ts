import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from 'test-support/eventually';
import { type PostgresServer, startPostgres } from 'test-support/postgres';
import { readVariables } from '../../packages/spec-first-server/src/serve/configuration.ts';
import { openPlants, variables } from '../../src/plants.ts';
import { runPlants } from './support/plants.ts';

const folder = mkdtempSync(join(tmpdir(), 'plants-database-url-'));
afterAll(() => rmSync(folder, { recursive: true }));

const file = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};

test.each([
  ['sqlite::memory:', 'sqlite::memory:'],
  ['postgresql://me:secret@127.0.0.1:1/x?max=1', 'postgres://127.0.0.1:1/x'],
  ['postgres:///x?host=/nowhere', 'postgres:///nowhere/x'],
  ['postgres://127.0.0.1:1/x?host=/nowhere', 'postgres:///nowhere/x'],
])('%s is shown as %s', async (url, place) => {
  const backend = await openPlants(readVariables(variables, { DATABASE_URL: url }), {
    onBatch: undefined,
    warn() {},
  });
  await backend.close?.();
  expect(backend.location).toBe(place);
});

describe('the start rejects', () => {
  test.each([
    [
      'a URL of no store',
      () => 'mysql://me:secret@host/db',
      /: There is no store for mysql: URLs\. Use /,
    ],
    ['what is no URL', () => 'plants.db', /: This is not a database URL\. Use sqlite:/],
    [
      'a file that is not a database',
      () => `sqlite:${file('text.db', 'no database '.repeat(99))}`,
      /text\.db is not a SQ/,
    ],
    [
      'a folder that cannot be made',
      () => `sqlite:${file('flat', '')}/plants.db`,
      /in a writable folder/,
    ],
  ])('%s', async (_what, url, message) => {
    const { message: said } = await runPlants({
      DATABASE_URL_FILE: file('url', `${url()}\n`),
    }).then(
      async ({ stop }) => {
        await stop();
        throw new Error('it was accepted');
      },
      (error: Error) => error,
    );
    expect(said).toMatch(/^DATABASE_URL_FILE: /);
    expect(said).toMatch(message);
    expect(said).not.toContain('secret');
  });
});

describe('the password of PostgreSQL is read again for each connection', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.remove());

  test.each([
    ['DATABASE_PASSWORD_FILE', (path: string) => path],
    ['DATABASE_PASSWORD_COMMAND', (path: string) => `cat '${path}'`],
  ])('from %s, in place of that of the URL', async (name, value) => {
    const path = file('password', 'correct horse\n');
    const url = (await server.createSchema()).replace(/:[^:@]*@/, ':outdated@');
    const env = { DATABASE_URL_FILE: file('secret-url', `${url}\n`), [name]: value(path) };
    const backend = await openPlants(readVariables(variables, env), { warn() {} });
    await backend.ready?.();
    await server.query("ALTER ROLE postgres PASSWORD 'another'");
    try {
      file('password', 'another\n');
      const others = 'FROM pg_stat_activity WHERE usename IS NOT NULL AND pid <> pg_backend_pid()';
      const direct = url.replace(':outdated@', ':another@');
      await server.query(`SELECT pg_terminate_backend(pid) ${others}`, direct);
      await eventually(async () => backend.ready?.());
      await server.query("ALTER ROLE postgres PASSWORD 'correct horse'", direct);
    } finally {
      await backend.close?.();
    }
  });

  test.each([
    ['DATABASE_PASSWORD_FILE', '/none/password'],
    ['DATABASE_PASSWORD_COMMAND', 'exit 3'],
  ])('and %s that gives none is an outage, and is named in the log', async (name, value) => {
    const url = await server.createSchema();
    const env = { DATABASE_URL: url, [name]: value };
    const backend = await openPlants(readVariables(variables, env), { warn() {} });
    await expect(backend.ready?.()).rejects.toThrow(name);
    await backend.close?.();
  });
});
