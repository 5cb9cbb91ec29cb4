import { DatabaseSync } from 'node:sqlite';
import { parseArgs } from 'node:util';
import { Client } from 'pg';
import { adviceOn, hasNoTls, readUrl, reason } from 'postgres-batches';
import { openStore, sqliteFile } from '../src/stores/index.ts';
import { type StoredPlant, StoreUnusable, Unstorable } from '../src/stores/store.ts';

const HELP = `Usage: npm run copy-plants -- FROM_URL TO_URL

Copies every plant from one store to another, and then finds each of them there.

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

/** How long PostgreSQL may take to sort the plants, in milliseconds. */
const READ_MS = 600_000;

/** Primary result code of SQLite, https://sqlite.org/rescode.html. */
const BUSY = 5;

/** The same order in both databases: by id, then by the bytes of name and tag, no tag before any other. */
const sortedBy = (bytes: string): string =>
  `SELECT id, name, tag FROM plants ORDER BY id, name COLLATE ${bytes}, tag COLLATE ${bytes} NULLS FIRST`;

/** The state of a store when it was opened. */
interface Snapshot {
  readonly count: number;
  /** All plants, sorted. */
  plants(): AsyncGenerator<StoredPlant>;
  close(): Promise<void>;
}

/** An error that running the command again does not mend. */
class Failure extends Error {}

async function main(): Promise<void> {
  const { from, to } = readArguments();
  const [openSource, openTarget] = [snapshotOf('FROM', from), snapshotOf('TO', to)];
  const source = await openSource();
  try {
    await copy(source, to);
    const target = await openTarget();
    await check(source, target).finally(() => target.close());
  } finally {
    await source.close();
  }
}

async function copy(source: Snapshot, to: string): Promise<void> {
  const target = await openStore(to, { maxWaiting: BATCH });
  const progress = startProgress('copied', source.count);
  let skipped = 0;
  const skip = (id: bigint, error: unknown): void => {
    if (!(error instanceof Unstorable)) throw error;
    skipped += 1;
    if (skipped <= NAMED) progress.say(`Plant ${id} is not copied: ${error.message}`);
  };
  try {
    await target.ready();
    let adding: Promise<void>[] = [];
    for await (const plant of source.plants()) {
      adding.push(target.add(plant).catch((error: unknown) => skip(plant.id, error)));
      if (adding.length < BATCH) continue;
      await Promise.all(adding);
      progress.advance(adding.length);
      adding = [];
    }
    await Promise.all(adding);
    progress.advance(adding.length);
    progress.end();
    process.stdout.write(`${source.count - skipped} plants copied, ${skipped} not copied.\n`);
  } finally {
    await target.close();
  }
}

/** Reads both sides in their common order, and counts the plants of the first that are in the second. */
async function check(source: Snapshot, target: Snapshot): Promise<void> {
  const progress = startProgress('found', source.count);
  const held = target.plants();
  let found = 0;
  let candidate = await held.next();
  for await (const plant of source.plants()) {
    while (!candidate.done && compare(candidate.value, plant) < 0) candidate = await held.next();
    if (candidate.done) break;
    if (compare(candidate.value, plant) === 0) found += 1;
    progress.advance(1);
  }
  progress.end();
  await held.return(undefined);
  process.stdout.write(`FROM holds ${source.count} plants; ${found} of them are in TO. TO holds ${target.count}.\n`);
  if (found !== source.count) throw new Failure(`${source.count - found} plants of FROM are missing from TO`);
}

function compare(a: StoredPlant, b: StoredPlant): number {
  if (a.id !== b.id) return a.id < b.id ? -1 : 1;
  const names = Buffer.compare(Buffer.from(a.name), Buffer.from(b.name));
  if (names !== 0) return names;
  if (a.tag === undefined || b.tag === undefined) return Number(b.tag === undefined) - Number(a.tag === undefined);
  return Buffer.compare(Buffer.from(a.tag), Buffer.from(b.tag));
}

function readArguments(): { from: string; to: string } {
  try {
    const { values, positionals } = parseArgs({ options: { help: { type: 'boolean' } }, allowPositionals: true });
    if (values.help) {
      process.stdout.write(HELP);
      process.exit(0);
    }
    const [from, to, ...more] = positionals;
    if (from === undefined || to === undefined || more.length > 0) throw new Error('Two URLs are needed');
    if (from === to) throw new Error('FROM_URL and TO_URL must be two stores');
    return { from, to };
  } catch (error) {
    process.stderr.write(`${reason(error).message}\n\n${HELP}`);
    process.exit(2);
  }
}

/** @returns what opens the store of a URL, to read it. @throws {Failure} if the URL is wrong. */
function snapshotOf(side: string, url: string): () => Promise<Snapshot> {
  try {
    const file = sqliteFile(url);
    if (file === ':memory:') throw new StoreUnusable('sqlite::memory: is of one process; name a file');
    const open = file === undefined ? postgresSnapshot(url) : sqliteSnapshot(file);
    return () =>
      open((place, error, lasting) => {
        const message = `${side} cannot be read: ${place}: ${reason(error).message}`;
        return lasting ? new Failure(message) : new Error(message);
      });
  } catch (error) {
    throw new Failure(`${side}_URL: ${reason(error).message}`);
  }
}

type Explain = (place: string, error: unknown, lasting: boolean) => Error;

const sqliteSnapshot =
  (file: string) =>
  async (explain: Explain): Promise<Snapshot> => {
    const explained = (error: unknown) => explain(file, error, Number(Object(error).errcode) % 256 !== BUSY);
    try {
      const db = new DatabaseSync(file, { readOnly: true, readBigInts: true, timeout: 5_000 });
      // The first read decides what all the others see.
      db.exec('BEGIN');
      const count = Number(db.prepare('SELECT count(*) AS count FROM plants').get()?.count);
      return { count, plants: () => explaining(sqlitePlants(db), explained), close: async () => db.close() };
    } catch (error) {
      throw explained(error);
    }
  };

async function* sqlitePlants(db: DatabaseSync): AsyncGenerator<StoredPlant> {
  // Bytes that are not UTF-8 are read as U+FFFD, and are not found again by what was read.
  const same = db.prepare('SELECT 1 FROM plants WHERE id = ? AND name COLLATE BINARY IS ? AND tag COLLATE BINARY IS ?');
  for (const row of db.prepare(sortedBy('BINARY')).iterate()) {
    const plant = toPlant(row);
    const { id, name, tag } = plant;
    if (`${name}${tag}`.includes('\ufffd') && same.get(id, name, tag ?? null) === undefined) {
      throw new Error(`the name or tag of plant ${id} is no UTF-8; mend it there first`);
    }
    yield plant;
  }
}

const postgresSnapshot = (url: string) => {
  const { config, place, prefersTls } = readUrl(url, 'copy-plants');
  const settings = { ...config, statement_timeout: READ_MS, query_timeout: READ_MS };
  return async function open(explain: Explain): Promise<Snapshot> {
    const client = new Client(settings);
    let lost: unknown;
    client.on('error', (error) => {
      lost ??= error;
    });
    const explained = (error: unknown) =>
      explain(`PostgreSQL at ${place}`, lost ?? error, adviceOn(lost ?? error, 'plants') !== undefined);
    try {
      await client.connect();
      await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
      const { rows } = await client.query<{ count: string }>('SELECT count(*) AS count FROM plants');
      const count = Number(rows[0]?.count);
      return { count, plants: () => explaining(postgresPlants(client), explained), close: () => client.end() };
    } catch (error) {
      await client.end();
      if (!prefersTls || settings.ssl === false || !hasNoTls(error)) throw explained(error);
      settings.ssl = false;
      return open(explain);
    }
  };
};

async function* postgresPlants(client: Client): AsyncGenerator<StoredPlant> {
  await client.query(`DECLARE plants_cursor NO SCROLL CURSOR FOR ${sortedBy('"C"')}`);
  for (;;) {
    const { rows } = await client.query<Record<string, unknown>>(`FETCH ${BATCH} FROM plants_cursor`);
    for (const row of rows) yield toPlant(row);
    if (rows.length < BATCH) break;
  }
  await client.query('CLOSE plants_cursor');
}

async function* explaining<T>(items: AsyncIterable<T>, explain: (error: unknown) => Error): AsyncGenerator<T> {
  try {
    yield* items;
  } catch (error) {
    throw explain(error);
  }
}

function toPlant({ id, name, tag }: Record<string, unknown>): StoredPlant {
  if (!/^(string|bigint)$/.test(typeof id) || typeof name !== 'string' || (tag !== null && typeof tag !== 'string')) {
    throw new Error(`the table plants holds a row that is not a plant: its id is ${id}`);
  }
  return { id: BigInt(String(id)), name, tag: tag ?? undefined };
}

function startProgress(verb: string, total: number) {
  let done = 0;
  let shown = Date.now();
  const show = (): void => {
    const line = `${done} of ${total} plants ${verb}`;
    process.stderr.write(process.stderr.isTTY ? `\r${line}` : `${line}\n`);
    shown = Date.now();
  };
  return {
    advance(plants: number): void {
      done += plants;
      if (Date.now() - shown >= PROGRESS_MS) show();
    },
    say(message: string): void {
      process.stderr.write(process.stderr.isTTY ? `\r${message}\n` : `${message}\n`);
    },
    end(): void {
      show();
      if (process.stderr.isTTY) process.stderr.write('\n');
    },
  };
}

try {
  await main();
} catch (error) {
  const again = error instanceof Failure || error instanceof StoreUnusable ? '' : '\nRun the same command again.';
  process.stderr.write(`${reason(error).message}${again}\n`);
  process.exitCode = 1;
}
