import { DatabaseSync } from 'node:sqlite';
import { Unusable } from 'group-commit';
import { adviceOn, clientFor, reason } from 'group-commit/postgres';
import type { Client } from 'pg';
import { openStore, sqliteFile } from '../src/stores/index.ts';
import { type StoredPlant, Unstorable } from '../src/stores/store.ts';
import { readArguments, runScript, UsageError } from './arguments.ts';

const HELP = `Usage: npm run copy-plants -- FROM_URL TO_URL

Copies every plant from one store to another.

  FROM_URL, TO_URL  sqlite:data/plants.db or postgres://user:password@host:5432/database, as in DATABASE_URL
  --help            shows this

Both stores may be in use. Every plant that FROM held when the command started is in TO when it ends with 0; for those
that came later, run it again. It may be stopped at any time: run again, it adds what is missing. Plants of TO stay as
they are.
`;

/** Plants read and added at a time. */
const BATCH = 1_000;

/** How many plants that cannot be copied are named. */
const NAMED = 20;

const PROGRESS_MS = 1_000;

/** How long PostgreSQL may take for a statement, in milliseconds. */
const READ_MS = 600_000;

/** Primary result code of SQLite, https://sqlite.org/rescode.html. */
const BUSY = 5;

type Batches = AsyncIterable<readonly StoredPlant[]>;

/** The plants of a store at one moment. */
interface Snapshot {
  readonly count: number;
  batches(): Batches;
  close(): Promise<void>;
}

/** An error that running the command again does not mend. */
class Failure extends Error {}

async function main(): Promise<void> {
  const [from = '', to = ''] = readArguments(HELP, ['FROM_URL', 'TO_URL']);
  if (from === to) throw new UsageError('FROM_URL and TO_URL must be two stores', HELP);
  const source = await openSnapshot(from);
  try {
    await copy(source, to);
  } finally {
    await source.close();
  }
}

/** Adding a plant resolves when it is on disk, or was before: what is counted here is there. */
async function copy(source: Snapshot, to: string): Promise<void> {
  if (sqliteFile(to) === ':memory:') throw new Failure('TO_URL: sqlite::memory: is of one process; name a file');
  const target = await openStore(to, { maxWaiting: BATCH });
  let skipped = 0;
  const skip = (id: bigint, error: unknown): void => {
    if (!(error instanceof Unstorable)) throw error;
    skipped += 1;
    if (skipped <= NAMED) process.stderr.write(`Plant ${id} is not copied: ${error.message}\n`);
  };
  try {
    await target.ready();
    for await (const plants of withProgress(source)) {
      await Promise.all(plants.map((plant) => target.add(plant).catch((error: unknown) => skip(plant.id, error))));
    }
    process.stdout.write(`FROM holds ${source.count} plants; ${source.count - skipped} of them are in TO.\n`);
    if (skipped > 0) throw new Failure(`${skipped} plants of FROM are missing from TO`);
  } finally {
    await target.close();
  }
}

/** @throws {Failure} if the URL is wrong, or if the store cannot be read. */
async function openSnapshot(url: string): Promise<Snapshot> {
  try {
    const file = sqliteFile(url);
    if (file === undefined) return await postgresSnapshot(url);
    if (file !== ':memory:') return sqliteSnapshot(file);
    throw new Unusable('sqlite::memory: is of one process; name a file');
  } catch (error) {
    throw error instanceof Unusable ? new Failure(`FROM_URL: ${error.message}`) : error;
  }
}

function sqliteSnapshot(file: string): Snapshot {
  const fail = (error: unknown): never => {
    const isLasting = Number(Object(error).errcode) % 256 !== BUSY;
    throw new (isLasting ? Failure : Error)(`FROM cannot be read: ${file}: ${reason(error).message}`);
  };
  try {
    const db = new DatabaseSync(file, { readOnly: true, readBigInts: true, timeout: 5_000 });
    // The first read decides what all the others see.
    db.exec('BEGIN');
    const count = Number(db.prepare('SELECT count(*) AS count FROM plants').get()?.count);
    const equal = 'id = ? AND name COLLATE BINARY IS ? AND tag COLLATE BINARY IS ?';
    const select = db.prepare(`SELECT 1 FROM plants WHERE ${equal}`);
    const isHeld = ({ id, name, tag }: StoredPlant) => select.get(id, name, tag ?? null) !== undefined;
    return {
      count,
      batches: () => orFail(sqliteBatches(db, isHeld), fail),
      close: async () => db.close(),
    };
  } catch (error) {
    return fail(error);
  }
}

async function* sqliteBatches(db: DatabaseSync, isHeld: (plant: StoredPlant) => boolean): Batches {
  let batch: StoredPlant[] = [];
  for (const row of db.prepare('SELECT id, name, tag FROM plants').iterate()) {
    const plant = toPlant(row);
    // Bytes that are not UTF-8 are read as U+FFFD, and are not found again by what was read.
    if (`${plant.name}${plant.tag}`.includes('\ufffd') && !isHeld(plant)) {
      throw new Error(`the name or tag of plant ${plant.id} is no UTF-8; mend it there first`);
    }
    if (batch.push(plant) < BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

async function postgresSnapshot(url: string): Promise<Snapshot> {
  const { location, open } = clientFor(url, 'copy-plants', READ_MS);
  let lost: unknown;
  const fail = (error: unknown): never => {
    const message = `FROM cannot be read: PostgreSQL at ${location}: ${reason(lost ?? error).message}`;
    throw new (adviceOn(lost ?? error, 'plants') === undefined ? Error : Failure)(message);
  };
  const { client, end } = await open().catch(fail);
  client.on('error', (error) => {
    lost ??= error;
  });
  try {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const { rows } = await client.query<{ count: string }>('SELECT count(*) AS count FROM plants');
    return { count: Number(rows[0]?.count), batches: () => orFail(postgresBatches(client), fail), close: end };
  } catch (error) {
    await end();
    return fail(error);
  }
}

async function* postgresBatches(client: Client): Batches {
  await client.query('DECLARE plants_cursor NO SCROLL CURSOR FOR SELECT id, name, tag FROM plants');
  for (;;) {
    const { rows } = await client.query<Record<string, unknown>>(`FETCH ${BATCH} FROM plants_cursor`);
    if (rows.length === 0) break;
    yield rows.map(toPlant);
  }
  await client.query('CLOSE plants_cursor');
}

async function* orFail(batches: Batches, fail: (error: unknown) => never): Batches {
  try {
    yield* batches;
  } catch (error) {
    fail(error);
  }
}

function toPlant({ id, name, tag }: Record<string, unknown>): StoredPlant {
  if (!/^(string|bigint)$/.test(typeof id) || typeof name !== 'string' || (tag !== null && typeof tag !== 'string')) {
    throw new Error(`the table plants holds a row that is not a plant: its id is ${id}`);
  }
  return { id: BigInt(String(id)), name, tag: tag ?? undefined };
}

/** The plants of a snapshot. Says on standard error how many the caller is done with, at the end and each second. */
async function* withProgress({ count, batches }: Snapshot): Batches {
  let done = 0;
  let shown = Date.now();
  for await (const plants of batches()) {
    yield plants;
    done += plants.length;
    if (done < count && Date.now() - shown < PROGRESS_MS) continue;
    process.stderr.write(`${done} of ${count} plants copied\n`);
    shown = Date.now();
  }
}

await runScript(main, (error) => {
  const isLasting = error instanceof Failure || error instanceof Unusable;
  return `${reason(error).message}${isLasting ? '' : '\nRun the same command again.'}`;
});
