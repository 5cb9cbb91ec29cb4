import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

const root = join(import.meta.dirname, '..');

test('SQLite works without pg', () => {
  const folder = mkdtempSync(join(tmpdir(), 'group-commit-'));
  cpSync(join(root, 'src'), join(folder, 'src'), { recursive: true });
  cpSync(join(root, 'package.json'), join(folder, 'package.json'));
  cpSync(join(root, 'test/sqlite/notes.ts'), join(folder, 'notes.ts'));
  const program = `
    import { openDatabase } from './src/sqlite/database.ts';
    const module = new URL('file://' + process.cwd() + '/notes.ts');
    const database = await openDatabase({ file: 'notes.db', module });
    await database.write('add', { id: 1, text: 'a' });
    console.log((await database.read('list')).length);
    await database.close();
    await import('./src/postgres/database.ts').catch(({ code }) => console.log(code));`;
  const args = ['--no-warnings', '--input-type=module', '-e', program];
  const output = execFileSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
  rmSync(folder, { recursive: true });
  expect(output).toBe('1\nERR_MODULE_NOT_FOUND\n');
});
