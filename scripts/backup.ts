import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { loadEnvFile } from 'spec-first-server';
import { sqliteFile } from '../src/stores/index.ts';
import { readArguments, runScript } from './arguments.ts';

const HELP = `Usage: npm run backup -- FILE

Copies the SQLite database of DATABASE_URL (sqlite:data/plants.db by default) to a new file, as it is at one moment. The
service may go on running. To restore, stop the service, remove the -wal and -shm files beside the database, put the copy
in its place, and start the service.

  FILE     the copy; it must not exist yet
  --help   shows this
`;

function readDatabaseUrl(): string {
  loadEnvFile();
  const url = process.env.DATABASE_URL?.trim() || 'sqlite:data/plants.db';
  const file = sqliteFile(url);
  if (file === undefined) throw new Error('DATABASE_URL names a PostgreSQL database: use pg_dump');
  if (file === ':memory:') throw new Error('DATABASE_URL is sqlite::memory:, which no other process can read');
  return file;
}

/** The copy has its name only when it is complete and on disk. */
function backUp(database: string, copy: string): void {
  if (existsSync(copy)) throw new Error(`${copy} exists already; name a new file`);
  const part = `${copy}.part`;
  const db = new DatabaseSync(database, { readOnly: true, timeout: 5_000 });
  // VACUUM INTO writes into a file that is empty; made here, only its owner can read it.
  closeSync(openSync(part, 'wx', 0o600));
  try {
    db.prepare('VACUUM INTO ?').run(part);
    sync(part);
    renameSync(part, copy);
    sync(dirname(copy));
  } finally {
    rmSync(part, { force: true });
    db.close();
  }
}

function sync(path: string): void {
  const descriptor = openSync(path, 'r');
  fsyncSync(descriptor);
  closeSync(descriptor);
}

await runScript(
  async () => {
    const copy = resolve(readArguments(HELP, ['FILE'])[0] ?? '');
    const database = readDatabaseUrl();
    backUp(database, copy);
    process.stdout.write(`${database} is copied to ${copy}.\n`);
  },
  (error) => (error instanceof Error ? error.message : String(error)),
);
