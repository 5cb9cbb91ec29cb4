import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Client } from 'pg';
import { openStore } from '../../src/stores/index.ts';
import { keyOf } from '../../src/stores/postgres-sql.ts';
import type { StoredPlant } from '../../src/stores/store.ts';
import { eventually } from '../support/eventually.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';

const SCRIPT = join(import.meta.dirname, '../../scripts/copy-plants.ts');

let server: PostgresServer;
let folder: string;
let file: string;
let sqlite: string;

beforeAll(async () => {
  server = await startPostgres();
});

afterAll(() => server.remove());

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'plants-copy-'));
  file = join(folder, 'plants.db');
  sqlite = `sqlite:${file}`;
});

afterEach(() => rmSync(folder, { recursive: true }));

interface Run {
  readonly code: unknown;
  readonly out: string;
  readonly err: string;
}

function copy(...args: string[]): Promise<Run> {
  return new Promise((resolve) => {
    execFile(process.execPath, [SCRIPT, ...args], (error, out, err) => resolve({ code: error?.code ?? 0, out, err }));
  });
}

async function fill(url: string, plants: readonly StoredPlant[]): Promise<void> {
  const store = await openStore(url, { maxWaiting: plants.length });
  await Promise.all(plants.map((plant) => store.add(plant)));
  await store.close();
}

function row({ id, name, tag }: StoredPlant): Record<string, unknown> {
  return { id: String(id), name, tag: tag ?? null };
}

function heldBySqlite(): Record<string, unknown>[] {
  const db = new DatabaseSync(file, { readOnly: true, readBigInts: true });
  try {
    return db.prepare('SELECT CAST(id AS TEXT) AS id, name, tag FROM plants ORDER BY plants.id').all();
  } finally {
    db.close();
  }
}

function heldByPostgres(url: string): Promise<Record<string, unknown>[]> {
  return server.query('SELECT id::text, name, tag FROM plants ORDER BY plants.id', url);
}

/** Every kind of plant, and enough of them for several batches. */
const plants: readonly StoredPlant[] = [
  { id: -(2n ** 63n), name: 'the first' },
  { id: -1n, name: '', tag: '' },
  ...Array.from({ length: 2500 }, (_, at) => ({ id: BigInt(at), name: `plant ${at}`, tag: `NULL "{\\}" ${at}` })),
  { id: 2n ** 53n, name: '\u{1f33f} e\u0301 \uffff \ufffd' },
  { id: 2n ** 53n + 1n, name: 'its neighbour' },
  { id: 2n ** 63n - 1n, name: 'the last', tag: 'end' },
];
const N = plants.length;

test('copies every plant from SQLite to PostgreSQL and back, exactly', async () => {
  await fill(sqlite, plants);
  const there = await server.createSchema();
  expect(await copy(sqlite, there)).toEqual({
    code: 0,
    out: `FROM holds ${N} plants; ${N} of them are in TO.\n`,
    // A line each second, and one at the end.
    err: expect.stringMatching(new RegExp(`^(\\d+ of ${N} plants copied\n)*${N} of ${N} plants copied\n$`)),
  });
  expect(await heldByPostgres(there)).toEqual(plants.map(row));

  rmSync(file);
  expect((await copy(there, sqlite)).code).toBe(0);
  expect(heldBySqlite()).toEqual(plants.map(row));
});

test('copies only what is missing when it is run again, and leaves what TO held before', async () => {
  await fill(sqlite, plants.slice(10));
  const there = await server.createSchema();
  await fill(there, plants.slice(0, 20));
  const { code, out } = await copy(sqlite, there);
  expect({ code, out }).toEqual({
    code: 0,
    out: `FROM holds ${N - 10} plants; ${N - 10} of them are in TO.\n`,
  });
  expect((await copy(sqlite, there)).code).toBe(0);
  expect(await heldByPostgres(there)).toEqual(plants.map(row));
});

