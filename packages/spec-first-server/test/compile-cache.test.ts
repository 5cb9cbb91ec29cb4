import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from '@jest/globals';

const MODULE = pathToFileURL(join(import.meta.dirname, '../src/compile-cache.js')).href;

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'compile-cache-')));
});
afterEach(() => rmSync(folder, { recursive: true }));

function cacheOf(env: Readonly<Record<string, string>> = {}) {
  const code =
    "import { getCompileCacheDir } from 'node:module';" +
    'console.log(JSON.stringify([process.env.NODE_COMPILE_CACHE, getCompileCacheDir()]));';
  const args = ['--import', MODULE, '--input-type=module', '--eval', code];
  const { stdout } = spawnSync(process.execPath, args, { cwd: folder, env, encoding: 'utf8' });
  const [variable, cache] = JSON.parse(stdout);
  return { variable, cache };
}

test('compiled code is kept in node_modules, also for child processes', () => {
  mkdirSync(join(folder, 'node_modules'));
  const compiled = join(folder, 'node_modules/.cache/compile');
  const { variable, cache } = cacheOf();
  expect(variable).toBe(compiled);
  expect(cache.startsWith(compiled)).toBe(true);
});

test('compiled code is kept in the folder of the variable, if it is set', () => {
  mkdirSync(join(folder, 'node_modules'));
  const { variable, cache } = cacheOf({ NODE_COMPILE_CACHE: join(folder, 'mine') });
  expect(variable).toBe(join(folder, 'mine'));
  expect(cache.startsWith(variable)).toBe(true);
  expect(existsSync(join(folder, 'node_modules/.cache'))).toBe(false);
});

test('no folder is created in a directory without packages', () => {
  expect(cacheOf()).toEqual({ variable: null, cache: null });
  expect(existsSync(join(folder, 'node_modules'))).toBe(false);
});
