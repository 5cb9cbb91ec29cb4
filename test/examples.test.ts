import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from 'test-support/eventually';
import { type PostgresServer, startPostgres } from 'test-support/postgres';
import { EXAMPLES, testExample } from './support/examples.ts';
import { endAll, launch } from './support/launch.ts';
import { typesOf } from './support/types.ts';

const run = promisify(execFile);
// `eov` serves the document of the plant store: test/eov-reference.test.ts compares the two.
const names = readdirSync(EXAMPLES).filter((name) => name !== 'eov');
// examples.long.test.ts runs the tests of the shop, which take most of the time.
const quickNames = names.filter((name) => name !== 'shop');
const FIRST = 'hello';
/** The examples with tokens. Their log has a token and a request with it. */
const WITH_TOKENS = ['bookings', 'mcp', 'tokens', 'webhooks'];
const outputs = new Map<string, Promise<string>>();
const starts = new Map<string, ReturnType<typeof startAndStop>>();
let generated: string[] = [];
let postgres: PostgresServer;
/** The database of the example `postgres`. */
let databaseUrl = '';
beforeAll(async () => {
  postgres = await startPostgres();
  databaseUrl = await postgres.createDatabase();
  generated = typesOf(names.map((name) => join(EXAMPLES, name, 'openapi.yaml')));
  // The first process fills the cache of compiled code for the others.
  await runTests(FIRST);
  for (const name of quickNames) {
    const start = (outputs.get(name) ?? runTests(name)).then(() => startAndStop(name));
    // A test of another file would fail if no test of this file awaits the error.
    start.catch(() => undefined);
    starts.set(name, start);
  }
});
afterAll(async () => {
  await Promise.allSettled(starts.values());
  await endAll();
  await postgres.remove();
});

function runTests(name: string): Promise<string> {
  const output = testExample(name, { DATABASE_URL: databaseUrl });
  outputs.set(name, output);
  return output;
}

/** Starts an example, waits until it is ready, sends the request in its log, and stops it. */
async function startAndStop(name: string) {
  const variables = { FOLDER: tmpdir(), DATABASE_FILE: ':memory:', DATABASE_URL: databaseUrl };
  const options = { cwd: join(EXAMPLES, name), main: 'src/main.ts' };
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

test.each(names)('the example %s has the generated types of its document', (name) => {
  const types = readFileSync(join(EXAMPLES, name, 'generated/openapi.ts'), 'utf8');
  expect(generated[names.indexOf(name)]).toBe(types);
});

test.each(quickNames)(
  'the example %s passes its tests, and each operation succeeds once',
  async (name) => {
    const output = await outputs.get(name);
    expect(output).toMatch(/^ℹ fail 0$/m);
    expect(output).toMatch(/Contract tests: (\d+) of \1 operations succeeded at least once\./);
  },
);

test.each(quickNames)(
  'the example %s starts, is ready, and stops; the request in its log, if any, succeeds',
  async (name) => {
    const logged = WITH_TOKENS.includes(name) ? expect.stringMatching(/^20[01]$/) : undefined;
    expect(await starts.get(name)).toEqual({ logged, code: 0 });
  },
);
