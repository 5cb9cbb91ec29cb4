import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { PACKAGES, pack, publishedManifest } from '../scripts/pack.ts';

const folder = mkdtempSync(join(tmpdir(), 'packages-test-'));
let tarballs: Map<string, string>;

beforeAll(() => {
  tarballs = pack(folder);
});

afterAll(() => rmSync(folder, { recursive: true }));

describe.each(PACKAGES)('the tarball of %s', (name) => {
  const read = () => readFileSync(tarballs.get(name) ?? '');
  const list = () =>
    execFileSync('tar', ['tzf', tarballs.get(name) ?? ''], { encoding: 'utf8' })
      .trim()
      .split('\n');
  const manifest = () =>
    JSON.parse(execFileSync('tar', ['xzOf', tarballs.get(name) ?? '', 'package/package.json'], { encoding: 'utf8' }));

  test('is named by its version', () => {
    expect(tarballs.get(name)).toMatch(new RegExp(`/${name}-${manifest().version}\\.tgz$`));
  });

  test('holds compiled code and pages, and no sources', () => {
    const others = list().filter((path) => !/^package\/(dist|templates)\//.test(path));
    expect(others.sort()).toEqual(
      ['CHANGELOG.md', 'LICENSE', 'README.md', 'package.json'].map((file) => `package/${file}`),
    );
    expect(list().filter((path) => /^package\/dist\/.*(?<!\.d)\.ts$/.test(path))).toEqual([]);
  });

  test('says where it comes from, what it runs on and what it exports', () => {
    expect(manifest()).toMatchObject({
      license: 'MIT',
      engines: { node: '>=24' },
      repository: { directory: `packages/${name}`, type: 'git' },
      sideEffects: expect.anything(),
    });
  });

  test('has nothing that publint finds', async () => {
    const { buffer, byteOffset, byteLength } = read();
    const tarball = buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer;
    const { messages, pkg } = await publint({ pack: { tarball }, strict: true });
    expect(messages.map((message) => formatMessage(message, pkg, { color: false }))).toEqual([]);
  });

  test('has types that each way of an import finds', async () => {
    // `./compile-cache` is for `node --import`: there is nothing to import from it.
    const entrypoints = Object.keys(manifest().exports ?? {}).filter((entry) => entry !== './compile-cache');
    const result = await checkPackage(createPackageFromTarballData(new Uint8Array(read())), { entrypoints });
    // The packages are ES modules for Node 24 and newer: neither the old resolution nor require() without types is for them.
    const problems = result.types === false ? [] : result.problems;
    const ours = problems.filter((problem) => !('resolutionKind' in problem) || problem.resolutionKind !== 'node10');
    expect(ours.filter(({ kind }) => kind !== 'CJSResolvesToESM')).toEqual([]);
  });
});

test('a published manifest leads exports, programs and side effects to compiled files, and exports to their types', () => {
  const manifest = {
    name: 'some-package',
    bin: { tool: 'src/main.ts' },
    exports: { '.': './src/index.ts', './cache': './src/cache.js', './package.json': './package.json' },
    sideEffects: ['./src/cache.js'],
  };
  expect(publishedManifest(JSON.stringify(manifest))).toEqual({
    name: 'some-package',
    bin: { tool: 'dist/main.js' },
    exports: {
      '.': { types: './dist/index.d.ts', default: './dist/index.js' },
      './cache': './dist/cache.js',
      './package.json': './package.json',
    },
    sideEffects: ['./dist/cache.js'],
    files: ['dist', 'templates', 'CHANGELOG.md'],
  });
});
