import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { loadDocument } from 'openapi-document';
import { makeProject } from 'test-support/project';
import { addStubs, readHandlers } from '../src/handlers-file.ts';
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

const NO_MOCKS = '. They answer 501 until they are written.\n';

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

/** Handlers of one file that another one combines. */
const PART = `import type { Handlers } from '../../generated/openapi.ts';

export const books: Pick<Handlers, 'listBooks'> = {
  listBooks: () => ({ status: 200, body: [] }),
};
`;
const COMBINED = `import type { Handlers } from '../../generated/openapi.ts';
import { books } from '../books/list.ts';

export const handlers = { ...books } satisfies Partial<Handlers>;
`;

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
const write = (name: string, text: string) => {
  mkdirSync(dirname(path(name)), { recursive: true });
  writeFileSync(path(name), text);
};
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
  test('writes a typed file of handlers, and changes nothing when it runs again', async () => {
    expect(await stub('listBooks')).toEqual({
      code: 0,
      output: `Added to src/handlers.ts: listBooks${NO_MOCKS}`,
    });
    expect(read('src/handlers.ts')).toBe(`import { HttpError } from 'spec-first-server';
import type { Handlers, ReplyTo, RequestTo } from '../generated/openapi.ts';

/**
 * A function for each operation of the document. \`npm run stub -- --all\` adds those that are
 * missing.
 *
 * When none is missing, write \`satisfies Handlers\`: then the compiler reports each operation that
 * has no handler.
 */
export const handlers = {
  async listBooks(_request: RequestTo<'listBooks'>): Promise<ReplyTo<'listBooks'>> {
    throw new HttpError(501, 'listBooks is not implemented yet');
  },
} satisfies Partial<Handlers>;
`);
    expect((await stub('--all')).output).toBe(
      `Added to src/handlers.ts: createLoan, end all${NO_MOCKS}`,
    );
    const text = read('src/handlers.ts');
    expect(text).toContain(
      "  async 'end all'(_request: RequestTo<'end all'>): Promise<ReplyTo<'end all'>> {\n",
    );
    expect((await stub('--all')).output).toBe('src/handlers.ts is unchanged: nothing is missing\n');
    expect(read('src/handlers.ts')).toBe(text);
  });

  test('writes handlers to an empty file', async () => {
    const text = read('src/handlers.ts');
    write('src/handlers.ts', '\n');
    expect((await stub('listBooks', 'createLoan', 'end all')).code).toBe(0);
    expect(read('src/handlers.ts').split('\n').sort()).toEqual(text.split('\n').sort());
  });

  test('skips operations with a handler in another file of src', async () => {
    write('src/handlers.ts', '');
    write('src/books/list.ts', PART);
    expect(await stub('listBooks', 'createLoan', 'end all')).toEqual({
      code: 0,
      output: `listBooks has a handler in src/books/list.ts
Added to src/handlers.ts: createLoan, end all${NO_MOCKS}`,
    });
    rmSync(path('src/books'), { recursive: true });
  });

  test('writes handlers that compile for any operationId, even one with a line break', () => {
    const id = "it's\na \\ \u{1f600}";
    const text = addStubs(path('src/odd.ts'), '', [id], TYPES);
    expect(readHandlers('src/odd.ts', text).operationIds).toEqual([id]);
  });

  test('adds to the file with the object of all handlers if they are in several files', async () => {
    rmSync(path('src/handlers.ts'));
    write('src/books/list.ts', PART);
    write('src/service/all.ts', COMBINED);
    expect(await stub('--all')).toEqual({
      code: 0,
      output: `Added to src/service/all.ts: createLoan, end all${NO_MOCKS}`,
    });
    expect(read('src/service/all.ts')).toContain("from '../../generated/openapi.ts';");
    expect(existsSync(path('src/handlers.ts'))).toBe(false);
    for (const name of ['src/books', 'src/service']) rmSync(path(name), { recursive: true });
  });

  test('reports merge conflicts', async () => {
    write('src/merged.ts', 'const a = 1;\n<<<<<<< HEAD\nconst b = 2;\n=======\n>>>>>>> other\n');
    expect(await stub('--all')).toEqual({
      code: 1,
      output: 'src/merged.ts:2:1 has a merge conflict (<<<<<<<): resolve it first\n',
    });
    rmSync(path('src/merged.ts'));
  });

  test('names a file that cannot be parsed', async () => {
    writeFileSync(path('src/broken.ts'), 'const = 1; // Handlers');
    expect(await stub('listBooks')).toMatchObject({
      code: 1,
      output: expect.stringMatching(/^src.broken\.ts cannot be parsed: /),
    });
    rmSync(path('src/broken.ts'));
  });

  test('names unknown operations, and writes nothing', async () => {
    expect(await stub('listBook', 'createLoan', 'CreateLoans')).toEqual({
      code: 1,
      output: 'openapi.yaml has no operation listBook, CreateLoans\n',
    });
    expect(existsSync(path('src/handlers.ts'))).toBe(false);
  });

  test('exits with 1 if src/handlers.ts has no object of handlers', async () => {
    write('src/handlers.ts', 'export const other = {};\n');
    const { code, output } = await stub('--all');
    expect({ code, output }).toEqual({
      code: 1,
      output: expect.stringContaining('src/handlers.ts has no object of type Handlers'),
    });
  });

  test('exits with 2 without operationIds and --all, and with both', async () => {
    expect((await stub()).code).toBe(2);
    expect((await stub('listBooks', '--all')).code).toBe(2);
    expect((await stub('--help')).output).toContain('Usage: spec-first stub');
  });
});

describe('stubs in a file with handlers', () => {
  test.each(Object.keys(SHAPES))(
    'are added to the object, with imports, and leave the rest unchanged: %s',
    (name) => {
      const file = `shapes/${name}.ts`;
      const before = read(file);
      const text = addStubs(path(file), before, MISSING, TYPES);
      writeFileSync(path(file), text);
      expect(readHandlers(path(file), text).operationIds.toSorted()).toEqual([
        'createLoan',
        'end all',
        'listBooks',
      ]);
      expect(text.match(/listBooks(?=[:(])/g)).toEqual(before.match(/listBooks(?=[:(])/g));
      const changed = linesBeyond(before, text);
      expect(changed.filter((line) => !/^import |= \{ (listBooks|\.\.\.books)/.test(line))).toEqual(
        [],
      );
    },
  );

  test('add imports to those of the same module', () => {
    expect(read('shapes/constant.ts').split('\n').slice(0, 2)).toEqual([
      "import { HttpError } from 'spec-first-server';",
      "import type { Handlers, ReplyTo, RequestTo } from '../generated/openapi.ts';",
    ]);
  });

  test('fit the types', () => {
    const tsc = spawnSync(
      process.execPath,
      [resolve('node_modules/typescript/bin/tsc'), '-p', folder],
      {
        encoding: 'utf8',
      },
    );
    expect(tsc.stdout).toBe('');
  });

  test('keep the line endings of the file', () => {
    const text = addStubs(
      path('shapes/crlf.ts'),
      (SHAPES.satisfies ?? '').replaceAll('\n', '\r\n'),
      MISSING,
      TYPES,
    );
    expect(text.replaceAll('\r\n', '')).not.toContain('\n');
    expect(text.replaceAll('\r\n', '\n')).toBe(read('shapes/satisfies.ts'));
  });
});
