import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { ENVIRONMENT } from 'test-support/environment';
import { freePort } from 'test-support/free-port';
import { copyProject, end, groupRuns, type Running } from 'test-support/project';
import { parse } from 'yaml';
import { PACKAGES } from '../scripts/pack.ts';
import { plantsIn } from './plants/support/plant-service.ts';
import { endAll, launch, PROJECT, post } from './support/launch.ts';
import { readMarkdown } from './support/markdown.ts';

const read = (file: string): string => readFileSync(join(PROJECT, file), 'utf8');
const PAGES = [
  'README.md',
  ...['operating', 'databases', 'design', 'security', 'performance'].map(
    (name) => `docs/${name}.md`,
  ),
];
const pages = new Map(PAGES.map((file) => [file, readMarkdown(read(file))]));
const page = (file: string) => pages.get(file) ?? readMarkdown('');
const commands = [...new Set([...pages.values()].flatMap((markdown) => markdown.commands))];
const { scripts, dependencies } = JSON.parse(read('package.json'));

/** A copy of the project, in which the commands run. */
const folder = copyProject();
const path = (name: string): string => join(folder, name);
const scratch = mkdtempSync(join(tmpdir(), 'documentation-'));
const started: Running[] = [];
afterAll(async () => {
  for (const running of started) end(running);
  await Promise.all(started.map(({ exit }) => exit));
  await endAll();
  for (const each of [folder, scratch]) rmSync(each, { recursive: true, force: true });
});

function shell(line: string, env: Readonly<Record<string, string>> = {}, cwd = folder): Running {
  const child = spawn('sh', ['-c', line], {
    cwd,
    env: {
      ...ENVIRONMENT,
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
      for (const watcher of watchers) watcher();
    });
  const exit = once(child, 'close').then(([code, signal]): number | string => code ?? signal);
  const running: Running = {
    child,
    exit,
    output: () => output,
    forget() {
      output = '';
    },
    waitForOutput: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const match = pattern.exec(output);
          if (match !== null) resolve(match);
        };
        watchers.add(look);
        exit.then((code) => reject(new Error(`"${line}" ended with ${code}:\n${output}`)));
        look();
      }),
  };
  started.push(running);
  return running;
}

async function run(
  line: string,
  env: Readonly<Record<string, string>> = {},
  cwd = folder,
): Promise<string> {
  // `node --run` needs less CPU time than npm.
  const running = shell(line.replace(/^npm (run (?=\w)|(?=start))/, 'node --run '), env, cwd);
  const code = await running.exit;
  if (code !== 0) throw new Error(`"${line}" ended with ${code}:\n${running.output()}`);
  return running.output();
}

async function interrupt(running: Running): Promise<void> {
  if (groupRuns(running)) process.kill(-(running.child.pid ?? 0), 'SIGINT');
  await running.exit;
}

function command(prefix: string): string {
  const line = commands.find((each) => each.startsWith(prefix));
  if (line === undefined) throw new Error(`no page has a command ${prefix}…`);
  return line;
}

const withoutInstall = (line: string): string => line.replace(/^npm (ci|install) && /, '');

/** Follows the first steps of the README: starts the service, and stores plants with curl. */
async function firstSteps() {
  const service = shell(withoutInstall('npm ci && npm start'), { PORT: '0' });
  const [line] = await service.waitForOutput(/^\{.*"msg":"listening".*\}$/m);
  const { url, token, docs, example } = JSON.parse(line);
  const curl = command('curl ');
  const response = await run(
    `${curl.replace('http://127.0.0.1:3000', url)} --silent --show-error`,
    {
      TOKEN: token,
    },
  );
  const site = await fetch(docs);
  const exampleResponse = await run(
    `${example.replace('"id":1,', '"id":2,')} --silent --show-error`,
  );
  await interrupt(service);
  const page = { status: site.status, path: new URL(docs).pathname };
  return { response, page, exampleResponse };
}
let steps: ReturnType<typeof firstSteps> | undefined;
const takeFirstSteps = () => {
  steps ??= firstSteps();
  return steps;
};

let help: Promise<string> | undefined;
const readHelp = () => {
  // --help reads no variable.
  help ??= run('npm start -- --help', { PORT: 'wrong' });
  return help;
};

