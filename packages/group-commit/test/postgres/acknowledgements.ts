import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { randomValues } from 'test-support/random-values';
import { RowRejected, Unavailable } from '../../src/errors.ts';
import * as postgres from '../../src/postgres/database.ts';
import * as sqlite from '../../src/sqlite/database.ts';
import type notes from '../sqlite/notes.ts';
import { server } from './support.ts';

/** One database, its other connections, and what they do to it. */
interface Subject {
  readonly add: (id: number) => Promise<unknown>;
  readonly close: () => Promise<void>;
  /** Opens the database again after `close`. */
  readonly open: () => Promise<void>;
  /** Takes a lock that all calls need, or releases it. */
  readonly lock: () => Promise<void>;
  readonly unlock: () => Promise<void>;
  /** Cuts the connections. In SQLite, there are none: rows of another process arrive. */
  readonly cut: () => Promise<unknown>;
  readonly ids: () => Promise<readonly number[]>;
  /** The codes of the outages that these actions cause. */
  readonly outages: RegExp;
  readonly end: () => Promise<void>;
}

const INSERT = 'INSERT INTO notes SELECT unnest($1::int[])';
const TABLE = 'CREATE TABLE IF NOT EXISTS notes (id int PRIMARY KEY CHECK (id % 7 <> 3))';
const isInvalid = (id: number): boolean => id % 7 === 3;

const folder = mkdtempSync(join(tmpdir(), 'acknowledgements-'));
afterAll(() => rmSync(folder, { recursive: true }));

async function createPostgres(): Promise<Subject> {
  const url = await server.createSchema();
  const open = () =>
    postgres.openDatabase<number>({
      url: `${url}&statement_timeout=100&max=2`,
      name: 'acknowledgements',
      setUp: async (client) => void (await client.query(TABLE)),
      insert: async (client, ids) => void (await client.query(INSERT, [ids])),
    });
  const other = await server.connect(url);
  // `open` also resolves if its connection takes longer than 100 ms.
  await other.query(TABLE);
  let database = await open();
  let isLocked = false;
  const unlock = async () => {
    if (isLocked) await other.query('ROLLBACK');
    isLocked = false;
  };
  return {
    add: (id) => database.add(id),
    close: () => database.close(),
    async open() {
      database = await open();
    },
    async lock() {
      if (!isLocked) await other.query('BEGIN; LOCK TABLE notes');
      isLocked = true;
    },
    unlock,
    cut: () =>
      server.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'acknowledgements'",
      ),
    outages: /^(TIMEOUT|57P01|57014|ECONNRESET|EPIPE|UNKNOWN)$/,
    ids: async () => (await server.query('SELECT id FROM notes', url)).map(({ id }) => Number(id)),
    async end() {
      await database.close();
      await other.end();
    },
  };
}

let files = 0;
async function createSqlite(): Promise<Subject> {
  files += 1;
  const file = join(folder, `${files}.db`);
  const module = new URL('../sqlite/notes.ts', import.meta.url);
  const open = () => sqlite.openDatabase<typeof notes>({ file, module, timeout: 300 });
  let database = await open();
  const other = new DatabaseSync(file, { timeout: 5_000 });
  const unlock = async () => {
    if (other.isTransaction) other.exec('ROLLBACK');
  };
  let foreign = 0;
  return {
    add: (id) =>
      isInvalid(id) ? database.write('fail', 'tea') : database.write('add', { id, text: 'a' }),
    close: () => database.close(),
    async open() {
      database = await open();
    },
    async lock() {
      if (!other.isTransaction) other.exec('BEGIN IMMEDIATE');
    },
    unlock,
    async cut() {
      foreign -= 1;
      await unlock();
      other.exec(`INSERT INTO notes VALUES (${foreign}, 'b'); PRAGMA wal_checkpoint(TRUNCATE)`);
    },
    outages: /^(TIMEOUT|SQLITE_BUSY)$/,
    async ids() {
      const rows = other.prepare('SELECT id FROM notes WHERE id >= 0').all();
      return rows.map(({ id }) => Number(id));
    },
    async end() {
      await database.close();
      other.close();
    },
  };
}

const step = fc.oneof(
  { weight: 6, arbitrary: fc.array(fc.nat(40), { minLength: 1, maxLength: 12 }) },
  { weight: 4, arbitrary: fc.constantFrom('lock', 'unlock', 'cut', 'stop', 'wait') },
);

describe.each([
  ['SQLite', createSqlite],
  ['PostgreSQL', createPostgres],
])('%s', (_name, create) => {
  test('stores exactly the rows that it acknowledges, whatever locks, cuts and stops happen', async () => {
    const run = async (steps: readonly (string | readonly number[])[]): Promise<void> => {
      const subject = await create();
      const outcomes: { readonly id: number; readonly error?: unknown }[] = [];
      const calls: Promise<unknown>[] = [];
      const record = (id: number) => (error?: unknown) => outcomes.push({ id, error });
      for (const action of steps) {
        if (Array.isArray(action)) {
          for (const id of action) {
            const set = record(id);
            calls.push(subject.add(id).then(() => set(), set));
          }
        } else if (action === 'stop') {
          await subject.unlock();
          await subject.close();
          await subject.open();
        } else if (action === 'wait') await delay(20);
        else await subject[action as 'lock' | 'unlock' | 'cut']();
      }
      await subject.unlock();
      await Promise.all(calls);
      const stored = await subject.ids();
      await subject.end();

      for (const { error } of outcomes)
        if (error instanceof Unavailable) expect(error.code).toMatch(subject.outages);
      const by = (matches: (error: unknown) => boolean) =>
        outcomes.filter(({ error }) => matches(error)).map(({ id }) => id);
      const acknowledged = by((error) => error === undefined);
      // These calls may have been committed.
      const uncertain = by((error) => error instanceof Unavailable && error.code !== 'SQLITE_BUSY');
      expect(outcomes).toHaveLength(calls.length);
      expect(stored).toHaveLength(new Set(stored).size);
      // A row is acknowledged once, since its key is unique.
      expect(acknowledged).toHaveLength(new Set(acknowledged).size);
      expect(stored).toEqual(expect.arrayContaining(acknowledged));
      expect(new Set([...acknowledged, ...uncertain])).toEqual(
        new Set([...acknowledged, ...uncertain, ...stored]),
      );
      for (const { id, error } of outcomes) {
        if (isInvalid(id)) expect(error).toBeInstanceOf(Error);
        // Without an outage, a row is rejected only if it is invalid or was stored before.
        else if (error !== undefined && !(error instanceof Unavailable)) {
          expect(error).toBeInstanceOf(RowRejected);
          expect(stored).toContain(id);
        }
      }
    };
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 16, size: 'max' }), run),
      { ...randomValues(6), endOnFailure: true },
    );
  });
});
