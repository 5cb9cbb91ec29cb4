import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';

const START = join(import.meta.dirname, '../src/start.js');
const { PATH } = process.env;

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'start-command-')));
afterAll(() => rmSync(folder, { recursive: true }));
// The signals would end a program, or open a port for debuggers.
const program = `import { getHeapStatistics } from 'node:v8';
import { getCompileCacheDir } from 'node:module';
for (const signal of ['SIGHUP', 'SIGUSR1']) process.kill(process.pid, signal);
setTimeout(() => console.log(JSON.stringify({
  argv: process.argv.slice(1),
  heap: getHeapStatistics().heap_size_limit,
  cache: getCompileCacheDir() !== undefined,
})), 100);
`;
for (const name of ['src', 'node_modules']) mkdirSync(join(folder, name));
writeFileSync(join(folder, 'src/main.ts'), program);
writeFileSync(join(folder, 'other.mjs'), program);

test.each([
  [[], 'src/main.ts', []],
  [['--check'], 'src/main.ts', ['--check']],
  [['other.mjs', '--check'], 'other.mjs', ['--check']],
])('the start command with %j runs %s with %j', (args, file, rest) => {
  const { stdout, stderr } = spawnSync(START, args, {
    cwd: folder,
    env: { PATH },
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  const argv = [join(folder, file), ...rest];
  expect(JSON.parse(stdout)).toEqual({ argv, heap: 512 * 2 ** 20, cache: true });
});
