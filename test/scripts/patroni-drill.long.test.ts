import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ENVIRONMENT } from 'test-support/environment';
import { type PostgresServer, startPostgres } from 'test-support/postgres';

const SCRIPT = join(import.meta.dirname, '../../scripts/patroni-drill.ts');
const CUT = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname IS NOT NULL`;

let server: PostgresServer;
let folder: string;

beforeAll(async () => {
  server = await startPostgres();
  folder = mkdtempSync(join(tmpdir(), 'plants-drill-'));
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await server.remove();
});

function program(name: string, url: string, sql: string): string {
  const file = join(folder, name);
  const source = `#!${process.execPath}
    const { Client } = require(${JSON.stringify(join(SCRIPT, '../../node_modules/pg'))});
    const client = new Client(${JSON.stringify(url)});
    client.connect().then(() => client.query(${JSON.stringify(sql)})).then(() => process.exit());`;
  writeFileSync(file, source, { mode: 0o755 });
  return file;
}

function drill(...args: string[]): Promise<{ code: unknown; out: string; err: string }> {
  const env = { ...ENVIRONMENT, PATH: folder };
  return new Promise((resolve) => {
    execFile(process.execPath, [SCRIPT, ...args], { env }, (error, out, err) =>
      resolve({ code: error?.code ?? 0, out, err }),
    );
  });
}

test('retries the plants that fail while connections are cut, and loses none', async () => {
  const url = await server.createDatabase();
  program('patronictl', url, CUT);
  const kill = program('kill-leader', url, CUT);
  const { code, out, err } = await drill('patroni.yml', url, kill);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out).toMatch(
    /^switchover\n.*kill-leader\n\d{4,} acknowledged, [1-9]\d* after retries, 0 lost, longest outage \d+ ms\n$/,
  );
});

test('exits with 1 if the cluster lost a plant', async () => {
  const url = await server.createDatabase();
  program('patronictl', url, 'DELETE FROM plants WHERE id < 7');
  const { code, out } = await drill('patroni.yml', url);
  expect(code).toBe(1);
  expect(out).toMatch(/ 7 lost/);
});

test('names a missing program, and prints its usage without a URL', async () => {
  const url = await server.createDatabase();
  rmSync(join(folder, 'patronictl'), { force: true });
  expect(await drill('patroni.yml', url)).toMatchObject({
    code: 1,
    err: 'patronictl is not installed\n',
  });
  expect(await drill('patroni.yml')).toMatchObject({
    code: 2,
    err: expect.stringMatching(/^Usage/),
  });
});
