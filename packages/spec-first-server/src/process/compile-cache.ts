import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

// Imported before all else, so that what is loaded later is cached: it saves a third of every start but the first. It
// does nothing where the folder cannot be written.
enableCompileCache(join(process.cwd(), 'node_modules/.cache/compile'));
