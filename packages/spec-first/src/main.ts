#!/usr/bin/env node
import { problemWithNode } from './node-version.ts';

const args = process.argv.slice(2);
const problem = problemWithNode(process.versions.node, `spec-first ${args.join(' ')}`);
if (problem === undefined) {
  const { runCommand } = await import('./commands.ts');
  process.exitCode = await runCommand(args);
} else {
  console.error(problem);
  process.exitCode = 1;
}
