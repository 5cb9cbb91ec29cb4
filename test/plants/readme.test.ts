import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { SERVER_VARIABLES } from '../../packages/spec-first-server/src/process/configuration.ts';
import { variables as own } from '../../src/plants.ts';
import { freePort } from '../support/free-port.ts';
import { endAll, launch, PROJECT, post } from '../support/launch.ts';
import { copyProject, end, groupRuns, type Running } from '../support/project.ts';
import { readMarkdown } from '../support/readme.ts';
import { plantsIn } from './support/plant-service.ts';

const read = (file: string): string => readFileSync(join(PROJECT, file), 'utf8');
const readme = readMarkdown(read('README.md'));
const { scripts, dependencies, devDependencies } = JSON.parse(read('package.json'));

const copies: string[] = [];
function copy(): string {
  const made = copyProject();
  copies.push(made);
  return made;
}

/** Where commands are run, so that they change nothing here. */
const folder = copy();
const path = (name: string): string => join(folder, name);
const started: Running[] = [];
afterAll(async () => {
  for (const running of started) end(running);
  await Promise.all(started.map(({ exit }) => exit));
  await endAll();
  for (const made of copies) rmSync(made, { recursive: true });
});

/** Starts a line of the README in a shell, as the leader of a process group. */
function shell(line: string, env: Readonly<Record<string, string>> = {}, cwd = folder): Running {
  const child = spawn('sh', ['-c', line], {
    cwd,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      NO_COLOR: '1',
      npm_config_update_notifier: 'false',
      GIT_CONFIG_GLOBAL: '/dev/null',
      ...env,
    },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const watchers = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      for (const look of watchers) look();
    });
  const exit = once(child, 'close').then(([code, signal]): number | string => code ?? signal);
  const running: Running = {
    child,
    exit,
    output: () => output,
    forget() {
      output = '';
    },
    said: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found = pattern.exec(output);
          if (found !== null) resolve(found);
        };
        watchers.add(look);
        exit.then((how) => reject(new Error(`"${line}" ended with ${how}:\n${output}`)));
        look();
      }),
  };
  started.push(running);
  return running;
}

/** Runs a line to its end. @returns what it wrote. @throws {Error} with that, if it fails */
async function run(line: string, env: Readonly<Record<string, string>> = {}, cwd = folder): Promise<string> {
  const running = shell(line, env, cwd);
  const code = await running.exit;
  if (code !== 0) throw new Error(`"${line}" ended with ${code}:\n${running.output()}`);
  return running.output();
}

/** Stops what runs, as Ctrl-C does. */
async function interrupt(running: Running): Promise<void> {
  if (groupRuns(running)) process.kill(-(running.child.pid ?? 0), 'SIGINT');
  await running.exit;
}

/** The README's command that starts so. @throws {Error} if there is none */
function command(start: string): string {
  const found = readme.commands.find((line) => line.startsWith(start));
  if (found === undefined) throw new Error(`the README has no command ${start}…`);
  return found;
}

const withoutInstall = (line: string): string => line.replace(/^npm ci && /, '');

/** The first start that a reader makes, with the plant that the README's curl line stores. */
async function firstSteps() {
  const service = shell(withoutInstall('npm ci && npm start'), { PORT: '0' });
  const [line] = await service.said(/^\{.*"msg":"listening".*\}$/m);
  const { url, token, docs, example } = JSON.parse(line);
  const curl = command('curl ');
  const answer = await run(`${curl.replace('http://127.0.0.1:3000', url)} --silent --show-error`, { TOKEN: token });
  const page = await fetch(docs);
  const pasted = await run(`${example.replace('"id":1,', '"id":2,')} --silent --show-error`);
  await interrupt(service);
  return { answer, page: { status: page.status, path: new URL(docs).pathname }, pasted };
}
let steps: ReturnType<typeof firstSteps> | undefined;
const takeFirstSteps = () => {
  steps ??= firstSteps();
  return steps;
};

