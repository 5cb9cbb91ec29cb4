import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { type PostgresServer, startPostgres } from 'test-support/postgres';
import { openStore } from '../../src/stores/index.ts';
import type { StoredPlant } from '../../src/stores/store.ts';
import { plantsIn } from '../plants/support/plant-service.ts';

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
    execFile(process.execPath, [SCRIPT, ...args], (error, out, err) =>
      resolve({ code: error?.code ?? 0, out, err }),
    );
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

function rowsIn(url: string): Promise<Record<string, unknown>[]> {
  return server.query('SELECT id::text, name, tag FROM plants ORDER BY plants.id', url);
}

/** Plants with special values, and enough plants for several batches. */
const plants: readonly StoredPlant[] = [
  { id: -(2n ** 63n), name: 'the first' },
  { id: -1n, name: '', tag: '' },
  ...Array.from({ length: 1500 }, (_, at) => ({
    id: BigInt(at),
    name: `plant ${at}`,
    tag: `NULL "{\\}" ${at}`,
  })),
  { id: 2n ** 53n, name: '\u{1f33f} e\u0301 \uffff \ufffd' },
  { id: 2n ** 53n + 1n, name: 'its neighbour' },
  { id: 2n ** 63n - 1n, name: 'the last', tag: 'end' },
];
const N = plants.length;

test('copies every plant exactly, keeps the plants of TO, and can be run again', async () => {
  // FROM has all special plants. TO has some plants of FROM, and ten others.
  await fill(sqlite, plants.toSpliced(100, 10));
  const target = await server.createSchema();
  await fill(target, plants.slice(90, 120));
  const done = {
    code: 0,
    out: `FROM holds ${N - 10} plants; ${N - 10} of them are in TO.\n`,
    err: '',
  };
  expect(await copy(sqlite, target)).toEqual(done);
  expect(await copy(sqlite, target)).toEqual(done);
  expect(await rowsIn(target)).toEqual(plants.map(row));
});

test('exits with 1 if TO cannot hold a plant, and names the plant', async () => {
  await fill(sqlite, [
    { id: 1n, name: 'a\0b' },
    { id: 2n, name: 'Mint' },
  ]);
  const target = await server.createSchema();
  const { code, err } = await copy(sqlite, target);
  expect(code).toBe(1);
  expect(err).toContain(
    'Plant 1 is not copied: /body/name must not contain U+0000, which PostgreSQL cannot store\n',
  );
  expect(await rowsIn(target)).toEqual([{ id: '2', name: 'Mint', tag: null }]);
});

test('copies all plants that FROM had at the start, while plants are added', async () => {
  const source = await openStore(sqlite, { maxWaiting: 10_000 });
  await Promise.all(
    Array.from({ length: 1000 }, (_, at) => source.add({ id: 2n * BigInt(at), name: 'Basil' })),
  );
  let isStopped = false;
  let late = 0;
  const writing = (async () => {
    while (!isStopped) {
      await source.add({ id: 2n * BigInt(late) + 1n, name: 'late' });
      late += 1;
    }
  })();
  const to = join(folder, 'copy.db');
  const { code, out, err } = await copy(sqlite, `sqlite:${to}`);
  isStopped = true;
  await writing;
  await source.close();
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out).toMatch(/^FROM holds (\d+) plants; \1 of them are in TO/);
  expect(late).toBeGreaterThan(0);
  expect([...plantsIn(to).values()].filter(({ name }) => name === 'Basil')).toHaveLength(1000);
});

test('a wrong argument exits with 1 or 2, shows no password, and creates no file', async () => {
  const wrong = (await server.createSchema()).replace(/:[^:@]*@/, ':s3cret@');
  await fill(sqlite, [{ id: 1n, name: 'Basil' }]);
  const none = join(folder, 'none.db');
  const runs = await Promise.all([
    copy(sqlite, wrong),
    copy(`sqlite:${none}`, 'sqlite:b'),
    copy('mysql://u:s3cret@host/db', sqlite),
    copy(sqlite),
    copy(sqlite, sqlite),
  ]);
  expect(runs.map(({ code, err }) => [code, err])).toEqual([
    [
      1,
      expect.stringMatching(
        /^PostgreSQL at 127.*password authentication failed.*Correct the PostgreSQL URL/,
      ),
    ],
    [1, `${none}: unable to open database file\n`],
    [1, expect.stringMatching(/^This is not a valid database URL\. Use sqlite:/)],
    [2, expect.stringMatching(/^Usage: npm run copy-plants -- FROM_URL TO_URL\n/)],
    [1, 'FROM_URL and TO_URL must be different\n'],
  ]);
  expect(JSON.stringify(runs)).not.toContain('s3cret');
  expect(existsSync(none)).toBe(false);
});
