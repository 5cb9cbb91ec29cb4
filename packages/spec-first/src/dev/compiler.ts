import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

export const COMPILES = 'The code compiles.';

/** The maximum number of lines of errors to show. */
const MAX_LINES = 20;

/**
 * Checks the types of the project with its own `tsc`. Resolves to a text about the result, or to
 * `undefined` without a tsconfig.json or after an abort.
 */
export async function checkTypes(signal: AbortSignal): Promise<string | undefined> {
  if (!existsSync('tsconfig.json')) return undefined;
  const { resolve: find } = createRequire(resolve('package.json'));
  const compiler = join(find('typescript/package.json'), '../bin/tsc');
  const args = [compiler, '--noEmit', '--pretty', 'false'];
  const options = { maxBuffer: 2 ** 28, windowsHide: true, signal };
  return new Promise((done) => {
    execFile(process.execPath, args, options, (error, stdout, stderr) => {
      if (signal.aborted) return done(undefined);
      if (error === null) return done(COMPILES);
      const lines = (`${stdout}${stderr}`.trim() || error.message).split(/\r?\n/);
      const rest = lines.length - MAX_LINES;
      const output = ['The code does not compile:', ...lines.slice(0, MAX_LINES)];
      if (rest > 0) output.push(`… (lines left out: ${rest}). "npx tsc" shows all.`);
      done(output.join('\n'));
    });
  });
}
