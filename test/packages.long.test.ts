import { execFileSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { eventually } from 'test-support/eventually';
import { end, type Running, run, start } from 'test-support/project';
import { PACKAGES } from '../scripts/pack.ts';
import { install } from './support/install.ts';
import { removeFolder } from './support/remove.ts';

const folder = mkdtempSync(join(tmpdir(), 'packages-test-'));
/** A project for a document of three files, with the tarballs of the libraries. */
const library = join(folder, 'library');
const tarballs = new Map<string, string>();

beforeAll(async () => {
  const document = resolve('packages/spec-first/test/library/openapi.yaml');
  // `npm run new` accepts options before the folder.
  const args = ['--allow-outside', library, document];
  expect(await run('.', ['scripts/new.ts', ...args])).toMatchObject({
    code: 0,
    output: expect.stringContaining('npm install'),
  });
  for (const file of globSync(join(library, 'vendor/*')))
    tarballs.set(basename(file).replace(/-\d.*$/, ''), file);
});

afterAll(() => removeFolder(folder));

describe.each(PACKAGES)('the tarball of %s', (name) => {
  const read = () => readFileSync(tarballs.get(name) ?? '');
  const list = () =>
    execFileSync('tar', ['tzf', tarballs.get(name) ?? ''], { encoding: 'utf8' })
      .trim()
      .split('\n');
  const manifest = () =>
    JSON.parse(
      execFileSync('tar', ['xzOf', tarballs.get(name) ?? '', 'package/package.json'], {
        encoding: 'utf8',
      }),
    );

  test('contains compiled code and pages, and no sources', () => {
    const others = list().filter((path) => !/^package\/(dist|docs|templates)\//.test(path));
    expect(others.sort()).toEqual(
      ['CHANGELOG.md', 'LICENSE', 'README.md', 'package.json'].map((file) => `package/${file}`),
    );
    expect(list().filter((path) => /^package\/dist\/.*(?<!\.d)\.ts$/.test(path))).toEqual([]);
  });

  test('passes publint', async () => {
    const { buffer, byteOffset, byteLength } = read();
    const tarball = buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer;
    const { messages, pkg } = await publint({ pack: { tarball }, strict: true });
    expect(messages.map((message) => formatMessage(message, pkg, { color: false }))).toEqual([]);
  });

  test('has types for each kind of import', async () => {
    // `./compile-cache` is for `node --import`, and exports nothing.
    const entrypoints = Object.keys(manifest().exports ?? {}).filter(
      (entry) => entry !== './compile-cache',
    );
    const result = await checkPackage(createPackageFromTarballData(new Uint8Array(read())), {
      entrypoints,
    });
    // The packages are ES modules for Node 24 and newer. Problems of other consumers are ignored: of
    // the resolution of Node 10, and of CommonJS modules that import an ES module.
    const problems = result.types === false ? [] : result.problems;
    const ours = problems.filter(
      (problem) => !('resolutionKind' in problem) || problem.resolutionKind !== 'node10',
    );
    expect(ours.filter(({ kind }) => kind !== 'CJSResolvesToESM')).toEqual([]);
  });
});

describe('a project that npm run new creates for a document', () => {
  const read = (file: string) => readFileSync(join(library, file), 'utf8');
  const secret = { DEVELOPMENT_TOKEN: 'token-of-the-tests' };
  const production = {
    ACCESS_TOKENS: 'token-of-the-tests scheme=memberToken',
    NODE_ENV: 'production',
  };

  beforeAll(() => install(library, ['dependencies', 'devDependencies']));

  test('passes its tests, also with skipLibCheck: false', async () => {
    const text = read('tsconfig.json');
    writeFileSync(
      join(library, 'tsconfig.json'),
      text.replace('"skipLibCheck": true', '"skipLibCheck": false'),
    );
    const tested = await run(library, ['--run', 'test'], { CONTRACT_RUNS: '5' });
    writeFileSync(join(library, 'tsconfig.json'), text);
    expect(tested).toMatchObject({ code: 0, output: expect.stringMatching(/^ℹ fail 0$/m) });
    expect(tested.output).toMatch(
      /Contract tests: (\d+) of \1 operations succeeded at least once\./,
    );
  });

  test('does not start with its mocks in production', async () => {
    const failed = start(library, ['src/main.ts'], production);
    expect(await failed.exit).toBe(1);
    expect(failed.output()).toMatch(/MISSING_OPERATIONS .*must be refuse or 501/);
  });

  test('is served with mocks by npm run dev, and again after a save', async () => {
    const handlers = join(library, 'src/handlers.ts');
    const empty = read('src/handlers.ts');
    let loop: Running | undefined;
    try {
      loop = start(library, ['node_modules/spec-first/dist/main.js', 'dev'], secret);
      const [, url = ''] = await loop.waitForOutput(/listening +(http:\S+)/);
      expect((await fetch(`${url}/books`)).headers.has('x-mock')).toBe(true);
      const handler =
        "listBooks: () => ({ status: 200, headers: { 'X-Total-Count': 0 }, body: [] })";
      writeFileSync(handlers, empty.replace('listBooks: unimplemented', handler));
      await eventually(async () => {
        const answer = await fetch(`${url}/books`);
        expect(answer.headers.has('x-mock')).toBe(false);
        expect(await answer.json()).toEqual([]);
      });
    } finally {
      end(loop);
      writeFileSync(handlers, empty);
    }
  });
});
