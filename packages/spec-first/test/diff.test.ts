import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { run } from '../src/diff.ts';
import { call } from './call.ts';

const DOCUMENT = `openapi: 3.1.0
info: { title: Garden, version: 1.0.0 }
paths:
  /plants:
    post:
      operationId: addPlant
      requestBody:
        content:
          application/json: { schema: { $ref: schemas/new.yaml } }
      responses:
        '200': { description: Kept. }
`;

const NEW_PLANT = `allOf:
  - type: object
    properties: { code: { type: integer }, tag: { type: string } }
  - type: object
    required: [code]
`;

let folder: string;

const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=test', '-c', 'user.email=test@test.test', ...args], {
    cwd: folder,
    encoding: 'utf8',
  });

const write = (file: string, text: string) => writeFileSync(join(folder, file), text);

const diff = (args: readonly string[], cwd = folder) => call(cwd, run, ...args);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'diff-test-'));
  git('init', '-q', '-b', 'main');
  mkdirSync(join(folder, 'schemas'));
  write('openapi.yaml', DOCUMENT);
  write('schemas/new.yaml', NEW_PLANT);
  git('add', '.');
  git('commit', '-q', '-m', 'first');
});

afterEach(() => rmSync(folder, { recursive: true }));

test('exits with 0 when the document has not changed', async () => {
  expect(await diff(['main'])).toEqual({ status: 0, stdout: 'No changes detected\n', stderr: '' });
});

test('exits with 1 for a breaking change in a referenced file and leaves the repository alone', async () => {
  write('schemas/new.yaml', NEW_PLANT.replace('code: { type: integer }', 'code: { type: string }'));
  const { status, stdout, stderr } = await diff(['main']);
  expect(stderr).toBe('');
  expect(stdout).toContain('1 changes: 1 error');
  expect(stdout).toContain('in API POST /plants');
  expect(status).toBe(1);
  expect(git('status', '--porcelain')).toBe(' M schemas/new.yaml\n');
});

test('sees a property that becomes required behind allOf', async () => {
  write('schemas/new.yaml', NEW_PLANT.replace('required: [code]', 'required: [code, tag]'));
  expect(await diff(['main'])).toMatchObject({ status: 1, stdout: expect.stringContaining('`tag` became required') });
});

test('compares documents whose allOf oasdiff cannot merge', async () => {
  const types = 'code: { type: [integer, string] }, tag: { type: string }';
  write(
    'schemas/new.yaml',
    `${NEW_PLANT.replace(/code: .*string } }/, `${types} }`)}    properties: { code: { type: integer } }\n`,
  );
  git('commit', '-qam', 'second');
  write('openapi.yaml', DOCUMENT.replace('requestBody:\n', 'requestBody:\n        required: true\n'));
  expect(await diff(['HEAD'])).toMatchObject({ status: 1, stdout: expect.stringContaining('body became required') });
});

test('exits with 0 for a compatible change', async () => {
  write('schemas/new.yaml', NEW_PLANT.replace('tag: {', 'row: { type: string }, tag: {'));
  expect(await diff(['main'])).toMatchObject({
    status: 0,
    stdout: expect.stringContaining('0 error, 0 warning, 1 info'),
  });
});

test('names the commit of an operation that is gone', async () => {
  write('openapi.yaml', DOCUMENT.replace('/plants:', '/herbs:'));
  expect(await diff(['main'])).toMatchObject({ status: 1, stdout: expect.stringContaining(' at main:openapi.yaml') });
});

test('compares a document in a folder with files beside it', async () => {
  write('schemas/garden.yaml', DOCUMENT.replace('schemas/new', 'new'));
  git('add', '.');
  git('commit', '-qm', 'second');
  write('schemas/new.yaml', NEW_PLANT.replace('code: { type: integer }', 'code: { type: string }'));
  write('schemas/.env', 'OPENAPI_FILE=garden.yaml\n');
  expect(await diff(['HEAD'], join(folder, 'schemas'))).toMatchObject({
    status: 1,
    stdout: expect.stringContaining('1 changes: 1 error'),
  });
});

test('annotates the file of the pull request with --format githubactions', async () => {
  write('openapi.yaml', DOCUMENT.replace('/plants:', '/herbs:'));
  expect(await diff(['main', '--format', 'githubactions'])).toMatchObject({
    status: 1,
    stdout: expect.stringMatching(/^::error title=[\w-]+,file=openapi\.yaml.*::in API POST \/plants /),
  });
});

test('exits with 0 for a document that the commit does not hold, also under another name', async () => {
  renameSync(join(folder, 'openapi.yaml'), join(folder, 'schemas/garden.yaml'));
  write('.env', 'OPENAPI_FILE=schemas/garden.yaml\n');
  expect(await diff(['HEAD'])).toEqual({
    status: 0,
    stdout: 'schemas/garden.yaml is new since HEAD: no client can depend on it\n',
    stderr: '',
  });
});

test('exits with 2 if one of the documents is of a version that is not served', async () => {
  const convert = 'Swagger 2.0 is not served. Convert the document to OpenAPI 3: npx swagger2openapi';
  write('openapi.yaml', DOCUMENT.replace('openapi: 3.1.0', "swagger: '2.0'"));
  expect(await diff(['main'])).toMatchObject({ status: 2, stdout: '', stderr: expect.stringContaining(convert) });
  git('commit', '-qam', 'older');
  write('openapi.yaml', DOCUMENT);
  expect(await diff(['HEAD'])).toMatchObject({
    status: 2,
    stderr: expect.stringContaining(`HEAD:openapi.yaml:1:1 ${convert}`),
  });
});

test('exits with 2 for an unknown commit, a wrong option, or a file that cannot be read', async () => {
  expect(await diff(['nowhere'])).toMatchObject({ status: 2, stderr: expect.stringContaining('no commit "nowhere"') });
  expect(await diff([])).toMatchObject({ status: 2, stderr: expect.stringContaining('One git reference is expected') });
  expect(await diff(['main', '--fast'])).toMatchObject({ status: 2, stderr: expect.stringContaining("'--fast'") });
  expect(await diff(['main', '--format', 'poem'])).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('poem'),
  });
  write('openapi.yaml', 'paths: [');
  expect(await diff(['main'])).toMatchObject({ status: 2, stderr: expect.stringContaining('openapi.yaml') });
  rmSync(join(folder, 'openapi.yaml'));
  expect(await diff(['main'])).toEqual({
    status: 2,
    stdout: '',
    stderr: 'openapi.yaml does not exist: set OPENAPI_FILE to the path of the document\n',
  });
  mkdirSync(join(folder, '.env'));
  expect(await diff(['main'])).toEqual({ status: 2, stdout: '', stderr: '.env cannot be read (EISDIR)\n' });
});

test('says what oasdiff does not compare of OpenAPI 3.2', async () => {
  write('openapi.yaml', DOCUMENT.replace('3.1.0', '3.2.0').replace('post:', 'query:'));
  git('commit', '-qam', 'second');
  expect(await diff(['HEAD'])).toMatchObject({ status: 0, stderr: expect.stringContaining('Not compared: QUERY') });
});
