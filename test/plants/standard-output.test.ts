import { spawnSync } from 'node:child_process';
import {
  closeSync,
  constants,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from '@jest/globals';
import autocannon from 'autocannon';
import { eventually } from 'test-support/eventually';
import { freePort } from 'test-support/free-port';
import { exchange, request } from 'test-support/raw-http';
import { endAll, FAULTY, launch, post } from '../support/launch.ts';

const folder = mkdtempSync(join(tmpdir(), 'plants-output-'));
const main = join(import.meta.dirname, 'support/storeless.ts');
const pipes: number[] = [];
afterEach(endAll);
afterAll(() => {
  for (const pipe of pipes) closeSync(pipe);
  rmSync(folder, { recursive: true });
});

/** Adds enough plants for several writes of the log. */
async function postMany(url: string): Promise<void> {
  const ids = Array.from({ length: 60 }, (_, id) => id);
  const statuses = await Promise.all(ids.map((id) => post(url, { id, name: 'Fern' })));
  expect(new Set(statuses)).toEqual(new Set([200]));
}

function readAll(pipe: number): string {
  const chunk = Buffer.alloc(65_536);
  let text = '';
  try {
    for (;;) text += chunk.toString('utf8', 0, readSync(pipe, chunk));
  } catch {
    return text;
  }
}

function fill(pipe: number): void {
  for (const bytes of [4096, 1]) {
    expect(() => {
      for (;;) writeSync(pipe, Buffer.alloc(bytes, ' '));
    }).toThrow('EAGAIN');
  }
}

/** Starts the service with its log in a pipe, and fills the pipe when the service listens. */
async function launchStalled(env: Readonly<Record<string, string>> = {}) {
  const path = join(folder, `pipe-${pipes.length}`);
  spawnSync('mkfifo', [path]);
  const reader = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  const writer = openSync(path, 'w');
  pipes.push(reader, writer);
  const service = launch(
    { ACCESS_TOKENS: 'token', ...env },
    { main, flags: FAULTY, stdio: ['ignore', writer, 'pipe'] },
  );
  let text = '';
  await eventually(() => {
    text += readAll(reader);
    return text.endsWith('"listening"}\n');
  });
  fill(reader);
  const url = String(JSON.parse(text).url);
  await postMany(url);
  return { service, url, reader };
}

(existsSync('/dev/full') ? test : test.skip)(
  'a full disk under the log blocks neither requests nor a stop (needs /dev/full)',
  async () => {
    const port = await freePort();
    const full = openSync('/dev/full', 'w');
    const service = launch(
      { ACCESS_TOKENS: 'token', PORT: String(port) },
      { stdio: ['ignore', full, 'pipe'] },
    );
    closeSync(full);
    const url = `http://127.0.0.1:${port}`;
    await eventually(async () => (await fetch(`${url}/healthz`)).ok);
    await postMany(url);
    service.child.kill('SIGTERM');
    expect(await service.exit).toBe(0);
    expect(service.stderr()).toBe('');
  },
);

test('a log into a file has a line for each request of many connections', async () => {
  const path = join(folder, 'log');
  const output = openSync(path, 'w');
  const env = { ACCESS_TOKENS: 'token' };
  const port = await freePort();
  const service = launch(
    { ...env, PORT: String(port) },
    { main, stdio: ['ignore', output, 'pipe'] },
  );
  closeSync(output);
  const url = `http://127.0.0.1:${port}`;
  await eventually(async () => (await fetch(`${url}/readyz`)).ok);
  const amount = Number(process.env.LOGGED_REQUESTS ?? 500);
  const body = JSON.stringify({ id: 1, name: 'Fern' });
  const headers = { Authorization: 'Bearer token', 'Content-Type': 'application/json' };
  const result = await autocannon({
    url: `${url}/plants`,
    method: 'POST',
    connections: 100,
    amount,
    headers,
    body,
    timeout: 60,
  });
  service.child.kill('SIGTERM');
  expect(await service.exit).toBe(0);
  const lines = readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines.filter(({ msg }) => /lost/.test(msg))).toEqual([]);
  expect(lines.filter(({ operationId }) => operationId === 'createPlant')).toHaveLength(
    result['2xx'],
  );
  expect(result['2xx']).toBe(amount);
});

const withPipes = spawnSync('mkfifo', ['--version']).error === undefined ? describe : describe.skip;

withPipes('an unread log (needs mkfifo)', () => {
  test.each([
    ['a stop', 'SIGTERM', 0],
    ['an uncaught error', 'SIGUSR2', 1],
  ] as const)('does not change the exit code of %s', async (_event, signal, code) => {
    const { service } = await launchStalled();
    service.child.kill(signal);
    expect(await service.exit).toBe(code);
  });
});

withPipes('a log that is read late (needs mkfifo)', () => {
  test('continues with the number of lost lines', async () => {
    const { service, url, reader } = await launchStalled({ NODE_ENV: 'development' });
    const long = request(`GET /${'x'.repeat(15_000)}`);
    for (let batches = 0; batches < 24; batches += 1) {
      const { responses } = await exchange(Number(new URL(url).port), long.repeat(50), {
        responses: 50,
      });
      expect(responses).toHaveLength(50);
    }
    const texts: string[] = [];
    await eventually(() => {
      texts.push(readAll(reader));
      return texts.slice(-2).join('').includes(' were lost');
    });
    service.child.kill('SIGTERM');
    expect(await service.exit).toBe(0);
    const lines = [...texts, readAll(reader)]
      .join('')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const { lines: lostLines } = lines.find(({ msg }) => / were lost/.test(msg));
    const loggedLines = lines.filter(({ path }) => path?.startsWith('/xxx')).length;
    expect(lostLines).toBeGreaterThan(0);
    expect(loggedLines + lostLines).toBe(1200);
    expect(lines.at(-1)).toMatchObject({ msg: 'stopped' });
  });
});
