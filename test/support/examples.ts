import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from '@jest/globals';
import { ENVIRONMENT } from 'test-support/environment';
import { PROJECT } from './launch.ts';

export const EXAMPLES = join(PROJECT, 'examples');

/** Runs the tests of an example. Resolves to their output, even if they fail. */
export async function testExample(
  name: string,
  variables: Readonly<Record<string, string>> = {},
  flags: readonly string[] = [],
): Promise<string> {
  const runner = ['--v8-pool-size=1', '--test', '--test-isolation=none', '--test-reporter=spec'];
  // The number of requests of contract tests for each operation.
  const { CONTRACT_RUNS = '3' } = process.env;
  const env = { ...ENVIRONMENT, NO_COLOR: '1', CONTRACT_RUNS, ...variables };
  const options = { cwd: join(EXAMPLES, name), env };
  return promisify(execFile)(process.execPath, [...runner, ...flags], options).then(
    ({ stdout }) => stdout,
    ({ stdout }: { readonly stdout?: string }) => String(stdout),
  );
}

/** Checks that no test of an example failed, and that contract tests called each operation. */
export function expectSuccess(output: string): void {
  expect(output).toMatch(/^ℹ fail 0$/m);
  expect(output).toMatch(/Contract tests: (\d+) of \1 operations succeeded at least once\./);
}
