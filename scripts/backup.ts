/** Copies the SQLite database of DATABASE_URL to a new file, as it is at one moment. */
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { loadEnvFile } from 'spec-first-server';
import { sqliteFile } from '../src/stores/index.ts';

const HELP = `Usage: npm run backup -- FILE

Copies the SQLite database of DATABASE_URL (sqlite:data/plants.db by default) to FILE, which must not exist yet. The service
may go on running. To restore, stop the service, remove the -wal and -shm files beside the database, put the copy in its
place, and start the service.
`;

/** The copy has its name only when it is complete and on disk. */
function backUp(copy: string): void {
  loadEnvFile();
  const file = sqliteFile(process.env.DATABASE_URL?.trim() || 'sqlite:data/plants.db');
  if (file === undefined) throw new Error('DATABASE_URL names a PostgreSQL database: use pg_dump');
  if (file === ':memory:') throw new Error('DATABASE_URL is sqlite::memory:, which no other process can read');
  if (existsSync(copy)) throw new Error(`${copy} exists already; name a new file`);
  const db = new DatabaseSync(file, { readOnly: true, timeout: 5_000 });
  const part = `${copy}.part`;
  // VACUUM INTO writes into a file that is empty; made here, only its owner can read it.
  const descriptor = openSync(part, 'wx', 0o600);
  try {
    db.prepare('VACUUM INTO ?').run(part);
    fsyncSync(descriptor);
    renameSync(part, copy);
    console.log(`${file} is copied to ${copy}.`);
  } finally {
    rmSync(part, { force: true });
    closeSync(descriptor);
    db.close();
  }
}

const [copy, more] = process.argv.slice(2);
if (copy === undefined || copy.startsWith('-') || more !== undefined) {
  console.error(HELP);
  process.exit(2);
}
try {
  backUp(copy);
} catch (error) {
  console.error(Error.isError(error) ? error.message : error);
  process.exitCode = 1;
}
