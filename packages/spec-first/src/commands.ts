// Caches compiled code, which makes the next start faster.
import 'spec-first-server/compile-cache';
import manifest from '../package.json' with { type: 'json' };

const COMMANDS = {
  new: ['make a project for a document', () => import('./new.ts')],
  generate: ['check the document and write its types', () => import('./generate.ts')],
  stub: ['write stubs of handlers', () => import('./stub.ts')],
  dev: ['serve the document and reload after each save', () => import('./dev.ts')],
  diff: ['compare the document with an earlier version', () => import('./diff.ts')],
} as const;

const LIST = Object.entries(COMMANDS)
  .map(([name, [summary]]) => `  ${name.padEnd(10)}${summary}`)
  .join('\n');

const USAGE = `Usage: spec-first COMMAND

${LIST}

spec-first COMMAND --help shows the options of a command.
spec-first --version shows the version of the tools.`;

/** Runs the command that the first argument names. Resolves to the exit code. */
export async function runCommand([name = '', ...args]: readonly string[]): Promise<number> {
  const [, load] = Object.entries(COMMANDS).find(([command]) => command === name)?.[1] ?? [];
  if (load !== undefined) return (await load()).run(args);
  if (name === '--version' || name === '--help' || name === '-h') {
    console.log(name === '--version' ? manifest.version : USAGE);
    return 0;
  }
  console.error(name === '' ? USAGE : `There is no command "${name}".\n\n${USAGE}`);
  return 2;
}
