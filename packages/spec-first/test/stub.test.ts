import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { loadDocument } from 'openapi-document';
import { makeProject } from '../../../test/support/project.ts';
import { addStubs, handledIn } from '../src/handlers-file.ts';
import { run } from '../src/stub.ts';
import { generateTypes } from '../src/types.ts';
import { call } from './call.ts';

const DOCUMENT = `openapi: 3.1.0
info: { title: Library, version: 1.0.0 }
security: []
paths:
  /books:
    get: { operationId: listBooks, responses: { '200': { description: All., content: { application/json: { schema: { type: array } } } } } }
  /loans:
    post: { operationId: createLoan, responses: { '204': { description: Done. } } }
    delete: { operationId: end all, responses: { '204': { description: Done. } } }
`;

const NO_MOCKS = '. Until they are written, they answer 501 instead of a mock.\n';

const MISSING = ['createLoan', 'end all'];

/** Shapes of a handlers' file. Each has its imports and `listBooks`, and lacks the other two. */
const SHAPES: Readonly<Record<string, string>> = {
  constant: `import type { Handlers, ReplyTo } from '../generated/openapi.ts';

/** Ours. */
export const handlers: Partial<Handlers> = {
  async listBooks(): Promise<ReplyTo<'listBooks'>> {
    return { status: 200, body: [] }; // none
  } // the last one
};
`,
  satisfies: `import { HttpError } from 'spec-first-server';
import type { Handlers, ReplyTo, RequestTo } from '../generated/openapi.ts';

export const handlers = {
    listBooks: async (_: RequestTo<'listBooks'>): Promise<ReplyTo<'listBooks'>> => {
        throw new HttpError(503, 'closed');
    },
} satisfies Partial<Handlers>;
`,
  arrow: `import type { Handlers, ReplyTo as Answer } from '../generated/openapi.ts';

export const open = (count: number): Partial<Handlers> => ({
  listBooks: (): Answer<'listBooks'> => ({ status: 200, body: [count] }),
});
`,
  returned: `import { ConfigError } from 'spec-first-server';
import { type Handlers } from '../generated/openapi.ts';

export async function open(): Promise<Partial<Handlers>> {
  if (process.argv.length === 0) throw new ConfigError('no arguments');
  const options = { retry: true };
  return {
    listBooks: () => ({ status: 200, body: [options] }),

    // More to come.
  };
}
`,
  inside: `import type { Handlers } from '../generated/openapi.ts';

export async function open() {
  const handlers: Partial<Handlers> = { listBooks: () => ({ status: 200, body: [] }) };
  return { handlers };
}
`,
  spread: `import type { Handlers } from '../generated/openapi.ts';
import { handlers as others } from './constant.ts';

const books: Pick<Handlers, 'listBooks'> = { listBooks: () => ({ status: 200, body: [] }) };
export const handlers = { ...books } satisfies Partial<Handlers>;
export const used = others;
`,
};

const folder = makeProject({
  'openapi.yaml': DOCUMENT,
  ...Object.fromEntries(Object.entries(SHAPES).map(([name, text]) => [`shapes/${name}.ts`, text])),
  'tsconfig.json': JSON.stringify({
    extends: resolve('tsconfig.json'),
    compilerOptions: { typeRoots: [resolve('node_modules/@types')] },
    include: ['src', 'shapes'],
  }),
});
const path = (name: string) => join(folder, name);
const TYPES = path('generated/openapi.ts');
const read = (name: string) => readFileSync(path(name), 'utf8');
const stub = async (...args: string[]) => {
  const { status, stdout, stderr } = await call(folder, run, ...args);
  return { code: status, output: stdout + stderr };
};

