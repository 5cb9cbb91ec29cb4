#!/usr/bin/env node
import 'spec-first-server/node-version';

const { run } = await import('spec-first/new');
process.exitCode = await run(process.argv.slice(2));
