import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import type { AddOutcome } from './store.ts';

/** What the worker thread starts with. */
export interface SqliteWorkerData {
  /** The file, absolute, or `:memory:`. */
  readonly path: string;
  /** Whether a file that is not there is made. Later a missing file is a failure: its plants are gone. */
  readonly create: boolean;
}

/** The plants of one transaction: id, name and tag (`null` for none) of the first, then of the next, and so on. */
export type Batch = readonly (bigint | string | null)[];

/** `check` asks whether a plant could be added now; after `close` the thread ends. */
export type Question = Batch | 'check' | 'close';

/** Why nothing of a question was done. */
export interface Trouble {
  /** One sentence for the operator. */
  readonly trouble: string;
  readonly cause: unknown;
  /** Whether waiting would not mend it. */
  readonly lasting: boolean;
}

/** Why one plant of a batch was left out, for its own reason. */
export interface Refusal {
  /** What the client may read. */
  readonly refusal: string;
  readonly cause: unknown;
}

/** To a batch, one outcome for each of its plants; to `check`, an empty list. Questions are answered in their order. */
export type Answer = readonly (AddOutcome | Refusal)[] | Trouble;

interface Connection {
  readonly db: DatabaseSync;
  /** Adds a plant unless its id is there. */
  readonly insert: StatementSync;
  /** Finds a plant with exactly this id, name and tag. */
  readonly same: StatementSync;
  /** The files behind the connection. */
  readonly files: readonly FileId[];
}

interface FileId {
  readonly name: string;
  readonly dev: bigint;
  readonly ino: bigint;
}

/** How long a lock of another process is waited for, in milliseconds. */
const LOCK_MS = 5_000;

/** Primary result codes of SQLite, https://sqlite.org/rescode.html. */
const BUSY = 5;
const LOCKED = 6;
const NOMEM = 7;
const READONLY = 8;
const INTERRUPT = 9;
const IOERR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANTOPEN = 14;
const PROTOCOL = 15;
const TOOBIG = 18;
const CONSTRAINT = 19;
const MISMATCH = 20;
const NOTADB = 26;

const PASSING = new Set([BUSY, LOCKED, NOMEM, INTERRUPT, IOERR, FULL, PROTOCOL]);
const PASSING_SYSTEM = new Set(['EAGAIN', 'EDQUOT', 'EIO', 'EMFILE', 'ENFILE', 'ENOMEM', 'ENOSPC']);

const COLUMNS = 'id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT';

const port = parentPort;
if (port === null) throw new Error('sqlite-worker.ts runs as a worker thread of sqlite.ts only');
const { path, create }: SqliteWorkerData = workerData;
const inMemory = path === ':memory:';

/**
 * The file, and what SQLite keeps beside it: the newest commits, and their index. Both are there as long as any connection
 * is open (https://sqlite.org/wal.html, "The WAL File").
 */
const FILES = inMemory ? [] : [path, `${path}-wal`, `${path}-shm`];

let mayCreate = create;
let connection: Connection | undefined;
let lastFailed = false;

port.on('message', (question: Question) => {
  if (question === 'close') {
    connection?.db.close();
    port.close();
  } else {
    port.postMessage(answer(question));
  }
});

function answer(question: Batch | 'check'): Answer {
  try {
    connection ??= open();
    proveFiles(connection.files);
    const outcomes = question === 'check' ? check(connection) : addAll(connection, question);
    lastFailed = false;
    return outcomes;
  } catch (error) {
    lastFailed = true;
    recover(error);
    return { trouble: explain(error), cause: error, lasting: isLasting(error) };
  }
}

