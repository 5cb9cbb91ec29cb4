import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { ENVIRONMENT } from 'test-support/environment';
import { eventually } from 'test-support/eventually';
import { startIssuer } from 'test-support/issuer';
import { SERVER_VARIABLES } from '../../packages/spec-first-server/src/serve/configuration.ts';
import { variables } from '../../src/plants.ts';
import {
  endAll,
  FAULTY,
  launch,
  MAIN,
  PROJECT,
  post,
  postAlmost,
  whileStarting,
} from '../support/launch.ts';
import { plantsIn } from './support/plant-service.ts';

const folder = mkdtempSync(join(tmpdir(), 'plants-start-'));

afterEach(endAll);
afterAll(() => rmSync(folder, { recursive: true }));

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

describe('without a terminal', () => {
  test('the start prints one JSON line, and its example command works', async () => {
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
    service.child.kill('SIGTERM');
    expect(await service.exit).toBe(0);
    expect(service.lines().map(({ msg }) => msg)).toEqual([
      'listening',
      'answered',
      'stopping',
      'stopped',
    ]);
    expect(service.stderr()).toBe('');
  });

  test('a configured token is not printed', async () => {
    const service = launch({ ACCESS_TOKENS: 'configured-token', LOG_LEVEL: 'trace' });
    expect(await post(await service.url, { id: 1, name: 'Fern' }, 'configured-token')).toBe(200);
    service.child.kill('SIGTERM');
    await service.exit;
    expect(service.stdout() + service.stderr()).not.toContain('configured-token');
    expect(service.lines()[0]).not.toHaveProperty('example');
  });

  test('variables are read from .env, and the environment overrides them', async () => {
    // Editors on Windows may write a byte order mark and CRLF.
    file(
      '.env',
      '\uFEFFACCESS_TOKENS="token-of-the-file"\r\nPORT=wrong\r\nOPENAPI_FILE=missing.yaml\r\n',
    );
    const env = { OPENAPI_FILE: join(PROJECT, 'openapi.yaml') };
    const service = launch(env, { cwd: folder });
    expect(await post(await service.url, { id: 1, name: 'Fern' }, 'token-of-the-file')).toBe(200);
  });
});

