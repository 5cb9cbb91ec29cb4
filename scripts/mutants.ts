/**
 * Changes files in many small ways, one at a time, and runs the tests of their packages. Prints the
 * changes that no test has noticed. Restores the files, also after Ctrl-C.
 *
 * Usage: npm run test:mutants -- FILE… (such as packages/group-commit/src/size.ts)
 */
import { spawnSync } from 'node:child_process';

const files = process.argv.slice(2);
const suites = files.map((file) => {
  const [, library] = /^packages\/([\w-]+)\//.exec(file) ?? [];
  return library === undefined ? 'test/**/*.test.ts' : `packages/${library}/test/**/*.test.ts`;
});
const args = ['--mutate', files.join(), '--testFiles', [...new Set(suites)].join()];
const { status } = spawnSync('stryker', ['run', ...args], { stdio: 'inherit' });
process.exitCode = status ?? 1;
