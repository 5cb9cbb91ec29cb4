import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { eventually } from 'test-support/eventually';
import { makeProject, run } from 'test-support/project';
import { projectFiles } from '../src/new.ts';
import { type TestServiceOptions, testService } from '../src/test-service.ts';

/** A service that writes to each database that a variable or a default names. */
const MAIN = `import { appendFileSync, mkdirSync } from 'node:fs';
import { serve } from 'spec-first-server';
import { errorBody } from './errors.ts';

const { DATABASE_FILE = 'data/shop.db', DATABASE_URL = DATABASE_FILE, ONLY_FOR_TESTS } = process.env;
mkdirSync('data', { recursive: true });
const open = () => {
  for (const file of [DATABASE_FILE, DATABASE_URL, ONLY_FOR_TESTS ?? 'data/other.db'])
    appendFileSync(file, 'written by the service');
  return { handlers: {} };
};
await serve({ open, errorBody });
`;

const folder = makeProject({});
const path = (name: string) => join(folder, name);

beforeAll(async () => {
  for (const [name, content] of (await projectFiles(folder, undefined)).files) {
    if (name === 'package.json') continue;
    mkdirSync(dirname(path(name)), { recursive: true });
    writeFileSync(path(name), content);
  }
  writeFileSync(path('src/main.ts'), MAIN);
});
afterAll(() => rmSync(folder, { recursive: true }));

test('one contract test of a new project runs alone', async () => {
  const args = ['--test', '--test-name-pattern=listBooks'];
  const { output } = await run(folder, args, { CONTRACT_RUNS: '2' });
  expect(output).toMatch(/^ℹ pass 1$/m);
  expect(output).toMatch(/^ℹ fail 0$/m);
});

/** Three parameters, which match any path of three segments. */
const TEMPLATES = `paths:
  /{tenant}/{account}/{login}:
    parameters:
      - { name: tenant, in: path, required: true, schema: { type: string } }
      - { name: account, in: path, required: true, schema: { type: string } }
      - { name: login, in: path, required: true, schema: { type: string } }
    get:
      operationId: getLogin
      security: []
      responses: { '204': { description: No content } }
`;

const change = (file: string, edit: (text: string) => string) =>
  writeFileSync(path(file), edit(readFileSync(path(file), 'utf8')));

test("the tests of a new project clean up, and do not touch the developer's databases", async () => {
  change('openapi.yaml', (text) => text.replace(/^paths:\n/m, TEMPLATES));
  // Error bodies may have the id of the request.
  change('src/errors.ts', (text) =>
    text
      .replace('make: ({ status, message })', 'make: ({ status, message, requestId })')
      .replace('    message,\n', '    message,\n    ...(requestId && { requestId }),\n'),
  );
  expect(readFileSync(path('src/errors.ts'), 'utf8')).toContain('...(requestId');
  mkdirSync(path('temporary'));
  const databases = ['data/shop.db', 'variable.db', 'url.db', 'dotenv.db'].map(path);
  mkdirSync(path('data'));
  for (const file of databases) writeFileSync(file, 'three customers');
  change('.env', (text) => `${text}ONLY_FOR_TESTS=${path('dotenv.db')}\n`);

  const { code, output } = await run(folder, ['--test'], {
    DATABASE_FILE: path('variable.db'),
    DATABASE_URL: path('url.db'),
    CONTRACT_RUNS: '2',
    TMPDIR: path('temporary'),
  });

  expect({ code, output }).toEqual({ code: 0, output: expect.stringMatching(/^ℹ fail 0$/m) });
  expect(databases.map((file) => readFileSync(file, 'utf8'))).toEqual(
    databases.map(() => 'three customers'),
  );
  expect(existsSync(path('data/other.db'))).toBe(false);
  expect(readdirSync(path('temporary'))).toEqual([]);
});

