import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { upgradeNotice } from '../src/upgrade.ts';
import { call } from './call.ts';
import { type Files, inFolder } from './folder.ts';

const MARKER = 'node_modules/.cache/spec-first/version';

async function noticeIn(folder: string, ...args: Parameters<typeof upgradeNotice>) {
  const { stdout } = await call(folder, async () => {
    console.log(upgradeNotice(...args));
    return 0;
  });
  return stdout.trimEnd();
}

test.each<[title: string, files: Files, notice: string]>([
  [
    'a notice after an upgrade',
    { [MARKER]: '0.9.0' },
    'spec-first was upgraded from 0.9.0 to 1.2.0. See node_modules/spec-first/docs/upgrading.md',
  ],
  ['no notice with the same version', { [MARKER]: '1.2.0' }, 'undefined'],
  ['no notice on the first run', { 'node_modules/a/package.json': '{}' }, 'undefined'],
])('returns %s, and none on the next call', async (_, files, notice) => {
  await inFolder(files, async (folder) => {
    expect(await noticeIn(folder, '1.2.0')).toBe(notice);
    expect(readFileSync(join(folder, MARKER), 'utf8')).toBe('1.2.0');
    expect(await noticeIn(folder, '1.2.0')).toBe('undefined');
  });
});
