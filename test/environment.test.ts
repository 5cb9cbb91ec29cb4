import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';

const folder = mkdtempSync(join(tmpdir(), 'environment-'));
afterAll(() => rmSync(folder, { recursive: true }));

const PROBE = `
import { spawnSync } from 'node:child_process';
const { stdout } = spawnSync(process.execPath, ['-p', 'JSON.stringify(process.env)'], { encoding: 'utf8' });
test('prints', () => { console.log('environment of a child: ' + stdout); });
`;

test('a child of a test inherits PATH and the settings of npm, but not DATABASE_URL and FORCE_COLOR', () => {
  writeFileSync(join(folder, 'probe.test.js'), PROBE);
  writeFileSync(join(folder, 'second.test.js'), PROBE);
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  const project = join(import.meta.dirname, '..');
  const config = {
    rootDir: folder,
    testEnvironment: join(project, 'test/support/test-environment.js'),
    transform: {},
  };
  const { stderr, stdout } = spawnSync(
    process.execPath,
    [
      '--experimental-vm-modules',
      '--no-warnings',
      join(project, 'node_modules/jest/bin/jest.js'),
      `--config=${JSON.stringify(config)}`,
      '--maxWorkers=2',
    ],
    {
      cwd: folder,
      encoding: 'utf8',
      env: {
        PATH: process.env.PATH,
        FORCE_COLOR: '1',
        DATABASE_URL: 'sqlite:theirs.db',
        npm_config_registry: 'kept',
      },
    },
  );
  const output = stdout + stderr;
  const environments = [...output.matchAll(/environment of a child: (\{.*\})/g)].map(
    ([, json = '']) => JSON.parse(json),
  );
  expect(environments).toHaveLength(2);
  for (const variables of environments) {
    expect(variables).toMatchObject({ PATH: process.env.PATH, npm_config_registry: 'kept' });
    expect(variables).not.toHaveProperty('DATABASE_URL');
    expect(variables).not.toHaveProperty('FORCE_COLOR');
  }
});
