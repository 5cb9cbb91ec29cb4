import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, jest, test } from '@jest/globals';
import { Unavailable } from 'group-commit';
import { requestsFor } from 'spec-first/testing';
import { ConfigError } from 'spec-first-server';
import { readVariables } from 'spec-first-server/cli';
import { eventually } from 'test-support/eventually';
import type { Handlers } from '../../generated/openapi.ts';
import { databaseUrl, openPlants, variables } from '../../src/plants.ts';
import { openStore } from '../../src/stores/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'plants-unit-'));
afterAll(() => rmSync(folder, { recursive: true }));

const file = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};

const open = (env: Readonly<Record<string, string>>) =>
  openPlants(readVariables(variables, env), { warn() {} });

const requestTo = requestsFor<Handlers>();

describe('the variables', () => {
  test.each(['0', '1000001', '1e3', ''])('MAX_WAITING must not be %j', (text) => {
    const error = new Error('an integer from 1 to 1000000');
    expect(() => variables.MAX_WAITING.parse(text)).toThrow(error);
  });

  test('SQLITE_CHECK_HOURS is an integer from 0 to 500', () => {
    for (const hours of ['0', '24', '500'])
      expect(variables.SQLITE_CHECK_HOURS.parse(hours)).toBe(Number(hours));
    for (const text of ['501', '1000', '-1', '1.5', 'daily', ''])
      expect(() => variables.SQLITE_CHECK_HOURS.parse(text)).toThrow('an integer from 0 to 500');
  });

  test('DATABASE_URL_FILE overrides DATABASE_URL, without spaces around its text', () => {
    const values = readVariables(variables, {
      DATABASE_URL: 'sqlite:one.db',
      DATABASE_URL_FILE: file('url', ' sqlite:two.db\n'),
    });
    expect(databaseUrl(values)).toEqual({ name: 'DATABASE_URL_FILE', url: 'sqlite:two.db' });
    expect(databaseUrl({ ...values, DATABASE_URL_FILE: '' })).toEqual({
      name: 'DATABASE_URL',
      url: 'sqlite:one.db',
    });
  });

  test('a missing DATABASE_URL_FILE is an error with its reason', () => {
    expect(() => readVariables(variables, { DATABASE_URL_FILE: '/none/url' })).toThrow(
      'DATABASE_URL_FILE must be a readable file (ENOENT), got a value that is not shown',
    );
  });
});

describe('createPlant', () => {
  test('is rejected as unavailable if MAX_WAITING requests wait', async () => {
    const { handlers, stats, close } = await open({
      DATABASE_URL: 'sqlite::memory:',
      MAX_WAITING: '2',
    });
    const { createPlant } = handlers as Handlers;
    const outcomes = Promise.allSettled(
      [1, 2, 3].map(async (id) =>
        createPlant(requestTo('createPlant', { body: { id, name: '' } })),
      ),
    );
    expect(stats?.()).toMatchObject({ waiting: 2 });
    expect((await outcomes).map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
    ]);
    expect(await outcomes).toHaveProperty('2.reason', expect.any(Unavailable));
    await close?.();
  });
});

test('SQLITE_CHECK_HOURS finds at the start and each hour that a file is damaged: the service is not ready', async () => {
  const path = join(folder, 'damaged.db');
  const DATABASE_URL = `sqlite:${path}`;
  const store = await openStore(DATABASE_URL, { maxWaiting: 1_000 });
  await Promise.all(
    Array.from({ length: 1_000 }, (_, id) => store.add({ id: BigInt(id), name: 'a'.repeat(500) })),
  );
  await store.close();
  const bytes = readFileSync(path);
  writeFileSync(path, bytes.fill(0, bytes.length / 4, bytes.length / 2));

  const warnings: string[] = [];
  const warn = (message: string) => void warnings.push(message);
  const values = readVariables(variables, { DATABASE_URL, SQLITE_CHECK_HOURS: '1' });
  const interval = jest.spyOn(globalThis, 'setInterval');
  const backend = await openPlants(values, { warn });
  expect(interval).toHaveBeenCalledWith(expect.any(Function), 3_600_000);
  interval.mockRestore();
  await eventually(() => expect(backend.ready?.()).rejects.toThrow('damaged.db is damaged'));
  expect(warnings).toEqual([expect.stringMatching(/damaged\.db is damaged: stop the service/)]);
  await backend.close?.();
});

describe('the start rejects', () => {
  test.each([
    [
      'a URL without a store',
      () => 'mysql://me:secret@host/db',
      /: This is not a valid database URL\. Use /,
    ],
    [
      'a file that is not a database',
      () => `sqlite:${file('text.db', 'no database '.repeat(99))}`,
      /text\.db is not a SQ/,
    ],
    [
      'a folder that cannot be created',
      () => `sqlite:${file('flat', '')}/plants.db`,
      /in a writable folder/,
    ],
  ])('%s, and names the variable of the URL', async (_, url, message) => {
    for (const name of ['DATABASE_URL', 'DATABASE_URL_FILE']) {
      const value = name === 'DATABASE_URL' ? url() : file('wrong-url', `${url()}\n`);
      const error = await open({ [name]: value }).catch((error: unknown) => error);
      expect(error).toBeInstanceOf(ConfigError);
      expect(String(error)).toMatch(new RegExp(`: ${name}: `));
      expect(String(error)).toMatch(message);
      expect(String(error)).not.toContain('secret');
    }
  });

  test.each(['DATABASE_PASSWORD_FILE', 'DATABASE_PASSWORD_COMMAND'])(
    '%s with SQLite',
    async (name) => {
      const url = 'SQLite::memory:';
      const urls = { DATABASE_URL: url, DATABASE_URL_FILE: file('sqlite-url', url) };
      for (const [urlName, value] of Object.entries(urls)) {
        await expect(open({ [urlName]: value, [name]: 'secret' })).rejects.toThrow(
          new ConfigError(`${urlName} must name a PostgreSQL database if ${name} is set`),
        );
      }
    },
  );

  test('two sources of the password', async () => {
    const env = { DATABASE_PASSWORD_FILE: 'password', DATABASE_PASSWORD_COMMAND: 'true' };
    await expect(
      open({ DATABASE_URL: 'postgres://plants@192.0.2.1/plants', ...env }),
    ).rejects.toThrow(
      new ConfigError('DATABASE_PASSWORD_FILE and DATABASE_PASSWORD_COMMAND must not both be set'),
    );
  });
});
