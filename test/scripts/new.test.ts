import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

// test/packages.long.test.ts creates a project.
test('npm run new shows its usage with --help after a folder', () => {
  const folder = join(tmpdir(), 'new-test');
  const args = ['scripts/new.ts', folder, '--help'];
  const help = execFileSync(process.execPath, args, { encoding: 'utf8' });
  expect(help).toMatch(/^Usage: .*--help [^\n]*\n$/s);
  expect(existsSync(folder)).toBe(false);
});
