import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  endAll,
  FAULTY,
  type Launched,
  LOADING,
  launch,
  MAIN,
  PROJECT,
  post,
  START,
  whileStarting,
} from '../support/launch.ts';

const folder = mkdtempSync(join(tmpdir(), 'plants-start-'));

afterAll(async () => {
  await endAll();
  rmSync(folder, { recursive: true });
});

const file = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};

const has = (command: string): boolean => spawnSync(command, ['--version']).status === 0;

/** Runs a curl command. Without curl, sends the same request with fetch. */
async function runLine(line: string): Promise<unknown> {
  if (has('curl')) return JSON.parse(spawnSync('sh', ['-c', line], { encoding: 'utf8' }).stdout);
  const [, url = '', authorization = '', body = ''] =
    /^curl (\S+) -H "Authorization: ([^"]+)" -H 'Content-Type: application\/json' -d '([^']+)'$/.exec(
      line,
    ) ?? [];
  const headers = { Authorization: authorization, 'Content-Type': 'application/json' };
  return (await fetch(url, { method: 'POST', headers, body })).json();
}

describe('a service without configuration', () => {
  const program = `process.kill(process.pid, 'SIGHUP');
    process.on('exit', () => process.stderr.write(process.moduleLoadList.filter((name) => name.includes('undici')).join()));
    await import(${JSON.stringify(LOADING.at(-1))});
    await import(${JSON.stringify(MAIN)});`;
  let service: Launched;
  let url = '';

  // SIGHUP arrives before the code of the service is loaded, and must not end it.
  beforeAll(async () => {
    const main = file('early.mjs', program);
    service = launch({ ACCESS_TOKENS: '' }, { node: START, main });
    url = await service.url;
  });

  test('prints one JSON line at the start, and its example command works', async () => {
    const [first] = service.lines();
    expect(first).toEqual({
      level: 30,
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      service: 'openapi-plant-store',
      version: '1.0.0',
      pid: service.pid,
      versions: expect.stringMatching(
        /^openapi-plant-store 1\.0\.0 \(spec-first-server [\d.]+, Node [\d.]+\)$/,
      ),
      msg: 'listening',
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      store: 'sqlite::memory:',
      docs: `${url}/docs`,
      operations: ['POST /plants'],
      missing: [],
      token: expect.stringMatching(/^[\w-]{43}$/),
      example: expect.stringContaining(
        `curl ${url}/plants -H "Authorization: Bearer ${first?.token}" `,
      ),
    });
    expect(await runLine(String(first?.example))).toEqual({
      name: 'Monstera deliciosa',
      tag: 'climber',
    });
  });

  test('opens no debugger on SIGUSR1', async () => {
    service.child.kill('SIGUSR1');
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    expect(service.stderr()).toBe('');
  });

  test('stops on SIGTERM, and has loaded neither an HTTP client nor the metrics code', async () => {
    service.child.kill('SIGTERM');
    expect(await service.exit).toBe(0);
    const messages = service.lines().map(({ msg }) => msg);
    // The early SIGHUP may be handled after the start.
    expect(messages.filter((msg) => !String(msg).startsWith('SIGHUP'))).toEqual([
      'listening',
      'responded',
      'stopping',
      'stopped',
    ]);
    expect(service.stderr()).toBe('');
  });
});

