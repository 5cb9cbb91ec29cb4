import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { withFiles } from 'test-support/documents';

const BY_NAME = 'import a package by its name';
const FOLDER = 'move the code or change FOLDERS in scripts/check-imports.ts';

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
