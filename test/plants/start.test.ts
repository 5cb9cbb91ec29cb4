import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { SERVER_VARIABLES } from '../../packages/spec-first-server/src/process/configuration.ts';
import { variables } from '../../src/plants.ts';
import { ENVIRONMENT } from '../support/environment.ts';
import { eventually } from '../support/eventually.ts';
import { startIssuer } from '../support/issuer.ts';
import { endAll, FAULTY, launch, MAIN, PROJECT, post, postAlmost, whileStarting } from '../support/launch.ts';
import { plantsIn } from './support/plant-service.ts';

const folder = mkdtempSync(join(tmpdir(), 'plants-start-'));
/** The service without a store, as several workers can run it. */
const STORELESS = join(PROJECT, 'test/plants/support/storeless.ts');

afterEach(endAll);
afterAll(() => rmSync(folder, { recursive: true }));

const file = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};

const has = (command: string): boolean => spawnSync(command, ['--version']).status === 0;

/** What a shell prints for a line; without curl, what Node makes of the same request. */
async function runLine(line: string): Promise<unknown> {
  if (has('curl')) return JSON.parse(spawnSync('sh', ['-c', line], { encoding: 'utf8' }).stdout);
  const [, url = '', authorization = '', body = ''] =
    /^curl (\S+) -H "Authorization: ([^"]+)" -H 'Content-Type: application\/json' -d '([^']+)'$/.exec(line) ?? [];
  const headers = { Authorization: authorization, 'Content-Type': 'application/json' };
  return (await fetch(url, { method: 'POST', headers, body })).json();
}

/** Starts the service on a terminal, stops it with Ctrl-C, and returns what the terminal showed. */
async function onTerminal(
  env: Record<string, string>,
  then: (shown: string, shows: (pattern: RegExp) => Promise<void>) => Promise<void>,
): Promise<string> {
  const { spawn } = await import('node:child_process');
  // What is written right before the end of the command can be lost in script itself.
  const command = `trap : INT; ${process.execPath} ${MAIN}; sleep 0.3`;
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
  let shown = '';
  const exit = new Promise<void>((resolve) => child.once('close', () => resolve()));
  await new Promise<void>((resolve) => {
    child.stdout.on('data', (chunk) => {
      shown += chunk;
      if (/-d '.*'\s*$/.test(stripVTControlCharacters(shown))) resolve();
    });
    exit.then(resolve);
  });
  await then(shown, (pattern) => eventually(() => pattern.test(shown)));
  child.stdin.write('\x03');
  await exit;
  return shown.replaceAll('\r\n', '\n');
}

describe('without a terminal', () => {
  test('the start tells all in one JSON line, whose example works when pasted', async () => {
    const service = launch({ ACCESS_TOKENS: '' });
    const url = await service.url;
    const [first, ...others] = service.lines();
    expect(others).toEqual([]);
    expect(first).toEqual({
      level: 30,
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      service: 'openapi-plant-store',
      version: '1.0.0',
      pid: service.pid,
      versions: expect.stringMatching(/^openapi-plant-store 1\.0\.0 \(spec-first-server [\d.]+, Node [\d.]+\)$/),
      msg: 'listening',
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      store: 'sqlite::memory:',
      docs: `${url}/docs`,
      operations: ['POST /plants'],
      missing: [],
      token: expect.stringMatching(/^[\w-]{43}$/),
      example: expect.stringContaining(`curl ${url}/plants -H "Authorization: Bearer ${first?.token}" `),
    });
    expect(await runLine(String(first?.example))).toEqual({ name: 'Monstera deliciosa', tag: 'climber' });
    service.child.kill('SIGTERM');
    expect(await service.exit).toBe(0);
    expect(service.lines().map(({ msg }) => msg)).toEqual(['listening', 'answered', 'stopping', 'stopped']);
    expect(service.stderr()).toBe('');
  });

  test('a token that was configured is told to no one', async () => {
    const service = launch({ ACCESS_TOKENS: 'configured-token', LOG_LEVEL: 'trace' });
    expect(await post(await service.url, { id: 1, name: 'Fern' }, 'configured-token')).toBe(200);
    service.child.kill('SIGTERM');
    await service.exit;
    expect(service.stdout() + service.stderr()).not.toContain('configured-token');
    expect(service.lines()[0]).not.toHaveProperty('example');
  });

  test('a variable may come from a file .env, which the environment overrules', async () => {
    // As an editor on Windows writes it, with a byte order mark.
    file('.env', '\uFEFFACCESS_TOKENS="token-of-the-file"\r\nPORT=wrong\r\nOPENAPI_FILE=missing.yaml\r\n');
    const env = { OPENAPI_FILE: join(PROJECT, 'openapi.yaml') };
    const service = launch(env, { cwd: folder });
    expect(await post(await service.url, { id: 1, name: 'Fern' }, 'token-of-the-file')).toBe(200);
  });
});

