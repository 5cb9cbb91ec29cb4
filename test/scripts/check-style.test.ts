import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { withFiles } from 'test-support/documents';
import { findingsIn } from '../../scripts/check-style.ts';

test('a docstring that begins with a question word is reported, in one line or in several', () => {
  const text =
    '/** Whether it rains. */\nconst a = 1;\n/**\n * How it rains.\n */\n/** Returns rain. */\n';
  expect(findingsIn('a.ts', text)).toEqual([
    'a.ts:1 begins a docstring with a question word: start with a verb or the name',
    'a.ts:4 begins a docstring with a question word: start with a verb or the name',
  ]);
});

test('a question word inside a docstring is not reported', () => {
  expect(findingsIn('a.ts', '/**\n * Returns rain.\n * Where it rains, it pours.\n */\n')).toEqual(
    [],
  );
});

test('a line of more than 100 columns is reported', () => {
  const line = 'x'.repeat(101);
  expect(findingsIn('a.ts', `${line}\n${line.slice(1)}\n`)).toEqual([
    'a.ts:1 has 101 columns, the limit is 100',
  ]);
});

test('tests may have long lines, and only a line after /** begins a docstring', () => {
  const text = `${'x'.repeat(101)}\n`;
  for (const file of ['packages/server/test/a.ts', 'test/a.ts']) {
    expect(findingsIn(file, text)).toEqual([]);
  }
  expect(
    findingsIn('a.ts', 'const a = `/**`;\n * Which rain\n/** One */\n * Which rain\n'),
  ).toEqual([]);
});

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
