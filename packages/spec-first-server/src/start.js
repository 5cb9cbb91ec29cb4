#!/usr/bin/env -S node --max-heap-size=512 --v8-pool-size=1
// The start command: runs FILE, by default src/main.ts, with a limit of the heap and a compile
// cache. Written in JavaScript, since Node would load a compiler for TypeScript first.
// V8 gets one thread for compiling and collecting garbage. With its default of four, a start takes
// 5 % more processor time.
//
// Usage: spec-first-server [FILE] [ARGUMENT]...
import './serve/node-version.js';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

await import('./compile-cache.js');

// SIGHUP reloads the tokens of a running service. Until the service is loaded, the signal would end
// the process. SIGUSR1 would open a port for debuggers.
for (const signal of ['SIGHUP', 'SIGUSR1']) process.on(signal, () => {});

const [, , argument = '-'] = process.argv;
const hasFile = !argument.startsWith('-');
const file = resolve(hasFile ? argument : 'src/main.ts');
// The program gets the same arguments as from `node FILE`.
process.argv.splice(1, hasFile ? 2 : 1, file);
await import(pathToFileURL(file).href);