(has('script') ? describe : describe.skip)('on a terminal', () => {
  test('the start is told in words, whose example works when pasted, and Ctrl-C stops it', async () => {
    let answer: unknown;
    const shown = await onTerminal({}, async (text, shows) => {
      answer = await runLine(/curl .*'/.exec(stripVTControlCharacters(text))?.[0] ?? '');
      // With Ctrl-C, a terminal forgets what it has not shown yet.
      await shows(/answered/);
    });
    const words = stripVTControlCharacters(shown);
    expect(shown).not.toBe(words);
    expect(words).toMatch(
      /^\n {2}listening {3}http:\/\/127\.0\.0\.1:(\d+)\n {2}page {8}http:\/\/127\.0\.0\.1:\1\/docs\n {2}store {7}sqlite::memory:\n {2}operations {2}POST \/plants\n {2}token {7}[\w-]{43}\n\n/,
    );
    expect(words).toContain('set ACCESS_TOKENS to one that stays');
    expect(answer).toEqual({ name: 'Monstera deliciosa', tag: 'climber' });
    expect(words).toMatch(/INFO: answered .*createPlant.*\n.*INFO: stopping .*\n.*INFO: stopped\n$/s);
    expect(words).not.toContain('"level"');
  });

  test('the token is shown whatever LOG_LEVEL hides', async () => {
    const shown = await onTerminal({ LOG_LEVEL: 'silent' }, async () => undefined);
    expect(stripVTControlCharacters(shown)).toMatch(/token {7}[\w-]{43}\n/);
  });

  test('a token of the user stands as $TOKEN in the example, and NO_COLOR takes the colours away', async () => {
    const words = await onTerminal({ ACCESS_TOKENS: 'token-of-the-user', NO_COLOR: '1' }, async () => undefined);
    expect(words).toBe(stripVTControlCharacters(words));
    expect(words).toMatch(
      /Try it:\n\n {2}curl http:\/\/127\.0\.0\.1:\d+\/plants -H "Authorization: Bearer \$TOKEN" -H /,
    );
    expect(words).not.toContain('token-of-the-user');
  });
});

test('--version tells the versions of the project, its runtime and Node', async () => {
  const service = launch({}, { args: ['--version'] });
  expect(await service.exit).toBe(0);
  expect(service.stdout()).toMatch(/^openapi-plant-store 1\.0\.0 \(spec-first-server [\d.]+, Node [\d.]+\)\n$/);
});

describe('a start that fails ends with 1 and says on standard error alone', () => {
  const block = async (service: ReturnType<typeof launch>) => {
    const code = await service.exit;
    const { level, msg, reason } = JSON.parse(service.stderr());
    expect({ level, msg }).toEqual({ level: 60, msg: 'the service cannot start' });
    return {
      code,
      stdout: service.stdout(),
      stderr: `The service cannot start.\n\n${reason.replace(/^(?=.)/gm, '  ')}\n`,
    };
  };
  const startError = (message: string) => ({
    code: 1,
    stdout: '',
    stderr: `The service cannot start.\n\n  ${message}\n`,
  });

  test('which variable is wrong', async () => {
    expect(await block(launch({ PORT: '99999' }))).toEqual(
      startError('PORT is "99999", but must be an integer from 0 to 65535'),
    );
  });

  test('that a value of the file .env is wrong', async () => {
    const cwd = mkdtempSync(join(folder, 'wrong-'));
    writeFileSync(join(cwd, '.env'), 'PORT=4000\nMAX_WAITING=many\n');
    expect(await block(launch({}, { cwd }))).toEqual(
      startError('MAX_WAITING is "many", but must be an integer from 1 to 1000000'),
    );
  });

  test('that Node is too old', async () => {
    const older = 'Object.defineProperty(process.versions, "node", { value: "22.18.0" })';
    const { code, stderr } = await block(launch({}, { flags: ['--import', `data:text/javascript,${older}`] }));
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^ {2}It needs Node 24 or newer, but runs on v[\d.]+: use npm start$/m),
    });
  });

  test('that several workers cannot use SQLite, and what can', async () => {
    expect(await block(launch({ WORKERS: '2', DATABASE_URL: 'sqlite:plants.db' }))).toEqual(
      startError(
        'WORKERS is 2, but must be 1 with SQLite: several processes on one file serve fewer requests than one. ' +
          'Set DATABASE_URL to a PostgreSQL database for several processes',
      ),
    );
  });

  test('that production needs credentials', async () => {
    expect(await block(launch({ NODE_ENV: 'production', ACCESS_TOKENS: '' }))).toEqual(
      startError(
        'ACCESS_TOKENS is not set, but with NODE_ENV=production it must be, or ACCESS_TOKENS_FILE or JWKS_URL',
      ),
    );
  });

  test.each(['warn'])('that LOG_LEVEL=%s would hide the token of this run', async (level) => {
    expect(await block(launch({ LOG_LEVEL: level }))).toEqual(
      startError(
        `ACCESS_TOKENS is not set, but with LOG_LEVEL=${level} it must be: the token that is made for this run would not be logged`,
      ),
    );
  });

  test('that a file .env cannot be read', async () => {
    const cwd = mkdtempSync(join(folder, 'unreadable-'));
    mkdirSync(join(cwd, '.env'));
    expect(await block(launch({}, { cwd }))).toEqual(startError('.env cannot be read (EISDIR)'));
  });

  test('where the document is wrong, each place on a line', async () => {
    const document = file(
      'wrong.yaml',
      [
        'openapi: 3.1.0',
        'info: { title: Wrong, version: 1.0.0 }',
        'paths:',
        '  /things:',
        '    get:',
        '      operationId: listThings',
        "      responses: { '200': { description: Things } }",
        '    post:',
        '      operationId: addThing',
        "      responses: { '200': { description: A thing } }",
        '',
      ].join('\n'),
    );
    const { code, stdout, stderr } = await block(launch({ OPENAPI_FILE: document }));
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    const [heading, empty, ...places] = stderr.trimEnd().split('\n');
    expect([heading, empty]).toEqual(['The service cannot start.', '']);
    expect(places).toEqual(
      expect.arrayContaining([
        `  ${document}:5:5 operation listThings has no handler: run npm run stub -- listThings`,
        `  ${document}:8:5 operation addThing has no handler: run npm run stub -- addThing`,
      ]),
    );
    for (const place of places) expect(place).toMatch(/^ {2}\S+:\d+:\d+ /);
  });

  test('which flag is unknown', async () => {
    expect(await block(launch({}, { args: ['--prot=1'] }))).toEqual(
      startError("Unknown option '--prot': --help shows all"),
    );
    expect(await block(launch({}, { args: ['now'] }))).toEqual(
      startError("Unexpected argument 'now': --help shows all"),
    );
  });

  describe('whose port is taken', () => {
    const taken = createServer();
    let port = 0;
    beforeAll(async () => {
      await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
      const address = taken.address();
      port = typeof address === 'object' && address !== null ? address.port : 0;
    });
    afterAll(() => void taken.close());

    test('and which variable sets another', async () => {
      expect(await block(launch({ METRICS_PORT: String(port) }))).toEqual(
        startError(
          `listen EADDRINUSE: address already in use 127.0.0.1:${port}: set METRICS_PORT to another port, or HOST to another address`,
        ),
      );
    });

    test('and with --stack where in the code', async () => {
      const { stderr } = await block(launch({ PORT: String(port) }, { args: ['--stack'] }));
      expect(stderr).toMatch(/address already in use.*\n\s+at .*configuration\.ts:\d+/s);
    });
  });
});

