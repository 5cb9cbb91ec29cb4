#!/usr/bin/env node
import 'spec-first-server/node-version';

const { runCommand } = await import('./commands.ts');
process.exitCode = await runCommand(process.argv.slice(2));
