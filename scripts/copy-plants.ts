/** Copies every plant of a SQLite file to another store. */
import { DatabaseSync } from 'node:sqlite';
import { openStore, sqliteFile } from '../src/stores/index.ts';
import { Unstorable } from '../src/stores/store.ts';

const HELP = `Usage: npm run copy-plants -- FROM_URL TO_URL

  FROM_URL  a SQLite file, such as sqlite:data/plants.db
  TO_URL    postgres://user:password@host:5432/database, or another SQLite file

Both may be in use. If the command exits with 0, TO has all plants that FROM had when the command
started. The command can be interrupted and run again: it only adds missing plants.
`;

/** The number of plants that are added at a time. */
const BATCH = 1_000;

/** The number of plants between two lines of progress. */
const PROGRESS = 100_000;

async function copy(from: string, to: string): Promise<void> {
  const [file, target] = [sqliteFile(from), sqliteFile(to)];
  if (from === to) throw new Error('FROM_URL and TO_URL must be different');
  if (file === undefined)
    throw new Error('FROM_URL must name a SQLite file; use pg_dump for PostgreSQL');
  if ([file, target].includes(':memory:'))
    throw new Error('sqlite::memory: cannot be shared between processes; name a file');
  using source = openSource(file);
  const store = await openStore(to, { maxWaiting: BATCH });
  let rejected = 0;
  // Resolves when the plant is on disk or rejected as unstorable.
  const add = (row: Record<string, unknown>): Promise<void> =>
    store
      .add({ id: BigInt(String(row.id)), name: String(row.name), tag: row.tag?.toString() })
      .catch((error) => {
        if (!(error instanceof Unstorable)) throw error;
        rejected += 1;
        console.error(`Plant ${row.id} is not copied: ${error.message}`);
      });
  try {
    let count = 0;
    const batch: Promise<void>[] = [];
    // One statement reads a snapshot of the file.
    for (const row of source.prepare('SELECT id, name, tag FROM plants').iterate()) {
      count += 1;
      batch.push(add(row));
      if (batch.length === BATCH) await Promise.all(batch.splice(0));
      if (count % PROGRESS === 0) console.error(`${count} plants so far`);
    }
    await Promise.all(batch);
    console.log(`FROM holds ${count} plants; ${count - rejected} of them are in TO.`);
    if (rejected > 0) process.exitCode = 1;
  } finally {
    await store.close();
  }
}

function openSource(file: string): DatabaseSync {
  try {
    return new DatabaseSync(file, { readOnly: true, readBigInts: true, timeout: 5_000 });
  } catch (error) {
    throw new Error(`${file}: ${Object(error).message}`, { cause: error });
  }
}

const [from, to, extra] = process.argv.slice(2);
if (from === undefined || to === undefined || extra !== undefined) {
  console.error(HELP);
  process.exit(2);
}
await copy(from, to).catch((error: unknown) => {
  console.error(`${Error.isError(error) ? error.message : error}`);
  process.exitCode = 1;
});