test('--help tells every variable, and starts nothing', async () => {
  const service = launch({ PORT: 'wrong' }, { args: ['--help'] });
  expect(await service.exit).toBe(0);
  for (const [name, { default: preset, description }] of Object.entries({ ...SERVER_VARIABLES, ...variables })) {
    expect(service.stdout()).toMatch(new RegExp(`^  ${name} `, 'm'));
    expect(service.stdout()).toContain(description);
    expect(service.stdout()).toContain(preset);
  }
  expect(service.stderr()).toBe('');
});

describe('a stop', () => {
  test('finishes what is in flight, and what it answers is on disk', async () => {
    const database = join(folder, 'stop.db');
    const service = launch({ ACCESS_TOKENS: 'token', DATABASE_URL: `sqlite:${database}` });
    const url = await service.url;
    const finish = await postAlmost(url, { id: 7, name: 'Fern' });
    service.child.kill('SIGTERM');
    while (
      await fetch(`${url}/healthz`).then(
        () => true,
        () => false,
      )
    );
    expect(await finish()).toMatch(/^HTTP\/1\.1 200 /);
    expect(await service.exit).toBe(0);
    expect(service.lines().filter(({ level }) => Number(level) > 30)).toEqual([]);
    expect(plantsIn(database)).toEqual(new Map([[7n, { name: 'Fern', tag: null }]]));
  });

  test('by two signals within a second, as npm and a terminal send them, ends as by one', async () => {
    const service = launch({ ACCESS_TOKENS: 'token' });
    await service.url;
    service.child.kill('SIGTERM');
    service.child.kill('SIGINT');
    expect(await service.exit).toBe(0);
    expect(service.lines().at(-1)).toMatchObject({ level: 30, msg: 'stopped' });
  });

  test('lets readiness fall and serves on, until a second signal after a second ends it at once', async () => {
    const service = launch({ ACCESS_TOKENS: 'token', DRAIN_SECONDS: '60' });
    const url = await service.url;
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    service.child.kill('SIGTERM');
    await eventually(async () => (await fetch(`${url}/readyz`)).status === 503);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    expect(await post(url, { id: 1, name: 'Fern' })).toBe(200);
    expect(await service.line(({ msg }) => msg === 'stopping')).toMatchObject({ level: 30, drainSeconds: 60 });
    await delay(1_100);
    service.child.kill('SIGTERM');
    expect(await service.exit).toBe(1);
    expect(service.lines().at(-1)).toMatchObject({
      level: 40,
      msg: 'a second signal: aborting in-flight requests',
    });
  });
});