beforeAll(async () => {
  const types = await generateTypes(await loadDocument(path('openapi.yaml')));
  mkdirSync(path('generated'));
  writeFileSync(TYPES, types);
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The lines of a text that another one lacks, in their order. */
const linesBeyond = (text: string, before: string): string[] => {
  const rest = before.split('\n');
  return text.split('\n').filter((line) => {
    const at = rest.indexOf(line);
    if (at >= 0) rest.splice(at, 1);
    return at < 0;
  });
};

describe('npm run stub', () => {
  test('makes a handlers file, typed, and changes nothing when it runs again', async () => {
    expect(await stub('listBooks')).toEqual({ code: 0, output: `Added to src/handlers.ts: listBooks${NO_MOCKS}` });
    expect(read('src/handlers.ts')).toBe(`import { HttpError } from 'spec-first-server';
import type { Handlers, ReplyTo, RequestTo } from '../generated/openapi.ts';

/**
 * A function for each operation of the document. \`npm run stub -- --all\` adds those that are missing.
 *
 * When none is missing, write \`satisfies Handlers\`: then the compiler reports each operation that has no handler.
 */
export const handlers = {
  async listBooks(_request: RequestTo<'listBooks'>): Promise<ReplyTo<'listBooks'>> {
    throw new HttpError(501, 'listBooks is not implemented yet');
  },
} satisfies Partial<Handlers>;
`);
    const hint = 'Now write Handlers instead of Partial<Handlers> there: then a missing operation does not compile.\n';
    expect((await stub('--all')).output).toBe(`Added to src/handlers.ts: createLoan, end all${NO_MOCKS}${hint}`);
    const text = read('src/handlers.ts');
    expect(text).toContain("  async 'end all'(_request: RequestTo<'end all'>): Promise<ReplyTo<'end all'>> {\n");
    expect((await stub('--all')).output).toBe(`src/handlers.ts is unchanged: nothing is missing\n${hint}`);
    const complete = text.replace('Partial<Handlers>', 'Handlers');
    writeFileSync(path('src/handlers.ts'), complete);
    expect((await stub('--all')).output).toBe('src/handlers.ts is unchanged: nothing is missing\n');
    expect(read('src/handlers.ts')).toBe(complete);
    writeFileSync(path('src/handlers.ts'), text);
  });

  test('fills an empty file, which --file names', async () => {
    writeFileSync(path('src/books.ts'), '\n');
    const all = read('src/handlers.ts');
    rmSync(path('src/handlers.ts'));
    expect((await stub('createLoan', '--file', 'src/books.ts')).code).toBe(0);
    expect(read('src/books.ts')).toBe(
      all.replace(/ {2}async listBooks[^}]*},\n/, '').replace(/ {2}async 'end all'[^}]*},\n/, ''),
    );
  });

  test('leaves out operations that another file of src handles', async () => {
    expect(await stub('--all')).toEqual({ code: 0, output: `Added to src/handlers.ts: listBooks, end all${NO_MOCKS}` });
    expect((await stub('createLoan')).output).toMatch(/^createLoan has a handler in src.books\.ts\n/);
  });

  test('writes a handler for any operationId that compiles, such as one with a line break', () => {
    const id = "it's\na \\ \u{1f600}";
    const text = addStubs(path('src/odd.ts'), '', [id], TYPES);
    expect(handledIn('src/odd.ts', text)).toEqual([id]);
  });

  test('names a file that cannot be parsed', async () => {
    writeFileSync(path('src/broken.ts'), 'const = 1;');
    expect(await stub('listBooks')).toMatchObject({
      code: 1,
      output: expect.stringMatching(/^src.broken\.ts cannot be parsed: /),
    });
    rmSync(path('src/broken.ts'));
  });

  test('names the nearest operation for an unknown one, and writes nothing', async () => {
    const before = read('shapes/constant.ts');
    expect(await stub('listBook', 'createLoan', 'CreateLoans', '--file', 'shapes/constant.ts')).toEqual({
      code: 1,
      output:
        'There is no operation listBook. Did you mean listBooks?\n' +
        'There is no operation CreateLoans. Did you mean createLoan?\n',
    });
    expect(read('shapes/constant.ts')).toBe(before);
  });

  test('says so if a file has no object of handlers', async () => {
    for (const name of ['handlers', 'books']) rmSync(path(`src/${name}.ts`));
    writeFileSync(path('src/other.ts'), 'export const other = {};\n');
    const { code, output } = await stub('--all', '--file', 'src/other.ts');
    expect({ code, output }).toEqual({
      code: 1,
      output: expect.stringContaining('src/other.ts has no object of type Handlers'),
    });
  });

  test('wants operationIds or --all, not both', async () => {
    expect((await stub()).code).toBe(2);
    expect((await stub('listBooks', '--all')).code).toBe(2);
    expect((await stub('--help')).output).toContain('--file FILE');
  });
});

describe('stubs in a file with handlers', () => {
  test.each(Object.keys(SHAPES))('are added to the object, with imports, and leave the rest unchanged: %s', (name) => {
    const file = `shapes/${name}.ts`;
    const before = read(file);
    const text = addStubs(path(file), before, MISSING, TYPES);
    writeFileSync(path(file), text);
    expect(handledIn(path(file), text).sort()).toEqual(['createLoan', 'end all', 'listBooks']);
    expect(text.match(/listBooks(?=[:(])/g)).toEqual(before.match(/listBooks(?=[:(])/g));
    const changed = linesBeyond(before, text);
    expect(changed.filter((line) => !/^import |= \{ (listBooks|\.\.\.books)/.test(line))).toEqual([]);
  });

  test('get imports, beside those of the same module', () => {
    expect(read('shapes/constant.ts').split('\n').slice(0, 2)).toEqual([
      "import { HttpError } from 'spec-first-server';",
      "import type { Handlers, ReplyTo, RequestTo } from '../generated/openapi.ts';",
    ]);
  });

  test('fit the types', () => {
    const tsc = spawnSync(process.execPath, [resolve('node_modules/typescript/bin/tsc'), '-p', folder], {
      encoding: 'utf8',
    });
    expect(tsc.stdout).toBe('');
  });

  test('keep the line ends of the file', () => {
    const text = addStubs(path('shapes/crlf.ts'), (SHAPES.satisfies ?? '').replaceAll('\n', '\r\n'), MISSING, TYPES);
    expect(text.replaceAll('\r\n', '')).not.toContain('\n');
    expect(text.replaceAll('\r\n', '\n')).toBe(read('shapes/satisfies.ts'));
  });
});
