import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ENVIRONMENT } from 'test-support/environment';
import { eventually } from 'test-support/eventually';
import { type PostgresServer, startPostgres } from 'test-support/postgres';
import { endAll, launch, PROJECT } from './support/launch.ts';
import { typesOf } from './support/types.ts';

const run = promisify(execFile);
const folder = join(PROJECT, 'examples');
// `eov` serves the document of the plant store: test/eov-reference.test.ts compares the two.
const names = readdirSync(folder).filter((name) => name !== 'eov');
const FIRST = 'hello';
/** The examples with tokens. Their log has a token and a request with it. */
const WITH_TOKENS = ['bookings', 'mcp', 'tokens', 'webhooks'];
/** Operations that only the contract tests of the shop call, and operations that create their data. */
const ONLY_CONTRACT_TESTS = ['createProduct', 'createOrder', 'listOrders', 'cancelOrder'];
/** Requests of contract tests for each operation. */
const { CONTRACT_RUNS = '5' } = process.env;

const outputs = new Map<string, Promise<string>>();
const starts = new Map<string, ReturnType<typeof startAndStop>>();
let types: string[] = [];
let postgres: PostgresServer;
/** The database of the example `postgres`. */
let databaseUrl = '';
beforeAll(async () => {
  postgres = await startPostgres();
  databaseUrl = await postgres.createDatabase();
  const TEST_DATABASE_URL = await postgres.createDatabase();
  const env = { ...ENVIRONMENT, NO_COLOR: '1', CONTRACT_RUNS, DATABASE_URL: databaseUrl };
  types = typesOf(names.map((name) => join(folder, name, 'openapi.yaml')));
  // The first process fills the cache of compiled code for the others.
  await testExample(FIRST, env);
  for (const name of names) {
    const output = outputs.get(name) ?? testExample(name, env);
    // The tests of the shop start its service.
    if (name === 'shop') continue;
    const start = output.then(() => startAndStop(name));
    // A test of another file would fail if no test of this file awaits the error.
    start.catch(() => undefined);
    starts.set(name, start);
  }
  testExample('shop', { ...env, TEST_DATABASE_URL }, 'shop on PostgreSQL', [
    `--test-name-pattern=/^[a-z]|${ONLY_CONTRACT_TESTS.join('|')}/`,
  ]);
});
afterAll(async () => {
  await Promise.allSettled(starts.values());
  await endAll();
  await postgres.remove();
});

/** Resolves to the output of the tests, even if they fail. */
function testExample(
  name: string,
  env: NodeJS.ProcessEnv,
  title = name,
  flags: readonly string[] = [],
): Promise<string> {
  const args = ['--test', '--test-isolation=none', '--test-reporter=spec', ...flags];
  const output = run(process.execPath, args, { cwd: join(folder, name), env }).then(
    ({ stdout }) => stdout,
    ({ stdout }: { readonly stdout?: string }) => String(stdout),
  );
  outputs.set(title, output);
  return output;
}

/** Starts an example, waits until it is ready, sends the request in its log, and stops it. */
async function startAndStop(name: string) {
  const variables = { FOLDER: tmpdir(), DATABASE_FILE: ':memory:', DATABASE_URL: databaseUrl };
  const options = { cwd: join(folder, name), main: 'src/main.ts' };
  const service = launch(variables, options);
  const { url, example } = await service.line(({ msg }) => msg === 'listening');
  // A check of readiness has a time limit, which a busy machine may exceed.
  await eventually(async () => (await fetch(new URL('/readyz', String(url)))).ok);
  const logged = example && (await statusOf(String(example)));
  service.child.kill('SIGTERM');
  return { logged, code: await service.exit };
}

async function statusOf(command: string): Promise<string | undefined> {
  const { stdout } = await run('sh', ['-c', `${command} --silent --include`]);
  return stdout.split(' ')[1];
}

describe.each(names)('the example %s', (name) => {
  const example = join(folder, name);
  const read = (file: string) => readFileSync(join(example, file), 'utf8');

  test('has the generated types of its document', () => {
    expect(types[names.indexOf(name)]).toBe(read('generated/openapi.ts'));
  });

  test('passes its tests, and each operation succeeds once', async () => {
    const stdout = await outputs.get(name);
    expect(stdout).toMatch(/^ℹ fail 0$/m);
    expect(stdout).toMatch(/Contract tests: (\d+) of \1 operations succeeded at least once\./);
  });
});

test.each(names.filter((name) => name !== 'shop'))(
  'the example %s starts, is ready, and stops; the request in its log, if any, succeeds',
  async (name) => {
    const logged = WITH_TOKENS.includes(name) ? expect.stringMatching(/^20[01]$/) : undefined;
    expect(await starts.get(name)).toEqual({ logged, code: 0 });
  },
);

test('the shop passes its tests on PostgreSQL', async () => {
  const stdout = await outputs.get('shop on PostgreSQL');
  expect(stdout).toMatch(/^ℹ fail 0$/m);
  expect(stdout).toMatch(/Contract tests: 4 of 4 operations succeeded at least once\./);
});
