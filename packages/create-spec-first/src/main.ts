#!/usr/bin/env node
import { problemWithNode } from 'spec-first/node-version';

const args = process.argv.slice(2);
const problem = problemWithNode(process.versions.node, `create-spec-first ${args.join(' ')}`);
if (problem === undefined) {
  const { run } = await import('spec-first/new');
  process.exitCode = await run(args);
} else {
  console.error(problem);
  process.exitCode = 1;
}