test('a start that answers a request loads no HTTP client', async () => {
  const atExit = 'process.stderr.write(process.moduleLoadList.filter((name) => name.includes("undici")).join())';
  const flags = ['--import', `data:text/javascript,process.on("exit", () => ${atExit})`];
  const service = launch({ ACCESS_TOKENS: 'token' }, { flags });
  expect(await post(await service.url, { id: 1, name: 'Fern' })).toBe(200);
  service.child.kill('SIGTERM');
  expect(await service.exit).toBe(0);
  expect(service.stderr()).toBe('');
});

test('the service stops when npm, which started it, is ended', async () => {
  const service = launch({ ACCESS_TOKENS: 'token' }, { node: 'npm', flags: ['--silent'], main: 'start' });
  expect(await post(await service.url, { id: 1, name: 'Fern' })).toBe(200);
  service.child.kill('SIGTERM');
  // Its output ends with the last process that has it.
  await service.exit;
  expect(service.lines().at(-1)).toMatchObject({ msg: 'stopped' });
});

test('a stop while it starts is not a failure', async () => {
  const service = launch({}, { flags: whileStarting('process.kill(process.pid, "SIGTERM")') });
  expect(await service.exit).toBe(0);
  expect(service.stdout()).toBe('');
  expect(service.stderr()).toBe('');
});

test.each([
  ['1', 'process.kill(process.pid, "SIGHUP")'],
  ['2', 'process.kill(process.ppid, "SIGHUP")'],
])('SIGHUP while it starts reads the tokens again once it serves, with WORKERS=%s', async (workers, hangUp) => {
  const env = { ACCESS_TOKENS_FILE: file('early-tokens', 'token\n'), WORKERS: workers };
  const service = launch(env, { flags: whileStarting(hangUp), main: STORELESS });
  expect(await post(await service.url, { id: 1, name: 'Fern' })).toBe(200);
  expect(await service.line(({ msg }) => msg === 'access tokens read again')).toMatchObject({ accepted: 1 });
});

