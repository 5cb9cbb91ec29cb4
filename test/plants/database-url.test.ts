import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { readVariables } from '../../packages/spec-first-server/src/process/variables.ts';
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
    workers: 1,
    onBatch: undefined,
    warn() {},
  });
  await backend.close?.();
  expect(backend.location).toBe(place);
});

describe('the start rejects', () => {
  test.each([
    ['a URL of no store', () => 'mysql://me:secret@host/db', /: There is no store for mysql: URLs\. Use /],
    ['what is no URL', () => 'plants.db', /: This is not a database URL\. Use sqlite:/],
    [
      'a file that is not a database',
      () => `sqlite:${file('text.db', 'no database '.repeat(99))}`,
      /text\.db is not a SQ/,
    ],
    ['a folder that cannot be made', () => `sqlite:${file('flat', '')}/plants.db`, /in a folder that can be written/],
  ])('%s', async (_what, url, message) => {
    const { message: said } = await runPlants({ DATABASE_URL_FILE: file('url', `${url()}\n`) }).then(
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
