import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { withFiles, writeFiles } from 'test-support/files';
import { checkOut } from '../../src/diff/versions.ts';
import { call } from '../call.ts';

describe('checkOut', () => {
  let folder: string;
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@t.test', ...args], {
      cwd: folder,
      encoding: 'utf8',
    });

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'versions-test-'));
    git('init', '-q', '-b', 'main');
    writeFiles(folder, {
      'api/openapi.yaml': 'old',
      'api/a b.json': 'json',
      'common/c.yml': 'yml',
      'common/README.md': 'text',
      'api/[x].openapi': 'literal',
      'api/x.openapi': 'no',
    });
    git('add', '.');
    git('commit', '-qm', 'first');
    writeFiles(folder, { 'api/openapi.yaml': 'new', 'api/new.yaml': 'new' });
    git('add', 'api/openapi.yaml');
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const checkedOut = (ref: string, file: string, inside = '') =>
    withFiles({}, async (target) => {
      const { stdout } = await call(join(folder, inside), async () => {
        console.log(checkOut(ref, file, target));
        return 0;
      });
      const path = stdout.trim().slice(target.length + 1);
      const files = readdirSync(target, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && entry.name !== '.index')
        .map((entry) => join(entry.parentPath, entry.name));
      const contents = files.map((name) => [
        name.slice(target.length + 1),
        readFileSync(name, 'utf8'),
      ]);
      return { path, files: Object.fromEntries(contents) };
    });

  const FILES = { 'api/openapi.yaml': 'old', 'api/a b.json': 'json', 'common/c.yml': 'yml' };

  test('also writes a document with another extension', async () => {
    expect(await checkedOut('main', '[x].openapi', 'api')).toEqual({
      path: 'api/[x].openapi',
      files: { ...FILES, 'api/[x].openapi': 'literal' },
    });
  });

  test.each(['nowhere', '--help', ''])('rejects the commit "%s"', async (ref) => {
    await expect(checkedOut(ref, 'api/openapi.yaml')).rejects.toThrow(
      new RegExp(`^git cannot read "${ref}": name .*\n.*Command failed: git read-tree`),
    );
  });

  test('rejects a folder without a repository', async () => {
    await withFiles({}, async (other) => {
      mkdirSync(join(other, 'target'));
      const checked = call(
        other,
        async () => checkOut('main', 'a.yaml', join(other, 'target'))?.length ?? 0,
      );
      await expect(checked).rejects.toThrow(/git cannot read "main"[\s\S]*not a git repository/);
    });
  });
});
