import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Unavailable, Unusable } from 'group-commit';
import { eventually } from 'test-support/eventually';
import { openStore } from '../../../src/stores/index.ts';
import type { PlantStore, StoredPlant } from '../../../src/stores/store.ts';
import { describeStore } from './store-suite.ts';

const LIMITS = { maxWaiting: 1_000 };

let folder: string;
let path: string;
const opened: PlantStore[] = [];

async function open(url = `sqlite:${path}`): Promise<PlantStore> {
  const store = await openStore(url, LIMITS);
  opened.push(store);
  return store;
}

function run(sql: string): void {
  const database = new DatabaseSync(path);
  database.exec(sql);
  database.close();
}

function plants(): StoredPlant[] {
  const database = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
  const select = database.prepare('SELECT id, name, tag FROM plants ORDER BY id');
  select.setReadBigInts(true);
  const rows = select.all();
  database.close();
  return rows.map(({ id, name, tag }) => ({
    id: BigInt(String(id)),
    name: String(name),
    ...(tag !== null && { tag: String(tag) }),
  }));
}

function start(): void {
  folder = mkdtempSync(join(tmpdir(), 'plants-'));
  path = join(folder, 'plants.db');
}

async function dispose(): Promise<void> {
  await Promise.all(opened.splice(0).map((store) => store.close()));
  rmSync(folder, { recursive: true });
}

describeStore(
  'SQLite',
  async (options) => {
    start();
    const store = await openStore(`sqlite:${path}`, options);
    opened.push(store);
    return { store, another: () => open(), read: async () => plants(), dispose };
  },
  { holdsNul: true },
);

describe('the table of plants', () => {
  beforeEach(start);
  afterEach(dispose);

  test('with other columns prevents the start, and is not changed', async () => {
    run('CREATE TABLE plants (id INTEGER PRIMARY KEY, title TEXT NOT NULL)');
    const before = readFileSync(path);
    const error = await open().catch((error: unknown) => error);
    expect(error).toBeInstanceOf(Unusable);
    expect(error).toHaveProperty('message', expect.stringContaining('no column named name'));
    expect(error).toHaveProperty('message', expect.stringContaining(path));
    expect(readFileSync(path)).toEqual(before);
    expect(readdirSync(folder)).toEqual(['plants.db']);
  });

  test('with an additional constraint is unavailable for the plants that violate it', async () => {
    const codes: string[] = [];
    const onUnavailable = (code: string) => void codes.push(code);
    const store = await openStore(`sqlite:${path}`, { ...LIMITS, onUnavailable });
    opened.push(store);
    run(`CREATE TRIGGER no_moss BEFORE INSERT ON plants WHEN new.name = 'Moss'
      BEGIN SELECT raise(ABORT, 'no moss'); END`);
    const names = ['Fern', 'Moss', 'Palm'];
    const outcomes = await Promise.allSettled(
      names.map((name, id) => store.add({ id: BigInt(id), name })),
    );
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(outcomes[1]).toHaveProperty('reason', expect.any(Unavailable));
    expect(outcomes[1]).toHaveProperty(
      'reason.message',
      expect.stringMatching(/plants\.db rejects a valid plant: no moss\. Change the table plants/),
    );
    expect(codes).toEqual(['23000']);
    expect(plants().map(({ name }) => name)).toEqual(['Fern', 'Palm']);
  });

  test('with an additional constraint is not ready, until the constraint is removed', async () => {
    const store = await open();
    run(`CREATE TRIGGER none BEFORE INSERT ON plants BEGIN SELECT raise(ABORT, 'none'); END`);
    await expect(store.add({ id: 1n, name: 'Fern' })).rejects.toThrow(Unavailable);
    await expect(store.ready()).rejects.toThrow('rejects a valid plant: none');
    run('DROP TRIGGER none');
    await eventually(() => store.ready());
    expect(plants()).toEqual([{ id: 1n, name: 'Fern' }]);
    // Later checks write nothing.
    run('DELETE FROM plants');
    await eventually(() => store.ready());
    expect(plants()).toEqual([]);
  });
});

describe('several processes on one SQLite file', () => {
  const children: ChildProcess[] = [];

  beforeEach(start);
  afterEach(async () => {
    for (const child of children.splice(0)) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const exit = once(child, 'exit');
      child.kill('SIGKILL');
      await exit;
    }
    await dispose();
  });

  function startAdder(first: bigint, adders: number, most: number, log: string): ChildProcess {
    const program = join(import.meta.dirname, 'sqlite-adder.ts');
    const child = spawn(
      process.execPath,
      [program, path, `${first}`, `${adders}`, `${most}`, log],
      {
        stdio: ['ignore', 'ignore', 'inherit'],
      },
    );
    children.push(child);
    return child;
  }

  function acknowledgedIn(log: string): bigint[] {
    return existsSync(log) ? readFileSync(log, 'utf8').split('\n').slice(0, -1).map(BigInt) : [];
  }

  const contentOf = (id: bigint): StoredPlant => ({
    id,
    name: `plant ${id}`,
    ...(id % 3n !== 0n && { tag: `tag ${id}` }),
  });

  test('create the file and write at the same time, and each plant is stored once', async () => {
    const logs = [0, 1, 2].map((n) => join(folder, `log-${n}`));
    const ends = logs.map((log) => once(startAdder(0n, 16, 1_000, log), 'exit'));
    expect(await Promise.all(ends)).toEqual(logs.map(() => [0, null]));
    expect(logs.flatMap(acknowledgedIn)).toHaveLength(3_000);
    expect(plants()).toEqual(Array.from({ length: 1_000 }, (_, id) => contentOf(BigInt(id))));
  });
});
