import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
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

let template: string;

beforeAll(() => {
  template = mkdtempSync(join(tmpdir(), 'diff-test-'));
  folder = template;
  git('init', '-q', '-b', 'main');
  mkdirSync(join(folder, 'schemas'));
  write('openapi.yaml', DOCUMENT);
  write('schemas/new.yaml', NEW_PLANT);
  git('add', '.');
  git('commit', '-q', '-m', 'first');
});

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'diff-test-'));
  cpSync(template, folder, { recursive: true });
});

afterEach(() => rmSync(folder, { recursive: true }));

afterAll(() => rmSync(template, { recursive: true }));

test('exits with 0 when the document has not changed', async () => {
  expect(await diff(['main'])).toEqual({
    status: 0,
    stdout: 'Changes since main: error 0, warning 0, info 0\n',
    stderr: '',
  });
});

test('exits with 1 for a breaking change in a referenced file, and changes nothing in the repository', async () => {
  write('schemas/new.yaml', NEW_PLANT.replace('code: { type: integer }', 'code: { type: string }'));
  const { status, stdout, stderr } = await diff(['main']);
  expect(stderr).toBe('');
  expect(stdout).toContain('Changes since main: error 1, warning 0, info 0');
  expect(stdout).toMatch(
    /^schemas\/new\.yaml:3:\d+ error \[request-type-changed\] new\.code: type changed from integer to string \(POST \/plants\)\n/,
  );
  expect(status).toBe(1);
  expect(git('status', '--porcelain')).toBe(' M schemas/new.yaml\n');
});

test('names references of both versions that are not compared', async () => {
  write('openapi.yaml', DOCUMENT.replace('new.yaml', 'old.yaml'));
  git('commit', '-qam', 'second');
  expect(await diff(['HEAD', '--fail-on', 'none'])).toMatchObject({
    stderr: expect.stringMatching(
      /^Not compared:\nHEAD:openapi\.yaml:9:\d+ .*\nNot compared:\nopenapi\.yaml:9:\d+ .*\n$/,
    ),
  });
  write('openapi.yaml', DOCUMENT);
  expect(await diff(['HEAD', '--fail-on', 'none'])).toMatchObject({
    stderr: expect.stringMatching(/^Not compared:\nHEAD:openapi\.yaml:9:\d+ .*old\.yaml.*\n$/),
  });
});

test('names the commit of a removed operation', async () => {
  write('openapi.yaml', DOCUMENT.replace('/plants:', '/herbs:'));
  expect(await diff(['main'])).toMatchObject({
    status: 1,
    stdout: expect.stringMatching(/^main:openapi\.yaml:5:5 error \[operation-removed\] /),
  });
});

/** A document whose request and reply have one schema, and whose operation needs scopes. */
const limited = (schema: string, scopes = 'read') => `openapi: 3.1.0
info: { title: Garden, version: 1.0.0 }
paths:
  /plants:
    post:
      operationId: addPlant
      security: [{ login: [${scopes}] }]
      requestBody:
        content:
          application/json:
            schema: { type: object, properties: { value: { ${schema} } } }
      responses:
        '200': { description: Kept. }
components:
  securitySchemes:
    login:
      type: oauth2
      flows: { clientCredentials: { tokenUrl: https://x.test/t, scopes: { read: '', write: '' } } }
`;

/** A document with webhooks and a callback whose requests have one schema. */
const sending = (schema: string, name = 'Wilted') => `openapi: 3.1.0
info: { title: Garden, version: 1.0.0 }
paths:
  /plants:
    post:
      operationId: addPlant
      responses: { '200': { description: Kept. } }
      callbacks: { grown: { '{$request.query.url}': { post: &message {
        requestBody: { content: { application/json: { schema: ${schema} } } },
        responses: { '204': { description: Received. } } } } } }
webhooks:
  ${name}:
    post: *message
`;