function open(): Connection {
  if (!inMemory) {
    if (mayCreate) mkdirSync(dirname(path), { recursive: true });
    else fileId(path);
  }
  const db = new DatabaseSync(path, { timeout: 0 });
  try {
    const [insert, same] = patiently(() => {
      proveTable(db);
      const mode = db.prepare('PRAGMA journal_mode = WAL').get()?.journal_mode;
      if (mode !== 'wal' && !inMemory) throw new Unfit('its file system allows no write-ahead log');
      // Without fullfsync, macOS leaves a commit in the cache of the disk.
      db.exec('PRAGMA synchronous = FULL; PRAGMA fullfsync = ON');
      db.exec('BEGIN IMMEDIATE');
      db.exec(`CREATE TABLE IF NOT EXISTS plants (${COLUMNS}) STRICT`);
      proveWritable(db);
      db.exec('COMMIT');
      return [
        db.prepare('INSERT INTO plants (id, name, tag) VALUES (?, ?, ?) ON CONFLICT (id) DO NOTHING'),
        db.prepare('SELECT 1 FROM plants WHERE id = ? AND name COLLATE BINARY IS ? AND tag COLLATE BINARY IS ?'),
      ] as const;
    });
    // run() reports the id that it inserted, and throws if that is beyond 2⁵³ and numbers are not read as bigint.
    insert.setReadBigInts(true);
    const files = FILES.map(fileId);
    mayCreate = false;
    return { db, insert, same, files };
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Refuses a table of another shape before anything is written to its file. */
function proveTable(db: DatabaseSync): void {
  const columns = db.prepare('PRAGMA table_xinfo(plants)').all();
  if (columns.length === 0) return;
  const found = columns.map(({ name, type, notnull, pk }) =>
    [name, type, pk === 1 ? 'PRIMARY KEY' : notnull === 1 ? 'NOT NULL' : ''].join(' ').trim(),
  );
  if (found.join(', ') !== COLUMNS) {
    throw new Unfit(`its table plants has the columns (${found.join(', ')}), not (${COLUMNS})`);
  }
}

function addAll({ db, insert, same, files }: Connection, batch: Batch): (AddOutcome | Refusal)[] {
  patiently(() => db.exec('BEGIN IMMEDIATE'));
  const outcomes: (AddOutcome | Refusal)[] = [];
  for (let at = 0; at < batch.length; at += 3) {
    const plant = batch.slice(at, at + 3);
    try {
      if (insert.run(...plant).changes > 0) outcomes.push('added');
      else outcomes.push(same.get(...plant) === undefined ? 'conflict' : 'unchanged');
    } catch (error) {
      const refusal = refusalOf(error);
      if (refusal === undefined || !db.isTransaction) throw error;
      outcomes.push(refusal);
    }
  }
  db.exec('COMMIT');
  proveFiles(files);
  return outcomes;
}

/** Reads while all is well. After a failure it writes, since only a commit proves that lock or lack of space is gone. */
function check({ db }: Connection): [] {
  if (lastFailed) {
    db.exec('BEGIN IMMEDIATE');
    proveWritable(db);
    db.exec('COMMIT');
  } else {
    db.prepare('SELECT 1 FROM plants LIMIT 1').get();
  }
  return [];
}

/**
 * Writes the database's own user_version once more. In a file that can only be read, SQLite lets a transaction begin, and
 * end, as long as it changes nothing.
 */
function proveWritable(db: DatabaseSync): void {
  db.exec(`PRAGMA user_version = ${db.prepare('PRAGMA user_version').get()?.user_version}`);
}

/** SQLite would go on writing to a file that was deleted or replaced, and all that it acknowledged would be lost. */
function proveFiles(files: readonly FileId[]): void {
  for (const { name, dev, ino } of files) {
    const now = fileId(name);
    if (now.ino !== ino || now.dev !== dev) throw new Gone(name);
  }
}

/** @throws {Gone} if it is not there. */
function fileId(name: string): FileId {
  const stats = statSync(name, { bigint: true, throwIfNoEntry: false });
  if (stats === undefined) throw new Gone(name);
  return { name, dev: stats.dev, ino: stats.ino };
}

/** Rolls back, and lets go of a connection that a fresh one may do better than. */
function recover(error: unknown): void {
  if (connection === undefined) return;
  const { db } = connection;
  try {
    if (db.isTransaction) db.exec('ROLLBACK');
    if (inMemory || [BUSY, FULL].includes(codeOf(error) ?? 0)) return;
    if (error instanceof Gone && error.file !== path) {
      // A fresh connection would begin another log, beside the one that other processes may have open as well.
      db.exec('PRAGMA wal_checkpoint');
      return;
    }
  } catch {
    // Closing rolls back as well.
  }
  connection = undefined;
  try {
    db.close();
  } catch {
    // The failure at hand says more.
  }
}

/**
 * Tries again while another process holds the lock. SQLite's own busy timeout sleeps for up to 100 ms at a time, in which
 * other processes pass it by.
 */
function patiently<T>(attempt: () => T): T {
  const deadline = performance.now() + LOCK_MS;
  for (;;) {
    try {
      return attempt();
    } catch (error) {
      if (codeOf(error) !== BUSY || performance.now() > deadline) throw error;
      Atomics.wait(clock, 0, 0, 0.2 + Math.random());
    }
  }
}

/** Nothing ever wakes it: waiting on it is a sleep. */
const clock = new Int32Array(new SharedArrayBuffer(4));

class Gone extends Error {
  readonly file: string;

  constructor(file: string) {
    super(`${file} was moved, deleted or replaced`);
    this.file = file;
  }
}

class Unfit extends Error {}

function refusalOf(error: unknown): Refusal | undefined {
  switch (codeOf(error)) {
    case TOOBIG:
      return { refusal: '/body is larger than the store can hold', cause: error };
    case CONSTRAINT:
    case MISMATCH:
      return { refusal: '/body breaks a rule of the database', cause: error };
    default:
      return undefined;
  }
}

function explain(error: unknown): string {
  if (error instanceof Gone)
    return `${error.file} was moved, deleted or replaced while it was open: put it back, or restart.`;
  if (error instanceof Unfit) return `${path} cannot hold the plants: ${error.message}. Name another file.`;
  switch (codeOf(error)) {
    case BUSY:
    case LOCKED:
      return `${path} has been locked by another process for ${LOCK_MS / 1000} s: end what holds it.`;
    case READONLY:
      return `${path} cannot be written: make the file, its folder and its file system writable.`;
    case IOERR:
      return `${path} cannot be read or written (I/O error): look after the disk.`;
    case CORRUPT:
      return `${path} is damaged: put a backup in its place.`;
    case FULL:
      return `${path} cannot grow: its disk is full, free some space.`;
    case CANTOPEN:
      return `${path} cannot be opened: it must be a file, or a new name, in a folder that can be written.`;
    case NOTADB:
      return `${path} is not a SQLite database, and stays as it is. Name another file.`;
  }
  const reason = error instanceof Error ? error.message : String(error);
  if (codeOf(error) !== undefined) return `${path} failed: ${reason}.`;
  return `${path} cannot be used (${reason}): its folder must exist, or be such that it can be made.`;
}

function isLasting(error: unknown): boolean {
  const code = codeOf(error);
  if (code !== undefined) return !PASSING.has(code);
  return !(error instanceof Error && 'code' in error && PASSING_SYSTEM.has(String(error.code)));
}

/** The primary result code, without what SQLite's extended ones add. */
function codeOf(error: unknown): number | undefined {
  if (!(error instanceof Error && 'errcode' in error && typeof error.errcode === 'number')) return undefined;
  return error.errcode & 0xff;
}
