import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
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
    'spec-first was upgraded from 0.9.0 to 1.2.0. See docs/upgrading.md',
  ],
  ['no notice with the same version', { [MARKER]: '1.2.0' }, 'undefined'],
  ['no notice on the first run', { 'node_modules/a/package.json': '{}' }, 'undefined'],
])('returns %s, and none on the next call', async (_, files, notice) => {
  await inFolder(files, async (folder) => {
    expect(await noticeIn(folder, { version: '1.2.0' })).toBe(notice);
    expect(readFileSync(join(folder, MARKER), 'utf8')).toBe('1.2.0');
    expect(await noticeIn(folder, { version: '1.2.0' })).toBe('undefined');
  });
});

test('the notice of a published version has the address of the page', async () => {
  const repository = { url: 'git+https://git.test/a.git/spec-first.git' };
  await inFolder({ [MARKER]: '0.9.0' }, async (folder) => {
    expect(await noticeIn(folder, { version: '1.2.0', repository })).toMatch(
      / See https:\/\/git\.test\/a\.git\/spec-first\/blob\/main\/docs\/upgrading\.md$/,
    );
  });
});

test('the notice names the version of this package', async () => {
  const { version } = JSON.parse(readFileSync('packages/spec-first/package.json', 'utf8'));
  await inFolder({ [MARKER]: '0.9.0' }, async (folder) => {
    expect(await noticeIn(folder)).toContain(` to ${version}. `);
  });
});

test('nothing is written where no packages are installed, or the installation is read-only', async () => {
  await inFolder({}, async (folder) => {
    expect(await noticeIn(folder)).toBe('undefined');
    expect(existsSync(join(folder, 'node_modules'))).toBe(false);
  });
  await inFolder({ 'node_modules/.cache': 'a file' }, async (folder) => {
    expect(await noticeIn(folder)).toBe('undefined');
  });
});

test('no run prints the notice if the version of the last run cannot be replaced', async () => {
  const module = JSON.stringify(new URL('../src/upgrade.ts', import.meta.url));
  const script = `import(${module}).then((tools) => {
    console.log(tools.upgradeNotice({ version: '1.2.0' }));
  })`;
  // The process may not write files.
  const flags = ['--permission', '--allow-fs-read=*', '--no-warnings'];
  await inFolder({ [MARKER]: '0.9.0' }, (folder) => {
    const options = { cwd: folder, encoding: 'utf8' } as const;
    const output = execFileSync(process.execPath, [...flags, '--eval', script], options);
    expect(output).toBe('undefined\n');
    expect(readFileSync(join(folder, MARKER), 'utf8')).toBe('0.9.0');
  });
});
