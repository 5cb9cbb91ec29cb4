import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { ENVIRONMENT } from 'test-support/environment';
import { openStore } from '../../src/stores/index.ts';
import { plantsIn } from '../plants/support/plant-service.ts';

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

function backUp(
  args: string[],
  url = `sqlite:${database}`,
  variables = {},
): Promise<{ code: unknown; out: string; err: string }> {
  const options = { cwd: folder, env: { ...ENVIRONMENT, DATABASE_URL: url, ...variables } };
  return new Promise((done) => {
    execFile(process.execPath, [SCRIPT, ...args], options, (error, out, err) =>
      done({ code: error?.code ?? 0, out, err }),
    );
  });
}

test('copies a consistent snapshot while the service adds plants, and the copy can be opened', async () => {
  const store = await openStore(`sqlite:${database}`, { maxWaiting: 10_000 });
  const names = Array.from({ length: 1_000 }, (_, id) => `plant ${id}`);
  await Promise.all(names.map((name, id) => store.add({ id: BigInt(id), name })));
  let isStopped = false;
  let next = 1_000;
  const adding = Promise.all(
    Array.from({ length: 8 }, async () => {
      while (!isStopped) await store.add({ id: BigInt(next++), name: 'later' });
    }),
  );
  expect(await backUp([copy])).toEqual({
    code: 0,
    out: `${database} is copied to ${copy}.\n`,
    err: '',
  });
  isStopped = true;
  await adding;
  await store.close();

  const copied = plantsIn(copy);
  expect(names.filter((name, id) => copied.get(BigInt(id))?.name !== name)).toEqual([]);
  const source = plantsIn(database);
  expect([...copied].filter(([id, { name }]) => source.get(id)?.name !== name)).toEqual([]);
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

test('overwrites no file, and leaves no file after an error', async () => {
  const store = await openStore(`sqlite:${database}`, { maxWaiting: 10 });
  await store.close();
  writeFileSync(copy, 'notes');
  const runs = [
    await backUp([copy]),
    await backUp([join(folder, 'none/copy.db')]),
    await backUp(['new.db'], 'postgres://me:s3cret@host/db'),
    await backUp([]),
  ];
  expect(runs.map(({ code, err }) => [code, err.split('\n')[0]])).toEqual([
    [1, `${copy} must not exist: name a new file`],
    [1, expect.stringMatching(/^.*plants\.db is not copied: ENOENT: .*none/)],
    [1, 'DATABASE_URL names a PostgreSQL database: use pg_dump'],
    [2, 'Usage: npm run backup -- FILE'],
  ]);
  expect(readdirSync(folder).toSorted()).toEqual(['copy.db', 'plants.db']);
});

test('copies the database of DATABASE_URL_FILE', async () => {
  const store = await openStore(`sqlite:${database}`, { maxWaiting: 10 });
  await store.add({ id: 7n, name: 'Fern' });
  await store.close();
  const other = new DatabaseSync(join(folder, 'other.db'));
  other.exec('CREATE TABLE plants (id)');
  other.close();
  writeFileSync(join(folder, 'url'), `sqlite:${database}\n`);
  const variables = { DATABASE_URL_FILE: join(folder, 'url') };
  expect(await backUp([copy], 'sqlite:other.db', variables)).toMatchObject({ code: 0 });
  expect([...plantsIn(copy).keys()]).toEqual([7n]);
});

test('removes the partial copy of a killed process, and no other file', async () => {
  const store = await openStore(`sqlite:${database}`, { maxWaiting: 10 });
  await store.close();
  const dead = execFileSync(process.execPath, ['-p', 'process.pid'], { encoding: 'utf8' }).trim();
  writeFileSync(`${copy}.part-${dead}`, 'half a copy');
  // The first process may run as another user.
  const otherFiles = [1, process.pid, 'notes'].map((end) => `copy.db.part-${end}`);
  for (const name of otherFiles) writeFileSync(join(folder, name), 'another copy');
  expect(await backUp([copy])).toMatchObject({ code: 0, err: '' });
  expect(
    readdirSync(folder)
      .filter((name) => name.startsWith('copy'))
      .toSorted(),
  ).toEqual(['copy.db', ...otherFiles].toSorted());
});
