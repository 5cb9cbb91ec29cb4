import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { withFiles } from 'test-support/documents';
import { forbiddenImports } from '../../scripts/check-imports.ts';
import { removeFolder } from '../support/remove.ts';

const SERVER = 'packages/spec-first-server/src';

const BY_NAME = 'import a package by its name';
const OUTSIDE = 'must not import files outside its folder';
const FOLDER = 'move the code or change FOLDERS in scripts/check-imports.ts';

test.each([
  ['src/plants.ts', '../packages/spec-first-server/src/index.ts', BY_NAME],
  ['scripts/new.ts', '../packages/spec-first/src/new.ts', BY_NAME],
  ['examples/hello/src/main.ts', '../../../packages/spec-first-server/src/index.ts', BY_NAME],
  ['packages/spec-first/src/dev.ts', '../../spec-first-server/src/index.ts', BY_NAME],
  ['packages/spec-first/test/dev.test.ts', '../../spec-first-server/src/index.ts', BY_NAME],
  ['packages/spec-first/test/dev.test.ts', '../../../test/support/launch.ts', OUTSIDE],
  ['examples/hello/src/main.ts', '../../books/src/books.ts', OUTSIDE],
  ['src/stores/store.ts', '../plants.ts', FOLDER],
  ['src/main.ts', '../scripts/backup.ts', FOLDER],
  ['src/main.ts', '../test/support/launch.ts', FOLDER],
  ['scripts/bench/main.ts', '../backup.ts', FOLDER],
  ['packages/group-commit/src/queue.ts', './sqlite/database.ts', FOLDER],
  ['packages/group-commit/src/queue.ts', '../test/sqlite/support.ts', FOLDER],
  ['packages/openapi-document/src/json/exact.ts', '../document/load.ts', FOLDER],
  ['packages/spec-first/src/contract-tests/check-effect.ts', '../types.ts', FOLDER],
  [`${SERVER}/core/call.ts`, '../adapters/node/index.ts', FOLDER],
  [`${SERVER}/core/call.ts`, '../serve/log.ts', FOLDER],
  [`${SERVER}/core/handlers/types.ts`, '../response/reply.ts', FOLDER],
  [`${SERVER}/core/validation/cost.ts`, '../response/reply.ts', FOLDER],
  [`${SERVER}/core/response/reply.ts`, '../security/tokens.ts', FOLDER],
  [`${SERVER}/core/security/jwt.ts`, '../request/body.ts', FOLDER],
  [`${SERVER}/core/request/body.ts`, '../security/tokens.ts', FOLDER],
  [`${SERVER}/adapters/fetch.ts`, '../serve/log.ts', FOLDER],
  [`${SERVER}/adapters/node/node-listener.ts`, '../express.ts', FOLDER],
  [`${SERVER}/page/page.ts`, '../serve/log.ts', FOLDER],
  [`${SERVER}/listener/listen.ts`, '../core/account.ts', FOLDER],
  [`${SERVER}/adapters/node/node-call.ts`, '../../listener/listen.ts', FOLDER],
  [
    `${SERVER}/elsewhere/one.ts`,
    '../core/call.ts',
    `add the folder ${SERVER}/elsewhere to FOLDERS`,
  ],
])('%s must not import %s', (file, specifier, reason) => {
  const statements = [
    `import { X } from '${specifier}';`,
    `import type { X } from '${specifier}';`,
    `import '${specifier}';`,
    `export * from '${specifier}';`,
    `} from '${specifier}';`,
    `const module = await import('${specifier}');`,
  ];
  for (const statement of statements) {
    expect(forbiddenImports(file, `// A comment.\n${statement}\n`)).toEqual([
      expect.stringMatching(`^${file}:2 imports ${specifier}: .*${reason}`),
    ]);
  }
});

test.each([
  ['src/plants.ts', 'spec-first-server'],
  ['src/plants.ts', '../generated/openapi.ts'],
  ['scripts/backup.ts', '../src/stores/index.ts'],
  ['test/image.test.ts', '../packages/spec-first-server/src/serve/configuration.ts'],
  ['examples/hello/test/hello.test.ts', '../src/handlers.ts'],
  ['examples/eov/app.ts', '../../src/plants.ts'],
  ['packages/spec-first/test/dev.test.ts', '../src/dev.ts'],
  ['packages/spec-first/test/dev.test.ts', 'test-support/documents'],
  ['packages/spec-first/src/new.ts', '../package.json'],
  ['packages/group-commit/src/sqlite/database.ts', '../queue.ts'],
  ['packages/openapi-document/src/checks/fits.ts', '../json/exact.ts'],
  [`${SERVER}/core/response/reply.ts`, '../validation/validator.ts'],
  [`${SERVER}/core/request/body.ts`, '../call.ts'],
  [`${SERVER}/core/request/body.ts`, './multipart.ts'],
  [`${SERVER}/adapters/node/node-listener.ts`, '../../core/call.ts'],
  [`${SERVER}/serve/app.ts`, '../adapters/node/index.ts'],
])('%s may import %s', (file, specifier) => {
  expect(forbiddenImports(file, `import { X } from '${specifier}';\n`)).toEqual([]);
});

test('the script finds forbidden imports in the code of a repository, also in JavaScript', () =>
  withFiles(
    {
      'src/main.ts': "import './plants.ts';\n",
      'src/stores/one.ts': "import { a } from 'pg';\nimport {\n  a,\n} from '../plants.ts';\n",
      'scripts/é.js': "import '../packages/p/src/index.ts';\n",
      'scripts/text.md': "import '../packages/p/src/index.ts';\n",
      'src/stores/deleted.ts': "import '../plants.ts';\n",
    },
    async (folder) => {
      const git = (...args: string[]) => spawnSync('git', args, { cwd: folder });
      const run = () =>
        spawnSync(process.execPath, [resolve('scripts/check-imports.ts')], {
          cwd: folder,
          encoding: 'utf8',
        });
      git('init');
      git('add', '.');
      rmSync(join(folder, 'src/stores/deleted.ts'));
      expect(run()).toMatchObject({
        status: 1,
        stderr:
          `scripts/é.js:1 imports ../packages/p/src/index.ts: ${BY_NAME}\n` +
          `src/stores/one.ts:4 imports ../plants.ts: src/stores may import no other folder; ${FOLDER}\n`,
      });
      git('rm', '--quiet', '-f', 'scripts/é.js', 'src/stores/one.ts');
      expect(run()).toMatchObject({ status: 0, stderr: '' });
    },
  ));

test('the code of this repository has no forbidden import', () => {
  const { status, stderr } = spawnSync(process.execPath, ['scripts/check-imports.ts'], {
    encoding: 'utf8',
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});

test('Biome rejects two files that import types of each other', () => {
  const folder = mkdtempSync(join(tmpdir(), 'cycle-'));
  const { vcs: _, $schema: __, ...rules } = JSON.parse(readFileSync('biome.json', 'utf8'));
  writeFileSync(join(folder, 'biome.json'), JSON.stringify(rules));
  for (const [file, imported] of [
    ['one', 'other'],
    ['other', 'one'],
  ]) {
    const text = `import type { X } from './${imported}.ts';\nexport type Y = X;\n`;
    writeFileSync(join(folder, `${file}.ts`), text);
  }
  const biome = resolve('node_modules/.bin/biome');
  const { stdout, stderr } = spawnSync(biome, ['lint', '--colors=off', '.'], {
    cwd: folder,
    encoding: 'utf8',
  });
  removeFolder(folder);
  expect(stdout + stderr).toContain('one.ts:1:24 lint/suspicious/noImportCycles');
});