/** Logs its variables, its arguments and its folder. Announces a URL where no server listens. */
const PROGRAM = `
const { env, argv: [, , ...args] } = process;
console.log('not JSON');
console.log(JSON.stringify({ requestId: 'a', reason: JSON.stringify({ env, args, cwd: process.cwd(), pid: process.pid }) }));
process.send('ready');
process.send({ started: { url: 'http://127.0.0.1:1/v1' } });
setInterval(() => {}, 1_000);
`;

describe('a service for tests', () => {
  async function started(options: TestServiceOptions = {}) {
    writeFileSync(path('program.js'), PROGRAM);
    const service = testService({ program: path('program.js'), ...options });
    await service.start();
    const { env, args, cwd } = JSON.parse((await service.log.causeOf('a')) ?? '{}');
    return { ...service, env, args, cwd };
  }

  test('runs in an empty folder, which is removed when it stops', async () => {
    const { cwd, url, stop, args } = await started();
    expect([url(), args, readdirSync(cwd)]).toEqual(['http://127.0.0.1:1/v1', [], []]);
    await stop();
    expect(existsSync(cwd)).toBe(false);
    await stop();
  });

  test('has mocks, tokens, a free port and the variables of the options', async () => {
    const variables = { DATABASE_URL: 'sqlite::memory:', ACCESS_TOKENS: 'own', PORT: '7' };
    process.env.DATABASE_FILE = 'data/work.db';
    try {
      const { env, credentials, unscoped, document, stop } = await started();
      await stop();
      const { PATH, HOME, NODE_COMPILE_CACHE, ...others } = env;
      expect([PATH, HOME]).toEqual([process.env.PATH, process.env.HOME]);
      expect(others).toMatchObject({
        ...{ PORT: '0', OPENAPI_FILE: document, MISSING_OPERATIONS: 'mock' },
        DEVELOPMENT_TOKEN: credentials,
        ACCESS_TOKENS: `,unscoped:${unscoped} scheme=*`,
      });
      expect(others).not.toHaveProperty('DATABASE_FILE');
      expect(document).toBe(join(process.cwd(), 'openapi.yaml'));
      expect(credentials).not.toBe(unscoped);

      const changed = await started({ variables, allowOutside: true });
      await changed.stop();
      expect(changed.env).toMatchObject({
        ...{ DATABASE_URL: 'sqlite::memory:', PORT: '7' },
        ACCESS_TOKENS: `own,unscoped:${changed.unscoped} scheme=*`,
      });
      expect([changed.args, changed.allowOutside]).toEqual([['--allow-outside'], true]);
    } finally {
      delete process.env.DATABASE_FILE;
    }
  });

  test('ends with the process of its tests', async () => {
    writeFileSync(path('program.js'), PROGRAM);
    writeFileSync(
      path('tests.js'),
      `import { testService } from 'spec-first/testing';
       const { start, log } = testService({ program: 'program.js' });
       await start();
       console.log(await log.causeOf('a'));
       process.exit();`,
    );
    const { output } = await run(folder, ['tests.js']);
    const { pid } = JSON.parse(output);
    await eventually(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'));
  });

  test('has no URL before it starts', () => {
    expect(testService().url).toThrow('The service is not running: call start() first');
  });

  test('reports a program that does not start', async () => {
    writeFileSync(path('program.js'), 'process.exit(1)');
    const service = testService({ program: path('program.js') });
    await expect(service.start()).rejects.toThrow('program.js does not start: it has ended with');
    await service.stop();
  });

  test('starts if its log has errors only', async () => {
    const variables = { LOG_LEVEL: 'error' };
    const service = testService({ program: path('src/main.ts'), variables });
    await service.start();
    await service.stop();
    expect(service.url()).toMatch(/^http:/);
  });

  test('reports a program that is not ready in time', async () => {
    writeFileSync(path('program.js'), 'setInterval(() => {}, 1_000);');
    const service = testService({ program: path('program.js') });
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    try {
      const start = service.start();
      jest.advanceTimersByTime(60_000);
      await expect(start).rejects.toThrow('does not start: it is not ready after 60 seconds');
    } finally {
      jest.useRealTimers();
    }
    await service.stop();
  });
});