test('goes on where it was killed', async () => {
  const store = await openStore(sqlite, { maxWaiting: 100_000 });
  await Promise.all(Array.from({ length: 20_000 }, (_, at) => store.add({ id: BigInt(at), name: 'Basil' })));
  await store.close();
  const there = await server.createSchema();
  await fill(there, [{ id: 0n, name: 'Basil' }]);
  const first = spawn(process.execPath, [SCRIPT, sqlite, there], { stdio: 'ignore' });
  const ended = new Promise((resolve) => first.on('exit', (_, signal) => resolve(signal)));
  while (Number((await server.query('SELECT count(*) FROM plants', there))[0]?.count) < 1000);
  first.kill('SIGKILL');
  expect(await ended).toBe('SIGKILL');
  expect((await copy(sqlite, there)).code).toBe(0);
  expect(await server.query('SELECT count(*)::int FROM plants', there)).toEqual([{ count: 20_000 }]);
});

test('keeps plants with one id beside each other, and what TO held before', async () => {
  const both: StoredPlant[] = [
    { id: 1n, name: 'Basil' },
    { id: 1n, name: 'Basil', tag: '' },
    { id: 1n, name: 'Basil', tag: 'herb' },
    { id: 1n, name: 'basil' },
    { id: 1n, name: '\u{1f33f}' },
    { id: 1n, name: '\uffff' },
  ];
  await fill(sqlite, both);
  const there = await server.createSchema();
  await fill(there, [
    { id: 1n, name: 'Basil', tag: 'other' },
    { id: 1n, name: 'Basil', tag: 'herb' },
  ]);
  const { code, out } = await copy(sqlite, there);
  expect(code).toBe(0);
  expect(out).toContain('FROM holds 6 plants; 6 of them are in TO.\n');
});

test('names a plant that TO cannot hold, and fails', async () => {
  await fill(sqlite, [
    { id: 1n, name: 'a\0b' },
    { id: 2n, name: 'Mint' },
  ]);
  const there = await server.createSchema();
  const { code, err } = await copy(sqlite, there);
  expect(code).toBe(1);
  expect(err).toContain('Plant 1 is not copied: /body/name must not hold U+0000, which PostgreSQL cannot hold\n');
  expect(await heldByPostgres(there)).toEqual([{ id: '2', name: 'Mint', tag: null }]);
});

test.each(['SQLite', 'PostgreSQL'])(
  'copies all that %s held at the start while plants go on arriving',
  async (kind) => {
    const [from, to] =
      kind === 'SQLite' ? [sqlite, await server.createSchema()] : [await server.createSchema(), sqlite];
    const source = await openStore(from, { maxWaiting: 10_000 });
    await Promise.all(Array.from({ length: 5000 }, (_, at) => source.add({ id: 2n * BigInt(at), name: 'Basil' })));
    let going = true;
    let late = 0;
    const writing = (async () => {
      while (going) {
        await source.add({ id: 2n * BigInt(late) + 1n, name: 'late' });
        late += 1;
      }
    })();
    const { code, out, err } = await copy(from, to);
    going = false;
    await writing;
    await source.close();
    expect({ code, err }).toEqual({ code: 0, err: expect.stringMatching(/plants copied\n$/) });
    expect(out).toMatch(/^FROM holds (\d+) plants; \1 of them are in TO/);
    expect(late).toBeGreaterThan(10);
    const held = kind === 'SQLite' ? await heldByPostgres(to) : heldBySqlite();
    expect(held.filter(({ name }) => name === 'Basil').length).toBe(5000);
  },
);

test('says which side was lost in mid-copy, and that the same command goes on', async () => {
  const from = await server.createSchema();
  const to = await server.createSchema();
  await fill(from, plants);
  await fill(to, []);
  const rival = new Client({ connectionString: to });
  await rival.connect();
  try {
    const plant = { id: 1500n, name: 'plant 1500', tag: 'NULL "{\\}" 1500' };
    await rival.query('BEGIN');
    await rival.query('INSERT INTO plants VALUES ($1, $2, $3, $4)', [keyOf(plant), ...Object.values(plant)]);
    const copying = copy(`${from}&application_name=from`, `${to}&statement_timeout=60000`);
    await eventually(async () => (await heldByPostgres(to)).length > 0);
    await server.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'from'");
    await rival.query('ROLLBACK');
    expect(await copying).toEqual({
      code: 1,
      out: '',
      err: expect.stringMatching(
        /^(\d+ of \d+ plants copied\n)*FROM cannot be read: PostgreSQL at 127\.0\.0\.1:\d+\/postgres: terminating connection.*\nRun the same command again\.\n$/,
      ),
    });
  } finally {
    await rival.end();
  }
  expect((await copy(from, to)).code).toBe(0);
});

