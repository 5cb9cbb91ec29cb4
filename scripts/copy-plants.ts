/** Copies every plant of a SQLite file to another store. */
import { DatabaseSync } from 'node:sqlite';
import { openStore, sqliteFile } from '../src/stores/index.ts';
import { Unstorable } from '../src/stores/store.ts';

const HELP = `Usage: npm run copy-plants -- FROM_URL TO_URL

  FROM_URL  a SQLite file, such as sqlite:data/plants.db
  TO_URL    postgres://user:password@host:5432/database, or another SQLite file

Both may be in use. Every plant that FROM held when the command started is in TO when it ends with 0. It may be stopped
and run again at any time: it adds what is missing. Plants of TO stay as they are.
`;

/** Plants that are added at a time. */
const BATCH = 1_000;

/** After so many plants a line tells how far it is. */
const PROGRESS = 100_000;

async function copy(from: string, to: string): Promise<void> {
  const [file, target] = [sqliteFile(from), sqliteFile(to)];
  if (file === undefined) throw new Error('FROM_URL must name a SQLite file; use pg_dump for PostgreSQL');
  if ([file, target].includes(':memory:')) throw new Error('sqlite::memory: is of one process; name a file');
  const source = new DatabaseSync(file, { readOnly: true, readBigInts: true, timeout: 5_000 });
  const store = await openStore(to, { maxWaiting: BATCH });
  let missing = 0;
  // Adding a plant resolves when it is on disk, or was before.
  const add = (row: Record<string, unknown>): Promise<void> =>
    store.add({ id: BigInt(String(row.id)), name: String(row.name), tag: row.tag?.toString() }).catch((error) => {
      if (!(error instanceof Unstorable)) throw error;
      missing += 1;
      console.error(`Plant ${row.id} is not copied: ${error.message}`);
    });
  try {
    let count = 0;
    const batch: Promise<void>[] = [];
    // One statement sees the file as it is at one moment.
    for (const row of source.prepare('SELECT id, name, tag FROM plants').iterate()) {
      count += 1;
      batch.push(add(row));
      if (batch.length === BATCH) await Promise.all(batch.splice(0));
      if (count % PROGRESS === 0) console.error(`${count} plants so far`);
    }
    await Promise.all(batch);
    console.log(`FROM holds ${count} plants; ${count - missing} of them are in TO.`);
    if (missing > 0) process.exitCode = 1;
  } finally {
    await store.close();
    source.close();
  }
}

const [from, to, more] = process.argv.slice(2);
if (from === undefined || to === undefined || more !== undefined || from === to) {
  console.error(HELP);
  process.exit(2);
}
await copy(from, to).catch((error: unknown) => {
  console.error(`${Error.isError(error) ? error.message : error}`);
  process.exitCode = 1;
});
