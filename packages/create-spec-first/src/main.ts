#!/usr/bin/env node
import { run } from 'spec-first/new';

process.exitCode = await run(process.argv.slice(2));