/** A token that the service may be given, as the README has the operator make it. */
async function openssl(): Promise<string> {
  const [, line = ''] = /\$\((openssl [^)]*)\)/.exec(command('echo ')) ?? [];
  return (await run(line)).trim();
}

/** Runs a line where `docker` builds the image `sha256:1`, and otherwise only says what it was told. */
async function docker(line: string): Promise<string> {
  const bin = join(copy(), 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'docker'), '#!/bin/sh\n[ "$1" = build ] && echo sha256:1 || echo "$*"\n');
  chmodSync(join(bin, 'docker'), 0o755);
  return run(line, { PATH: `${bin}:${process.env.PATH}` });
}

/** How each command of the README is run: what stands in for what takes minutes, a network or a container engine. */
const runs: Readonly<Record<string, () => Promise<void>>> = {
  async 'npm ci && npm start'() {
    // What it would install is asked without a network: it fails if package.json and the lock file differ.
    mkdirSync(path('install'));
    for (const file of ['package.json', 'package-lock.json', '.npmrc']) cpSync(path(file), path(`install/${file}`));
    await run('cd install && npm ci --dry-run --offline');
    const { page, pasted } = await takeFirstSteps();
    expect(page).toEqual({ status: 200, path: '/docs' });
    expect(plantsIn(path('data/plants.db')).get(2n)).toEqual(JSON.parse(pasted));
  },
  async 'npm start'() {
    await takeFirstSteps();
  },
  async 'npm ci && npm test'() {
    expect(read('.ci/run')).toMatch(/\nnpm ci && npm test\n$/);
    const { jobs } = parse(read('.github/workflows/ci.yml'));
    const steps = jobs.test.steps.map((step: { run?: string }) => step.run);
    expect(steps).toEqual(expect.arrayContaining(['npm ci', 'npm test']));
  },
  async 'npm start -- --help'() {
    const help = await run('npm start -- --help');
    for (const [name] of variables()) expect(help).toMatch(new RegExp(`^  ${name} `, 'm'));
  },
  async 'npm run dev'() {
    const port = await freePort();
    const loop = shell('npm run dev', { PORT: String(port), DATABASE_URL: 'sqlite::memory:', ACCESS_TOKENS: 'token' });
    await loop.said(/^Served\./m);
    expect(await post(`http://127.0.0.1:${port}`, { id: 1, name: 'Fern' })).toBe(200);
    await interrupt(loop);
  },
  async 'npm run generate'() {
    expect(await run('npm run generate')).toContain('generated/openapi.ts');
  },
  async 'npm run generate -- --check'() {
    await run('npm run generate -- --check');
  },
  async 'npm run diff -- main'() {
    const git = (...args: string[]) => execFileSync('git', args, { cwd: folder });
    git('init', '--quiet', '--initial-branch=main');
    git('add', 'openapi.yaml');
    git('-c', 'user.name=A', '-c', 'user.email=a@plants.test', 'commit', '--quiet', '--no-gpg-sign', '-m', 'It');
    expect(await run('npm run diff -- main')).toContain('openapi.yaml has not changed for clients since main');
  },
  async 'npm run format'() {
    const here = copy();
    writeFileSync(join(here, 'crooked.ts'), 'export const crooked = "yes"');
    await run('npm run format', {}, here);
    expect(readFileSync(join(here, 'crooked.ts'), 'utf8')).toBe("export const crooked = 'yes';\n");
  },
  async 'npm run bench'() {
    expect(await run('npm run bench -- --help')).toMatch(/^ {2}npm run bench .*against Express/m);
  },
  async [command('npm run copy-plants')]() {
    const line = command('npm run copy-plants');
    await takeFirstSteps();
    await run(line.replace(/postgres:\S+$/, 'sqlite:data/copy.db'));
    expect(plantsIn(path('data/copy.db'))).toEqual(plantsIn(path('data/plants.db')));
    expect(plantsIn(path('data/copy.db')).size).toBe(2);
  },
  async [command('curl ')]() {
    const { answer } = await takeFirstSteps();
    const following = readme.blocks.findIndex(({ code }) => code.startsWith('curl ')) + 1;
    expect(`${answer}\n`).toBe(readme.blocks[following]?.code);
    expect(plantsIn(path('data/plants.db')).get(1n)).toEqual(JSON.parse(answer));
  },
  async [command('printf ')]() {
    const token = await openssl();
    const entry = (await run(command('printf '), { TOKEN: token })).trim();
    const service = launch({ ACCESS_TOKENS: entry });
    const url = await service.url;
    expect(entry).not.toContain(token);
    expect(await post(url, { id: 1, name: 'Fern' }, token)).toBe(200);
    expect(await post(url, { id: 1, name: 'Fern' }, `${token}x`)).toBe(401);
  },
  async [command('echo ')]() {
    const here = copy();
    await run(command('echo '), {}, here);
    const service = shell('npm start', { PORT: '0', DATABASE_URL: 'sqlite::memory:' }, here);
    const [line] = await service.said(/^\{.*"msg":"listening".*\}$/m);
    const [, token] = /^ACCESS_TOKENS=([0-9a-f]{64})\n$/.exec(readFileSync(join(here, '.env'), 'utf8')) ?? [];
    expect(await post(JSON.parse(line).url, { id: 1, name: 'Fern' }, token)).toBe(200);
    await interrupt(service);
  },
  async 'docker compose up --build'() {
    const { service } = parse(read('compose.yaml')).services;
    expect(service).toMatchObject({ build: '.', environment: { ACCESS_TOKENS: expect.stringMatching(/^\$\{ACCESS/) } });
  },
  async [command('docker run --env-file')]() {
    expect(await docker(command('docker run --env-file'))).toBe(
      'run --env-file .env -v plants:/data -p 127.0.0.1:3000:3000 sha256:1\n',
    );
    expect(read('Dockerfile')).toMatch(/^VOLUME \/data\nENV [^#]*\bPORT=3000\b[^#]*=sqlite:\/data\/plants.db$/m);
  },
  async [command('docker run -v')]() {
    await takeFirstSteps();
    const made = await docker(command('docker run -v'));
    const [, line = ''] = /^run -v plants:\/data sha256:1 (node .*)\n$/.exec(made) ?? [];
    await run(line.replace('/data/', 'data/').replace(/postgres:\S+$/, 'sqlite:data/volume.db'));
    expect(plantsIn(path('data/volume.db'))).toEqual(plantsIn(path('data/plants.db')));
  },
};

test('every command of the README is run by a test', () => {
  const unknown = readme.commands.filter((line) => !Object.hasOwn(runs, line));
  expect({ 'commands of the README that no test runs': unknown }).toEqual({
    'commands of the README that no test runs': [],
  });
  expect(Object.keys(runs).filter((line) => !readme.commands.includes(line))).toEqual([]);
});

test('every script that the README names is one', () => {
  const named = read('README.md').matchAll(/\bnpm run ([\w-]+)/g);
  for (const [, name] of named) expect(scripts).toHaveProperty(String(name));
});

test.concurrent.each(Object.entries(runs))('%s', (_line, works) => works());

test.concurrent('the examples in TypeScript compile, and the client does what it shows', async () => {
  const here = copy();
  const examples = readme.blocks.filter(({ language }) => language === 'ts').map(({ code }) => code);
  const files = examples.map((code, index) => {
    const imports = [...code.matchAll(/from '(\.[^']+)'/g)].map(([, file = '']) => file);
    const home = ['.', 'src'].find((at) => imports.every((file) => existsSync(join(here, at, file))));
    if (home === undefined) throw new Error(`no folder has all of ${imports.join(', ')}`);
    const file = join(home, `example-${index}.ts`);
    writeFileSync(join(here, file), code);
    return file;
  });
  writeFileSync(join(here, 'token.d.ts'), 'declare const token: string;\n');
  // An example may show more than it uses.
  const compilerOptions = { noUnusedLocals: false };
  const only = { compilerOptions, extends: './tsconfig.json', include: [], files: ['token.d.ts', ...files] };
  writeFileSync(join(here, 'tsconfig.examples.json'), JSON.stringify(only));
  const client = examples.findIndex((code) => code.includes("from 'openapi-fetch'"));
  const service = launch({ ACCESS_TOKENS: 'token' });
  const url = await service.url;
  const code = String(examples[client]).replace('http://127.0.0.1:3000', url);
  writeFileSync(join(here, 'client.ts'), code.replace(/^(?!import)/m, "const token = 'token';\n"));
  const commands = ['tsc -p tsconfig.examples.json', 'node client.ts'];
  expect(await Promise.all(commands.map((line) => run(`node_modules/.bin/${line}`, {}, here)))).toEqual([
    '',
    'Ficus lyrata\n',
  ]);
});

/** The names and defaults of the README's table of variables; a row may hold several. */
function variables(): Map<string, string> {
  return new Map(
    readme.table('variable', 'default').flatMap((row) => {
      const [cell = '', preset = ''] = row.map((text) => text.replaceAll('`', ''));
      const names = cell.split(', ');
      const presets = names.length === 1 ? [preset] : preset.split(', ');
      return names.map((name, index) => [name, presets[index] ?? ''] as const);
    }),
  );
}

test('the variables and their defaults are those that the service reads', () => {
  const read = new Map(
    Object.entries({ ...SERVER_VARIABLES, ...own }).map(([name, { default: preset }]) => [name, preset]),
  );
  expect(variables()).toEqual(read);
});

test('the metrics of requests and of the store, with their labels, are those that are served', async () => {
  const service = launch({ ACCESS_TOKENS: 'token', METRICS_PORT: '0' });
  await post(await service.url, { id: 1, name: 'Fern' });
  const { metrics } = await service.line(({ msg }) => msg === 'listening');
  const text = await (await fetch(String(metrics))).text();
  const labels = (series: string) => {
    const [, first = ''] = new RegExp(`^${series}(?:_count)?\\{(.*)\\}`, 'm').exec(text) ?? [];
    return [...first.matchAll(/(\w+)=/g)].map(([, label]) => label).join();
  };
  const served = [...text.matchAll(/^# TYPE ((?:http|store)_\w+)/gm)].map(
    ([, name = '']) => [name, labels(name)] as const,
  );
  const named = [...read('README.md').matchAll(/`((?:http|store)_\w+)(?:\{(.*?)\})?`/g)];
  expect(new Map(named.map(([, name, list = '']) => [name, list]))).toEqual(new Map(served));
});

test('each dependency is there for a reason, and no reason is without its dependency', () => {
  const named = (...header: string[]) => readme.table(...header).flatMap(([names = '']) => names.split(', '));
  const grouped = (packages: object) =>
    new Set(Object.keys(packages).map((name) => name.replace(/^@types\/.*/, '@types/*')));
  expect(new Set(named('package', 'why'))).toEqual(grouped(dependencies));
  expect(new Set(named('for development', 'why'))).toEqual(grouped(devDependencies));
});

test('what the README points to is there', () => {
  const text = read('README.md');
  const links = [...text.matchAll(/\]\((?!\w+:|#)([^)#\s]+)/g)].map(([, file = '']) => file);
  const layout = readme.blocks.filter(({ language }) => language === '').flatMap(({ code }) => code.split('\n'));
  const spans = [...text.matchAll(/`((?:\.github|docs|generated|scripts|src|test)\/[\w./-]*)`/g)];
  const named = [...layout.map((line) => line.split(' ')[0] ?? ''), ...spans.map(([, file = '']) => file)];
  expect([...links, ...named].filter((file) => file !== '' && !existsSync(join(PROJECT, file)))).toEqual([]);
});