test('a fault that nothing catches is logged, and ends the process with 1', async () => {
  const service = launch({}, { flags: FAULTY });
  await service.url;
  service.child.kill('SIGUSR2');
  expect(await service.exit).toBe(1);
  const last = service.lines().at(-1);
  expect(last).toEqual({
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
    msg: 'the service failed and ends',
  });
  expect(service.stderr()).toBe('');
});

test('the log tells why requests are rejected, without what clients sent', async () => {
  const service = launch({ ACCESS_TOKENS: 'token' });
  const url = await service.url;
  const send = (body: string, query = '') =>
    fetch(`${url}/plants${query}`, {
      method: 'POST',
      headers: { Authorization: 'Bearer token', 'Content-Type': 'application/json' },
      body,
    });
  const plant = '{"id":12345,"name":"Fern"}';
  expect((await send(plant)).status).toBe(200);
  for (const answer of [send('{'), send('{"id":"12345"}'), send(plant, '?secret'), send('{"id":1,"name":"\\ud800"}')]) {
    expect((await answer).status).toBe(400);
  }
  service.child.kill('SIGTERM');
  await service.exit;
  const rejected = service.lines().filter(({ status }) => status === 400);
  expect(rejected.map(({ reason }) => reason).sort()).toEqual([
    '/body/name must not hold a lone surrogate, which UTF-8 cannot hold',
    'the body must be JSON',
    'the request is not as the document declares',
    'the request is not as the document declares',
  ]);
  expect(service.stdout()).not.toMatch(/12345|secret/);
});

test('what is away is logged with its reason, and without places in the code', async () => {
  const database = join(folder, 'away.db');
  const issuer = await startIssuer();
  const signed = await issuer.sign();
  await issuer.down();
  const service = launch({
    ACCESS_TOKENS: 'token',
    DATABASE_URL: `sqlite:${database}`,
    JWKS_URL: String(issuer.jwksUrl),
  });
  const url = await service.url;
  expect(await post(url, { id: 1, name: 'Fern' }, signed)).toBe(503);
  // Between two outages: only the first failure of each is logged as an error.
  expect(await post(url, { id: 1, name: 'Fern' })).toBe(200);
  rmSync(database);
  expect(await post(url, { id: 1, name: 'Fern' })).toBe(503);
  service.child.kill('SIGTERM');
  await service.exit;
  const failed = service.lines().filter(({ status }) => status === 503);
  expect(failed).toMatchObject([
    { level: 50, err: { message: expect.stringMatching(/ECONNREFUSED$/) } },
    { level: 50, err: { type: 'Unavailable', message: expect.stringContaining('away.db') } },
  ]);
  expect(service.stdout()).not.toContain('"stack"');
});

test('SIGHUP reads the file of tokens again: tokens that are gone are rejected; a wrong file changes nothing', async () => {
  const tokens = file('tokens', 'first\nsecond\n');
  const service = launch({ ACCESS_TOKENS: '', ACCESS_TOKENS_FILE: tokens });
  const url = await service.url;
  const plant = { id: 1, name: 'Fern' };
  expect(await post(url, plant, 'second')).toBe(200);

  writeFileSync(tokens, 'first\n');
  service.child.kill('SIGHUP');
  expect(await service.line(({ msg }) => msg === 'access tokens read again')).toMatchObject({ accepted: 1 });
  expect(await post(url, plant, 'second')).toBe(401);
  expect(await post(url, plant, 'first')).toBe(200);

  writeFileSync(tokens, 'secret token\n');
  service.child.kill('SIGHUP');
  const kept = await service.line(({ msg }) => msg === 'reload failed; keeping the previous tokens');
  expect(kept).toMatchObject({ level: 50, err: { message: expect.stringMatching(/^ACCESS_TOKENS_FILE: line 1 is /) } });
  expect(await post(url, plant, 'first')).toBe(200);
  expect(service.stdout()).not.toMatch(/secret token|second/);
});
