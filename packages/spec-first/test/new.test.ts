import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createApp } from 'spec-first-server';
import { build } from '../../../test/support/dockerfile.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { end, type Running, start } from '../../../test/support/project.ts';
import { checkFile } from '../src/check.ts';
import { run as newProject } from '../src/new.ts';
import { projectFiles } from '../src/project.ts';
import { call } from './call.ts';
import { failures } from './contract-tests/failures.ts';

const folder = mkdtempSync(join(tmpdir(), 'new-test-'));
/** A project for a document of three files. */
const library = join(folder, 'library');
/** The example, with the same packages. */
const books = join(folder, 'books');

/** npm and the tools as on the machine of a team: without what npm and jest tell this process. */
const env = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(npm_|JEST_|FORCE_COLOR|NO_COLOR|NODE_(ENV|OPTIONS))/.test(name)),
);

async function run(cwd: string, command: string, ...args: readonly string[]) {
  const running = promisify(execFile)(command, args, { cwd, env, timeout: 120_000, maxBuffer: 2 ** 26 });
  return running.then(
    ({ stdout, stderr }) => ({ code: 0, output: stdout + stderr }),
    ({ code, stdout, stderr }) => ({ code, output: `${stdout}${stderr}` }),
  );
}

const make = async (...args: string[]) => {
  const { status, stdout, stderr } = await call(folder, newProject, ...args);
  return { code: status, output: stdout + stderr };
};

/** The files of a project, without what npm installs and the tarballs. */
async function filesOf(project: string): Promise<string[]> {
  const entries = await readdir(project, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const own = paths.map((path) => path.slice(project.length + 1));
  return own.filter((path) => !/^(node_modules|vendor|data)\/|^package-lock\.json$/.test(path)).sort();
}

let made: Awaited<ReturnType<typeof run>>;
let installed: Awaited<ReturnType<typeof run>>;

beforeAll(async () => {
  made = await run(
    folder,
    process.execPath,
    resolve('scripts/new.ts'),
    library,
    resolve('packages/spec-first/test/library/openapi.yaml'),
  );
  // What the command writes without a document, but for the tarballs: packing takes longer than all the rest.
  for (const [path, content] of await projectFiles(books, undefined)) {
    mkdirSync(dirname(join(books, path)), { recursive: true });
    writeFileSync(join(books, path), content);
  }
  installed = await run(library, 'npm', 'install', '--prefer-offline', '--no-fund', '--no-audit');
}, 180_000);

afterAll(() => rmSync(folder, { recursive: true }));

describe('a project for a document', () => {
  test('has 16 files beside the document, all of them the team’s', async () => {
    expect(made).toMatchObject({ code: 0, output: expect.stringContaining('npm install') });
    expect(await filesOf(library)).toEqual([
      '.dockerignore',
      '.env',
      '.github/workflows/ci.yml',
      '.gitignore',
      '.vscode/extensions.json',
      '.vscode/settings.json',
      'AGENTS.md',
      'Dockerfile',
      'README.md',
      'api/openapi.yaml',
      'api/schemas/books.yaml',
      'api/schemas/loans.yaml',
      'generated/openapi.ts',
      'package.json',
      'src/errors.ts',
      'src/handlers.ts',
      'src/main.ts',
      'test/service.test.ts',
      'tsconfig.json',
    ]);
  });

  test('names the document and its folder where they are copied, and leaves no gap in a file', () => {
    const image = readFileSync(join(library, 'Dockerfile'), 'utf8');
    expect(image).toContain('\nCOPY api ./api\n');
    for (const file of ['Dockerfile', 'README.md', '.env', 'package.json']) {
      expect(readFileSync(join(library, file), 'utf8')).not.toMatch(/\{\{|\n\n\n/);
    }
  });

  test('passes its tests, also where the compiler checks the declarations of the packages', async () => {
    expect(installed).toMatchObject({ code: 0 });
    const file = join(library, 'tsconfig.json');
    const text = readFileSync(file, 'utf8');
    const { compilerOptions, include } = JSON.parse(text);
    writeFileSync(file, JSON.stringify({ compilerOptions: { ...compilerOptions, skipLibCheck: false }, include }));
    const tested = await run(library, 'npm', 'test');
    writeFileSync(file, text);
    expect(tested).toMatchObject({ code: 0, output: expect.stringMatching(/^ℹ pass 24$/m) });
  });

  test('starts with mocks, but not in production', async () => {
    const service = start(library, ['src/main.ts'], { ACCESS_TOKENS: 'token-of-the-tests' });
    try {
      const [, url = ''] = await service.said(/"url":"([^"]+)"/);
      const answer = await fetch(`${url}/books`);
      expect(answer.status).toBe(200);
      expect(answer.headers.has('x-mock')).toBe(true);
    } finally {
      end(service);
    }
    const production = start(library, ['src/main.ts'], { ACCESS_TOKENS: 'token', NODE_ENV: 'production' });
    expect(await production.exit).toBe(1);
    expect(production.output()).toMatch(/MISSING_OPERATIONS .*is \\*"mock\\*", but must be refuse or 501/);
  });

  test('becomes an image by its Dockerfile, with the files of its document and without the tools', async () => {
    const image = build(library, join(folder, 'image'));
    const app = join(image, 'app');
    for (const name of ['spec-first', 'typescript']) {
      expect(existsSync(join(app, 'node_modules', name))).toBe(false);
    }
    const service = start(app, ['src/main.ts'], {
      ACCESS_TOKENS: 'a-token-of-the-tests',
      MISSING_OPERATIONS: '501',
      OPENAPI_FILE: 'api/openapi.yaml',
      NODE_ENV: 'production',
    });
    try {
      const [, url = ''] = await service.said(/"url":"([^"]+)"/);
      expect(await (await fetch(new URL('/openapi.json', url))).json()).toHaveProperty('paths');
      expect((await fetch(`${url}/books`)).status).toBe(501);
    } finally {
      end(service);
    }
  });

  test('follows a save with npm run dev', async () => {
    const handlers = join(library, 'src/handlers.ts');
    const empty = readFileSync(handlers, 'utf8');
    let loop: Running | undefined;
    try {
      loop = start(library, ['node_modules/spec-first/dist/main.js', 'dev'], { ACCESS_TOKENS: 'token-of-the-tests' });
      const [, url = ''] = await loop.said(/listening +(http:\S+)/);
      expect((await fetch(`${url}/books`)).headers.has('x-mock')).toBe(true);
      const handler = `{
        listBooks: () => ({ status: 200 as const, headers: { 'X-Total-Count': 0 }, body: [] }),
      }`;
      writeFileSync(handlers, empty.replace('= {}', `= ${handler}`));
      await eventually(async () => {
        const answer = await fetch(`${url}/books`);
        expect(answer.headers.has('x-mock')).toBe(false);
        expect(await answer.json()).toEqual([]);
      });
    } finally {
      end(loop);
      writeFileSync(handlers, empty);
    }
  });
});

describe('the example', () => {
  test('has 17 files', async () => {
    expect(await filesOf(books)).toHaveLength(17);
  });

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
    expect(text('Dockerfile')).toContain('COPY openapi.json ./\n');
    expect(text('Dockerfile')).toContain('\nENV OPENAPI_FILE=openapi.json\n');
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
