import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { run } from '../src/stub.ts';
import { call } from './call.ts';
import { writeFiles } from './folder.ts';

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

const ADDED = '. They answer 501 until they are written.\n';

/** A file with some handlers, which another file imports. */
const PART = `import type { Handlers } from '../../generated/openapi.ts';

export const books: Pick<Handlers, 'listBooks'> = {
  listBooks: () => ({ status: 200, body: [] }),
};
`;
const COMBINED = `import type { Handlers } from '../../generated/openapi.ts';
import { books } from '../books/list.ts';

export const handlers = { ...books } satisfies Partial<Handlers>;
`;

let folder: string;
const write = (name: string, text: string) => writeFiles(folder, { [name]: text });
const read = (name: string) => readFileSync(join(folder, name), 'utf8');
const stub = async (...args: string[]) => {
  const { status, stdout, stderr } = await call(folder, run, ...args);
  return { code: status, output: stdout + stderr };
};

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'stub-test-'));
  write('openapi.yaml', DOCUMENT);
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('npm run stub', () => {
  test('writes a typed file of handlers, and changes nothing when it runs again', async () => {
    expect(await stub('listBooks')).toEqual({
      code: 0,
      output: `Added to src/handlers.ts: listBooks${ADDED}`,
    });
    expect(read('src/handlers.ts')).toBe(`import { HttpError } from 'spec-first-server';
import type { Handlers, ReplyTo, RequestTo } from '../generated/openapi.ts';

/**
 * A function for each operation of the document. \`npm run stub -- --all\` adds the missing ones.
 *
 * When each operation has a handler, replace \`Partial<Handlers>\` with \`Handlers\`: then the compiler
 * reports operations without one.
 */
export const handlers = {
  async listBooks(_request: RequestTo<'listBooks'>): Promise<ReplyTo<'listBooks'>> {
    throw new HttpError(501, 'listBooks is not implemented yet');
  },
} satisfies Partial<Handlers>;
`);
    expect((await stub('--all')).output).toBe(
      `Added to src/handlers.ts: createLoan, end all${ADDED}`,
    );
    const text = read('src/handlers.ts');
    expect(text).toContain(
      "  async 'end all'(_request: RequestTo<'end all'>): Promise<ReplyTo<'end all'>> {\n",
    );
    expect(await stub('--all')).toEqual({
      code: 0,
      output: 'src/handlers.ts is unchanged: nothing is missing\n',
    });
    expect(read('src/handlers.ts')).toBe(text);
  });

  test('writes a stub once if its operation is named twice', async () => {
    expect((await stub('createLoan', 'createLoan')).output).toBe(
      `Added to src/handlers.ts: createLoan${ADDED}`,
    );
  });

  test('skips operations with a handler in another file of src', async () => {
    write('src/handlers.ts', '');
    write('src/books/list.ts', PART);
    expect(await stub('listBooks', 'createLoan', 'end all')).toEqual({
      code: 0,
      output: `listBooks has a handler in src/books/list.ts
Added to src/handlers.ts: createLoan, end all${ADDED}`,
    });
  });

  test.each([
    [['src/service/all.ts'], 'src/service/all.ts'],
    [['src/z.ts', 'src/b.ts', 'src/c/a.ts'], 'src/b.ts'],
    [['src/a.ts', 'src/handlers.ts'], 'src/handlers.ts'],
    [[], 'src/handlers.ts'],
  ])('if %j have an object for all handlers, adds the stubs to %s', async (names, file) => {
    write('src/books/list.ts', PART);
    for (const name of names) write(name, COMBINED);
    expect(await stub('--all')).toEqual({
      code: 0,
      output: `Added to ${file}: createLoan, end all${ADDED}`,
    });
    expect(read(file)).toMatch(/ from '(\.\.\/)+generated\/openapi\.ts';/);
    expect(existsSync(join(folder, 'src/handlers.ts'))).toBe(file === 'src/handlers.ts');
  });

  test.each([
    ['src/merged.ts', 'const a = 1;\n<<<<<<< HEAD\n', /^src\/merged\.ts:2:1 has a merge conflict/],
    ['src/broken.ts', 'const = 1; // Handlers', /^src\/broken\.ts:1:7 cannot be parsed: /],
    [
      'src/handlers.ts',
      'export const a = {};',
      /^src\/handlers\.ts has no object of type Handlers/,
    ],
  ])('exits with 1 for %s with the text %j', async (name, text, message) => {
    write(name, text);
    expect(await stub('--all')).toEqual({ code: 1, output: expect.stringMatching(message) });
    expect(read(name)).toBe(text);
  });

  test('names unknown operations, and writes nothing', async () => {
    expect(await stub('listBook', 'createLoan', 'CreateLoans')).toEqual({
      code: 1,
      output: 'openapi.yaml has no operation listBook, CreateLoans\n',
    });
    expect(existsSync(join(folder, 'src'))).toBe(false);
  });

  test('reads files outside the folder of the document only with --allow-outside', async () => {
    write('parts/a.yaml', 'get: { operationId: getA, responses: {} }\n');
    write('api/openapi.yaml', "openapi: 3.1.0\npaths: { '/a': { $ref: ../parts/a.yaml } }\n");
    write('.env', 'OPENAPI_FILE=api/openapi.yaml\n');
    expect((await stub('getA')).code).toBe(1);
    expect((await stub('getA', '--allow-outside')).code).toBe(0);
  });

  test('exits with 2 without operationIds and --all, and with both', async () => {
    for (const args of [[], ['listBooks', '--all']]) {
      expect(await stub(...args)).toEqual({
        code: 2,
        output: expect.stringMatching(/^Name operationIds, or use --all\n\nUsage: spec-first stub/),
      });
    }
  });
});
