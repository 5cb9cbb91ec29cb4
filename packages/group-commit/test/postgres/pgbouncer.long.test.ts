import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from 'test-support/eventually';
import { freePort } from 'test-support/free-port';
import { Unavailable } from '../../src/postgres/database.ts';
import { open, server, session, useServer } from './support.ts';

const withPooler = spawnSync('pgbouncer', ['--version']).error ? describe.skip : describe;

let folder: string;
const poolers: ChildProcess[] = [];
afterEach(async () => {
  for (const pooler of poolers.splice(0)) {
    const ended = once(pooler, 'exit');
    pooler.kill('SIGKILL');
    await ended;
  }
});

/** Returns the URL of the database through PgBouncer. */
async function startPooler(url: string, mode: string): Promise<string> {
  const port = await freePort();
  const { password } = new URL(url);
  const file = join(folder, `${mode}.ini`);
  writeFileSync(join(folder, 'users'), `"postgres" "${decodeURIComponent(password)}"\n`);
  writeFileSync(
    file,
    `[databases]\n* = host=127.0.0.1 port=${server.port}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = ${port}
unix_socket_dir =\nauth_type = plain\nauth_file = ${folder}/users\npool_mode = ${mode}\ndefault_pool_size = 3\n`,
  );
  for (const path of [folder, file, join(folder, 'users')]) chmodSync(path, 0o755);
  const pooler = spawn('pgbouncer', [...(process.getuid?.() === 0 ? ['-u', 'nobody'] : []), file], {
    stdio: 'ignore',
  });
  poolers.push(pooler);
  const pooled = url.replace(String(server.port), String(port));
  await eventually(() => server.query('SELECT 1', pooled));
  return pooled;
}

withPooler('PgBouncer (needs pgbouncer)', () => {
  useServer();
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'notes-pgbouncer-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test.each(['session', 'transaction'])(
    'in the mode %s stores rows and forwards cancel requests',
    async (mode) => {
      const direct = await server.createDatabase();
      const pooled = await startPooler(direct, mode);
      const database = await open(`${pooled}?statement_timeout=0&application_name=pooled`);
      await Promise.all(Array.from({ length: 100 }, (_, at) => database.add(`note ${at}`)));
      expect(await server.query('SELECT count(*)::int FROM notes', direct)).toEqual([
        { count: 100 },
      ]);

      const locker = await session(direct);
      await locker.query('BEGIN; LOCK TABLE notes');
      await expect(database.add('late')).rejects.toThrow(Unavailable);
      const waiting = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
      await eventually(async () => expect(await server.query(waiting)).toEqual([]));
      await locker.query('ROLLBACK');
      await eventually(() => database.ready());
      expect(await server.query("SELECT FROM notes WHERE text = 'late'", direct)).toEqual([]);
    },
  );

  test('rejects the parameter statement_timeout, and the message has advice', async () => {
    const pooled = await startPooler(await server.createDatabase(), 'session');
    await expect(open(pooled)).rejects.toThrow(
      /unsupported startup parameter.*statement_timeout=0 for PgBouncer/,
    );
  });
});
