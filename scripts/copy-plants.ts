import { DatabaseSync } from 'node:sqlite';
import { parseArgs } from 'node:util';
import { Client } from 'pg';
import { openStore, sqlitePath } from '../src/stores/index.ts';
import { isLasting, reason } from '../src/stores/postgres.ts';
import { type PostgresSettings, readPostgresUrl } from '../src/stores/postgres-url.ts';
import { type StoredPlant, StoreRefused, Unstorable } from '../src/stores/store.ts';

const HELP = `Usage: npm run copy-plants -- FROM_URL TO_URL

Copies every plant from one store to another, and then finds each of them there.

  FROM_URL, TO_URL  sqlite:data/plants.db or postgres://user:password@host:5432/database, as in DATABASE_URL
  --help            shows this

Both stores may be in use. Every plant that FROM held when the command started is in TO when it ends with 0; for those
that came later, run it again. It may be stopped at any time: run again, it goes on with what is missing. A plant that
TO holds with another name or tag is named, stays as it is, and makes the command end with 1.
`;

/** Plants read and added at a time. */
const BATCH = 1_000;

/** Conflicts that are named one by one. */
const NAMED = 20;

const PROGRESS_MS = 1_000;

/** How long PostgreSQL may take to answer; it counts millions of plants in seconds. */
const READ_MS = 600_000;

/** Primary result code of SQLite, https://sqlite.org/rescode.html. */
const BUSY = 5;

type Side = 'FROM' | 'TO';

/** One state of a store, read past the service. */
interface Snapshot {
  readonly count: number;
  /** All plants in the order of their ids, in batches. */
  batches(): AsyncIterable<StoredPlant[]>;
  close(): Promise<void>;
}

/** What the caller can mend; its message is all that is shown. */
class Failure extends Error {}

