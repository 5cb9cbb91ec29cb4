import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

/** How many type errors are printed. */
const FEW = 10;

/** How much of a long source line is shown. Characters. */
const LONGEST_LINE = 160;

let cache: string | undefined;

/**
 * Checks the types of the project with its own `tsc`. Resolves to an empty text if it has no tsconfig.json, or if the signal
 * ends the check.
 */
export async function describeTypeErrors(signal: AbortSignal): Promise<string> {
  if (!existsSync('tsconfig.json')) return '';
  const compiler = findCompiler();
  if (compiler === undefined) return 'The types are not checked: the package typescript is not installed.';
  cache ??= makeCache();
  const args = [
    compiler,
    '--noEmit',
    '--pretty',
    'false',
    '--incremental',
    '--tsBuildInfoFile',
    join(cache, 'tsbuildinfo'),
  ];
  const output = await new Promise<string>((done) => {
    const child = execFile(process.execPath, args, { maxBuffer: 2 ** 28, windowsHide: true }, (error, stdout, stderr) =>
      done(error === null ? '' : `${stdout}${stderr}` || error.message),
    );
    signal.addEventListener('abort', () => child.kill(), { once: true });
  });
  if (signal.aborted) return '';
  if (output === '') return 'The types fit.';
  const errors = readErrors(output);
  const rest = errors.length > FEW ? [`… and ${errors.length - FEW} more errors`] : [];
  return ['The types do not fit:', ...errors.slice(0, FEW).map(describe), ...rest].join('\n');
}

function findCompiler(): string | undefined {
  try {
    return join(dirname(createRequire(resolve('package.json')).resolve('typescript/package.json')), 'bin/tsc');
  } catch {
    return undefined;
  }
}

/** A folder for what tsc remembers between two checks. */
function makeCache(): string {
  const folder = mkdtempSync(join(tmpdir(), 'types-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

interface TypeError {
  /** `file(line,column)`; empty for an error of the configuration. */
  readonly location: string;
  readonly code: string;
  /** The message and those below it, each with its indentation. */
  readonly lines: string[];
}

function readErrors(output: string): TypeError[] {
  const errors: TypeError[] = [];
  for (const line of output.split(/\r?\n/)) {
    const [, location = '', code = '', message = ''] = /^(?:(.+): )?error (TS\d+: )(.*)$/.exec(line) ?? [];
    if (code !== '' || errors.length === 0) errors.push({ location, code, lines: [message || line] });
    else if (line !== '') errors.at(-1)?.lines.push(line);
  }
  return errors;
}

/** `file:line:column TScode message`, and the source line. */
function describe({ location, code, lines }: TypeError): string {
  const message = `${code.replace(':', '')}${innermost(lines)}`;
  const [, file, line = '', column] = /^(.+)\((\d+),(\d+)\)$/.exec(location) ?? [];
  if (file === undefined) return message;
  const source = readFileSync(file, 'utf8').split('\n')[Number(line) - 1] ?? '';
  return `${file}:${line}:${column} ${message}\n    ${source.trim().slice(0, LONGEST_LINE)}`;
}

/** The most exact message. tsc prints it last and indents it most, below those of the types around it. */
function innermost(lines: readonly string[]): string {
  const depth = (line: string) => line.search(/\S/);
  const end = lines.findIndex((line, index) => index > 0 && depth(line) <= depth(lines[index - 1] ?? ''));
  return (end < 0 ? lines : lines.slice(0, end)).at(-1)?.trim() ?? '';
}
