/** Copies a snapshot of the service's SQLite database to a new file. */
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { loadEnvFile, readVariables } from 'spec-first-server/cli';
import { databaseUrl, variables } from '../src/plants.ts';
import { sqliteFile } from '../src/stores/index.ts';

const HELP = `Usage: npm run backup -- FILE

Copies the SQLite database of the service to FILE, which must not exist yet. Reads the
configuration of the service: DATABASE_URL_FILE, DATABASE_URL and .env. The service may keep
running. To restore, stop the service, remove the -wal and -shm files beside the database, replace
the database with the copy, and start the service.
`;

function sourceFile(): string {
  loadEnvFile();
  const { name, url } = databaseUrl(readVariables(variables, process.env));
  const file = sqliteFile(url);
  if (file === undefined) throw new Error(`${name} names a PostgreSQL database: use pg_dump`);
  if (file === ':memory:') {
    throw new Error(`${name} is sqlite::memory:, which no other process can read`);
  }
  return file;
}

/** Removes the unfinished copies of processes that were killed. */
function removeOldParts(copy: string): void {
  const start = `${basename(copy)}.part-`;
  const names = readdirSync(dirname(copy)).filter((name) => name.startsWith(start));
  for (const name of names) {
    if (!isRunning(Number(name.slice(start.length)))) rmSync(join(dirname(copy), name));
  }
}

function isRunning(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // EPERM: the process runs as another user.
    return Object(error).code !== 'ESRCH';
  }
}

/** The copy gets its name when it is complete and on disk. */
function backUp(file: string, copy: string): void {
  if (existsSync(copy)) throw new Error(`${copy} must not exist: name a new file`);
  using db = new DatabaseSync(file, { readOnly: true, timeout: 5_000 });
  removeOldParts(copy);
  const part = `${copy}.part-${process.pid}`;
  // VACUUM INTO accepts an empty file. This one is readable only by its owner.
  const descriptor = openSync(part, 'wx', 0o600);
  try {
    db.prepare('VACUUM INTO ?').run(part);
    fsyncSync(descriptor);
    renameSync(part, copy);
  } finally {
    rmSync(part, { force: true });
    closeSync(descriptor);
  }
}

const [copy, extra] = process.argv.slice(2);
if (copy === undefined || copy.startsWith('-') || extra !== undefined) {
  console.error(HELP);
  process.exit(2);
}
let file = '';
try {
  file = sourceFile();
  backUp(file, copy);
  console.log(`${file} is copied to ${copy}.`);
} catch (error) {
  const { message = String(error) } = Object(error);
  console.error(file && !message.includes(copy) ? `${file} is not copied: ${message}` : message);
  process.exitCode = 1;
}