let backup: Promise<string> | undefined;
const makeBackup = async () => {
  await takeFirstSteps();
  backup ??= run(command('npm run backup -- backup.db'));
  return backup;
};

/** Starts a service with a token that the documented commands create and hash. */
async function startWithHash() {
  const token = await createToken();
  const entry = (await run(command('printf '), { TOKEN: token })).trim();
  const service = launch({ ACCESS_TOKENS: entry, METRICS_PORT: '0' });
  return { token, entry, service, url: await service.url };
}
let withHash: ReturnType<typeof startWithHash> | undefined;
const serviceWithHash = () => {
  withHash ??= startWithHash();
  return withHash;
};

async function createToken(): Promise<string> {
  const [, line = ''] = /\$\((openssl [^)]*)\)/.exec(command('echo ')) ?? [];
  return (await run(line)).trim();
}

/** Runs a command with a script in place of a program. */
async function withProgram(
  name: string,
  script: string,
  line: string,
  cwd = folder,
): Promise<string> {
  const bin = mkdtempSync(join(scratch, 'bin-'));
  writeFileSync(join(bin, name), script);
  chmodSync(join(bin, name), 0o755);
  return run(line, { PATH: `${bin}:${process.env.PATH}` }, cwd);
}

/**
 * Runs a command with a script in place of `docker`. The script prints `sha256:1` for a build, and
 * its arguments for any other command.
 */
const docker = (line: string): Promise<string> =>
  withProgram('docker', '#!/bin/sh\n[ "$1" = build ] && echo sha256:1 || echo "$*"\n', line);

/**
 * Checks that `npm run new` accepts the options of a command, and rejects only its folder, which is
 * not empty. Other tests create projects.
 */
async function expectAccepted(line: string): Promise<void> {
  await expect(run(line)).rejects.toThrow('is not empty');
}

/** Replaces the folder `../hello` by one that is removed after the tests. */
const inScratch = (line: string): string => line.replace('../hello', join(scratch, 'hello'));

/**
 * A test for each command. Scripts replace the container engine. A command that needs a network or
 * minutes is only compared with the files that it uses.
 */
