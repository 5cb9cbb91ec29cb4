import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';

const folder = mkdtempSync(join(tmpdir(), 'new-test-'));
afterAll(() => rmSync(folder, { recursive: true }));

const createProject = (...args: readonly string[]): string =>
  execFileSync(process.execPath, ['scripts/new.ts', ...args], { encoding: 'utf8' });

test('npm run new accepts options before the folder', () => {
  const project = join(folder, 'mine');
  createProject('--allow-outside', project);
  expect(readdirSync(join(project, 'vendor'))).toContainEqual(
    expect.stringMatching(/^spec-first-server-.*\.tgz$/),
  );
});

test('the README of a project with tarballs says how to replace them', () => {
  const readme = readFileSync(join(folder, 'mine/README.md'), 'utf8');
  expect(readme).toContain(
    'run `npm install ./vendor/openapi-*.tgz ./vendor/spec-*.tgz`, then `npm',
  );
  expect(readme).not.toContain('npm update');
});

test('npm run new shows its usage with --help after a folder', () => {
  expect(createProject(join(folder, 'none'), '--help')).toMatch(/^Usage: .*--help [^\n]*\n$/s);
});
