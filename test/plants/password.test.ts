import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { eventually } from 'test-support/eventually';
import { passwordFrom } from '../../src/password.ts';
import { start } from './support/plant-service.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'plants-password-'));
  writeFileSync(join(folder, 'pids'), '');
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Returns a command that hangs, and writes the ids of its processes to a file. */
const hangingCommand = (): string => `sleep 600 & echo $! >> '${join(folder, 'pids')}'; wait`;

const startedProcesses = (): number[] =>
  readFileSync(join(folder, 'pids'), 'utf8').split('\n').filter(Boolean).map(Number);

function isRunning(pid: number): boolean {
  try {
    // The state of a process that has ended, but was not awaited by its parent, is Z.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

test('concurrent calls run a command once, and its processes end at the time limit', async () => {
  const password = passwordFrom('', hangingCommand());
  const calls = await Promise.allSettled([1, 2, 3].map(() => password?.()));
  const reason = new Error('DATABASE_PASSWORD_COMMAND failed (no password after 2500 ms)');
  expect(calls).toEqual([1, 2, 3].map(() => ({ status: 'rejected', reason })));
  expect(startedProcesses()).toHaveLength(1);
  await eventually(() => !startedProcesses().some(isRunning));
});

test.each([
  ['that fails', 'echo secret; exit 3', 'exit status 3'],
  ['that prints without end', 'yes', 'more than 100000 characters'],
])('a command %s is an error', async (_name, command, reason) => {
  await expect(passwordFrom('', command)?.()).rejects.toThrow(
    new Error(`DATABASE_PASSWORD_COMMAND failed (${reason})`),
  );
});

test('a command runs again for the next call, and leaves no listener', async () => {
  const file = join(folder, 'count');
  const password = passwordFrom('', `echo x >> '${file}'; wc -l < '${file}'`);
  const listeners = process.listenerCount('exit');
  expect([await password?.(), await password?.()]).toEqual(['1', '2']);
  expect(process.listenerCount('exit')).toBe(listeners);
});

test('a service runs one command at a time, and ends it when it stops', async () => {
  // Asks each client for its password in plain text (AuthenticationCleartextPassword).
  const postgres = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.write('R\0\0\0\x08\0\0\0\x03'));
  }).listen(0, '127.0.0.1');
  await once(postgres, 'listening');
  const { port } = postgres.address() as AddressInfo;
  const service = await start({
    DATABASE_URL: `postgres://postgres@127.0.0.1:${port}/plants?sslmode=disable`,
    DATABASE_PASSWORD_COMMAND: hangingCommand(),
  });
  const counts: number[] = [];
  while (startedProcesses().length < 3) {
    await fetch(`http://127.0.0.1:${service.port}/readyz`);
    counts.push(startedProcesses().filter(isRunning).length);
  }
  await eventually(() => startedProcesses().some(isRunning));
  service.child.kill('SIGTERM');
  await service.exit;
  postgres.close();
  await eventually(() => !startedProcesses().some(isRunning));
  expect(Math.max(...counts)).toBeLessThanOrEqual(1);
});
