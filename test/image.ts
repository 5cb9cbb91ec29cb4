// Builds the images with Docker, and runs them: of the plant store alone and with PostgreSQL, and of a
// new project. Needs Docker and some minutes, so CI runs it in a separate job: npm run test:image
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempDisposableSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const TOKEN = 'token-of-the-tests';
const env = { ...process.env, ACCESS_TOKENS: TOKEN, PORT: '3000' };
const run = (program: string, ...args: readonly string[]): string =>
  execFileSync(program, args, { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
const docker = (line: string, ...args: readonly string[]): string =>
  run('docker', ...line.split(' '), ...args).trim();

/**
 * Runs an image with the privileges of compose.yaml, waits until it is healthy, and stops it.
 *
 * @param options of `docker run`, and the name of the image.
 */
async function withContainer(options: readonly string[], use: () => Promise<void>) {
  const limits = '--read-only --cap-drop ALL --security-opt no-new-privileges';
  const id = docker(`run --detach --publish 127.0.0.1:3000:3000 ${limits}`, ...options);
  try {
    await use();
    await eventually(() => docker(`inspect --format {{.State.Health.Status}} ${id}`) === 'healthy');
    docker(`stop --time 20 ${id}`);
    assert.equal(docker(`inspect --format {{.State.ExitCode}} ${id}`), '0');
  } catch (error) {
    console.error(docker(`logs ${id}`));
    throw error;
  } finally {
    docker(`rm --force ${id}`);
  }
}

async function eventually(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let waited = 0; waited < 60; waited += 1) {
    if (await condition()) return;
    await delay(1000);
  }
  throw new Error(`the condition is false after 60 s: ${condition}`);
}

/** Sends a request until it gets this status. */
const expectStatus = (status: number, path: string, init?: RequestInit): Promise<void> =>
  eventually(async () => {
    const response = await fetch(`http://127.0.0.1:3000${path}`, init).catch(() => undefined);
    return response?.status === status;
  });

const storesPlants = () =>
  expectStatus(200, '/plants', {
    method: 'POST',
    headers: { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' },
    body: '{"id": 1, "name": "Fern"}',
  });

docker('build --quiet --tag plants .');
const files = docker('run --rm plants find . /data -not -path */node_modules/*/*').split('\n');
const unexpected = /^\.\/(\.env|\.git|data|test|node_modules\/(node|typescript|spec-first))$/;
assert.deepEqual(
  files.filter((file) => unexpected.test(file)),
  [],
);
const kibibytes = docker('run --rm plants du -sk node_modules --exclude .cache').split('\t')[0];
assert(Number(kibibytes) < 50 * 1024, `${kibibytes} KiB of dependencies`);
assert.throws(() => docker('run --rm plants'), 'the service starts without credentials');

const volume = '--volume=plants-test:/data';
await withContainer([volume, `--env=ACCESS_TOKENS=${TOKEN}`, 'plants'], storesPlants);
const copy = 'node scripts/copy-plants.ts sqlite:/data/plants.db sqlite:/data/copy.db';
assert.match(
  docker(`run --rm ${volume} plants ${copy}`),
  /FROM holds 1 plants; 1 of them are in TO/,
);
docker('volume rm plants-test');

docker('compose up --detach --wait --build');
await storesPlants();
docker('compose down --volumes');

using folder = mkdtempDisposableSync(join(tmpdir(), 'image-'));
const library = join(folder.path, 'library');
const document = 'packages/spec-first/test/library/openapi.yaml';
run(process.execPath, 'scripts/new.ts', '--allow-outside', library, document);
run('npm', 'install', '--prefix', library);
docker('build --quiet --tag library', library);
const variables = [`ACCESS_TOKENS=${TOKEN} scheme=memberToken`, 'MISSING_OPERATIONS=501'];
await withContainer([...variables.map((entry) => `--env=${entry}`), 'library'], () =>
  expectStatus(501, '/books'),
);