(has('script') ? describe : describe.skip)('on a terminal', () => {
  test('the start prints text with an example command that works, and Ctrl-C stops the service', async () => {
    let answer: unknown;
    const output = await onTerminal({}, async (text, waitFor) => {
      answer = await runLine(/curl .*'/.exec(stripVTControlCharacters(text))?.[0] ?? '');
      // Ctrl-C discards output that the terminal has not printed.
      await waitFor(/answered/);
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

  test('the token is shown at any LOG_LEVEL', async () => {
    const output = await onTerminal({ LOG_LEVEL: 'silent' }, async () => undefined);
    expect(stripVTControlCharacters(output)).toMatch(/token {7}[\w-]{43}\n/);
  });

  test('the example has $TOKEN instead of a configured token, and NO_COLOR removes colours', async () => {
    const words = await onTerminal(
      { ACCESS_TOKENS: 'token-of-the-user', NO_COLOR: '1' },
      async () => undefined,
    );
    expect(words).toBe(stripVTControlCharacters(words));
    expect(words).toMatch(
      /Try it:\n\n {2}curl http:\/\/127\.0\.0\.1:\d+\/plants -H "Authorization: Bearer \$TOKEN" -H /,
    );
    expect(words).not.toContain('token-of-the-user');
  });
});

test('--version prints the versions of the project, its runtime and Node', async () => {
  const service = launch({}, { args: ['--version'] });
  expect(await service.exit).toBe(0);
  expect(service.stdout()).toMatch(
    /^openapi-plant-store 1\.0\.0 \(spec-first-server [\d.]+, Node [\d.]+\)\n$/,
  );
});

describe('a failed start exits with 1 and logs on standard error', () => {
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

  test('a wrong variable', async () => {
    expect(await block(launch({ PORT: '99999' }))).toEqual(
      startError('PORT must be an integer from 0 to 65535, got "99999"'),
    );
  });

  test('a wrong variable of the file .env', async () => {
    const cwd = mkdtempSync(join(folder, 'wrong-'));
    writeFileSync(join(cwd, '.env'), 'PORT=4000\nMAX_WAITING=many\n');
    expect(await block(launch({}, { cwd }))).toEqual(
      startError('MAX_WAITING must be an integer from 1 to 1000000, got "many"'),
    );
  });

  test('an old version of Node', async () => {
    const older = 'Object.defineProperty(process.versions, "node", { value: "22.18.0" })';
    const { code, stderr } = await block(
      launch({}, { flags: ['--import', `data:text/javascript,${older}`] }),
    );
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^ {2}Node must be 24 or newer, got v[\d.]+: use npm start$/m),
    });
  });

  test('missing credentials in production', async () => {
    expect(await block(launch({ NODE_ENV: 'production', ACCESS_TOKENS: '' }))).toEqual(
      startError(
        'ACCESS_TOKENS, ACCESS_TOKENS_FILE or JWKS_URL must be set with NODE_ENV=production',
      ),
    );
  });

  test('a LOG_LEVEL that hides the generated token', async () => {
    expect(await block(launch({ LOG_LEVEL: 'warn' }))).toEqual(
      startError(
        'ACCESS_TOKENS must be set with LOG_LEVEL=warn: the generated token would not be logged',
      ),
    );
  });

  test('an unreadable file .env', async () => {
    const cwd = mkdtempSync(join(folder, 'unreadable-'));
    mkdirSync(join(cwd, '.env'));
    expect(await block(launch({}, { cwd }))).toEqual(startError('.env cannot be read (EISDIR)'));
  });

  test('each error of the document, with its place', async () => {
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

  test('an unknown flag', async () => {
    expect(await block(launch({}, { args: ['--prot=1'] }))).toEqual(
      startError("Unknown option '--prot': see --help"),
    );
    expect(await block(launch({}, { args: ['now'] }))).toEqual(
      startError("Unexpected argument 'now': see --help"),
    );
  });

  describe('a port in use', () => {
    const blocker = createServer();
    let port = 0;
    beforeAll(async () => {
      await new Promise<void>((resolve) => blocker.listen(0, '127.0.0.1', resolve));
      const address = blocker.address();
      port = typeof address === 'object' && address !== null ? address.port : 0;
    });
    afterAll(() => void blocker.close());

    test('and the variable that changes it', async () => {
      expect(await block(launch({ METRICS_PORT: String(port) }))).toEqual(
        startError(
          `listen EADDRINUSE: address already in use 127.0.0.1:${port}: set METRICS_PORT to another port, or METRICS_HOST to another address`,
        ),
      );
    });
  });
});

test('--help lists every variable, and starts nothing', async () => {
  const service = launch({ PORT: 'wrong' }, { args: ['--help'] });
  expect(await service.exit).toBe(0);
  for (const [name, { default: preset, description }] of Object.entries({
    ...SERVER_VARIABLES,
    ...variables,
  })) {
    expect(service.stdout()).toMatch(new RegExp(`^  ${name} `, 'm'));
    expect(service.stdout()).toContain(description);
    expect(service.stdout()).toContain(preset);
  }
  expect(service.stderr()).toBe('');
});

describe('--check', () => {
  test('reports a valid configuration and document, and opens no database', async () => {
    const database = join(folder, 'unopened.db');
    const env = { ACCESS_TOKENS: 'token', DATABASE_URL: `sqlite:${database}` };
    const service = launch(env, { args: ['--check'] });
    expect(await service.exit).toBe(0);
    expect(service.stdout()).toBe('The configuration and openapi.yaml are valid.\n');
    expect(existsSync(database)).toBe(false);
  });

  test.each([
    [{ PORT: 'http' }, 'PORT must be an integer from 0 to 65535, got "http"'],
    [{ MAX_WAITING: '0' }, 'MAX_WAITING must be an integer from 1 to 1000000, got "0"'],
    [{ ACCESS_TOKENS_FILE: '/none' }, 'ACCESS_TOKENS_FILE cannot be read (ENOENT)'],
    [{ TRUST_PROXY: '10.0.0.0/99' }, 'TRUST_PROXY must be true, a number of hops'],
  ])('reports the reason why %j is invalid', async (env, reason) => {
    const service = launch(env, { args: ['--check'] });
    expect(await service.exit).toBe(1);
    expect(JSON.parse(service.stderr()).reason).toContain(reason);
  });

  test('reports the operations of the document that cannot be served', async () => {
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
    expect(await service.exit).toBe(1);
    expect(JSON.parse(service.stderr()).reason).toMatch(/broken-operation\.yaml:10:\d+ /);
  });
});

test('a misspelt variable is logged once, without its value', async () => {
  const service = launch({ POTR: '80', ACESS_TOKENS: 'secret', ACCESS_TOKENS: 'token' });
  await service.url;
  expect(service.lines().map(({ level, msg }) => [level, msg])).toEqual([
    [40, 'POTR is not a variable of this service: use PORT'],
    [40, 'ACESS_TOKENS is not a variable of this service: use ACCESS_TOKENS'],
    [30, 'listening'],
  ]);
  expect(service.stdout()).not.toContain('secret');
});

describe('a stop', () => {
  test('by SIGQUIT exits with 0', async () => {
    const service = launch({ ACCESS_TOKENS: 'token' });
    await service.url;
    service.child.kill('SIGQUIT');
    expect(await service.exit).toBe(0);
    expect(service.lines().slice(1)).toMatchObject([
      { msg: 'stopping', reason: 'SIGQUIT' },
      { msg: 'stopped' },
    ]);
  });

  test('finishes pending requests, and plants answered with 200 are on disk', async () => {
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

  test('by two signals within a second exits with 0: npm and a terminal send one each', async () => {
    const service = launch({ ACCESS_TOKENS: 'token' });
    await service.url;
    service.child.kill('SIGTERM');
    service.child.kill('SIGINT');
    expect(await service.exit).toBe(0);
    expect(service.lines().at(-1)).toMatchObject({ level: 30, msg: 'stopped' });
  });

  test('fails readiness and continues to serve; a second signal after a second aborts it', async () => {
    const service = launch({ ACCESS_TOKENS: 'token', DRAIN_SECONDS: '60' });
    const url = await service.url;
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    service.child.kill('SIGTERM');
    await eventually(async () => (await fetch(`${url}/readyz`)).status === 503);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    expect(await post(url, { id: 1, name: 'Fern' })).toBe(200);
    expect(await service.line(({ msg }) => msg === 'stopping')).toMatchObject({
      level: 30,
      drainSeconds: 60,
    });
    await delay(1_100);
    service.child.kill('SIGTERM');
    expect(await service.exit).toBe(1);
    expect(service.lines().at(-1)).toMatchObject({
      level: 40,
      msg: 'a second signal: aborting in-flight requests',
    });
  });
});

test('a service that answers a request loads no HTTP client', async () => {
  const atExit =
    'process.stderr.write(process.moduleLoadList.filter((name) => name.includes("undici")).join())';
  const flags = ['--import', `data:text/javascript,process.on("exit", () => ${atExit})`];
  const service = launch({ ACCESS_TOKENS: 'token' }, { flags });
  expect(await post(await service.url, { id: 1, name: 'Fern' })).toBe(200);
  service.child.kill('SIGTERM');
  expect(await service.exit).toBe(0);
  expect(service.stderr()).toBe('');
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

test('SIGHUP during the start reloads the tokens once the service is ready', async () => {
  const env = { ACCESS_TOKENS_FILE: file('early-tokens', 'token\n') };
  const service = launch(env, { flags: whileStarting('process.kill(process.pid, "SIGHUP")') });
  expect(await post(await service.url, { id: 1, name: 'Fern' })).toBe(200);
  expect(await service.line(({ msg }) => msg === 'access tokens read again')).toMatchObject({
    accepted: 1,
  });
});

/** The flags of Node in the command of `npm start`. */
const { scripts } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8'));
const START_FLAGS = String(scripts.start).split(' ').slice(1, -1);

test('SIGHUP before the code is loaded does not end the service', async () => {
  const early = ['--import', 'data:text/javascript,process.kill(process.pid, "SIGHUP")'];
  const service = launch({}, { flags: [...START_FLAGS, ...early] });
  expect((await fetch(`${await service.url}/healthz`)).status).toBe(200);
});

test('SIGUSR1 opens no debugger', async () => {
  const service = launch({}, { flags: START_FLAGS });
  const url = await service.url;
  service.child.kill('SIGUSR1');
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  service.child.kill('SIGTERM');
  expect(await service.exit).toBe(0);
  expect(service.stderr()).toBe('');
});

test.each(['Dockerfile', 'packages/spec-first/templates/project/Dockerfile'])(
  'the image of %s starts with the flags of npm start',
  (name) => {
    const image = readFileSync(join(PROJECT, name), 'utf8');
    const command = ['node', ...START_FLAGS, 'src/main.ts'].map((word) => `"${word}"`);
    expect(image).toContain(`\nCMD [${command.join(', ')}`);
  },
);

test('SIGUSR2 switches the log level to debug, and back', async () => {
  const service = launch({ ACCESS_TOKENS: 'token' });
  const url = await service.url;
  const probe = () => fetch(`${url}/healthz`);
  await probe();
  service.child.kill('SIGUSR2');
  await service.line(({ logLevel }) => logLevel === 'debug');
  await probe();
  service.child.kill('SIGUSR2');
  await service.line(({ logLevel }) => logLevel === 'info');
  await probe();
  service.child.kill('SIGTERM');
  await service.exit;
  expect(service.lines().filter(({ path }) => path === '/healthz')).toMatchObject([{ level: 20 }]);
});

test('an uncaught error is logged, and the process exits with 1', async () => {
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
    msg: 'uncaught exception; the process ends',
  });
  expect(service.stderr()).toBe('');
});

test('the log has the reason of each rejected request, without values from clients', async () => {
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
  for (const answer of [
    send('{'),
    send('{"id":"12345"}'),
    send(plant, '?secret'),
    send('{"id":1,"name":"\\ud800"}'),
  ]) {
    expect((await answer).status).toBe(400);
  }
  service.child.kill('SIGTERM');
  await service.exit;
  const rejected = service.lines().filter(({ status }) => status === 400);
  expect(rejected.map(({ reason }) => reason).sort()).toEqual([
    '/body/name must not contain a lone surrogate, which UTF-8 cannot encode',
    'the body must be JSON',
    'the request does not match the document',
    'the request does not match the document',
  ]);
  expect(service.stdout()).not.toMatch(/12345|secret/);
});

test('an outage is logged with its reason and without a stack', async () => {
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
  // Ends the first outage: only the first failure of an outage is logged as an error.
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

test('SIGHUP reloads the file of tokens: removed tokens are rejected; an invalid file changes nothing', async () => {
  const tokens = file('tokens', 'first\nsecond\n');
  const service = launch({ ACCESS_TOKENS: '', ACCESS_TOKENS_FILE: tokens });
  const url = await service.url;
  const plant = { id: 1, name: 'Fern' };
  expect(await post(url, plant, 'second')).toBe(200);

  writeFileSync(tokens, 'first\n');
  service.child.kill('SIGHUP');
  expect(await service.line(({ msg }) => msg === 'access tokens read again')).toMatchObject({
    accepted: 1,
  });
  expect(await post(url, plant, 'second')).toBe(401);
  expect(await post(url, plant, 'first')).toBe(200);

  writeFileSync(tokens, 'secret token\n');
  service.child.kill('SIGHUP');
  const failure = await service.line(
    ({ msg }) => msg === 'reload failed; keeping the previous tokens',
  );
  expect(failure).toMatchObject({
    level: 50,
    err: { message: expect.stringMatching(/^ACCESS_TOKENS_FILE: line 1 must be /) },
  });
  expect(await post(url, plant, 'first')).toBe(200);
  expect(service.stdout()).not.toMatch(/secret token|second/);
});
