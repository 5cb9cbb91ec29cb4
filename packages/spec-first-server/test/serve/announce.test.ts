import { fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { ENVIRONMENT } from 'test-support/environment';
import { watchdogInterval } from '../../src/serve/announce.ts';

const folder = mkdtempSync(join(tmpdir(), 'announce-'));
afterAll(() => rmSync(folder, { recursive: true }));

const program = join(folder, 'program.mjs');
const ANNOUNCE = join(import.meta.dirname, '../../src/serve/announce.ts');
writeFileSync(
  program,
  `import { announce, isShownByParent } from ${JSON.stringify(ANNOUNCE)};
await announce({ url: 'http://127.0.0.1:3000' }, (error) => { throw error; });
console.log(isShownByParent);
process.disconnect?.();
`,
);
// Replaces the systemd-notify of the system, and records its arguments.
writeFileSync(
  join(folder, 'systemd-notify'),
  `#!/bin/sh\necho "$NOTIFY_SOCKET $*" > ${folder}/notified\n`,
  { mode: 0o755 },
);

test.each([
  ['spec-first dev', { SPEC_FIRST_DEV: 'true' }, 'true\n'],
  ['another program', { NODE_ENV: 'development' }, 'false\n'],
])('the parent %s gets two messages', async (_parent, variables, isShown) => {
  const child = fork(program, { env: { ...ENVIRONMENT, ...variables }, silent: true });
  const messages: unknown[] = [];
  child.on('message', (message) => messages.push(message));
  let output = '';
  child.stdout?.on('data', (chunk) => {
    output += chunk;
  });
  await once(child, 'close');
  expect(messages).toEqual(['ready', { started: { url: 'http://127.0.0.1:3000' } }]);
  expect(output).toBe(isShown);
});

test('a message to systemd that cannot be sent is an error', () => {
  const env = { ...ENVIRONMENT, NOTIFY_SOCKET: '/run/n', PATH: join(folder, 'none') };
  const { status, stderr } = spawnSync(process.execPath, [program], { env, encoding: 'utf8' });
  expect([status, stderr]).toEqual([1, expect.stringContaining('spawn systemd-notify ENOENT')]);
});

test.each([
  [{ WATCHDOG_USEC: '30000000', WATCHDOG_PID: '7' }, 15_000],
  [{ WATCHDOG_USEC: '30000000', WATCHDOG_PID: '8' }, undefined],
  [{}, undefined],
])('with %j, process 7 notifies the watchdog each %p ms', (env, interval) => {
  expect(watchdogInterval(env, 7)).toBe(interval);
});
