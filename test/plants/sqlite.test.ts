import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { type EventEmitter, once } from 'node:events';
import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { runInThisContext } from 'node:vm';
import type { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { openStore } from '../../src/stores/index.ts';
import { type PlantStore, StoreRefused, StoreUnavailable, Unstorable } from '../../src/stores/store.ts';
import { eventually } from '../support/eventually.ts';
import { describeStore } from './store-suite.ts';

const LIMITS = { maxWaiting: 1_000 };
const CRASH_ROUNDS = Number(process.env.CRASH_ROUNDS ?? 3);

/** Everything that a test makes lies in here. */
let folder: string;
let path: string;
const opened: PlantStore[] = [];
const databases: DatabaseSync[] = [];
const mounts: string[] = [];

async function open(url = `sqlite:${path}`): Promise<PlantStore> {
  const store = await openStore(url, LIMITS);
  opened.push(store);
  return store;
}

/** A connection past the store. */
function connect(file = path): DatabaseSync {
  const database = new DatabaseSync(file);
  databases.push(database);
  return database;
}

function plants(): Map<bigint, { name: unknown; tag: unknown }> {
  const select = connect().prepare('SELECT id, name, tag FROM plants');
  select.setReadBigInts(true);
  return new Map(select.all().map(({ id, name, tag }) => [BigInt(String(id)), { name, tag }]));
}

function start(): void {
  folder = mkdtempSync(join(tmpdir(), 'plants-'));
  path = join(folder, 'plants.db');
}

async function dispose(): Promise<void> {
  for (const database of databases.splice(0)) database.close();
  await Promise.all(opened.splice(0).map((store) => store.close()));
  for (const mount of mounts.splice(0)) execFileSync('umount', [mount]);
  rmSync(folder, { recursive: true });
}

describeStore(
  'SQLite',
  async (limits) => {
    start();
    const store = await openStore(`sqlite:${path}`, limits);
    opened.push(store);
    return {
      store,
      another: () => open(),
      async read(id) {
        const row = connect().prepare('SELECT name, tag FROM plants WHERE id = ?').get(id);
        return row && { name: String(row.name), tag: row.tag === null ? undefined : String(row.tag) };
      },
      dispose,
    };
  },
  { holdsNul: true },
);

describe('A database URL', () => {
  beforeEach(start);
  afterEach(dispose);

  test.each([
    ['', 'no database URL'],
    ['data/plants.db', 'no database URL'],
    ['mysql://root:hunter2@localhost/plants', 'no store for mysql: URLs'],
    ['root:hunter2@localhost', 'no database URL'],
    ['postgres:hunter2', 'no database URL'],
    ['sqlite:', 'names no file'],
    ['sqlite:data/', 'names no file'],
    ['sqlite://data/plants.db', 'no // before it'],
    ['sqlite:data/plants.db?mode=ro', 'no parameters'],
  ])('is refused when it is %j, with what would be right', async (url, reason) => {
    const refused = await open(url).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(StoreRefused);
    expect(refused).toHaveProperty('message', expect.stringContaining(reason));
    expect(refused).toHaveProperty('message', expect.stringContaining('Use sqlite:data/plants.db'));
    expect(refused).toHaveProperty('message', expect.not.stringContaining('hunter2'));
  });

  test('may name a new file in folders that are still to be made, absolute or relative', async () => {
    const deep = join(folder, 'a/b/plants.db');
    await (await open(`sqlite:${relative('', deep)}`)).add({ id: 1n, name: 'Fern' });
    expect(await (await open(`SQLite:${deep}`)).add({ id: 1n, name: 'Fern' })).toBe('unchanged');
  });

  test('may ask for a database in memory, which is a new one each time', async () => {
    const store = await open('sqlite::memory:');
    expect(await store.add({ id: 2n ** 63n - 1n, name: 'Fern' })).toBe('added');
    expect(await store.add({ id: 2n ** 63n - 1n, name: 'Fern' })).toBe('unchanged');
    expect(await store.add({ id: 2n ** 63n - 1n, name: 'Moss' })).toBe('conflict');
    expect(await (await open('sqlite::memory:')).add({ id: 2n ** 63n - 1n, name: 'Moss' })).toBe('added');
    expect(existsSync(':memory:')).toBe(false);
  });
});

describe('SQLite at the start', () => {
  beforeEach(start);
  afterEach(dispose);

  async function expectRefused(reason: string | RegExp): Promise<void> {
    const refused = await open().catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(StoreRefused);
    expect(refused).toHaveProperty('message', expect.stringMatching(reason));
    expect(refused).toHaveProperty('message', expect.stringContaining(path));
  }

  test('keeps a write-ahead log, and makes a strict table', async () => {
    await open();
    expect(connect().prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' });
    expect(connect().prepare("SELECT sql FROM sqlite_schema WHERE name = 'plants'").get()).toEqual({
      sql: 'CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT) STRICT',
    });
  });

  test('has each commit wait for the disk, past its cache too', async () => {
    const store = await open();
    connect().exec(`CREATE TABLE seen (synchronous, fullfsync);
      CREATE TRIGGER see AFTER INSERT ON plants BEGIN
        INSERT INTO seen SELECT synchronous, fullfsync FROM pragma_synchronous, pragma_fullfsync;
      END`);
    await store.add({ id: 1n, name: 'Fern' });
    const FULL = 2;
    expect(connect().prepare('SELECT * FROM seen').all()).toEqual([{ synchronous: FULL, fullfsync: 1 }]);
  });

  test('takes a table of plants that someone else made', async () => {
    connect().exec('CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL COLLATE NOCASE, tag TEXT)');
    connect().exec("INSERT INTO plants VALUES (1, 'Fern', NULL)");
    const store = await open();
    expect(await store.add({ id: 1n, name: 'Fern' })).toBe('unchanged');
    expect(await store.add({ id: 1n, name: 'FERN' })).toBe('conflict');
  });

  test('refuses a file that is no database, and leaves it as it is', async () => {
    const text = 'These are my notes, and no database. '.repeat(100);
    writeFileSync(path, text);
    await expectRefused('is not a SQLite database');
    expect(readFileSync(path, 'utf8')).toBe(text);
    expect(readdirSync(folder)).toEqual(['plants.db']);
  });

  test.each([
    ['other columns', 'CREATE TABLE plants (id INTEGER PRIMARY KEY, title TEXT NOT NULL)', 'title TEXT NOT NULL'],
    ['a column more', 'CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT, x TEXT)', 'x TEXT'],
    ['another key', 'CREATE TABLE plants (id INTEGER, name TEXT NOT NULL PRIMARY KEY, tag TEXT)', 'id INTEGER, name'],
    ['a view instead', "CREATE VIEW plants AS SELECT 1 AS id, 'Fern' AS name, NULL AS tag", 'columns'],
  ])('refuses a table of plants with %s, and leaves the file as it is', async (_, sql, reason) => {
    connect().exec(sql);
    databases.pop()?.close();
    const before = readFileSync(path);
    await expectRefused(reason);
    expect(readFileSync(path)).toEqual(before);
    expect(readdirSync(folder)).toEqual(['plants.db']);
  });

  test('refuses a damaged database', async () => {
    connect().exec('CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT) STRICT');
    databases.pop()?.close();
    const bytes = readFileSync(path);
    writeFileSync(path, bytes.fill(0xa5, 100));
    await expectRefused('is damaged');
  });

  test('refuses a folder as its file', async () => {
    mkdirSync(path);
    await expectRefused('cannot be opened');
    expect(readdirSync(path)).toEqual([]);
  });

  test('refuses a folder that cannot be made', async () => {
    writeFileSync(join(folder, 'file'), '');
    path = join(folder, 'file/below/plants.db');
    await expectRefused(/cannot be used .*its folder/);
    expect(readdirSync(folder)).toEqual(['file']);
  });

  const mayMount = canMount() ? test : test.skip;

  mayMount('refuses a file system that cannot be written, with the file and without it', async () => {
    const mount = mountMemory('1m');
    path = join(mount, 'plants.db');
    await (await open()).close();
    execFileSync('mount', ['-o', 'remount,ro', mount]);
    await expectRefused(/cannot be (written|opened)/);
    path = join(mount, 'new.db');
    await expectRefused(/cannot be (written|opened)/);
    path = join(mount, 'new/plants.db');
    await expectRefused('its folder');
  });

  const mayDeny = process.getuid?.() === 0 ? mayMount : test;

  mayDeny('refuses a database that cannot be written, though its folder can be', async () => {
    await (await open()).close();
    denyWriting(path);
    await expectRefused('cannot be written');
  });

  mayMount('opens on a full disk, and is ready when there is space', async () => {
    const mount = mountMemory('1m');
    path = join(mount, 'plants.db');
    const free = fill(mount);
    const store = await open();
    await expect(store.ready()).rejects.toThrow(/full|I\/O/);
    await expect(store.add({ id: 1n, name: 'Fern' })).rejects.toThrow(StoreUnavailable);
    free();
    await store.ready();
    expect(await store.add({ id: 1n, name: 'Fern' })).toBe('added');
  });

  mayMount('survives a disk that fills up: every batch whole or not at all, and on again with space', async () => {
    const mount = mountMemory('2m');
    path = join(mount, 'plants.db');
    const store = await open();
    const acknowledged: bigint[] = [];
    let failure: unknown;
    let id = 0n;
    for (; failure === undefined; id += 10n) {
      const batch = Array.from({ length: 10 }, (_, n) => id + BigInt(n));
      const outcomes = await Promise.allSettled(batch.map((id) => store.add({ id, name: 'Fern'.repeat(500) })));
      expect(new Set(outcomes.map(({ status }) => status)).size).toBe(1);
      if (outcomes[0]?.status === 'rejected') failure = outcomes[0].reason;
      else acknowledged.push(...batch);
    }
    expect(failure).toBeInstanceOf(StoreUnavailable);
    expect(failure).toHaveProperty('message', expect.stringContaining('disk is full'));
    expect(failure).toHaveProperty('cause.message', expect.stringContaining('full'));
    expect([...plants().keys()]).toEqual(acknowledged);
    for (const database of databases.splice(0)) database.close();

    execFileSync('mount', ['-o', 'remount,size=20m', mount]);
    await store.ready();
    expect(await store.add({ id, name: 'Fern' })).toBe('added');
    expect([...plants().keys()]).toEqual([...acknowledged, id]);
  });
});

function canMount(): boolean {
  start();
  try {
    mountMemory('1m');
    return true;
  } catch {
    return false;
  } finally {
    for (const mount of mounts.splice(0)) execFileSync('umount', [mount]);
    rmSync(folder, { recursive: true });
  }
}

/** Mounts a file system in memory, which only root may do, and no container. */
function mountMemory(size: string): string {
  const mount = join(folder, 'disk');
  mkdirSync(mount);
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', mount], { stdio: 'ignore' });
  mounts.push(mount);
  return mount;
}

/** Takes the right to write a file from this process: from root, only a mount can. */
function denyWriting(file: string): void {
  if (process.getuid?.() === 0) {
    execFileSync('mount', ['--bind', file, file]);
    mounts.push(file);
    execFileSync('mount', ['-o', 'remount,bind,ro', file]);
  } else {
    chmodSync(file, 0o444);
  }
}

/** Fills a file system to the last block; the function that it returns takes that back. */
function fill(mount: string): () => void {
  const file = join(mount, 'ballast');
  const { bavail, bsize } = statfsSync(mount);
  writeFileSync(file, Buffer.alloc(bavail * bsize));
  return () => rmSync(file);
}

describe('SQLite while it runs', () => {
  beforeEach(start);
  afterEach(dispose);

  test('waits for a lock that another process holds for a moment', async () => {
    const store = await open();
    const other = connect();
    other.exec('BEGIN IMMEDIATE');
    const add = store.add({ id: 1n, name: 'Fern' });
    await delay(300);
    expect(store.stats()).toEqual({ waiting: 1 });
    other.exec('COMMIT');
    expect(await add).toBe('added');
  });

  test('gives up on a lock after a bound, is unready meanwhile, and goes on when the lock is gone', async () => {
    const store = await open();
    const other = connect();
    other.exec('BEGIN IMMEDIATE');
    const add = store.add({ id: 1n, name: 'Fern' });
    const [failure, unready] = await Promise.all([
      add.catch((error: unknown) => error),
      delay(20).then(() => store.ready().catch((error: unknown) => error)),
    ]);
    expect(failure).toBeInstanceOf(StoreUnavailable);
    expect(failure).toHaveProperty('message', expect.stringContaining('locked by another process'));
    expect(unready).toHaveProperty('message', expect.stringContaining('has not answered'));
    await expect(store.ready()).rejects.toThrow('locked by another process');
    other.exec('COMMIT');
    await store.ready();
    expect(await store.add({ id: 1n, name: 'Fern' })).toBe('added');
  });

  test('shares a transaction among at most about a million characters', async () => {
    const batches: number[] = [];
    const store = await openStore('sqlite::memory:', { ...LIMITS, onBatch: (size) => batches.push(size) });
    opened.push(store);
    const name = 'Fern'.repeat(25_000);
    await Promise.all(Array.from({ length: 25 }, (_, id) => store.add({ id: BigInt(id), name })));
    expect(batches).toEqual([10, 10, 5]);
  });

  test('refuses one plant that breaks a rule of the database, and stores the others of its batch', async () => {
    const store = await open();
    connect().exec(`CREATE TRIGGER no_moss BEFORE INSERT ON plants WHEN new.name = 'Moss'
      BEGIN SELECT raise(ABORT, 'no moss'); END`);
    const outcomes = await Promise.allSettled(
      ['Fern', 'Moss', 'Palm'].map((name, id) => store.add({ id: BigInt(id), name })),
    );
    expect(outcomes).toEqual([
      { status: 'fulfilled', value: 'added' },
      { status: 'rejected', reason: expect.any(Unstorable) },
      { status: 'fulfilled', value: 'added' },
    ]);
    expect(outcomes[1]).toHaveProperty('reason.cause.message', 'no moss');
    expect([...plants().keys()]).toEqual([0n, 2n]);
  });

  test('rolls the whole batch back when the transaction is lost in its middle', async () => {
    const store = await open();
    connect().exec(`CREATE TRIGGER no_moss BEFORE INSERT ON plants WHEN new.name = 'Moss'
      BEGIN SELECT raise(ROLLBACK, 'no moss'); END`);
    const outcomes = await Promise.allSettled(
      ['Fern', 'Moss', 'Palm'].map((name, id) => store.add({ id: BigInt(id), name })),
    );
    for (const outcome of outcomes) expect(outcome).toHaveProperty('reason', expect.any(StoreUnavailable));
    expect(plants().size).toBe(0);
    expect(await store.add({ id: 0n, name: 'Fern' })).toBe('added');
  });

  test.each([2n ** 63n, -(2n ** 63n) - 1n, 2n ** 64n])('refuses %s, which is no int64', async (id) => {
    const store = await open();
    const outcomes = await Promise.allSettled([store.add({ id, name: 'Fern' }), store.add({ id: 1n, name: 'Fern' })]);
    expect(outcomes).toEqual([
      { status: 'rejected', reason: expect.any(Unstorable) },
      { status: 'fulfilled', value: 'added' },
    ]);
    expect([...plants().keys()]).toEqual([1n]);
  });

  test('acknowledges nothing that goes to a file that was moved away, and goes on when it is back', async () => {
    const store = await open();
    expect(await store.add({ id: 1n, name: 'Fern' })).toBe('added');
    const away = join(folder, 'away');
    mkdirSync(away);
    for (const file of readdirSync(folder)) if (file !== 'away') renameSync(join(folder, file), join(away, file));
    await expect(store.add({ id: 2n, name: 'Fern' })).rejects.toThrow('moved, deleted or replaced');
    await expect(store.ready()).rejects.toThrow('moved, deleted or replaced');
    expect(readdirSync(folder)).toEqual(['away']);
    for (const file of readdirSync(away)) renameSync(join(away, file), join(folder, file));
    await store.ready();
    expect(await store.add({ id: 1n, name: 'Fern' })).toBe('unchanged');
    expect(await store.add({ id: 3n, name: 'Fern' })).toBe('added');
  });

  test('notices that its file was deleted, though nothing is added', async () => {
    const store = await open();
    await store.ready();
    for (const file of readdirSync(folder)) rmSync(join(folder, file));
    await expect(store.ready()).rejects.toThrow('moved, deleted or replaced');
  });

  test.each(['-wal', '-shm'])(
    'acknowledges nothing without its %s, loses nothing, and goes on when it is back',
    async (end) => {
      const store = await open();
      expect(await store.add({ id: 1n, name: 'Fern' })).toBe('added');
      const [file, away, copy] = [path + end, join(folder, 'away'), join(folder, 'copy')];
      renameSync(file, away);
      await expect(store.add({ id: 2n, name: 'Fern' })).rejects.toThrow(`${file} was moved, deleted or replaced`);
      writeFileSync(file, '');
      await expect(store.ready()).rejects.toThrow(`${file} was moved, deleted or replaced`);
      copyFileSync(path, copy);
      expect(connect(copy).prepare('SELECT id FROM plants').all()).toEqual([{ id: 1 }]);
      renameSync(away, file);
      await store.ready();
      expect(await store.add({ id: 3n, name: 'Fern' })).toBe('added');
      rmSync(file);
      await store.close();
      expect([...plants().keys()]).toEqual([1n, 3n]);
    },
  );

  test('goes on with the database that was put in the place of its own', async () => {
    const store = await open();
    await store.add({ id: 1n, name: 'Fern' });
    for (const file of readdirSync(folder)) rmSync(join(folder, file));
    connect().exec('CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT) STRICT');
    await expect(store.add({ id: 1n, name: 'Fern' })).rejects.toThrow(StoreUnavailable);
    expect(await store.add({ id: 1n, name: 'Moss' })).toBe('added');
    expect(plants()).toEqual(new Map([[1n, { name: 'Moss', tag: null }]]));
  });

  test('says so while its file is damaged, and goes on when it is mended', async () => {
    const first = await open();
    await Promise.all(Array.from({ length: 900 }, (_, id) => first.add({ id: BigInt(id), name: 'Fern'.repeat(500) })));
    await first.close();
    const sound = readFileSync(path);
    const store = await open();
    overwrite(Buffer.alloc(sound.length - 8192, 0xa5), 8192);
    await expect(store.add({ id: 500n, name: 'Moss' })).rejects.toThrow('is damaged');
    await expect(store.add({ id: 500n, name: 'Moss' })).rejects.toThrow(StoreUnavailable);
    overwrite(sound, 0);
    expect(await store.add({ id: 500n, name: 'Moss' })).toBe('conflict');
    expect(await store.add({ id: 900n, name: 'Moss' })).toBe('added');
  });

  /** Changes the bytes of the database where it lies. */
  function overwrite(bytes: Buffer, at: number): void {
    const descriptor = openSync(path, 'r+');
    writeSync(descriptor, bytes, 0, bytes.length, at);
    closeSync(descriptor);
  }

  describe('whose thread dies', () => {
    // Jest gives its tests a copy of the process object, which hears of no threads.
    const emitter: EventEmitter = runInThisContext('process');
    const threads: Worker[] = [];
    const collect = (thread: Worker) => threads.push(thread);

    beforeEach(() => {
      emitter.on('worker', collect);
    });
    afterEach(() => {
      emitter.off('worker', collect);
      threads.length = 0;
    });

    test('fails what waits, and starts another thread after a pause', async () => {
      const store = await open();
      expect(await store.add({ id: 0n, name: 'Fern' })).toBe('added');
      for (let round = 1; round <= 2; round++) {
        expect(threads).toHaveLength(round);
        const adds = Array.from({ length: 5 }, () => store.add({ id: BigInt(round), name: 'Fern' }));
        await threads.at(-1)?.terminate();
        adds.push(store.add({ id: 9n, name: 'Fern' }));
        const unready = expect(store.ready()).rejects.toThrow(StoreUnavailable);
        for (const add of await Promise.allSettled(adds)) {
          expect(add).toHaveProperty('reason', expect.any(StoreUnavailable));
        }
        await unready;
        await eventually(() => store.ready());
        expect(await store.add({ id: 0n, name: 'Fern' })).toBe('unchanged');
        expect(await store.add({ id: BigInt(-round), name: 'Fern' })).toBe('added');
      }
      expect(threads).toHaveLength(3);
      expect(plants().has(9n)).toBe(false);
    });

    test('closes all the same', async () => {
      const store = await open();
      await threads[0]?.terminate();
      await store.close();
      expect(threads).toHaveLength(1);
    });
  });

  test('leaves one file behind when it closes', async () => {
    const store = await open();
    await store.add({ id: 1n, name: 'Fern' });
    await store.close();
    expect(readdirSync(folder)).toEqual(['plants.db']);
    expect(statSync(path).size).toBeGreaterThan(4096);
  });
});

describe('SQLite and processes', () => {
  const children: ChildProcess[] = [];

  beforeEach(start);
  afterEach(async () => {
    for (const child of children.splice(0)) if (child.exitCode === null) child.kill('SIGKILL');
    await dispose();
  });

  function startAdder(first: bigint, adders: number, most: number, log: string): ChildProcess {
    const program = join(import.meta.dirname, 'sqlite-adder.ts');
    const child = spawn(process.execPath, [program, path, `${first}`, `${adders}`, `${most}`, log], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    children.push(child);
    return child;
  }

  function outcomesIn(log: string): [id: bigint, outcome: string][] {
    const lines = existsSync(log) ? readFileSync(log, 'utf8').split('\n').slice(0, -1) : [];
    return lines.map((line) => {
      const [id = '', outcome = ''] = line.split(' ');
      return [BigInt(id), outcome];
    });
  }

  function contentOf(id: bigint): { name: string; tag: string | null } {
    return { name: `plant ${id}`, tag: id % 3n === 0n ? null : `tag ${id}` };
  }

  test('lets several processes start and write at once on one new file', async () => {
    const logs = [0, 1, 2].map((n) => join(folder, `log-${n}`));
    const ends = logs.map((log) => once(startAdder(0n, 16, 1_000, log), 'exit'));
    expect(await Promise.all(ends)).toEqual(logs.map(() => [0, null]));
    const outcomes = logs.flatMap(outcomesIn);
    expect(outcomes).toHaveLength(3_000);
    const added = outcomes.filter(([, outcome]) => outcome === 'added').map(([id]) => id);
    expect(added).toHaveLength(1_000);
    expect(new Set(added).size).toBe(1_000);
    expect(outcomes.filter(([, outcome]) => outcome === 'unchanged')).toHaveLength(2_000);
    const stored = plants();
    expect(stored.size).toBe(1_000);
    for (const [id, content] of stored) expect(content).toEqual(contentOf(id));
  });

  test(
    `loses no acknowledged plant when it is killed, ${CRASH_ROUNDS} times`,
    async () => {
      const ADDERS = 64;
      let known = 0;
      for (let round = 0; round < CRASH_ROUNDS; round++) {
        const first = BigInt(round) * 10_000_000n;
        const log = join(folder, `log-${round}`);
        const child = startAdder(first, ADDERS, 10_000_000, log);
        const exit = once(child, 'exit');
        while (outcomesIn(log).length === 0 && child.exitCode === null) await delay(10);
        await delay(Math.random() * 300);
        child.kill('SIGKILL');
        expect(await exit).toEqual([null, 'SIGKILL']);

        const acknowledged = outcomesIn(log);
        expect(new Set(acknowledged.map(([, outcome]) => outcome))).toEqual(new Set(['added']));
        // Each adder may have sent one plant more than it heard of.
        const sent = first + BigInt(acknowledged.length + ADDERS);
        const store = await open();
        await store.ready();
        await store.close();
        const stored = plants();
        for (const [id] of acknowledged) if (!stored.has(id)) throw new Error(`lost plant ${id}`);
        let found = 0;
        for (const [id, content] of stored) {
          const { name, tag } = contentOf(id);
          if (content.name !== name || content.tag !== tag) throw new Error(`plant ${id} is ${content.name}`);
          if (id >= first) found += 1;
          if (id >= sent) throw new Error(`plant ${id} was never sent`);
        }
        expect(found).toBeGreaterThanOrEqual(acknowledged.length);
        expect(stored.size - found).toBe(known);
        known = stored.size;
      }
    },
    60_000 + CRASH_ROUNDS * 5_000,
  );
});
