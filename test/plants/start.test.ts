import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ENVIRONMENT } from 'test-support/environment';
import { eventually } from 'test-support/eventually';
import { startIssuer } from 'test-support/issuer';
import {
  endAll,
  FAULTY,
  type Launched,
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

/** Starts the service on a terminal, stops it with Ctrl-C, and returns the output. */
async function onTerminal(
  env: Record<string, string>,
  then: (output: string, waitFor: (pattern: RegExp) => Promise<void>) => Promise<void>,
): Promise<string> {
  const { spawn } = await import('node:child_process');
  // `script` can lose the last output of its command, so the command ends when the test has read it.
  const end = 'the service has ended';
  const command = `trap : INT; ${process.execPath} ${MAIN}; echo ${end}; read line`;
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    cwd: PROJECT,
    env: {
      ...ENVIRONMENT,
      TERM: 'xterm-256color',
      PORT: '0',
      DATABASE_URL: 'sqlite::memory:',
      ACCESS_TOKENS: '',
      ...env,
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let output = '';
  const exit = new Promise<void>((resolve) => child.once('close', () => resolve()));
  await new Promise<void>((resolve) => {
    child.stdout.on('data', (chunk) => {
      output += chunk;
      const hasStarted = /-d '.*'\s*$/.test(stripVTControlCharacters(output));
      if (hasStarted || output.includes(end)) resolve();
    });
    exit.then(resolve);
  });
  await then(output, (pattern) => eventually(() => pattern.test(output)));
  child.stdin.write('\x03');
  await eventually(() => output.includes(end));
  child.stdin.write('\n');
  await exit;
  return output.slice(0, output.indexOf(end)).replaceAll('\r\n', '\n');
}

describe('a service without configuration', () => {
  const program = `process.kill(process.pid, 'SIGHUP');
    process.on('exit', () => process.stderr.write(process.moduleLoadList.filter((name) => name.includes('undici')).join()));
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

  test('stops on SIGTERM, and has loaded no HTTP client', async () => {
    service.child.kill('SIGTERM');
    expect(await service.exit).toBe(0);
    const messages = service.lines().map(({ msg }) => msg);
    // The early SIGHUP may be handled after the start.
    expect(messages.filter((msg) => !String(msg).startsWith('SIGHUP'))).toEqual([
      'listening',
      'answered',
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
    service = launch(env, { cwd: folder, flags });
    url = await service.url;
  });

  const reloaded = (accepted: number) => service.line((line) => line.accepted === accepted);

  test('reads the variables of the file, and the environment overrides them', async () => {
    expect(await post(url, plant, 'token-2')).toBe(200);
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

  test('switches the log level to debug on SIGUSR2, and back', async () => {
    const probe = () => fetch(`${url}/healthz`);
    await probe();
    service.child.kill('SIGUSR2');
    await service.line(({ logLevel }) => logLevel === 'debug');
    await probe();
    service.child.kill('SIGUSR2');
    await service.line(({ logLevel }) => logLevel === 'info');
    await probe();
    const probes = () => service.lines().filter(({ path }) => path === '/healthz');
    await eventually(() => probes().length > 0);
    expect(probes()).toMatchObject([{ level: 20 }]);
  });

  test('logs the reason of each rejected request, but no value of a client and no token', async () => {
    const send = async (body: string, query = '') => {
      const headers = { Authorization: 'Bearer token-1', 'Content-Type': 'application/json' };
      const sent = { method: 'POST', headers, body };
      return (await fetch(`${url}/plants${query}`, sent)).status;
    };
    expect(await send('{')).toBe(400);
    expect(await send('{"id":"987654321098"}')).toBe(400);
    expect(await send(JSON.stringify(plant), '?secret')).toBe(400);
    expect(await send('{"id":1,"name":"\\ud800"}')).toBe(400);
    service.child.kill('SIGTERM');
    expect(await service.exit).toBe(0);
    const rejected = service.lines().filter(({ status }) => status === 400);
    expect(rejected.map(({ reason }) => reason)).toEqual([
      'the body must be JSON (invalid at line 1, column 2)',
      'the request does not match the document',
      'the request does not match the document',
      '/body/name must not contain a lone surrogate, which UTF-8 cannot encode',
    ]);
    expect(service.stdout()).not.toMatch(/987654321098|secret|token-\d/);
    expect(service.lines().find(({ msg }) => msg === 'listening')).not.toHaveProperty('example');
  });
});

describe('a service whose dependencies fail', () => {
  let service: Launched;
  afterAll(() => expect(service.stdout() + service.stderr()).not.toContain('token-of-the-tests'));

  test('logs an outage with its reason and without a stack', async () => {
    const database = join(folder, 'away.db');
    const issuer = await startIssuer();
    const signed = await issuer.sign();
    await issuer.down();
    const env = {
      ACCESS_TOKENS: 'token-of-the-tests',
      DATABASE_URL: `sqlite:${database}`,
      JWKS_URL: String(issuer.jwksUrl),
      LOG_LEVEL: 'trace',
    };
    service = launch(env, { flags: FAULTY });
    const url = await service.url;
    const add = (token: string) => post(url, { id: 1, name: 'Fern' }, token);
    expect(await add(signed)).toBe(503);
    // Ends the first outage: only the first failure of an outage is logged as an error.
    expect(await add('token-of-the-tests')).toBe(200);
    rmSync(database);
    expect(await add('token-of-the-tests')).toBe(503);
    const outages = () => service.lines().filter(({ status }) => status === 503);
    await eventually(() => outages().length === 2);
    expect(outages()).toMatchObject([
      { level: 50, err: { message: expect.stringMatching(/ECONNREFUSED$/) } },
      { level: 50, err: { type: 'Unavailable', message: expect.stringContaining('away.db') } },
    ]);
    expect(service.stdout()).not.toContain('"stack"');
  });

  test('logs an uncaught error, and exits with 1', async () => {
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
});

(has('script') ? describe : describe.skip)('on a terminal (needs script)', () => {
  test('the start prints text with an example command that works, and Ctrl-C stops the service', async () => {
    let answer: unknown;
    const output = await onTerminal({}, async (text, waitFor) => {
      answer = await runLine(/curl .*'/.exec(stripVTControlCharacters(text))?.[0] ?? '');
      // Ctrl-C discards output that the terminal has not printed.
      await waitFor(/answered.*createPlant.*\n/s);
    });
    const words = stripVTControlCharacters(output);
    expect(output).not.toBe(words);
    expect(words).toMatch(
      /^\n {2}listening {3}http:\/\/127\.0\.0\.1:(\d+)\n {2}page {8}http:\/\/127\.0\.0\.1:\1\/docs\n {2}store {7}sqlite::memory:\n {2}operations {2}1\n {2}token {7}[\w-]{43}\n\n/,
    );
    expect(words).toContain('Set ACCESS_TOKENS to keep one.');
    expect(answer).toEqual({ name: 'Monstera deliciosa', tag: 'climber' });
    expect(words).toMatch(
      /INFO: answered .*createPlant.*\n.*INFO: stopping .*\n.*INFO: stopped\n$/s,
    );
    expect(words).not.toContain('"level"');
  });

  test('the token is shown even with LOG_LEVEL=silent, and NO_COLOR removes colours', async () => {
    const env = { LOG_LEVEL: 'silent', NO_COLOR: '1' };
    const output = await onTerminal(env, async () => undefined);
    expect(output).toBe(stripVTControlCharacters(output));
    expect(output).toMatch(/token {7}[\w-]{43}\n/);
  });
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
      'MAX_WAITING must be an integer from 1 to 1000000, got "many"',
    );
  });

  test('an old version of Node', async () => {
    const older = 'Object.defineProperty(process.versions, "node", { value: "22.18.0" })';
    const flags = ['--import', `data:text/javascript,${older}`];
    expect(await reasonOf(launch({}, { flags }))).toMatch(
      /^Node must be 24 or newer, got v[\d.]+: use npm start$/,
    );
  });

  test('a LOG_LEVEL that hides the generated token', async () => {
    expect(await reasonOf(launch({ LOG_LEVEL: 'warn' }))).toBe(
      'ACCESS_TOKENS must be set with LOG_LEVEL=warn: the generated token would not be logged',
    );
  });

  test('an unknown flag', async () => {
    expect(await reasonOf(launch({}, { args: ['--prot=1'] }))).toBe(
      "Unknown option '--prot': see --help",
    );
    expect(await reasonOf(launch({}, { args: ['now'] }))).toBe(
      "Unexpected argument 'now': see --help",
    );
  });

  test('an operation without a handler, with its place', async () => {
    const document = file(
      'other.yaml',
      `openapi: 3.1.0
info: { title: Other, version: 1.0.0 }
paths:
  /things:
    get:
      operationId: listThings
      responses: { '200': { description: Things } }
`,
    );
    expect(await reasonOf(launch({ OPENAPI_FILE: document }))).toContain(
      `${document}:5:5 operation listThings has no handler: run npm run stub -- listThings`,
    );
  });

  test('--check and an operation that cannot be served', async () => {
    const document = file(
      'broken-operation.yaml',
      `openapi: 3.1.0
info: { title: Broken, version: 1.0.0 }
paths:
  /things:
    get:
      operationId: listThings
      responses:
        '200':
          description: Things
          content: { application/json: { schema: { $ref: '#/components/schemas/Thing' } } }
`,
    );
    const service = launch({ OPENAPI_FILE: document }, { args: ['--check'] });
    expect(await reasonOf(service)).toMatch(/broken-operation\.yaml:10:\d+ /);
  });
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

describe('with --disallow-code-generation-from-strings', () => {
  const flags = ['--disallow-code-generation-from-strings'];

  test('the plant store stores plants and rejects others', async () => {
    const service = launch({ ACCESS_TOKENS: 'token' }, { flags });
    const url = await service.url;
    expect(await post(url, { id: 1, name: 'Fern' })).toBe(200);
    expect(await post(url, { id: 'one' })).toBe(400);
    service.child.kill('SIGTERM');
    expect(await service.exit).toBe(0);
  });
});
