import { existsSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

// Keeps compiled code for the next start. Written in JavaScript, since Node would load a compiler
// for TypeScript first.
const modules = join(process.cwd(), 'node_modules');
if (existsSync(modules)) {
  // Threads and child processes read the variable.
  process.env.NODE_COMPILE_CACHE ??= join(modules, '.cache/compile');
  enableCompileCache(process.env.NODE_COMPILE_CACHE);
}
