import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';

/** How many type errors are printed. */
const FEW = 10;

/** Checks the types of the project with its own `tsc`. Resolves to an empty text if there is no tsconfig.json. */
export async function describeTypeErrors(signal: AbortSignal): Promise<string> {
  if (!existsSync('tsconfig.json')) return '';
  let compiler: string;
  try {
    compiler = join(dirname(createRequire(resolve('package.json')).resolve('typescript/package.json')), 'bin/tsc');
  } catch {
    return 'The types are not checked: the package typescript is not installed.';
  }
  const args = [compiler, '--noEmit', '--pretty', 'false'];
  const output = await new Promise<string>((done) => {
    const options = { maxBuffer: 2 ** 28, windowsHide: true, signal };
    execFile(process.execPath, args, options, (error, stdout, stderr) =>
      done(error === null ? '' : `${stdout}${stderr}` || error.message),
    );
  });
  if (output === '') return 'The types fit.';
  const errors = output.trim().split(/\r?\n(?=\S)/);
  const rest = errors.length > FEW ? [`… and ${errors.length - FEW} more errors`] : [];
  return ['The types do not fit:', ...errors.slice(0, FEW).map(shortened), ...rest].join('\n');
}

/** An error with its most exact message alone: tsc indents it most, below those of the types around it. */
function shortened(error: string): string {
  const [first = '', ...others] = error.split(/\r?\n/);
  const depth = (line: string) => line.search(/\S/);
  const end = others.findIndex((line, index) => depth(line) <= depth(others[index - 1] ?? ''));
  const innermost = (end < 0 ? others : others.slice(0, end)).at(-1);
  return innermost === undefined ? first : first.replace(/(error TS\d+: ).*/, (_, code) => code + innermost.trim());
}