const runs: Readonly<Record<string, () => Promise<void>>> = {
  async 'npm ci && npm start'() {
    // npm ci rejects a lock file with other dependencies than package.json. test/image.test.ts runs it.
    const lock: { packages: Record<string, object> } = JSON.parse(read('package-lock.json'));
    for (const file of ['package.json', ...packageFiles()]) {
      const entry = lock.packages[file.replace(/\/?package\.json$/, '')];
      expect(dependenciesOf(Object(entry))).toEqual(dependenciesOf(JSON.parse(read(file))));
    }
    const { page, exampleResponse } = await takeFirstSteps();
    expect(page).toEqual({ status: 200, path: '/docs' });
    expect(plantsIn(path('data/plants.db')).get(2n)).toEqual(JSON.parse(exampleResponse));
  },
  async 'npm start -- --help'() {
    const help = await readHelp();
    for (const name of variables()) expect(help).toMatch(new RegExp(`^  ${name} `, 'm'));
  },
  async 'npm start -- --check'() {
    const env = { ACCESS_TOKENS: 'token', DATABASE_URL: 'sqlite:unopened.db' };
    const checked = await run('npm start -- --check', env);
    expect(checked).toBe('The configuration and openapi.yaml are valid.\n');
    expect(existsSync(path('unopened.db'))).toBe(false);
  },
  async 'npm start -- --version'() {
    expect(await run('npm start -- --version')).toMatch(
      /^openapi-plant-store \d.* \(spec-first-server \d.*, Node 26/m,
    );
  },
  async 'DATABASE_URL=sqlite:backup.db npm start'() {
    await makeBackup();
    const service = shell('DATABASE_URL=sqlite:backup.db node --run start', { PORT: '0' });
    await service.waitForOutput(/"store":"sqlite:backup.db"/);
    await interrupt(service);
  },
  async [command('npm run new -- ../library')]() {
    await expectAccepted(command('npm run new -- ../library').replace('../library', '.'));
  },
  async [command('npm run new -- ../mine')]() {
    await expectAccepted(command('npm run new -- ../mine').replace('../mine', '.'));
  },
  async [command('cp -R examples/hello')]() {
    await run(inScratch(command('cp -R examples/hello')), {}, PROJECT);
    expect(existsSync(join(scratch, 'hello/src/main.ts'))).toBe(true);
  },
  async [command('npm run pack')]() {
    const packed = join(scratch, 'packed');
    await run(command('npm run pack').replace('../hello', packed), {}, PROJECT);
    const tarballs = readdirSync(join(packed, 'vendor'));
    expect(tarballs.map((name) => name.replace(/-\d.*$/, ''))).toEqual(PACKAGES);
  },
  async 'ACCESS_TOKENS=secret npm run start:eov'() {
    const line = 'ACCESS_TOKENS=secret node --run start:eov';
    const service = shell(line, { PORT: '0', DATABASE_URL: 'sqlite::memory:' });
    const [, url = ''] = await service.waitForOutput(/"url":"([^"]+)"/);
    expect(await post(url, { id: 1, name: 'Fern' }, 'secret')).toBe(200);
    await interrupt(service);
  },
  async 'npm run dev'() {
    const port = await freePort();
    const loop = shell('node --run dev', {
      PORT: String(port),
      DATABASE_URL: 'sqlite::memory:',
      ACCESS_TOKENS: 'token',
    });
    await loop.waitForOutput(/^Served\./m);
    expect(await post(`http://127.0.0.1:${port}`, { id: 1, name: 'Fern' })).toBe(200);
    await interrupt(loop);
  },
  async 'npm run generate'() {
    expect(await run('npm run generate')).toContain('generated/openapi.ts');
  },
  async 'npm run diff -- main'() {
    const git = (...args: string[]) => execFileSync('git', args, { cwd: folder });
    git('init', '--quiet', '--initial-branch=main');
    git('add', 'openapi.yaml');
    git(
      '-c',
      'user.name=A',
      '-c',
      'user.email=a@plants.test',
      'commit',
      '--quiet',
      '--no-gpg-sign',
      '-m',
      'It',
    );
    await run('npm run diff -- main');
  },
  async [command('npm run copy-plants')]() {
    const line = command('npm run copy-plants');
    await takeFirstSteps();
    await run(line.replace(/postgres:\S+$/, 'sqlite:data/copy.db'));
    expect(plantsIn(path('data/copy.db'))).toEqual(plantsIn(path('data/plants.db')));
    expect(plantsIn(path('data/copy.db')).size).toBe(2);
  },
  async [command('npm run backup -- backup.db')]() {
    await makeBackup();
    expect(plantsIn(path('backup.db'))).toEqual(plantsIn(path('data/plants.db')));
  },
  async [command('npm run backup -- "backups/')]() {
    await takeFirstSteps();
    mkdirSync(path('backups'));
    writeFileSync(path('backups/old.db'), '');
    const longAgo = new Date(Date.now() - 20 * 24 * 60 * 60 * 1000);
    utimesSync(path('backups/old.db'), longAgo, longAgo);
    await run(command('npm run backup -- "backups/'));
    const [copied = '', ...olderFiles] = readdirSync(path('backups'));
    expect(olderFiles).toEqual([]);
    expect(plantsIn(path(`backups/${copied}`))).toEqual(plantsIn(path('data/plants.db')));
  },
  async [command('rm -f data/plants.db-wal')]() {
    const workFolder = join(scratch, 'restored');
    await takeFirstSteps();
    mkdirSync(join(workFolder, 'data'), { recursive: true });
    cpSync(path('data/plants.db'), join(workFolder, 'backup.db'));
    writeFileSync(join(workFolder, 'data/plants.db-wal'), 'the log of another file');
    await run(command('rm -f data/plants.db-wal'), {}, workFolder);
    expect(plantsIn(join(workFolder, 'data/plants.db')).size).toBe(2);
  },
  async [command('sqlite3 ')]() {
    await takeFirstSteps();
    const script = `#!${process.execPath} --no-warnings
      const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
      const database = new DatabaseSync(process.argv[2], { timeout: 5_000 });
      console.log(JSON.stringify(database.prepare(process.argv[3]).all()));\n`;
    expect(await withProgram('sqlite3', script, command('sqlite3 '))).toContain(
      '"name":"Monstera"',
    );
  },
  async [command('curl ')]() {
    const { response } = await takeFirstSteps();
    const { blocks } = page('README.md');
    const following = blocks.findIndex(({ code }) => code.startsWith('curl ')) + 1;
    expect(`${response}\n`).toBe(blocks[following]?.code);
    expect(plantsIn(path('data/plants.db')).get(1n)).toEqual(JSON.parse(response));
  },
  async [command('printf ')]() {
    const { token, entry, url } = await serviceWithHash();
    expect(entry).not.toContain(token);
    expect(await post(url, { id: 1, name: 'Fern' }, token)).toBe(200);
    expect(await post(url, { id: 1, name: 'Fern' }, `${token}x`)).toBe(401);
  },
  async [command('echo ')]() {
    const workFolder = join(scratch, 'configured');
    mkdirSync(workFolder);
    for (const name of readdirSync(folder)) {
      if (name !== '.env') symlinkSync(path(name), join(workFolder, name));
    }
    await run(command('echo '), {}, workFolder);
    const env = { PORT: '0', DATABASE_URL: 'sqlite::memory:' };
    const service = shell('node --run start', env, workFolder);
    const [line] = await service.waitForOutput(/^\{.*"msg":"listening".*\}$/m);
    const [, token] =
      /^ACCESS_TOKENS=([0-9a-f]{64})\n$/.exec(readFileSync(join(workFolder, '.env'), 'utf8')) ?? [];
    expect(await post(JSON.parse(line).url, { id: 1, name: 'Fern' }, token)).toBe(200);
    await interrupt(service);
  },
  async 'docker compose up --build'() {
    const { service } = parse(read('compose.yaml')).services;
    expect(service).toMatchObject({
      build: '.',
      environment: { ACCESS_TOKENS: expect.stringMatching(/^\$\{ACCESS/) },
    });
  },
  async [command('docker run --env-file')]() {
    expect(await docker(command('docker run --env-file'))).toBe(
      'run --env-file .env -v plants:/data -p 127.0.0.1:3000:3000 sha256:1\n',
    );
    expect(read('Dockerfile')).toMatch(
      /^VOLUME \/data\nENV [^#]*\bPORT=3000\b[^#]*=sqlite:\/data\/plants.db$/m,
    );
  },
  async [command('docker run -v')]() {
    const dockerArguments = await docker(command('docker run -v'));
    const [, line = ''] = /^run -v plants:\/data sha256:1 (node .*)\n$/.exec(dockerArguments) ?? [];
    // npm run copy-plants runs the same script, which test/scripts/copy-plants.test.ts tests.
    expect(line).toMatch(
      new RegExp(
        `^${RegExp.escape(scripts['copy-plants'])} sqlite:/data/plants\\.db postgres://\\S+$`,
      ),
    );
  },
};

/** Returns all lists of dependencies of a package.json, or of its entry in the lock file. */
const dependenciesOf = (manifest: object) =>
  Object.entries(manifest).filter(([name]) => /[dD]ependencies$/.test(name));

const packageFiles = (): string[] => PACKAGES.map((name) => `packages/${name}/package.json`);

const manifestOf = (name: string) => JSON.parse(read(`packages/${name}/package.json`));

test('every script that a page names exists', () => {
  const named = PAGES.flatMap((file) => [...read(file).matchAll(/\bnpm run ([\w-]+)/g)]);
  for (const [, name] of named) expect(scripts).toHaveProperty(String(name));
});

test.concurrent.each(Object.entries(runs))('the documented command is valid: %s', (_line, check) =>
  check(),
);

test.concurrent('the examples in TypeScript compile', async () => {
  const examples = [...pages.values()].flatMap(({ blocks }) =>
    blocks.filter(({ language }) => language === 'ts'),
  );
  const files = examples.map(({ code }, index) => {
    const imports = [...code.matchAll(/from '(\.[^']+)'/g)].map(([, file = '']) => file);
    const parent = ['.', 'src'].find((parent) =>
      imports.every((file) => existsSync(path(join(parent, file)))),
    );
    if (parent === undefined) throw new Error(`no folder has all of ${imports.join(', ')}`);
    const file = join(parent, `example-${index}.ts`);
    writeFileSync(path(file), code);
    return file;
  });
  // An example may import names that it does not use.
  const compilerOptions = { noUnusedLocals: false };
  const config = { compilerOptions, extends: './tsconfig.json', include: [], files };
  writeFileSync(path('tsconfig.examples.json'), JSON.stringify(config));
  // One thread takes less CPU time.
  expect(await run('node_modules/.bin/tsc --singleThreaded -p tsconfig.examples.json')).toBe('');
});

const variables = (): Set<string> => {
  const text = read('docs/operating.md') + read('docs/databases.md');
  const names = text.match(/\b[A-Z]+(?:_[A-Z]+)+\b/g) ?? [];
  return new Set(names.filter((name) => !/^(?:NODE|OTEL)_/.test(name)));
};

test('the service has the documented metrics and labels, and no others', async () => {
  const { service, url, token } = await serviceWithHash();
  await post(url, { id: 1, name: 'Fern' }, token);
  const { metrics } = await service.line(({ msg }) => msg === 'listening');
  const text = await (await fetch(String(metrics))).text();
  const labels = (series: string) => {
    const [, first = ''] = new RegExp(`^${series}(?:_count)?\\{(.*)\\}`, 'm').exec(text) ?? [];
    return [...first.matchAll(/(\w+)=/g)].map(([, label]) => label).join();
  };
  const served = [...text.matchAll(/^# TYPE ((?:http|store)_\w+)/gm)].map(
    ([, name = '']) => [name, labels(name)] as const,
  );
  const named = [...read('docs/operating.md').matchAll(/`((?:http|store)_\w+)(?:\{(.*?)\})?`/g)];
  const documented = new Map(named.map(([, name = '', list = '']) => [name, list]));
  // A counter without a value has no labels.
  const withLabels = served.map(([name, list]) => [name, list || documented.get(name)] as const);
  const postgres = ['store_connections', 'store_connections_idle'].map(
    (name) => [name, ''] as const,
  );
  expect(documented).toEqual(new Map([...withLabels, ...postgres]));
});

test('the documentation gives a reason for each production dependency, and for no other package', () => {
  const documented = page('docs/design.md')
    .table('package', 'why')
    .flatMap(([names = '']) => names.split(', '));
  const lists = [dependencies, ...PACKAGES.map((name) => manifestOf(name).dependencies)];
  const external = lists
    .flatMap((list) => Object.keys(list ?? {}))
    .filter((name) => !(PACKAGES as readonly string[]).includes(name))
    .map((name) => name.replace(/^@types\/.*/, '@types/*'));
  expect(new Set(documented)).toEqual(new Set(external));
});

/** The anchors that GitHub creates for the headings of a page. */
const anchors = (file: string): Set<string> =>
  new Set(
    Array.from(read(file).matchAll(/^#+ (.*)$/gm), ([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\w -]/g, '')
        .replaceAll(' ', '-'),
    ),
  );

test('links of all pages lead to files and headings', () => {
  const pattern = '{*.md,{docs,.github}/*.md,{packages,examples}/*/README.md}';
  const broken = globSync(pattern, { cwd: PROJECT }).flatMap((file) =>
    [...read(file).matchAll(/\]\((?!\w+:)([^)#\s]*)(?:#([^)]*))?\)/g)]
      .filter(([, to = '', anchor]) => {
        const target = to === '' ? file : join(dirname(file), to);
        if (!existsSync(join(PROJECT, target))) return true;
        return anchor !== undefined && !anchors(target).has(anchor);
      })
      .map(([link]) => `${file}: ${link}`),
  );
  expect(broken).toEqual([]);
});

test('paths of the documentation exist', () => {
  const missing = PAGES.flatMap((file) => {
    const text = read(file);
    const layout = page(file)
      .blocks.filter(({ language }) => language === '')
      .flatMap(({ code }) => code.split('\n').map((line) => line.split(' ')[0] ?? ''));
    const spans = [
      ...text.matchAll(/`((?:\.github|docs|generated|packages|scripts|src|test)\/[\w./-]*)`/g),
    ];
    return [...layout, ...spans.map(([, to = '']) => to)].filter(
      (to) => to !== '' && !existsSync(join(PROJECT, to)),
    );
  });
  expect(missing).toEqual([]);
});
