import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createApp } from 'spec-first-server';
import request from 'supertest';
import { checkFile } from '../src/check.ts';
import { run as newProject, packageName, projectFiles } from '../src/new.ts';
import { call } from './call.ts';

const folder = mkdtempSync(join(tmpdir(), 'new-test-'));
/** A project that is created without a document. */
const books = join(folder, 'books');

const make = async (...args: string[]) => {
  const { status, stdout, stderr } = await call(folder, newProject, ...args);
  return { code: status, output: stdout + stderr };
};

let result: Awaited<ReturnType<typeof make>>;

beforeAll(async () => {
  mkdirSync(join(books, '.git'), { recursive: true });
  result = await make(books);
});

afterAll(() => rmSync(folder, { recursive: true }));

describe('the example', () => {
  // test-service.test.ts runs its tests.
  test('has a document without notices', async () => {
    const checked = await checkFile(join(books, 'openapi.yaml'));
    expect([checked.problems, checked.notices()]).toEqual([[], []]);
  });

  test('has a complete src/errors.ts, so that the project compiles', () => {
    expect(readFileSync(join(books, 'src/errors.ts'), 'utf8')).not.toContain('TODO');
  });
});

describe('spec-first new', () => {
  test('writes the files of a project beside .git, and prints the next commands', async () => {
    const files = [
      '.dockerignore',
      '.env',
      '.github/workflows/ci.yml',
      '.gitignore',
      '.npmrc',
      '.vscode/extensions.json',
      '.vscode/settings.json',
      'AGENTS.md',
      'Dockerfile',
      'README.md',
      'generated/openapi.ts',
      'openapi.yaml',
      'package.json',
      'redocly.yaml',
      'src/errors.ts',
      'src/handlers.ts',
      'src/main.ts',
      'test/service.test.ts',
      'tsconfig.json',
    ];
    const entries = await readdir(books, { recursive: true, withFileTypes: true });
    const names = entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(books.length + 1));
    expect(names.sort()).toEqual(files);
    expect(result).toEqual({
      code: 0,
      output: `Reading the example, a book catalogue …
${files.length} files written to ${books}. Next:

  cd ${books}
  npm install
  npm start
`,
    });
  });

  test('keeps secrets.env out of git and of the image', () => {
    for (const list of ['.gitignore', '.dockerignore'])
      expect(readFileSync(join(books, list), 'utf8').split('\n')).toContain('secrets.env');
  });

  test('writes nothing into a folder that is not empty', async () => {
    const full = join(folder, 'full');
    mkdirSync(full);
    writeFileSync(join(full, 'notes.txt'), 'keep');
    expect(await make(full)).toEqual({
      code: 1,
      output: `${full} is not empty: it has notes.txt. Name an empty or a new folder.\n`,
    });
    expect(await readdir(full)).toEqual(['notes.txt']);
  });

  test('says what to change if the document comes first, or is a URL', async () => {
    const file = join(folder, 'first.yaml');
    writeFileSync(file, 'openapi: 3.1.0');
    expect(await make(file)).toEqual({
      code: 2,
      output: expect.stringMatching(/first\.yaml is a file: name the folder first/),
    });
    expect(await make('remote', 'https://garden.test/openapi.yaml')).toEqual({
      code: 2,
      output: expect.stringContaining('is a URL: save the document to a file first'),
    });
    expect(existsSync(join(folder, 'remote'))).toBe(false);
  });

  test('names the errors of a document that cannot be served, and writes nothing', async () => {
    const file = join(folder, 'broken.yaml');
    writeFileSync(file, 'openapi: 3.1.0\ninfo: { title: T, version: 1.0.0 }\npaths: 5\n');
    const { code, output } = await make(join(folder, 'broken'), file);
    expect({ code, output }).toMatchObject({
      code: 1,
      output: expect.stringContaining('broken.yaml:3:'),
    });
    expect(existsSync(join(folder, 'broken'))).toBe(false);
  });

  const withReference = (ref: string) => `openapi: 3.1.0
info: { title: T, version: 1.0.0, license: { name: MIT, identifier: MIT } }
security: []
paths:
  /a:
    get:
      operationId: getA
      responses: { '200': { description: A., content: { application/json: { schema: { $ref: ${ref} } } } } }
  /b:
    get:
      operationId: getB
      responses: { '200': { description: B. } }
`;

  test('creates a project for a document with a broken operation, and prints findings', async () => {
    const file = join(folder, 'half.yaml');
    const unused = 'components: { schemas: { A: { type: string, format: colour } } }';
    writeFileSync(file, withReference('nowhere.yaml') + unused);
    const target = join(folder, 'half');
    const { code, output } = await make(target, file);
    expect({ code, output }).toMatchObject({
      code: 0,
      output: expect.stringMatching(
        /half\.yaml:8:\d+ .*nowhere\.yaml.*\n.* colour is unknown.*\nOperations with an error respond/,
      ),
    });
    const app = await createApp({
      document: join(target, 'openapi.yaml'),
      handlers: { getB: () => ({ status: 200 }) },
    });
    expect((await request(app).get('/b')).status).toBe(200);
    expect((await request(app).get('/a')).status).toBe(501);
  });

  test('copies files outside the folder of a document with --allow-outside only', async () => {
    for (const name of ['many/api', 'many/api-common'])
      mkdirSync(join(folder, name), { recursive: true });
    const file = join(folder, 'many/api/openapi.yaml');
    writeFileSync(file, withReference('../api-common/a.yaml'));
    writeFileSync(join(folder, 'many/api-common/a.yaml'), 'type: string\n');

    const inside = await make(join(folder, 'inside'), file);
    expect(inside.output).toContain(join(folder, 'many/api-common/a.yaml'));
    expect(await readdir(join(folder, 'inside'))).toContain('openapi.yaml');
    symlinkSync(join(folder, 'many/api-common'), join(folder, 'many/api/linked'));
    writeFileSync(join(folder, 'many/api/link.yaml'), withReference('linked/a.yaml'));
    expect([
      ...(await projectFiles('linked', join(folder, 'many/api/link.yaml'))).files.keys(),
    ]).toContain('openapi.yaml');

    const { files, problems } = await projectFiles(join(folder, 'outside'), file, true);
    const text = (path: string) => String(files.get(path));
    expect(problems).toEqual([]);
    expect(text('api/api-common/a.yaml')).toBe('type: string\n');
    expect(text('api/api/openapi.yaml')).toContain('../api-common/a.yaml');
    expect(text('.env')).toContain('\nOPENAPI_FILE=api/api/openapi.yaml\n');
    const { scripts } = JSON.parse(text('package.json'));
    for (const name of ['start', 'dev', 'generate', 'stub', 'diff', 'test'])
      expect(scripts[name]).toContain(' --allow-outside');
    expect(text('Dockerfile')).toMatch(/spec-first-server", "--allow-outside"\]\n$/);
    expect(text('test/service.test.ts')).toContain('testService({ allowOutside: true })');
    expect((await make(join(folder, 'option'), file, '--allow-outside')).code).toBe(0);
    expect(await readdir(join(folder, 'option'))).toContain('api');
  });

  test('names a JSON document in all files of the project', async () => {
    const file = join(folder, 'garden.JSON');
    const get = {
      operationId: 'getPlant',
      security: [],
      responses: { '200': { description: 'A plant.' } },
    };
    const info = {
      title: 'Garden\nRUN\n\n2',
      version: '1.0.0',
      license: { name: 'MIT', identifier: 'MIT' },
    };
    writeFileSync(file, JSON.stringify({ openapi: '3.1.0', info, paths: { '/plants': { get } } }));
    const { files } = await projectFiles(join(folder, 'My Garden'), file);
    const text = (path: string) => String(files.get(path));
    expect(text('.env')).toContain('\nOPENAPI_FILE=openapi.json\n');
    expect(text('Dockerfile')).toContain('COPY openapi.json ./openapi.json\n');
    expect(text('Dockerfile')).toContain(' OPENAPI_FILE=openapi.json\n');
    expect(text('README.md')).toMatch(
      /^# Garden RUN 2\n[\s\S]*`openapi\.json` is the source of truth/,
    );
    expect(JSON.parse(text('package.json')).name).toBe('my-garden');
  });

  test.each([
    ['My Garden', 'my-garden'],

    ['node_modules', 'service'],

    ['x'.repeat(300), 'x'.repeat(214)],
  ])('names the package of a folder %s so that npm accepts it', (folderName, expected) => {
    expect(packageName(folderName)).toBe(expected);
  });

  /** Returns the files of a project for a document that references a file of this name. */
  const referencing = (name: string) => {
    const top = mkdtempSync(join(folder, 'other-'));
    mkdirSync(dirname(join(top, name)), { recursive: true });
    writeFileSync(
      join(top, name),
      JSON.stringify({ scripts: { preinstall: 'echo taken' }, Plant: { type: 'string' } }),
    );
    const schema = { $ref: `${encodeURI(name)}#/Plant` };
    const responses = {
      '200': { description: 'It.', content: { 'application/json': { schema } } },
    };
    const root = {
      openapi: '3.1.0',
      info: { title: 'T', version: '1' },
      security: [],
      paths: { '/a': { get: { responses } } },
    };
    writeFileSync(join(top, 'openapi.json'), JSON.stringify(root));
    return projectFiles(join(top, 'project'), join(top, 'openapi.json'));
  };

  test('does not let files of a document overwrite files of the project', async () => {
    for (const name of [
      'package.json',
      'package-lock.json',
      'tsconfig.json',
      'src/main.ts',
      'Dockerfile',
    ]) {
      const { files } = await referencing(name);
      expect(files.has(`api/${name}`)).toBe(true);
      expect(String(files.get(name))).not.toContain('taken');
    }
  });

  test.each([
    '.npmrc',
    'a/.b/c.json',
    '-a.json',
    '.github/workflows/ci.yml',
    'node_modules/a/package.json',
    "x', app: globalThis, y: '.json",
  ])('rejects a document that references a file named %s', async (name) => {
    await expect(referencing(name)).rejects.toThrow('cannot be copied');
  });

  test.each(['3.0.4', '3.1.1', '3.2.0'])(
    'configures editors with the JSON Schema of OpenAPI %s',
    async (version) => {
      const file = join(folder, `version-${version}.yaml`);
      writeFileSync(file, withReference("'#/x'").replace('3.1.0', version));
      const { files } = await projectFiles(join(folder, 'editor'), file);
      const settings = JSON.parse(String(files.get('.vscode/settings.json')));
      expect(Object.entries(settings['yaml.schemas'])).toEqual([
        [expect.stringContaining(`/oas/${version.slice(0, 3)}/schema/`), 'openapi.yaml'],
      ]);
    },
  );

  test('pins the versions that this repository is tested with', () => {
    const read = (file: string) => JSON.parse(readFileSync(file, 'utf8'));
    const root = read('package.json');
    const project = read('packages/spec-first/templates/project/package.json');
    const versions = Object.entries<string>({
      ...project.dependencies,
      ...project.devDependencies,
    });
    const pinned = Object.fromEntries(versions.filter(([, version]) => !version.includes('{{')));
    expect({ ...root.dependencies, ...root.devDependencies }).toMatchObject(pinned);
  });
});