describe('a service with a file .env and a file of tokens', () => {
  const plant = { id: 987654321098, name: 'Fern' };
  let service: Launched;
  let url = '';

  // SIGHUP arrives during the start, and reloads the tokens once the service is ready.
  beforeAll(async () => {
    // Editors on Windows may write a byte order mark and CRLF.
    const text = '\uFEFFACCESS_TOKENS_FILE="tokens"\r\nPORT=wrong\r\nOPENAPI_FILE=missing.yaml\r\n';
    file('.env', text);
    file('tokens', 'token-1\ntoken-2\n');
    const env = {
      OPENAPI_FILE: join(PROJECT, 'openapi.yaml'),
      POTR: '80',
      ACESS_TOKENS: 'secret',
    };
    const flags = whileStarting('process.kill(process.pid, "SIGHUP")');
    // The service needs no code generation.
    const strict = ['--disallow-code-generation-from-strings', ...flags];
    service = launch(env, { cwd: folder, flags: strict });
    url = await service.url;
  });

  const reloaded = (accepted: number) => service.line((line) => line.accepted === accepted);

  test('reads the variables of the file, and the environment overrides them', async () => {
    expect(await post(url, plant, 'token-2')).toBe(200);
    expect(await post(url, { id: 'one' }, 'token-2')).toBe(400);
  });

  test('logs a misspelt variable once, without its value', () => {
    expect(service.lines().filter(({ level }) => level === 40)).toMatchObject([
      { msg: 'POTR is not a variable of this service: use PORT' },
      { msg: 'ACESS_TOKENS is not a variable of this service: use ACCESS_TOKENS' },
    ]);
  });

  test('reloads the tokens on SIGHUP: removed tokens are rejected; an invalid file changes nothing', async () => {
    expect(await reloaded(2)).toMatchObject({ msg: 'access tokens read again' });
    file('tokens', 'token-1\n');
    service.child.kill('SIGHUP');
    await reloaded(1);
    expect(await post(url, plant, 'token-2')).toBe(401);
    expect(await post(url, plant, 'token-1')).toBe(200);

    file('tokens', 'secret token\n');
    service.child.kill('SIGHUP');
    const failure = await service.line(
      ({ msg }) => msg === 'reload failed; keeping the previous tokens',
    );
    expect(failure).toMatchObject({
      level: 50,
      err: { message: expect.stringMatching(/^ACCESS_TOKENS_FILE: line 1 must be /) },
    });
    expect(await post(url, plant, 'token-1')).toBe(200);
  });
});

test('an uncaught error is logged, and ends the service with 1', async () => {
  const service = launch({}, { flags: FAULTY });
  await service.url;
  service.child.kill('SIGUSR2');
  expect(await service.exit).toBe(1);
  expect(service.lines().at(-1)).toEqual({
    level: 60,
    time: expect.any(String),
    service: 'openapi-plant-store',
    version: '1.0.0',
    pid: service.pid,
    err: {
      type: 'Error',
      message: 'a fault',
      code: 'E_FAULT',
      stack: expect.stringMatching(/^Error: a fault\n\s+at /),
    },
    msg: 'uncaught exception; the process ends',
  });
  expect(service.stderr()).toBe('');
});

describe('the start exits with 1 and logs on standard error with', () => {
  const reasonOf = async (service: Launched) => {
    expect({ code: await service.exit, stdout: service.stdout() }).toEqual({ code: 1, stdout: '' });
    const { level, msg, reason } = JSON.parse(service.stderr());
    expect({ level, msg }).toEqual({ level: 60, msg: 'the service cannot start' });
    return reason;
  };

  test('a wrong variable of the file .env', async () => {
    const cwd = mkdtempSync(join(folder, 'wrong-'));
    writeFileSync(join(cwd, '.env'), 'PORT=4000\nMAX_WAITING=many\n');
    expect(await reasonOf(launch({}, { cwd }))).toBe(
      'MAX_WAITING must be an integer from 1 to 1000000, got a value that is not shown',
    );
  });
});

test('a start without npm on an older Node prints the required version', async () => {
  const older = 'Object.defineProperty(process.versions, "node", { value: "22.18.0" })';
  const service = launch({}, { flags: ['--import', `data:text/javascript,${older}`] });
  expect(await service.exit).toBe(1);
  expect(service.stderr()).toMatch(/^Node.js 24 or newer is required, but this is 22\.18\.0\./);
});

test('the service stops when its npm process gets SIGTERM', async () => {
  const service = launch(
    { ACCESS_TOKENS: 'token' },
    { node: 'npm', flags: ['--silent'], main: 'start' },
  );
  expect(await post(await service.url, { id: 1, name: 'Fern' })).toBe(200);
  service.child.kill('SIGTERM');
  // Resolves when no process has the output open.
  await service.exit;
  expect(service.lines().at(-1)).toMatchObject({ msg: 'stopped' });
});

test('a stop during the start exits with 0', async () => {
  const service = launch({}, { flags: whileStarting('process.kill(process.pid, "SIGTERM")') });
  expect(await service.exit).toBe(0);
  expect(service.stdout()).toBe('');
  expect(service.stderr()).toBe('');
});
