import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from 'test-support/eventually';
import { type PostgresServer, startPostgres } from 'test-support/postgres';
import { EXAMPLES, expectSuccess, testExample } from './support/examples.ts';
import { endAll, launch } from './support/launch.ts';
import { typesOf } from './support/types.ts';

// `eov` serves the document of the plant store: test/eov-reference.test.ts compares the two.
const names = readdirSync(EXAMPLES).filter((name) => name !== 'eov');
// examples.long.test.ts runs the tests of the shop, which take most of the time.
const quickNames = names.filter((name) => name !== 'shop');
/** The examples with tokens. Their log has a token and a request with it. */
const WITH_TOKENS = ['bookings', 'tokens', 'webhooks'];

let postgres: PostgresServer;
/** The database of the example `postgres`. */
let databaseUrl = '';
beforeAll(async () => {
  postgres = await startPostgres();
  databaseUrl = await postgres.createDatabase();
});
afterAll(async () => {
  await endAll();
  await postgres.remove();
});

test('the examples have the generated types of their documents', () => {
  const types = typesOf(names.map((name) => join(EXAMPLES, name, 'openapi.yaml')));
  for (const [index, name] of names.entries())
    expect(types[index]).toBe(readFileSync(join(EXAMPLES, name, 'generated/openapi.ts'), 'utf8'));
});

test('contract tests come before other tests of their file, or one of them cannot run alone', () => {
  // node:test calls `after` while the document is loaded if no earlier test has been selected.
  const files = names.flatMap((name) =>
    readdirSync(join(EXAMPLES, name, 'test')).map((file) => join(EXAMPLES, name, 'test', file)),
  );
  const failing = files.filter((file) => {
    const text = readFileSync(file, 'utf8');
    return text.includes('after(') && /^test\([\s\S]*^await contractTests\(/m.test(text);
  });
  expect(failing).toEqual([]);
});

// examples.long.test.ts runs the contract tests of the bookings, too.
test.concurrent('the example bookings passes its other tests', async () => {
  const output = await testExample('bookings', {}, ['test/bookings.test.ts']);
  expect(output).toMatch(/^ℹ pass 3$/m);
});

test.concurrent.each(quickNames.filter((name) => name !== 'bookings'))(
  'the example %s passes its tests, and each operation succeeds once',
  async (name) => expectSuccess(await testExample(name, { DATABASE_URL: databaseUrl })),
);

test.concurrent.each(quickNames)(
  'the example %s starts, is ready, and stops; the request in its log, if any, succeeds',
  async (name) => {
    const variables = { FOLDER: tmpdir(), DATABASE_FILE: ':memory:', DATABASE_URL: databaseUrl };
    const service = launch(variables, { cwd: join(EXAMPLES, name), main: 'src/main.ts' });
    const { url, example } = await service.line(({ msg }) => msg === 'listening');
    // A check of readiness has a time limit, which a busy machine may exceed.
    await eventually(async () => (await fetch(new URL('/readyz', String(url)))).ok);
    const status = example && (await statusOf(String(example)));
    const expected = WITH_TOKENS.includes(name) ? expect.stringMatching(/^20[01]$/) : undefined;
    expect(status).toEqual(expected);
    service.child.kill('SIGTERM');
    expect(await service.exit).toBe(0);
  },
);

async function statusOf(command: string): Promise<string | undefined> {
  const args = ['-c', `${command} --silent --include`];
  const { stdout } = await promisify(execFile)('sh', args);
  return stdout.split(' ')[1];
}
