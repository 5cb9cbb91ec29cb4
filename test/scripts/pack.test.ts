import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import {
  PACKAGES,
  publishedManifest,
  removeTarballs,
  withInstalledLinks,
} from '../../scripts/pack.ts';

test('the published libraries are all packages that are not private', () => {
  expect(PACKAGES).toEqual([
    'create-spec-first',
    'group-commit',
    'openapi-document',
    'spec-first',
    'spec-first-server',
  ]);
});

test('tarballs of former versions of the libraries are removed, and no other file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pack-test-'));
  try {
    const otherFiles = ['notes.txt', 'spec-first-plugin-1.0.0.tgz'];
    const tarballs = PACKAGES.map((name) => `${name}-0.9.0.tgz`);
    for (const name of [...otherFiles, ...tarballs, 'spec-first-1.0.0.tgz'])
      writeFileSync(join(folder, name), '');
    removeTarballs(folder);
    expect(readdirSync(folder).sort()).toEqual(otherFiles);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a published manifest has the paths of compiled code, and the types of each export', () => {
  const manifest = {
    name: 'some-package',
    bin: { tool: 'src/main.ts' },
    exports: {
      '.': './src/index.ts',
      './cache': './src/cache.js',
      './package.json': './package.json',
    },
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
    files: ['dist', 'templates', 'docs', 'CHANGELOG.md'],
  });
});

test('the links of an installed page lead to pages of installed packages, or to the repository', () => {
  const links = '[a](../packages/spec-first-server/README.md#codecs) [b](testing.md) [c](#c)';
  const address = 'https://git.test/tools/blob/main';
  expect(withInstalledLinks('docs/handlers.md', `${links} [d](../examples/shop)`, address)).toBe(
    `[a](../../spec-first-server/README.md#codecs) [b](testing.md) [c](#c) [d](${address}/examples/shop)`,
  );
  expect(
    withInstalledLinks('packages/group-commit/README.md', '[a](../../docs/a.md)', address),
  ).toBe('[a](../spec-first/docs/a.md)');
});

test('an installed page names files of the repository that has no address yet', () => {
  const text =
    '[a](testing.md#b) [the shop](../examples/shop#c), [`examples/eov`](../examples/eov) ![b](b.png)';
  expect(withInstalledLinks('docs/handlers.md', text)).toBe(
    '[a](testing.md#b) the shop (`examples/shop` of the repository), `examples/eov` b (`docs/b.png` of the repository)',
  );
});
