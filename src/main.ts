import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

// Before all else is loaded: it saves a third of every start but the first. Where the folder cannot be written it does
// nothing.
enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/compile'));
const { start } = await import('./start.ts');
await start(process.argv.slice(2));
