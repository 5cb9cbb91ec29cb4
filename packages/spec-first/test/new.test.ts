import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createApp } from 'spec-first-server';
import { checkFile } from '../src/check.ts';
import { run as newProject, projectFiles } from '../src/new.ts';
import { call } from './call.ts';
import { failures } from './contract-tests/failures.ts';

const folder = mkdtempSync(join(tmpdir(), 'new-test-'));
/** The project that is made without a document. */
const books = join(folder, 'books');

const make = async (...args: string[]) => {
  const { status, stdout, stderr } = await call(folder, newProject, ...args);
  return { code: status, output: stdout + stderr };
};

beforeAll(async () => {
  for (const [path, content] of await projectFiles(books, undefined)) {
    mkdirSync(dirname(join(books, path)), { recursive: true });
    writeFileSync(join(books, path), content);
  }
});

afterAll(() => rmSync(folder, { recursive: true }));

describe('the example', () => {
  test('has a document without notices, whose mocks keep to it', async () => {
    const document = join(books, 'openapi.yaml');
    const checked = await checkFile(document);
    expect([checked.problems, checked.notices()]).toEqual([[], []]);
    const app = createApp({ document, handlers: {}, missing: 'mock', accessTokens: ['token'] });
    expect(await failures({ document, app, credentials: 'token', runs: 10 })).toEqual({});
  });
});

describe('spec-first new', () => {
  test('writes nothing into a folder that is not empty', async () => {
    const full = join(folder, 'full');
    mkdirSync(full);
    writeFileSync(join(full, 'notes.txt'), 'keep');
    expect(await make(full)).toEqual({
      code: 1,
      output: `${full} is not empty (notes.txt). Name an empty or a new folder: nothing is overwritten.\n`,
    });
    expect(await readdir(full)).toEqual(['notes.txt']);
  });

  test('names the errors of a document and writes nothing', async () => {
    const file = join(folder, 'broken.yaml');
    writeFileSync(file, 'openapi: 3.1.0\ninfo: { title: T, version: 1.0.0 }\npaths: { /a: { $ref: nowhere.yaml } }\n');
    const { code, output } = await make(join(folder, 'broken'), file);
    expect({ code, output }).toMatchObject({ code: 1, output: expect.stringContaining('broken.yaml:3:') });
    expect(existsSync(join(folder, 'broken'))).toBe(false);
  });

  test('rejects a document that references files outside its folder', async () => {
    mkdirSync(join(folder, 'api'));
    const file = join(folder, 'api/openapi.yaml');
    const schema = '{ $ref: ../shared.yaml }';
    writeFileSync(
      file,
      `openapi: 3.1.0
info: { title: T, version: 1.0.0, license: { name: MIT, identifier: MIT } }
security: []
paths:
  /a:
    get:
      operationId: getA
      responses: { '200': { description: A., content: { application/json: { schema: ${schema} } } } }
`,
    );
    writeFileSync(join(folder, 'shared.yaml'), 'type: string\n');
    const { code, output } = await make(join(folder, 'outside'), file);
    expect({ code, output }).toMatchObject({ code: 1, output: expect.stringContaining(join(folder, 'shared.yaml')) });
    expect(existsSync(join(folder, 'outside'))).toBe(false);
  });

  test('names a document in JSON where it is read', async () => {
    const file = join(folder, 'garden.json');
    const get = { operationId: 'getPlant', security: [], responses: { '200': { description: 'A plant.' } } };
    const info = { title: 'Garden\nRUN', version: '1.0.0', license: { name: 'MIT', identifier: 'MIT' } };
    writeFileSync(file, JSON.stringify({ openapi: '3.1.0', info, paths: { '/plants': { get } } }));
    const files = await projectFiles(join(folder, 'My Garden'), file);
    const text = (path: string) => String(files.get(path));
    expect(text('.env')).toContain('\nOPENAPI_FILE=openapi.json\n');
    expect(text('Dockerfile')).toContain('COPY openapi.json ./openapi.json\n');
    expect(text('Dockerfile')).toContain(' OPENAPI_FILE=openapi.json\n');
    expect(text('README.md')).toMatch(/^# Garden RUN\n[\s\S]*`openapi\.json` is the source of truth/);
    expect(JSON.parse(text('package.json')).name).toBe('my-garden');
  });

  const referencing = (name: string) => {
    const top = mkdtempSync(join(folder, 'other-'));
    mkdirSync(dirname(join(top, name)), { recursive: true });
    writeFileSync(
      join(top, name),
      JSON.stringify({ scripts: { preinstall: 'echo taken' }, Plant: { type: 'string' } }),
    );
    const schema = { $ref: `${encodeURI(name)}#/Plant` };
    const responses = { '200': { description: 'It.', content: { 'application/json': { schema } } } };
    const root = {
      openapi: '3.1.0',
      info: { title: 'T', version: '1' },
      security: [],
      paths: { '/a': { get: { responses } } },
    };
    writeFileSync(join(top, 'openapi.json'), JSON.stringify(root));
    return projectFiles(join(top, 'project'), join(top, 'openapi.json'));
  };

  test('lets no file of a document take the place of a file of the project', async () => {
    for (const name of ['package.json', 'package-lock.json', 'tsconfig.json', 'src/main.ts', 'Dockerfile']) {
      const files = await referencing(name);
      expect(files.has(`api/${name}`)).toBe(true);
      expect(String(files.get(name))).not.toContain('taken');
    }
  });

  test.each([
    '.npmrc',
    '.github/workflows/ci.yml',
    'node_modules/a/package.json',
    "x', app: globalThis, y: '.json",
    'a b.json',
  ])('copies no file named %s', async (name) => {
    await expect(referencing(name)).rejects.toThrow('cannot be copied');
  });

  test('pins the versions that this repository is tested with', () => {
    const read = (file: string) => JSON.parse(readFileSync(file, 'utf8'));
    const root = read('package.json');
    const project = read('packages/spec-first/templates/project/package.json');
    const versions = Object.entries<string>({ ...project.dependencies, ...project.devDependencies });
    const pinned = Object.fromEntries(versions.filter(([, version]) => !version.includes('{{')));
    expect({ ...root.dependencies, ...root.devDependencies }).toMatchObject(pinned);
  });
});
