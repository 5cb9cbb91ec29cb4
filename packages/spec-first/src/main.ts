#!/usr/bin/env node
// Node keeps what it has compiled: TypeScript is large.
import 'spec-first-server/compile-cache';
import manifest from '../package.json' with { type: 'json' };

/** What each command does, and its module, loaded when it is called. */
const COMMANDS = {
  new: ['make a project for a document', () => import('./new.ts')],
  generate: ['lint the document and write its types', () => import('./generate.ts')],
  stub: ['write handlers to fill in', () => import('./stub.ts')],
  dev: ['serve the document and follow each save', () => import('./dev.ts')],
  diff: ['compare the document with an earlier version', () => import('./diff.ts')],
} as const;

const USAGE = `Usage: spec-first COMMAND

${Object.entries(COMMANDS)
  .map(([name, [summary]]) => `  ${name.padEnd(10)}${summary}`)
  .join('\n')}

spec-first COMMAND --help shows the options of a command, spec-first --version the version of the tools.`;

const [name = '', ...args] = process.argv.slice(2);
const [, load] = Object.entries(COMMANDS).find(([command]) => command === name)?.[1] ?? [];
if (load !== undefined) process.exitCode = await (await load()).run(args);
else if (name === '--version') console.log(manifest.version);
else if (name === '--help' || name === '-h') console.log(USAGE);
else {
  console.error(name === '' ? USAGE : `There is no command "${name}".\n\n${USAGE}`);
  process.exitCode = 2;
}