test('rates the requests that the service sends as receivers see them', async () => {
  write('openapi.yaml', sending('{ properties: { code: { maxLength: 5 }, tag: {} } }'));
  git('commit', '-qam', 'before');
  write('openapi.yaml', sending('{ properties: { code: { maxLength: 4 } }, required: [code] }'));
  const { status, stdout, stderr } = await diff(['HEAD']);
  const lines = stdout.split('\n').slice(0, -2);
  expect(lines.filter((line) => line.includes(' POST Wilted '))).toEqual(
    [
      'HEAD:openapi.yaml:13:5 warning [response-property-removed] ?: property tag was removed',
      'openapi.yaml:13:5 info [response-max-length-narrowed] ?.code: maxLength changed from 5 to 4',
      'openapi.yaml:13:5 info [response-property-became-required] ?: property code changed from optional to required',
    ].map((line) => line.replace('?', 'POST Wilted requestBody application/json')),
  );
  expect(lines).toHaveLength(6);
  expect([status, stderr]).toEqual([1, '']);
});

test('names the lines of webhooks that were added and removed', async () => {
  write('openapi.yaml', sending('{}'));
  git('commit', '-qam', 'before');
  write('openapi.yaml', sending('{}', 'Dry'));
  const { stdout } = await diff(['HEAD']);
  expect(stdout.split('\n').slice(0, 2)).toEqual([
    'HEAD:openapi.yaml:13:5 error [operation-removed] POST Wilted was removed',
    'openapi.yaml:13:5 info [operation-added] POST Dry was added',
  ]);
});

test('a change passes below the level of --fail-on, and always passes with --fail-on none', async () => {
  write('openapi.yaml', limited('type: string'));
  git('commit', '-qam', 'before');
  write('openapi.yaml', limited('type: string, default: a').replace('addPlant', 'putPlant'));
  for (const level of ['error', 'none'])
    expect(await diff(['HEAD', '--fail-on', level])).toMatchObject({ status: 0 });
  expect(await diff(['HEAD'])).toMatchObject({ status: 1 });
  write('openapi.yaml', limited('type: string }, other: { type: string'));
  expect(await diff(['HEAD', '--fail-on', 'warning'])).toMatchObject({ status: 0 });
  expect(await diff(['HEAD', '--fail-on', 'info'])).toMatchObject({ status: 1 });
  expect(await diff(['HEAD', '--fail-on', 'all'])).toMatchObject({ status: 2 });
});

test('annotates a change of each level, with escaped characters', async () => {
  const pathsWith = (one: string, other: string) => `
  "/a\\n100 %": { get: { responses: {}, ${one} } }
  "/b": { get: { responses: {}, ${other} } }
`;
  write('openapi.yaml', `${DOCUMENT}${pathsWith('operationId: a', 'deprecated: false')}`);
  git('commit', '-qam', 'before');
  write('openapi.yaml', `${DOCUMENT}${pathsWith('operationId: b', 'deprecated: true')}`);
  const { stdout } = await diff(['HEAD', '--format', 'githubactions']);
  expect(stdout.split('\n').slice(0, -1)).toEqual([
    expect.stringMatching(
      /^::warning title=operation-id-changed,file=openapi.yaml,line=13,col=\d+::GET \/a%0A100 %25: operationId changed from a to b$/,
    ),
    expect.stringMatching(
      /^::notice title=deprecated-added,file=openapi.yaml,line=14,col=\d+::GET/,
    ),
  ]);
  expect((await diff(['HEAD'])).stdout).toContain('GET /a\\n100 %: operationId changed');

  // A removed part has no place in the files of the pull request, but its operation has one.
  git('commit', '-qam', 'after');
  write('openapi.yaml', DOCUMENT.replace(/ {6}requestBody[\s\S]*new.yaml } }\n/, ''));
  const removed = await diff(['main~2', '--format', 'githubactions']);
  expect(removed.stdout).toMatch(/^::error .*file=openapi\.yaml,line=5,.* was removed\n/);
});

