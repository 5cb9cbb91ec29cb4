// Creates a project with the libraries as tarballs, and installs it with each package manager, also
// in a workspace. Takes some minutes, so CI runs it in a separate job: npm run test:registry
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';

const folder = mkdtempSync(join(tmpdir(), 'managers-test-'));
const project = join(folder, 'my-api');
const tools = join(folder, 'tools');
after(() => rmSync(folder, { recursive: true }));

/** The package of each manager, and its program. */
const MANAGERS = {
  npm: ['npm@11.21.2', 'bin/npm-cli.js'],
  pnpm: ['pnpm@10.34.9', 'bin/pnpm.cjs'],
  'yarn-1': ['yarn@1.22.22', 'bin/yarn.js'],
  'yarn-4': ['@yarnpkg/cli-dist@4.18.1', 'bin/yarn.js'],
} as const;

type Manager = keyof typeof MANAGERS;
const names = Object.keys(MANAGERS) as Manager[];

const inherited = Object.entries(process.env).filter(
  ([name]) => !/^(npm_|NODE_(ENV|OPTIONS|TEST_CONTEXT)|FORCE_COLOR)/.test(name),
);
const env = {
  ...Object.fromEntries(inherited),
  PATH: [resolve('node_modules/node/bin'), process.env.PATH].join(delimiter),
  CONTRACT_RUNS: '3',
  // Yarn 1 finds a tarball in its cache by name and version, also after its content has changed.
  YARN_CACHE_FOLDER: join(folder, 'yarn-cache'),
  YARN_ENABLE_IMMUTABLE_INSTALLS: 'false',
  YARN_NPM_REGISTRY_SERVER: '',
};

async function run(cwd: string, program: string, ...args: readonly string[]): Promise<string> {
  try {
    const options = { cwd, env, maxBuffer: 2 ** 26 };
    const { stdout, stderr } = await promisify(execFile)(program, args, options);
    return stdout + stderr;
  } catch (error) {
    const { stdout = '', stderr = '', message = '' } = Object(error);
    throw new Error(`${program} ${args.join(' ')}: ${message}\n${stdout}${stderr}`);
  }
}

before(async () => {
  env.YARN_NPM_REGISTRY_SERVER = (await run('.', 'npm', 'config', 'get', 'registry')).trim();
  mkdirSync(tools);
  writeFileSync(join(tools, 'package.json'), '{}');
  const packages = names.map((name) => `${name}@npm:${MANAGERS[name][0]}`);
  await run(tools, 'npm', 'install', '--ignore-scripts', '--no-audit', ...packages);
  await run('.', 'npm', 'run', 'new', '--', project);
});

/** Follows the README of a project for Yarn 2 and newer. */
function prepareForYarn4(top: string, member: string): void {
  writeFileSync(join(top, '.yarnrc.yml'), 'nodeLinker: node-modules\n');
  writeFileSync(join(top, 'yarn.lock'), '');
  const path = join(member, 'package.json');
  const { devDependencies, ...manifest } = JSON.parse(readFileSync(path, 'utf8'));
  const { node: _, ...others } = devDependencies;
  writeFileSync(path, JSON.stringify({ ...manifest, devDependencies: others }));
}

for (const name of names) {
  for (const place of ['alone', 'in a workspace']) {
    test(`a project installs with ${name}, ${place}, and passes its tests`, async () => {
      const top = join(folder, `${name} ${place}`);
      const member = place === 'alone' ? top : join(top, 'my-api');
      cpSync(project, member, { recursive: true });
      if (member !== top) {
        const manifest = { name: 'top', private: true, workspaces: ['my-api'] };
        writeFileSync(join(top, 'package.json'), JSON.stringify(manifest));
        writeFileSync(join(top, 'pnpm-workspace.yaml'), 'packages: [my-api]\n');
      }
      if (name === 'yarn-4') prepareForYarn4(top, member);
      const program = join(tools, 'node_modules', name, MANAGERS[name][1]);
      await run(top, process.execPath, program, 'install');
      const separator = name === 'npm' ? ['--'] : [];
      const checked = await run(
        member,
        process.execPath,
        program,
        'start',
        ...separator,
        '--check',
      );
      assert.match(checked, /openapi\.yaml are valid/);
      assert.match(await run(member, process.execPath, program, 'test'), /^ℹ fail 0$/m);
    });
  }
}
