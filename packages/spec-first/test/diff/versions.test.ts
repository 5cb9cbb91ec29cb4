import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { checkOut, writeSelfContained } from '../../src/diff/versions.ts';
import { call } from '../call.ts';
import { inFolder, withDocument, writeFiles } from '../folder.ts';

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
    inFolder({}, async (target) => {
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

  test.each([
    ['main', 'api/openapi.yaml', '', 'api/openapi.yaml'],
    ['HEAD', 'openapi.yaml', 'api', 'api/openapi.yaml'],
    ['main', '../api/openapi.yaml', 'common', 'api/openapi.yaml'],
    ['main', 'missing.yaml', '', 'missing.yaml'],
  ])('writes the files of %s for %s in the folder "%s"', async (ref, file, inside, path) => {
    expect(await checkedOut(ref, file, inside)).toEqual({ path, files: FILES });
  });

  test('also writes a document with another extension', async () => {
    expect(await checkedOut('main', '[x].openapi', 'api')).toEqual({
      path: 'api/[x].openapi',
      files: { ...FILES, 'api/[x].openapi': 'literal' },
    });
  });

  test('changes neither the index nor the files of the repository', async () => {
    const status = git('status', '--porcelain');
    await checkedOut('main', 'api/openapi.yaml');
    expect(git('status', '--porcelain')).toBe(status);
    expect(status).toBe('M  api/openapi.yaml\n?? api/new.yaml\n');
  });

  test.each(['nowhere', '--help', ''])('rejects the commit "%s"', async (ref) => {
    await expect(checkedOut(ref, 'api/openapi.yaml')).rejects.toThrow(
      new RegExp(`^git cannot read "${ref}": name .*\n.*Command failed: git read-tree`),
    );
  });

  test('rejects a folder without a repository', async () => {
    await inFolder({}, async (other) => {
      mkdirSync(join(other, 'target'));
      const checked = call(
        other,
        async () => checkOut('main', 'a.yaml', join(other, 'target')).length,
      );
      await expect(checked).rejects.toThrow(/git cannot read "main"[\s\S]*not a git repository/);
    });
  });
});

describe('writeSelfContained', () => {
  const rewritten = (members: object) =>
    withDocument(members, (document) =>
      inFolder({}, (folder) => {
        const file = join(folder, 'whole.json');
        writeSelfContained(document, file);
        return readFileSync(file, 'utf8');
      }),
    );
  const $ref = '#/components/schemas/A';

  test('keeps exact integers', async () => {
    const schema = { type: 'integer', maximum: JSON.rawJSON('9223372036854775807') };
    expect(await rewritten({ components: { schemas: { A: schema } } })).toContain(
      '"maximum":9223372036854775807',
    );
  });

  test('leaves out references to other places, also in examples and extensions', async () => {
    const outside = { $ref: 'https://garden.test/a.yaml' };
    const schemas = {
      A: { type: 'object', example: { one: outside, two: { $ref } }, 'x-a': { $ref: 'a.yaml' } },
      B: { properties: { $ref: { type: 'string' } } },
    };
    expect(JSON.parse(await rewritten({ components: { schemas } })).components.schemas).toEqual({
      A: { type: 'object', example: { one: {}, two: { $ref } }, 'x-a': {} },
      B: schemas.B,
    });
  });

  test('leaves out targets of discriminators in other places', async () => {
    const mapping = { a: $ref, b: 'https://garden.test/b.yaml' };
    const schemas = {
      A: { type: 'object' },
      B: { oneOf: [{ $ref }], 'x-b': { propertyName: 'kind', mapping } },
      C: { properties: { mapping: { type: 'string', default: 'c' } } },
    };
    const { components } = JSON.parse(await rewritten({ components: { schemas } }));
    expect(components.schemas.B['x-b']).toEqual({ propertyName: 'kind', mapping: { a: $ref } });
    expect(components.schemas.C).toEqual(schemas.C);
  });

  test('contains path items in place of references to them', async () => {
    const get = { responses: { 204: { description: 'Done.' } } };
    const { paths } = JSON.parse(
      await rewritten({
        paths: { '/a': { $ref: '#/components/pathItems/A', summary: 'Ours.' }, '/b': { get } },
        components: { pathItems: { A: { get, summary: 'Theirs.' } } },
      }),
    );
    expect(paths).toEqual({ '/a': { get, summary: 'Ours.' }, '/b': { get } });
  });
});