test('ignores Windows line endings, but finds a change in a document that has them', async () => {
  write('openapi.yaml', DOCUMENT.replaceAll('\n', '\r\n'));
  write('schemas/new.yaml', NEW_PLANT.replaceAll('\n', '\r\n'));
  expect(await diff(['main', '--fail-on', 'info'])).toMatchObject({ status: 0, stderr: '' });
  write(
    'schemas/new.yaml',
    NEW_PLANT.replace('required: [code]', 'required: [code, tag]').replaceAll('\n', '\r\n'),
  );
  expect(await diff(['main'])).toMatchObject({
    status: 1,
    stdout: expect.stringMatching(/^schemas\/new\.yaml:3:\d+ error .*property tag changed/),
  });
});

test('exits with 0 for a document that the commit does not contain', async () => {
  write(
    'garden.json',
    '{ "openapi": "3.1.0", "info": { "title": "B", "version": "1" }, "paths": {} }',
  );
  write('.env', 'OPENAPI_FILE=garden.json\n');
  expect(await diff(['HEAD'])).toEqual({
    status: 0,
    stdout: 'garden.json is new since HEAD: no client can depend on it\n',
    stderr: '',
  });
});

test('compares a document with itself before it was renamed', async () => {
  const more = DOCUMENT.replace('schemas/', '').slice(DOCUMENT.indexOf('  /plants'));
  write(
    'openapi.yaml',
    DOCUMENT + more.replace('/plants', '/herbs').replace('addPlant', 'addHerb'),
  );
  git('commit', '-qam', 'second');
  rmSync(join(folder, 'openapi.yaml'));
  write('schemas/garden.yaml', DOCUMENT.replace('schemas/', ''));
  write('.env', 'OPENAPI_FILE=schemas/garden.yaml\n');
  const status = git('status', '--porcelain');
  expect(await diff(['HEAD'])).toMatchObject({
    status: 1,
    stdout: expect.stringMatching(/^HEAD:openapi\.yaml:\d+:5 error .* POST \/herbs was removed\n/),
  });
  expect(git('status', '--porcelain')).toBe(status);
});

test('exits with 2 if one of the documents has an unsupported version', async () => {
  const convert = 'Swagger 2.0 is not supported. Convert it to OpenAPI 3: npx swagger2openapi';
  write('openapi.yaml', DOCUMENT.replace('openapi: 3.1.0', "swagger: '2.0'"));
  expect(await diff(['main'])).toMatchObject({
    status: 2,
    stdout: '',
    stderr: expect.stringContaining(convert),
  });
  git('commit', '-qam', 'older');
  write('openapi.yaml', DOCUMENT);
  expect(await diff(['HEAD'])).toMatchObject({
    status: 2,
    stderr: expect.stringContaining(`HEAD:openapi.yaml:1:1 ${convert}`),
  });
});

test('exits with 2 for an unknown commit, a wrong option, or a file that cannot be read', async () => {
  expect(await diff(['nowhere'])).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('git cannot read "nowhere"'),
  });
  expect(await diff([])).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('Name a git reference'),
  });
  expect(await diff(['main', '--fast'])).toMatchObject({
    status: 2,
    stderr: expect.stringContaining("'--fast'"),
  });
  expect(await diff(['main', '--format', 'poem'])).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('poem'),
  });
  write('openapi.yaml', 'paths: [');
  expect(await diff(['main'])).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('openapi.yaml'),
  });
  rmSync(join(folder, 'openapi.yaml'));
  expect(await diff(['main'])).toEqual({
    status: 2,
    stdout: '',
    stderr: 'openapi.yaml does not exist: set OPENAPI_FILE to the path of the document\n',
  });
  mkdirSync(join(folder, '.env'));
  expect(await diff(['main'])).toEqual({
    status: 2,
    stdout: '',
    stderr: '.env cannot be read (EISDIR)\n',
  });
});