test('names a SQLite file that is damaged', async () => {
  await fill(sqlite, plants);
  const bytes = readFileSync(file);
  writeFileSync(file, bytes.fill(0xff, 8192));
  expect((await copy(sqlite, await server.createSchema())).err).toBe(
    `FROM cannot be read: ${file}: database disk image is malformed\n`,
  );
});

test.each([
  ['name', "CAST(x'61ff' AS TEXT), NULL"],
  ['tag', "'Mint', CAST(x'ff' AS TEXT)"],
])('copies no plant whose %s is no UTF-8, and names it', async (_, values) => {
  await fill(sqlite, plants);
  const db = new DatabaseSync(file);
  db.exec(`INSERT INTO plants VALUES (-7, ${values}, '')`);
  db.close();
  const there = await server.createSchema();
  const { code, err } = await copy(sqlite, there);
  expect({ code, err }).toEqual({
    code: 1,
    err: `FROM cannot be read: ${file}: the name or tag of plant -7 is no UTF-8; mend it there first\n`,
  });
  expect((await heldByPostgres(there)).filter(({ id }) => id === '-7')).toEqual([]);
});

test('says what is wrong at either end, shows no password and makes no file', async () => {
  const wrong = (await server.createSchema()).replace(/:[^:@]*@/, ':s3cret@');
  await fill(sqlite, [{ id: 1n, name: 'Basil' }]);
  const none = join(folder, 'none.db');
  const runs = await Promise.all([
    copy(wrong, sqlite),
    copy(sqlite, wrong),
    copy(`sqlite:${none}`, await server.createSchema()),
    copy(sqlite, 'postgres://postgres:s3cret@127.0.0.1:1/plants'),
    copy(await server.createSchema(), sqlite),
    copy('mysql://u:s3cret@host/db', sqlite),
    copy('postgres://postgres:s3cret@127.0.0.1:1/plants', sqlite),
    copy('sqlite://tmp/x.db', sqlite),
    copy(sqlite, 'sqlite::memory:'),
  ]);
  expect(runs.map(({ code }) => code)).toEqual(Array(runs.length).fill(1));
  expect(runs.map(({ err }) => err)).toEqual([
    expect.stringMatching(/^FROM cannot be read: PostgreSQL at 127.*password authentication failed/),
    expect.stringMatching(/^PostgreSQL at 127.*password authentication failed.*right user and password/),
    `FROM cannot be read: ${none}: unable to open database file\n`,
    expect.stringMatching(/^PostgreSQL at 127.*ECONNREFUSED.*\nRun the same command again\.\n$/),
    expect.stringMatching(/^FROM cannot be read: .*relation "plants" does not exist/),
    expect.stringMatching(/^FROM_URL: There is no store for mysql: URLs\. Use sqlite:/),
    expect.stringMatching(
      /^FROM cannot be read: PostgreSQL at 127.*: connect ECONNREFUSED.*\nRun the same command again\.\n$/,
    ),
    expect.stringMatching(/^FROM_URL: A sqlite: URL has a path, but no \/\/ before it/),
    'TO_URL: sqlite::memory: is of one process; name a file\n',
  ]);
  expect(JSON.stringify(runs)).not.toContain('s3cret');
  expect(existsSync(none)).toBe(false);
});

test('shows how it is used, and rejects what it does not know', async () => {
  const runs = await Promise.all([copy('--help'), copy('--fast', 'a', 'b'), copy('sqlite:a.db'), copy('a', 'a')]);
  expect(runs).toEqual([
    { code: 0, out: expect.stringMatching(/^Usage: npm run copy-plants -- FROM_URL TO_URL\n/), err: '' },
    { code: 2, out: '', err: expect.stringMatching(/^Unknown option '--fast'.*\n\nUsage/s) },
    { code: 2, out: '', err: expect.stringMatching(/^Needed: FROM_URL TO_URL\n\nUsage/) },
    { code: 2, out: '', err: expect.stringMatching(/^FROM_URL and TO_URL must be two stores\n\nUsage/) },
  ]);
});
