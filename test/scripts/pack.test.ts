import { expect, test } from '@jest/globals';
import { PACKAGES, publishedManifest } from '../../scripts/pack.ts';

test('the published libraries are all packages that are not private', () => {
  expect(PACKAGES).toEqual([
    'create-spec-first',
    'group-commit',
    'openapi-document',
    'spec-first',
    'spec-first-server',
  ]);
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
    files: ['dist', 'templates', 'CHANGELOG.md'],
  });
});
