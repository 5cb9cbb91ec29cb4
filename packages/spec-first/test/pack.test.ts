import { expect, test } from '@jest/globals';
import { compiledManifest } from '../src/tarball.ts';

test('leads exports, imports and programs to compiled files, and exports to their types', () => {
  const manifest = {
    name: 'some-package',
    bin: { tool: './src/main.ts' },
    imports: { '#thread': './src/thread.ts' },
    exports: { '.': './src/index.ts', './package.json': './package.json' },
    dependencies: { express: '^5.3.0' },
  };
  expect(JSON.parse(compiledManifest(JSON.stringify(manifest)))).toMatchObject({
    name: 'some-package',
    bin: { tool: './dist/main.js' },
    imports: { '#thread': { types: './dist/thread.d.ts', default: './dist/thread.js' } },
    exports: {
      '.': { types: './dist/index.d.ts', default: './dist/index.js' },
      './package.json': './package.json',
    },
    dependencies: { express: '^5.3.0' },
  });
});
