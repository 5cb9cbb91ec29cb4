import { DatabaseSync } from 'node:sqlite';
import { parseArgs } from 'node:util';
import { Client } from 'pg';
import { openStore } from '../src/stores/index.ts';
import { reason } from '../src/stores/postgres.ts';
import { readPostgresUrl } from '../src/stores/postgres-url.ts';
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
  const source = await openSnapshot('FROM', from);
  try {
    await copy(source, to);
    const target = await openSnapshot('TO', to);
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

async function openSnapshot(side: string, url: string): Promise<Snapshot> {
  try {
    if (/^sqlite:/i.test(url)) return sqliteSnapshot(url.slice('sqlite:'.length));
    if (/^postgres(ql)?:\/\//i.test(url)) return await postgresSnapshot(url);
  } catch (error) {
    throw new Failure(`${side} cannot be read: ${reason(error).message}`);
  }
  throw new Failure(`${side}_URL must be sqlite:FILE or postgres://user:password@host:5432/database`);
}

function sqliteSnapshot(path: string): Snapshot {
  if (path === ':memory:' || path === '') throw new StoreRefused('sqlite: must name a file');
  const db = new DatabaseSync(path, { readOnly: true, readBigInts: true, timeout: 5_000 });
  // The first read decides what all the others see.
  db.exec('BEGIN');
  const count = Number(db.prepare('SELECT count(*) AS count FROM plants').get()?.count);
  return {
    count,
    async *batches() {
      let batch: StoredPlant[] = [];
      for (const { id, name, tag } of db.prepare('SELECT id, name, tag FROM plants ORDER BY id').iterate()) {
        batch.push(toPlant(id, name, tag));
        if (batch.length < BATCH) continue;
        yield batch;
        batch = [];
      }
      if (batch.length > 0) yield batch;
    },
    close: async () => db.close(),
  };
}

async function postgresSnapshot(url: string): Promise<Snapshot> {
  const settings = readPostgresUrl(url);
  const client = new Client({ ...settings.client, statement_timeout: READ_MS, query_timeout: READ_MS });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const { rows } = await client.query<{ count: string }>('SELECT count(*) AS count FROM plants');
    return { count: Number(rows[0]?.count), batches: () => postgresBatches(client), close: () => client.end() };
  } catch (error) {
    await client.end();
    throw new Failure(`PostgreSQL at ${settings.place}: ${reason(error).message}`);
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

function toPlant(id: unknown, name: unknown, tag: unknown): StoredPlant {
  if (typeof id !== 'bigint' || typeof name !== 'string' || (tag !== null && typeof tag !== 'string')) {
    throw new Failure(`The table plants holds a row that is no plant: its id is ${id}`);
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
