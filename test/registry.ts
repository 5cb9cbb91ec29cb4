// Publishes the libraries to a registry on this machine, and installs and upgrades them. Takes some
// minutes, so CI runs it in a separate job: npm run test:registry
import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { freePort } from 'test-support/free-port';
import { PACKAGES, pack } from '../scripts/pack.ts';
import { readMarkdown } from './support/markdown.ts';

const VERDACCIO = '6.10.4';

/** Other runtimes, which npm installs. They are too large for the dependencies of the project. */
const RUNTIMES = ['bun@1.4.5', 'deno@2.9.6'];

const folder = mkdtempSync(join(tmpdir(), 'registry-test-'));
const project = join(folder, 'my-api');
const running: ChildProcess[] = [];
let registry = '';

/** The environment of this process, without variables that change npm, Node or its test runner. */
const machine = Object.fromEntries(
  Object.entries(process.env).filter(
    ([name]) => !/^(npm_|NODE_(ENV|OPTIONS|TEST_CONTEXT)|FORCE_COLOR)/.test(name),
  ),
);

const environment = () => ({
  ...machine,
  PATH: [resolve('node_modules/node/bin'), process.env.PATH].join(delimiter),
  HOME: folder,
  npm_config_userconfig: join(folder, '.npmrc'),
  npm_config_cache: join(folder, 'npm-cache'),
  npm_config_registry: registry,
  npm_config_fund: 'false',
  npm_config_audit: 'false',
  npm_config_update_notifier: 'false',
});

async function run(cwd: string, program: string, ...args: readonly string[]): Promise<string> {
  const env = registry === '' ? machine : environment();
  const options = { cwd, env, maxBuffer: 2 ** 26, timeout: 900_000 };
  try {
    const { stdout, stderr } = await promisify(execFile)(program, args, options);
    return stdout + stderr;
  } catch (error) {
    const { stdout = '', stderr = '', message = '' } = Object(error);
    throw new Error(`${program} ${args.join(' ')}: ${message}\n${stdout}${stderr}`);
  }
}

/** Starts a program. Resolves to the first line of its output that contains a text. */
async function start(
  cwd: string,
  text: string,
  program: string,
  ...args: readonly string[]
): Promise<string> {
  const env = {
    ...(registry === '' ? machine : environment()),
    PORT: '0',
    ACCESS_TOKENS: 'token-of-the-tests',
  };
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] });
  running.push(child);
  for await (const line of createInterface(child.stdout)) {
    if (!line.includes(text)) continue;
    child.stdout.resume();
    return line;
  }
  throw new Error(`${program} ended without the line ${text}`);
}

async function stop(): Promise<void> {
  const child = running.pop();
  if (child === undefined) return;
  const ended = new Promise((done) => child.once('exit', done));
  if (child.exitCode === null && child.kill()) await ended;
}

after(async () => {
  while (running.length > 0) await stop();
  rmSync(folder, { recursive: true, force: true });
});

async function publish(version = '1.0.0'): Promise<void> {
  const tarballs = pack(join(folder, 'packed'));
  for (const name of PACKAGES) {
    const stage = join(folder, version, name);
    mkdirSync(stage, { recursive: true });
    await run(stage, 'tar', 'xzf', tarballs.get(name) ?? '', '--strip-components=1');
    const path = join(stage, 'package.json');
    const manifest = JSON.parse(readFileSync(path, 'utf8'));
    const { dependencies = {}, peerDependencies = {} } = manifest;
    for (const list of [dependencies, peerDependencies]) {
      for (const other of PACKAGES) if (list[other] !== undefined) list[other] = `^${version}`;
    }
    writeFileSync(path, JSON.stringify({ ...manifest, version }));
    await run(stage, 'npm', 'publish', '--ignore-scripts', `--tag=latest`);
  }
}

before(async () => {
  const uplink = (await promisify(execFile)('npm', ['config', 'get', 'registry'])).stdout.trim();
  const port = await freePort();
  // Not a dependency of the project: only this test needs its 300 packages.
  const verdaccio = join(folder, 'verdaccio');
  mkdirSync(verdaccio);
  writeFileSync(
    join(verdaccio, 'package.json'),
    JSON.stringify({
      dependencies: { verdaccio: VERDACCIO },
      overrides: { verdaccio: { 'node-fetch': '^2.7.0' } },
    }),
  );
  await run(verdaccio, 'npm', 'install', '--no-package-lock');
  const rules = PACKAGES.map((name) => `  ${name}: { access: $all, publish: $all }`).join('\n');
  writeFileSync(
    join(verdaccio, 'config.yaml'),
    `storage: ${join(folder, 'storage')}
uplinks: { npm: { url: '${uplink}', timeout: 60s, max_fails: 20 } }
max_body_size: 50mb
packages:
${rules}
  '@*/*': { access: $all, proxy: npm }
  '**': { access: $all, proxy: npm }
log: { type: stdout, level: warn }
`,
  );
  const bin = join(verdaccio, 'node_modules/verdaccio/bin/verdaccio');
  await start(
    verdaccio,
    'http',
    process.execPath,
    bin,
    '--config',
    'config.yaml',
    '--listen',
    `127.0.0.1:${port}`,
  );
  registry = `http://127.0.0.1:${port}/`;
  // npm publishes only with a token. This registry accepts any.
  writeFileSync(join(folder, '.npmrc'), `//127.0.0.1:${port}/:_authToken=any\n`);
  await publish();
});

