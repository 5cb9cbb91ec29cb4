import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { makeProject, run } from 'test-support/project';
import { projectFiles } from '../src/new.ts';

/** Adds a line to each database that a variable or a default names, as a service with handlers. */
const MAIN = `import { appendFileSync, mkdirSync } from 'node:fs';
import { serve } from 'spec-first-server';
import { errorBody } from './errors.ts';

const { DATABASE_FILE = 'data/shop.db', DATABASE_URL = DATABASE_FILE, ONLY_FOR_TESTS } = process.env;
mkdirSync('data', { recursive: true });
const open = () => {
  for (const file of [DATABASE_FILE, DATABASE_URL, ONLY_FOR_TESTS ?? 'data/other.db'])
    appendFileSync(file, 'written by the service');
  return { handlers: {} };
};
await serve({ open, errorBody });
`;

const folder = makeProject({});
const path = (name: string) => join(folder, name);

beforeAll(async () => {
  for (const [name, content] of (await projectFiles(folder, undefined)).files) {
    if (name === 'package.json') continue;
    mkdirSync(dirname(path(name)), { recursive: true });
    writeFileSync(path(name), content);
  }
  writeFileSync(path('src/main.ts'), MAIN);
});
afterAll(() => rmSync(folder, { recursive: true }));

test("the tests of a new project do not touch the developer's databases and clean up", async () => {
  mkdirSync(path('temporary'));
  const databases = ['data/shop.db', 'variable.db', 'url.db', 'dotenv.db'].map(path);
  mkdirSync(path('data'));
  for (const file of databases) writeFileSync(file, 'three customers');
  const dotenv = readFileSync(path('.env'), 'utf8');
  writeFileSync(path('.env'), `${dotenv}ONLY_FOR_TESTS=${path('dotenv.db')}\n`);

  const { code, output } = await run(folder, ['--test'], {
    DATABASE_FILE: path('variable.db'),
    DATABASE_URL: path('url.db'),
    CONTRACT_RUNS: '2',
    TMPDIR: path('temporary'),
  });

  expect({ code, output }).toEqual({ code: 0, output: expect.stringMatching(/^ℹ fail 0$/m) });
  expect(databases.map((file) => readFileSync(file, 'utf8'))).toEqual(
    databases.map(() => 'three customers'),
  );
  expect(existsSync(path('data/other.db'))).toBe(false);
  expect(readdirSync(path('temporary'))).toEqual([]);
});
