import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { loadDocument } from 'openapi-document';
import { writeFiles } from 'test-support/files';
import { compile, makeProject } from 'test-support/project';
import { handlersFile } from '../src/handlers-file.ts';
import { run } from '../src/stub.ts';
import { generateTypes, TYPES } from '../src/types.ts';
import { call } from './call.ts';

const DOCUMENT = `openapi: 3.1.0
info: { title: Library, version: 1.0.0 }
security: []
paths:
  /books:
    get: { tags: [Book shelf, other], operationId: listBooks, responses: { '200': { description: All., content: { application/json: { schema: { type: array } } } } } }
    post: { tags: [book-shelf], operationId: it's new, responses: { '204': { description: Done. } } }
  /loans/{id}:
    parameters: [{ name: id, in: path, required: true, schema: { type: string } }]
    post: { operationId: createLoan, responses: { '204': { description: Done. } } }
  /:
    delete: { operationId: end all, responses: { '204': { description: Done. } } }
`;

let folder: string;
const write = (name: string, text: string) => writeFiles(folder, { [name]: text });
const read = (name: string) => readFileSync(join(folder, name), 'utf8');
const stub = async (...args: string[]) => {
  const { status, stdout, stderr } = await call(folder, run, ...args);
  return { code: status, output: stdout + stderr };
};

beforeEach(() => {
  folder = makeProject({ 'openapi.yaml': DOCUMENT });
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('npm run stub', () => {
  test('writes a typed file for each tag or path, and the file that combines them', async () => {
    write('src/handlers.ts', handlersFile(['listBooks', "it's new", 'createLoan', 'end all']));
    expect(await stub('--all')).toEqual({
      code: 0,
      output: `src/handlers/book-shelf.ts written: listBooks, it's new. Each responds with 501 until you write it.
src/handlers/loans.ts written: createLoan. Each responds with 501 until you write it.
src/handlers/other.ts written: end all. Each responds with 501 until you write it.
src/handlers.ts written.
`,
    });
    expect(read('src/handlers/loans.ts')).toBe(`import { HttpError } from 'spec-first-server';
import type { Handlers, ReplyTo, RequestTo } from '${join('../..', TYPES)}';

export const loansHandlers = {
  async createLoan(_request: RequestTo<'createLoan'>): Promise<ReplyTo<'createLoan'>> {
    throw new HttpError(501, 'createLoan is not implemented yet');
  },
} satisfies Partial<Handlers>;
`);
    expect(read('src/handlers.ts')).toMatch(/\n\} satisfies Handlers;\n$/);
    const types = await generateTypes(await loadDocument(join(folder, 'openapi.yaml')));
    write(TYPES, types);
    expect(compile(folder)).toBe('');
    expect(await stub('--all')).toEqual({ code: 0, output: 'Nothing is missing.\n' });
  });

  test('gives the handlers of each tag a name of their own', async () => {
    const document = DOCUMENT.replace('[book-shelf]', '[shelf 1]').replace(
      '[Book shelf,',
      '[shelf1,',
    );
    write('openapi.yaml', document);
    await stub('--all');
    write(TYPES, await generateTypes(await loadDocument(join(folder, 'openapi.yaml'))));
    expect(compile(folder)).toBe('');
  });

  test('changes no file: prints what to add to files that exist', async () => {
    const own = "import { books } from './books.ts';\nexport const handlers = { ...books };\n";
    const books = 'export const books = { listBooks };\n';
    write('src/handlers.ts', own);
    write('src/handlers/book-shelf.ts', books);
    const { code, output } = await stub('--all');
    expect(code).toBe(0);
    expect(output).toContain(
      "src/handlers/book-shelf.ts exists. Add to its handlers:\n\n  async 'it\\'s new'(",
    );
    expect(output).toContain(`Add to the file with all handlers:

import { loansHandlers } from './handlers/loans.ts';
import { otherHandlers } from './handlers/other.ts';

  ...loansHandlers,
  ...otherHandlers,
`);
    expect([read('src/handlers.ts'), read('src/handlers/book-shelf.ts')]).toEqual([own, books]);
  });

  test('writes a file for handlers of a part of the operations', async () => {
    expect((await stub('createLoan', 'createLoan')).code).toBe(0);
    expect(readdirSync(join(folder, 'src/handlers'))).toEqual(['loans.ts']);
    expect(read('src/handlers.ts')).toContain(`export const handlers = {
  ...loansHandlers,
  listBooks: unimplemented,
  'it\\'s new': unimplemented,
  'end all': unimplemented,
} satisfies Handlers;
`);
  });

  test('joins further files, and adds further operations to the file of their tag', async () => {
    await stub('createLoan');
    const loans = read('src/handlers/loans.ts');
    await stub('listBooks');
    const written = read('src/handlers/book-shelf.ts').replace(/throw new .*/, 'return listAll();');
    write('src/handlers/book-shelf.ts', written);
    expect(await stub('--all')).toEqual({
      code: 0,
      output: `src/handlers/book-shelf.ts written: it's new. Each responds with 501 until you write it.
src/handlers/other.ts written: end all. Each responds with 501 until you write it.
src/handlers.ts written.
`,
    });
    expect(read('src/handlers/loans.ts')).toBe(loans);
    expect(read('src/handlers/book-shelf.ts')).toContain("return listAll();\n  },\n\n  async 'it");
    expect(read('src/handlers.ts')).toContain(`import { loansHandlers } from './handlers/loans.ts';
import { bookShelfHandlers } from './handlers/book-shelf.ts';
import { otherHandlers } from './handlers/other.ts';

/** The handlers of all operations. Those that are \`unimplemented\` can be mocked. */
export const handlers = {
  ...loansHandlers,
  ...bookShelfHandlers,
  ...otherHandlers,
} satisfies Handlers;
`);
  });

  test.each([
    ['without the imports of stubs', (text: string) => text.replace('HttpError, ', '')],
    ['with another end', (text: string) => text.replace(' satisfies Partial<Handlers>', '')],
  ])('prints what to add to a file %s', async (_, edit) => {
    await stub('listBooks');
    const edited = edit(
      read('src/handlers/book-shelf.ts').replace('{ HttpError }', '{ HttpError, log }'),
    );
    write('src/handlers/book-shelf.ts', edited);
    expect((await stub("it's new")).output).toMatch(/^src\/handlers\/book-shelf.ts exists/);
    expect(read('src/handlers/book-shelf.ts')).toBe(edited);
  });

  test.each([
    'const a = { listBooks() {} };',
    'const a = { async listBooks ({ body }) {} };',
    "const a = { 'listBooks': f };",
    'const a = { b, listBooks, c };',
    'const a = { b, listBooks };',
    'class A { listBooks = async () => {}; }',
  ])('skips an operation with a handler such as %s', async (text) => {
    write('src/own.ts', text);
    expect(await stub('listBooks')).toEqual({
      code: 0,
      output: 'listBooks has a handler in src/own.ts\nNothing is missing.\n',
    });
  });

  test.each(['// listBooks is missing', 'api.listBooks();', "type A = RequestTo<'listBooks'>;"])(
    'writes a stub if a file only contains %s',
    async (text) => {
      write('src/own.ts', text);
      await stub('listBooks');
      expect(existsSync(join(folder, 'src/handlers/book-shelf.ts'))).toBe(true);
    },
  );

  test('names unknown operations, and writes nothing', async () => {
    expect(await stub('listBook', 'createLoan', 'CreateLoans')).toEqual({
      code: 1,
      output: 'openapi.yaml has no operation listBook, CreateLoans\n',
    });
    expect(existsSync(join(folder, 'src'))).toBe(false);
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