test('npm create creates a project that installs, starts and passes its tests, also from its lock file', async () => {
  const output = await run(folder, 'npm', 'create', '--yes', 'spec-first@latest', 'my-api');
  assert.match(output, /files written to my-api/);
  assert.equal(existsSync(join(project, 'vendor')), false);
  const { dependencies, devDependencies } = JSON.parse(
    readFileSync(join(project, 'package.json'), 'utf8'),
  );
  assert.deepEqual(
    [dependencies['spec-first-server'], devDependencies['spec-first']],
    ['^1.0.0', '^1.0.0'],
  );
  await run(project, 'npm', 'install');
  const { url, versions } = JSON.parse(
    await start(project, '"listening"', 'npm', 'start', '--silent'),
  );
  assert.match(versions, /spec-first-server 1\.0\.0/);
  assert.equal(
    (await fetch(`${url}/books`, { headers: { Authorization: 'Bearer token-of-the-tests' } }))
      .status,
    200,
  );
  await stop();
  assert.match(await run(project, 'npm', 'test'), /^ℹ fail 0$/m);
  assert.match(await run(project, 'npm', 'run', 'lint'), /is valid/);

  const clone = join(folder, 'clone');
  cpSync(project, clone, {
    recursive: true,
    filter: (path) => !/\/(node_modules|data)$/.test(path),
  });
  await run(clone, 'npm', 'ci');
  assert.match(await run(clone, 'npm', 'test'), /^ℹ fail 0$/m);
});

test('npm create creates a project for a document', async () => {
  const document = resolve('openapi.yaml');
  await run(folder, 'npm', 'create', '--yes', 'spec-first@latest', 'plants', '--', document);
  const plants = join(folder, 'plants');
  assert.equal(readFileSync(join(plants, 'openapi.yaml'), 'utf8'), readFileSync(document, 'utf8'));
  await run(plants, 'npm', 'install');
  assert.match(await run(plants, 'npm', 'test'), /^ℹ fail 0$/m);
});

test('the shop installs from its package.json, and passes its tests', async () => {
  const shop = join(folder, 'shop');
  cpSync(resolve('examples/shop'), shop, {
    recursive: true,
    filter: (path) => !/\/(node_modules|data)$/.test(path),
  });
  await run(shop, 'npm', 'install');
  assert.match(await run(shop, 'npm', 'test'), /^ℹ fail 0$/m);
});

test('the service of docs/handlers.md runs on Bun and Deno', async () => {
  const rooms = join(folder, 'rooms');
  const { blocks } = readMarkdown(readFileSync('docs/handlers.md', 'utf8'));
  const document = join(folder, 'rooms.yaml');
  writeFileSync(document, blocks.find(({ language }) => language === 'yaml')?.code ?? '');
  await run(folder, 'npm', 'create', '--yes', 'spec-first@latest', 'rooms', '--', document);
  for (const { code } of blocks) {
    const [, name] = /^\/\/ (src\/\S+)\n/.exec(code) ?? [];
    if (name !== undefined) writeFileSync(join(rooms, name), code);
  }
  await run(rooms, 'npm', 'install', ...RUNTIMES);

  const headers = { Authorization: 'Bearer secret' };
  const put = { method: 'PUT', headers: { ...headers, 'Content-Type': 'application/json' } };
  const plan = new FormData();
  plan.set('plan', new File(['%PDF'], 'plan.pdf', { type: 'application/pdf' }));
  const requests: [path: string, init: RequestInit, status: number][] = [
    ['rooms/2', { ...put, body: '{"name":"Loft"}' }, 204],
    ['rooms/2', { ...put, body: '{"name":2}' }, 400],
    ['rooms/2', { headers }, 200],
    ['rooms/3', { headers }, 404],
    ['rooms/3', {}, 401],
    ['plans', { method: 'POST', headers, body: plan }, 204],
    ['changes', { headers }, 200],
  ];
  for (const command of ['bun src/worker.ts', 'deno serve --allow-all --port 0 src/worker.ts']) {
    const shell = `exec node_modules/.bin/${command} 2>&1`;
    const line = await start(rooms, 'http://', 'sh', '-c', shell);
    const port = /:(\d+)/.exec(line)?.[1];
    for (const [path, init, status] of requests) {
      const response = await fetch(`http://127.0.0.1:${port}/v1/${path}`, init);
      const text = await response.text();
      assert.equal(response.status, status, `${command}: ${path}: ${text}`);
      if (path === 'changes') assert.equal(text.split('\n').length, 4);
    }
    await stop();
  }
});

test('npm outdated lists a minor release, npm update installs it, and it runs', async () => {
  await publish('1.1.0');
  // npm outdated exits with 1 if a package is outdated.
  const outdated = await run(project, 'npm', 'outdated').catch((error: Error) => error.message);
  assert.match(outdated, /spec-first-server\s+1\.0\.0\s+1\.1\.0\s+1\.1\.0/);
  await run(project, 'npm', 'update');
  const { versions } = JSON.parse(await start(project, '"listening"', 'npm', 'start', '--silent'));
  assert.match(versions, /spec-first-server 1\.1\.0/);
  await stop();
  assert.equal((await run(project, 'npx', 'spec-first', '--version')).trim(), '1.1.0');
  await run(project, 'npm', 'run', 'generate');
  assert.match(await run(project, 'npm', 'test'), /^ℹ fail 0$/m);
});
