import { existsSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

// For `node --import`. What is loaded after it is compiled once, and not at each start. It is JavaScript, so that Node
// loads no compiler for it. It makes no folder in a directory without packages.
const modules = join(process.cwd(), 'node_modules');
if (existsSync(modules)) {
  // Threads and workers find it in the environment.
  process.env.NODE_COMPILE_CACHE ??= join(modules, '.cache/compile');
  enableCompileCache(process.env.NODE_COMPILE_CACHE);
}
