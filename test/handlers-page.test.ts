import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { loadDocument } from 'openapi-document';
import { generateTypes } from '../packages/spec-first/src/types.ts';
import { ENVIRONMENT } from './support/environment.ts';
import { PROJECT } from './support/launch.ts';
import { readMarkdown } from './support/markdown.ts';
import { end, makeProject, start } from './support/project.ts';

const run = promisify(execFile);
const { blocks } = readMarkdown(readFileSync(join(PROJECT, 'docs/handlers.md'), 'utf8'));
/** The files of the page, by the names in their first lines. */
const files = Object.fromEntries(
  blocks
    .filter(({ language }) => language === 'ts')
    .map(({ code }) => [/^\/\/ (\S+)\n/.exec(code)?.[1] ?? '', code] as const),
);
let folder = '';
const env = { ...ENVIRONMENT, NO_COLOR: '1' };

beforeAll(async () => {
  const document = blocks.find(({ language }) => language === 'yaml')?.code ?? '';
  folder = makeProject({ ...files, 'openapi.yaml': document });
  mkdirSync(join(folder, 'generated'));
  const types = await generateTypes(await loadDocument(join(folder, 'openapi.yaml')));
  writeFileSync(join(folder, 'generated/openapi.ts'), types);
});
afterAll(() => rmSync(folder, { recursive: true }));

test('all code of the page compiles together', () => {
  const config = { extends: './tsconfig.json', include: ['src', 'test'] };
  writeFileSync(join(folder, 'tsconfig.all.json'), JSON.stringify(config));
  const tsc = join(folder, 'node_modules/typescript/bin/tsc');
  const { stdout } = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.all.json'], { cwd: folder, encoding: 'utf8' });
  expect(stdout).toBe('');
});

test('the tests of the page pass, with node:test and with Jest', async () => {
  const tests = ['--test', '--test-isolation=none', 'test/rooms.test.ts', 'test/hooks.test.ts'];
  const { stdout } = await run(process.execPath, tests, { cwd: folder, env: { ...env, CONTRACT_RUNS: '20' } });
  expect(stdout).toMatch(/Contract tests: 6 of 6 operations answered with a success\./);
  const config = {
    rootDir: folder,
    testMatch: ['**/*.jest.ts'],
    extensionsToTreatAsEsm: ['.ts'],
    transform: { '\\.ts$': join(PROJECT, 'test/support/strip-types.js') },
  };
  const jest = join(PROJECT, 'node_modules/jest/bin/jest.js');
  const args = ['--experimental-vm-modules', '--no-warnings', jest, '--config', JSON.stringify(config)];
  await run(process.execPath, args, { cwd: folder, env });
});

test('the service of the page starts, serves and stops', async () => {
  const service = start(folder, ['src/main.ts'], { ACCESS_TOKENS: 'ann:secret-of-the-tests' });
  try {
    const [line] = await service.said(/^\{.*"msg":"listening".*\}$/m);
    const { url } = JSON.parse(line);
    const headers = { Authorization: 'Bearer secret-of-the-tests' };
    const missing = await fetch(`${url}/rooms/7`, { headers });
    expect([missing.status, missing.headers.get('X-Powered-By')]).toEqual([404, 'rooms']);
    expect(await missing.json()).toMatchObject({ message: 'there is no room 7', places: [] });
    const changes = await fetch(`${url}/changes`, { headers });
    expect(await changes.text()).toBe('{"name":"Room 1"}\n{"name":"Room 2"}\n{"name":"Room 3"}\n');
    service.child.kill('SIGTERM');
    expect(await service.exit).toBe(0);
    expect(service.output()).toMatch(/"reason":"no such room"/);
  } finally {
    end(service);
  }
});

test('a wrong value of its variable stops the start', async () => {
  const service = start(folder, ['src/main.ts'], { MAX_ROOMS: 'many' });
  expect(await service.exit).toBe(1);
  expect(service.output()).toContain('but must be an integer from 1 to 9999');
});
