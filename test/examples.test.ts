import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { loadDocument } from 'openapi-document';
import { generateTypes } from '../packages/spec-first/src/types.ts';
import { ENVIRONMENT } from './support/environment.ts';
import { PROJECT } from './support/launch.ts';
import { type PostgresServer, startPostgres } from './support/postgres.ts';

const run = promisify(execFile);
const folder = join(PROJECT, 'examples');
const names = readdirSync(folder);

/** What the tests of an example print, and how it starts and stops. All run at once, since each waits for its processes. */
const outputs = new Map<string, Promise<string>>();
const starts = new Map<string, ReturnType<typeof startAndStop>>();
let postgres: PostgresServer;
beforeAll(async () => {
  postgres = await startPostgres();
  const DATABASE_URL = await postgres.createDatabase();
  const args = ['--test', '--test-isolation=none', '--test-reporter=spec'];
  for (const name of names) {
    const env = { ...ENVIRONMENT, NO_COLOR: '1', CONTRACT_RUNS: '20', DATABASE_URL };
    const output = run(process.execPath, args, { cwd: join(folder, name), env })
      .catch((error: { readonly stdout?: string }) => error)
      .then(({ stdout }) => String(stdout));
    outputs.set(name, output);
    starts.set(
      name,
      output.then(() => startAndStop(name)),
    );
  }
});
afterAll(async () => {
  await Promise.all(starts.values());
  await postgres.remove();
});

/** Starts an example, asks whether it is ready, and stops it. */
async function startAndStop(name: string) {
  const variables = { PORT: '0', ACCESS_TOKENS: 'token', DATABASE_URL: await postgres.createDatabase() };
  const started = execFile(process.execPath, ['src/main.ts'], {
    cwd: join(folder, name),
    env: { ...ENVIRONMENT, ...variables, DATABASE_FILE: ':memory:', FOLDER: '/tmp' },
  });
  const ended = new Promise((resolve) => started.once('exit', resolve));
  let output = '';
  for await (const chunk of started.stdout ?? []) {
    output += chunk;
    if (output.includes('"msg":"listening"')) break;
  }
  const { url } = JSON.parse(output.split('\n').find((line) => line.includes('"msg":"listening"')) ?? '{}');
  const { status } = await fetch(new URL('/readyz', url));
  started.kill('SIGTERM');
  return { ready: status, code: await ended };
}

describe.each(names)('the example %s', (name) => {
  const example = join(folder, name);
  const read = (file: string) => readFileSync(join(example, file), 'utf8');

  test('has the types of its document', async () => {
    expect(await generateTypes(await loadDocument(join(example, 'openapi.yaml')))).toBe(read('generated/openapi.ts'));
  });

  test('passes its own tests, and each operation answers with a success', async () => {
    const stdout = await outputs.get(name);
    expect(stdout).toMatch(/^ℹ fail 0$/m);
    expect(stdout).toMatch(/Contract tests: (\d+) of \1 operations answered with a success\./);
  });

  test('starts, answers readiness, and stops', async () => {
    expect(await starts.get(name)).toEqual({ ready: 200, code: 0 });
  });

  test('has less than 150 lines of code, and a README of at most 20 lines', () => {
    const files = readdirSync(join(example, 'src')).map((file) => read(`src/${file}`));
    expect(files.join('').split('\n').length).toBeLessThan(150);
    expect(read('README.md').split('\n').length).toBeLessThanOrEqual(20);
  });
});
