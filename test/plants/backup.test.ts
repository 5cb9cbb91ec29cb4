import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { openStore } from '../../src/stores/index.ts';
import { ENVIRONMENT } from '../support/environment.ts';
import { plantsIn } from './support/plant-service.ts';

const SCRIPT = join(import.meta.dirname, '../../scripts/backup.ts');

let folder: string;
let database: string;
let copy: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'plants-backup-'));
  database = join(folder, 'plants.db');
  copy = join(folder, 'copy.db');
});

afterEach(() => rmSync(folder, { recursive: true }));

function backUp(args: string[], url = `sqlite:${database}`): Promise<{ code: unknown; out: string; err: string }> {
  const options = { cwd: folder, env: { ...ENVIRONMENT, DATABASE_URL: url } };
  return new Promise((done) => {
    execFile(process.execPath, [SCRIPT, ...args], options, (error, out, err) =>
      done({ code: error?.code ?? 0, out, err }),
    );
  });
}

test('copies the plants as they are at one moment while the service adds more, and the copy can be used', async () => {
  const store = await openStore(`sqlite:${database}`, { maxWaiting: 10_000 });
  const names = Array.from({ length: 5_000 }, (_, id) => `plant ${id}`);
  await Promise.all(names.map((name, id) => store.add({ id: BigInt(id), name })));
  let going = true;
  let next = 5_000;
  const adding = Promise.all(
    Array.from({ length: 8 }, async () => {
      while (going) await store.add({ id: BigInt(next++), name: 'later' });
    }),
  );
  expect(await backUp([copy])).toEqual({ code: 0, out: `${database} is copied to ${copy}.\n`, err: '' });
  going = false;
  await adding;
  await store.close();

  const copied = plantsIn(copy);
  expect(names.filter((name, id) => copied.get(BigInt(id))?.name !== name)).toEqual([]);
  const held = plantsIn(database);
  expect([...copied].filter(([id, { name }]) => held.get(id)?.name !== name)).toEqual([]);
  expect((statSync(copy).mode & 0o777).toString(8)).toBe('600');
  const check = new DatabaseSync(copy);
  expect(check.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
  check.close();

  const restored = await openStore(`sqlite:${copy}`, { maxWaiting: 10 });
  await restored.add({ id: 1n, name: 'plant 1' });
  await restored.add({ id: 1n, name: 'another' });
  await restored.close();
  expect(plantsIn(copy).size).toBe(copied.size);
});

test('writes over no file, and leaves none behind when it fails', async () => {
  const store = await openStore(`sqlite:${database}`, { maxWaiting: 10 });
  await store.close();
  writeFileSync(copy, 'notes');
  const runs = [
    await backUp([copy]),
    await backUp([database]),
    await backUp([join(folder, 'none/copy.db')]),
    await backUp(['new.db'], `sqlite:${join(folder, 'none.db')}`),
    await backUp(['new.db'], 'postgres://me:s3cret@host/db'),
    await backUp(['new.db'], 'sqlite::memory:'),
    await backUp([]),
  ];
  expect(runs.map(({ code, err }) => [code, err.split('\n')[0]])).toEqual([
    [1, `${copy} exists already; name a new file`],
    [1, `${database} exists already; name a new file`],
    [1, expect.stringMatching(/^ENOENT: no such file or directory, open '.*copy\.db\.part'/)],
    [1, 'unable to open database file'],
    [1, 'DATABASE_URL names a PostgreSQL database: use pg_dump'],
    [1, 'DATABASE_URL is sqlite::memory:, which no other process can read'],
    [2, 'Usage: npm run backup -- FILE'],
  ]);
  expect(readdirSync(folder).toSorted()).toEqual(['copy.db', 'plants.db']);
});
