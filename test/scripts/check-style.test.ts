import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { withFiles } from 'test-support/documents';
import { findingsIn } from '../../scripts/check-style.ts';

test('the script checks code and the docstrings of tests, but no generated or deleted files', () =>
  withFiles({}, async (folder) => {
    const long = `${'x'.repeat(101)}\n`;
    const question = '/** Whether it rains. */\n';
    const write = (file: string, text = long) => {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), text);
    };
    const git = (...args: string[]) => spawnSync('git', args, { cwd: folder });
    const run = () =>
      spawnSync(process.execPath, [resolve('scripts/check-style.ts')], {
        cwd: folder,
        encoding: 'utf8',
      });
    git('init');
    const checked = ['examples/a/src/a.js', 'packages/a/src/a.css', 'scripts/a.ts', 'src/é.ts'];
    const ignored = [
      'src/a.yaml',
      'src/a.tsv',
      'test/a.ts',
      'packages/a/generated/a.ts',
      'docs/a.ts',
    ];
    for (const file of [...checked, ...ignored, 'src/deleted.ts']) write(file);
    write('test/b.ts', question);
    git('add', '.');
    rmSync(join(folder, 'src/deleted.ts'));
    const findings = checked.map((file) => `${file}:1 has 101 columns, the limit is 100\n`);
    const [inTest = ''] = findingsIn('test/b.ts', question);
    expect(run()).toMatchObject({ status: 1, stderr: `${findings.join('')}${inTest}\n` });
    git('rm', '--quiet', '-f', ...checked, 'test/b.ts');
    expect(run()).toMatchObject({ status: 0, stderr: '' });
  }));
