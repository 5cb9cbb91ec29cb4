#!/usr/bin/env node
// Node keeps what it has compiled: TypeScript is large.
import 'spec-first-server/compile-cache';
import manifest from '../package.json' with { type: 'json' };

interface Command {
  readonly summary: string;
  /** `run` gets the arguments and resolves to the exit code. */
  readonly load: () => Promise<{ run(args: readonly string[]): Promise<number> }>;
}

/** Each command is a module of its own, loaded when it is called. */
const COMMANDS: Readonly<Record<string, Command>> = {
  new: { summary: 'make a project for a document', load: () => import('./new.ts') },
  generate: { summary: 'lint the document and write its types', load: () => import('./generate.ts') },
  stub: { summary: 'write handlers to fill in', load: () => import('./stub.ts') },
  dev: { summary: 'serve the document and follow each save', load: () => import('./dev.ts') },
  diff: { summary: 'compare the document with an earlier version', load: () => import('./diff.ts') },
};

const USAGE = `Usage: spec-first COMMAND

${Object.entries(COMMANDS)
  .map(([name, { summary }]) => `  ${name.padEnd(10)}${summary}`)
  .join('\n')}

spec-first COMMAND --help shows the options of a command, spec-first --version the version of the tools.`;

process.exitCode = await main(process.argv.slice(2));

async function main([name, ...args]: readonly string[]): Promise<number> {
  if (name === '--version') {
    console.log(manifest.version);
    return 0;
  }
  if (name === '--help' || name === '-h') {
    console.log(USAGE);
    return 0;
  }
  const command = name !== undefined && Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined) {
    console.error(name === undefined ? USAGE : `There is no command "${name}".\n\n${USAGE}`);
    return 2;
  }
  return (await command.load()).run(args);
}