async function main(): Promise<void> {
  const { from, to } = readArguments();
  const openSource = snapshotOf('FROM', from);
  const openTarget = snapshotOf('TO', to);
  const source = await openSource();
  try {
    await copy(source, to);
    const target = await openTarget();
    try {
      await prove(source, target);
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

/** Adds every plant; those that are there already cost little. */
async function copy(source: Snapshot, to: string): Promise<void> {
  const target = await openStore(to, { maxWaiting: BATCH });
  try {
    await target.ready();
    const progress = startProgress('copied', source.count);
    const outcomes = { added: 0, unchanged: 0, left: 0 };

    const leave = ({ id }: StoredPlant, why: string): void => {
      outcomes.left += 1;
      if (outcomes.left <= NAMED) progress.say(`Plant ${id} is not copied: ${why}`);
    };

    const add = async (plant: StoredPlant): Promise<void> => {
      try {
        const outcome = await target.add(plant);
        if (outcome === 'conflict') leave(plant, 'TO holds it with another name or tag');
        else outcomes[outcome] += 1;
      } catch (error) {
        if (!(error instanceof Unstorable)) throw error;
        leave(plant, error.message);
      }
    };

    for await (const batch of source.batches()) {
      await Promise.all(batch.map(add));
      progress.advance(batch.length);
    }
    progress.end();
    process.stdout.write(
      `${outcomes.added} plants added, ${outcomes.unchanged} were there already, ${outcomes.left} not copied.\n`,
    );
  } finally {
    await target.close();
  }
}

/** Reads both sides in the order of the ids, and counts the plants of the first that are in the second. */
async function prove(source: Snapshot, target: Snapshot): Promise<void> {
  const progress = startProgress('found', source.count);
  const held = singly(target);
  let found = 0;
  let candidate = await held.next();
  for await (const batch of source.batches()) {
    for (const { id, name, tag } of batch) {
      while (!candidate.done && candidate.value.id < id) candidate = await held.next();
      if (candidate.done) break;
      const { value } = candidate;
      if (value.id === id && value.name === name && value.tag === tag) found += 1;
    }
    progress.advance(batch.length);
  }
  progress.end();
  await held.return();
  process.stdout.write(
    `FROM holds ${source.count} plants; ${found} of them are in TO with the same name and tag. TO holds ${target.count}.\n`,
  );
  if (found !== source.count) {
    throw new Failure(`${source.count - found} plants of FROM are missing from TO, or differ there`);
  }
}

async function* singly(snapshot: Snapshot): AsyncGenerator<StoredPlant, void, undefined> {
  for await (const batch of snapshot.batches()) yield* batch;
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
    process.stderr.write(`${error instanceof Error ? error.message : error}\n\n${HELP}`);
    process.exit(2);
  }
}

/** @returns what opens the store of a URL, which is read as DATABASE_URL is. @throws {Failure} if the URL is wrong. */
function snapshotOf(side: Side, url: string): () => Promise<Snapshot> {
  try {
    const path = sqlitePath(url);
    if (path === ':memory:') throw new StoreRefused('sqlite::memory: is of one process; name a file');
    if (path !== undefined) return async () => sqliteSnapshot(side, path);
    const settings = readPostgresUrl(url);
    return () => postgresSnapshot(side, settings);
  } catch (error) {
    throw new Failure(`${side}_URL: ${reason(error).message}`);
  }
}

function sqliteSnapshot(side: Side, path: string): Snapshot {
  const explain = (error: unknown): Error => {
    const busy = error instanceof Error && 'errcode' in error && Number(error.errcode) % 256 === BUSY;
    return unreadable(side, path, error, !busy);
  };
  try {
    const db = new DatabaseSync(path, { readOnly: true, readBigInts: true, timeout: 5_000 });
    // The first read decides what all the others see.
    db.exec('BEGIN');
    const count = Number(db.prepare('SELECT count(*) AS count FROM plants').get()?.count);
    return { count, batches: () => explained(sqliteBatches(db), explain), close: async () => db.close() };
  } catch (error) {
    throw explain(error);
  }
}

async function* sqliteBatches(db: DatabaseSync): AsyncGenerator<StoredPlant[]> {
  // Bytes that are no UTF-8 are read as U+FFFD, and are not found again by what was read.
  const same = db.prepare('SELECT 1 FROM plants WHERE id = ? AND name COLLATE BINARY IS ? AND tag COLLATE BINARY IS ?');
  let batch: StoredPlant[] = [];
  for (const row of db.prepare('SELECT id, name, tag FROM plants ORDER BY id').iterate()) {
    const { id, name, tag } = toPlant(row.id, row.name, row.tag);
    if (`${name}${tag}`.includes('\ufffd') && same.get(id, name, tag ?? null) === undefined) {
      throw new Error(`the name or tag of plant ${id} is no UTF-8; mend it there first`);
    }
    batch.push({ id, name, tag });
    if (batch.length < BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

async function postgresSnapshot(side: Side, settings: PostgresSettings): Promise<Snapshot> {
  const client = new Client({ ...settings.client, statement_timeout: READ_MS, query_timeout: READ_MS });
  let lost: unknown;
  client.on('error', (error) => {
    lost ??= error;
  });
  const explain = (error: unknown): Error =>
    unreadable(side, `PostgreSQL at ${settings.place}`, lost ?? error, isLasting(lost ?? error));
  try {
    await client.connect();
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const { rows } = await client.query<{ count: string }>('SELECT count(*) AS count FROM plants');
    return {
      count: Number(rows[0]?.count),
      batches: () => explained(postgresBatches(client), explain),
      close: () => client.end(),
    };
  } catch (error) {
    await client.end();
    throw explain(error);
  }
}

async function* postgresBatches(client: Client): AsyncGenerator<StoredPlant[]> {
  for (let after: bigint | undefined; ; ) {
    const { rows } = await client.query<{ id: string; name: string; tag: string | null }>(
      `SELECT id, name, tag FROM plants ${after === undefined ? '' : 'WHERE id > $1'} ORDER BY id LIMIT ${BATCH}`,
      after === undefined ? [] : [after],
    );
    const batch = rows.map(({ id, name, tag }) => toPlant(BigInt(id), name, tag));
    after = batch.at(-1)?.id;
    if (after === undefined) return;
    yield batch;
  }
}

/** The batches, with an error in reading them as it is explained. */
async function* explained<T>(batches: AsyncIterable<T>, explain: (error: unknown) => Error): AsyncGenerator<T> {
  try {
    yield* batches;
  } catch (error) {
    throw explain(error);
  }
}

/** Names the side and the place. What is not lasting may be gone when the command is run again. */
function unreadable(side: Side, place: string, error: unknown, lasting: boolean): Error {
  const message = `${side} cannot be read: ${place}: ${reason(error).message}`;
  return lasting ? new Failure(message) : new Error(message);
}

function toPlant(id: unknown, name: unknown, tag: unknown): StoredPlant {
  if (typeof id !== 'bigint' || typeof name !== 'string' || (tag !== null && typeof tag !== 'string')) {
    throw new Error(`the table plants holds a row that is no plant: its id is ${id}`);
  }
  return { id, name, tag: tag ?? undefined };
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
  const again = error instanceof Failure || error instanceof StoreRefused ? '' : '\nRun the same command again.';
  process.stderr.write(`${reason(error).message}${again}\n`);
  process.exitCode = 1;
}
