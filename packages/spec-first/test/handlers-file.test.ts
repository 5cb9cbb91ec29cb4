import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { loadDocument } from 'openapi-document';
import { compile, makeProject } from 'test-support/project';
import { addStubs, readHandlers } from '../src/handlers-file.ts';
import { generateTypes } from '../src/types.ts';

describe('readHandlers', () => {
  test.each<[text: string, operationIds: string[], isFound: boolean]>([
    ['const a: Handlers = { one() {}, two: () => {}, three };', ['one', 'two', 'three'], true],
    ["const a = { 'a b': f, [c]: f, 5: f, ...d } satisfies Handlers;", ['a b'], true],
    ['const a = { one: f } as Partial<Handlers>;', ['one'], true],
    ['const a = ({ one: f } satisfies Partial<Handlers>) as unknown;', ['one'], true],
    ['const a = <Handlers>{ one: f };', ['one'], true],
    ['const a = { one: f }! as Handlers<typeof verifiers>;', ['one'], true],
    ['const a = (): Handlers => ({ one: f });', ['one'], true],
    ['async function a(): Promise<Handlers> { return { one: f }; }', ['one'], true],
    ['const a = { b(): Handlers { return { one: f }; } };', ['one'], true],
    ['function a(): Handlers { if (b) { return { one: f }; } }', ['one'], true],
    ["const a: Pick<Handlers, 'one'> = { one: f };", ['one'], false],
    ["const a = { one: f } satisfies Omit<Handlers, 'two'>;", ['one'], false],
    ['const a: Handlers = { one: f }; const b: Handlers = { two: f };', ['one', 'two'], true],
    ['const a: Handlers = { one: () => ({ status: 200 }) };', ['one'], true],
    ['const a: Handlers = make({ one: f });', [], false],
    ['function a(): Handlers { const b = { one: f }; return c; }', [], false],
    ['function a(b: Handlers) { return { one: f }; }', [], false],
    ['const a: MyHandlers = { one: f };', [], false],
    ['const a: { b: Partial<Handlers> } = { b: {} };', [], false],
    ['const a: { b: Handlers } = { b: { one: f } as Handlers };', ['one'], true],
    ['const a: Close & Readonly<Handlers> = { one: f };', ['one'], true],
    ['const a: api.Handlers = { one: f };', ['one'], true],
    ['const a: Record<string, Handlers> = { one: f };', [], false],
    ['function a(): Handlers { ({ one: f }); return b; }', [], false],
    ['class A { a: Handlers = { get one() { return f; } }; }', ['one'], true],
    ['// Handlers\nconst a = { one: f };', [], false],
    ['const = 1;', [], false],
    ['', [], false],
  ])('finds the operations of %j', (text, operationIds, isFound) => {
    const handlers = readHandlers('a.ts', text);
    expect(handlers.operationIds).toEqual(operationIds);
    expect(handlers.start !== undefined).toBe(isFound);
  });

  test('returns the start of the first object that may have all handlers', () => {
    const text =
      "const a: Pick<Handlers, 'x'> = {}; const b: Handlers = {}; const c: Handlers = {};";
    expect(readHandlers('a.ts', text).start).toBe(text.indexOf('{}; const c') + 1);
  });

  test('rejects a file with a merge conflict, even without handlers', () => {
    const text = 'const a = 1;\n<<<<<<< HEAD\nconst b = 2;\n=======\n>>>>>>> other\n';
    expect(() => readHandlers('src/a.ts', text)).toThrow(/^src\/a\.ts:2:1 has a merge conflict/);
  });

  test('rejects a file with handlers that cannot be parsed', () => {
    expect(() => readHandlers('src/a.ts', '// Handlers\nconst = 1;')).toThrow(
      'src/a.ts:2:7 cannot be parsed: Variable declaration expected.',
    );
  });
});

const stubs = (indent: string) =>
  ['createLoan', "'end all'"]
    .map((name) => {
      const id = name.replaceAll("'", '');
      return `async ${name}(_request: RequestTo<'${id}'>): Promise<ReplyTo<'${id}'>> {
  throw new HttpError(501, '${id} is not implemented yet');
},`;
    })
    .join('\n')
    .replaceAll(/^/gm, indent);

/** Files of handlers: before and after stubs are added. */
const SHAPES: Readonly<Record<string, readonly [before: string, after: string]>> = {
  constant: [
    `import type { Handlers, ReplyTo } from '../generated/openapi.ts';

/** Ours. */
export const handlers: Partial<Handlers> = {
  async listBooks(): Promise<ReplyTo<'listBooks'>> {
    return { status: 200, body: [] }; // none
  } // the last one
};
`,
    `import { HttpError } from 'spec-first-server';
import type { Handlers, ReplyTo, RequestTo } from '../generated/openapi.ts';

/** Ours. */
export const handlers: Partial<Handlers> = {
${stubs('  ')}
  async listBooks(): Promise<ReplyTo<'listBooks'>> {
    return { status: 200, body: [] }; // none
  } // the last one
};
`,
  ],
  satisfies: [
    `import { HttpError } from 'spec-first-server';
import type { Handlers, ReplyTo, RequestTo } from '../generated/openapi.ts';

export const handlers = {
    listBooks: async (_: RequestTo<'listBooks'>): Promise<ReplyTo<'listBooks'>> => {
        throw new HttpError(503, 'closed');
    },
} satisfies Partial<Handlers>;
`,
    `import { HttpError } from 'spec-first-server';
import type { Handlers, ReplyTo, RequestTo } from '../generated/openapi.ts';

export const handlers = {
${stubs('  ')}
    listBooks: async (_: RequestTo<'listBooks'>): Promise<ReplyTo<'listBooks'>> => {
        throw new HttpError(503, 'closed');
    },
} satisfies Partial<Handlers>;
`,
  ],
  arrow: [
    `import type { Handlers, ReplyTo as Answer } from '../generated/openapi.ts';

export const open = (count: number): Partial<Handlers> => ({
  listBooks: (): Answer<'listBooks'> => ({ status: 200, body: [count] }),
});
`,
    `import { HttpError } from 'spec-first-server';
import type { Handlers, ReplyTo as Answer, ReplyTo, RequestTo } from '../generated/openapi.ts';

export const open = (count: number): Partial<Handlers> => ({
${stubs('  ')}
  listBooks: (): Answer<'listBooks'> => ({ status: 200, body: [count] }),
});
`,
  ],
  returned: [
    `import { ConfigError } from 'spec-first-server';
import { type Handlers } from '../generated/openapi.ts';

export async function open(): Promise<Partial<Handlers>> {
  if (process.argv.length === 0) throw new ConfigError('no arguments');
  return {
    listBooks: () => ({ status: 200, body: [] }),

    // More to come.
  };
}
`,
    `import type { ReplyTo, RequestTo } from '../generated/openapi.ts';
import { ConfigError, HttpError } from 'spec-first-server';
import { type Handlers } from '../generated/openapi.ts';

export async function open(): Promise<Partial<Handlers>> {
  if (process.argv.length === 0) throw new ConfigError('no arguments');
  return {
${stubs('    ')}
    listBooks: () => ({ status: 200, body: [] }),

    // More to come.
  };
}
`,
  ],
  inside: [
    `import * as server from 'spec-first-server';
import type { Handlers } from '../generated/openapi.ts';

export function open() {
\tconst handlers: Partial<Handlers> = { listBooks: () => ({ status: 200, body: [server] }) };
\treturn { handlers };
}
`,
    `import { HttpError } from 'spec-first-server';
import * as server from 'spec-first-server';
import type { Handlers, ReplyTo, RequestTo } from '../generated/openapi.ts';

export function open() {
\tconst handlers: Partial<Handlers> = {
${stubs('\t  ')} listBooks: () => ({ status: 200, body: [server] }) };
\treturn { handlers };
}
`,
  ],
  spread: [
    `import type { AnyReply } from 'spec-first-server';
import type { Handlers } from '../generated/openapi.ts';
import { handlers as others } from './constant.ts';

const books: Pick<Handlers, 'listBooks'> = { listBooks: () => ({ status: 200, body: [] }) };
export const handlers = { ...books } satisfies Partial<Handlers>;
export const used: readonly [object, AnyReply] = [others, { status: 204 }];
`,
    `import { HttpError } from 'spec-first-server';
import type { AnyReply } from 'spec-first-server';
import type { Handlers, ReplyTo, RequestTo } from '../generated/openapi.ts';
import { handlers as others } from './constant.ts';

const books: Pick<Handlers, 'listBooks'> = { listBooks: () => ({ status: 200, body: [] }) };
export const handlers = {
${stubs('  ')} ...books } satisfies Partial<Handlers>;
export const used: readonly [object, AnyReply] = [others, { status: 204 }];
`,
  ],
  empty: [
    "export const handlers: Partial<import('../generated/openapi.ts').Handlers> = {};\n",
    `import { HttpError } from 'spec-first-server';
import type { ReplyTo, RequestTo } from '../generated/openapi.ts';
export const handlers: Partial<import('../generated/openapi.ts').Handlers> = {
${stubs('  ')}
};
`,
  ],
};

const MISSING = ['createLoan', 'end all'];

describe('addStubs', () => {
  test.each(Object.entries(SHAPES))(
    'adds stubs and imports, and leaves the rest unchanged: %s',
    (_, [before, after]) => {
      expect(addStubs('src/handlers.ts', before, MISSING)).toBe(after);
    },
  );

  test('keeps the line endings of the file', () => {
    const [before, after] = (SHAPES.constant ?? []).map((text) => text.replaceAll('\n', '\r\n'));
    expect(addStubs('src/handlers.ts', before ?? '', MISSING)).toBe(after);
  });

  test.each([
    ['src/handlers.ts', '../generated/openapi.ts'],
    ['src/a/handlers.ts', '../../generated/openapi.ts'],
    ['handlers.ts', './generated/openapi.ts'],
  ])('writes a file for an empty %s that imports the types from %s', (path, specifier) => {
    const text = addStubs(path, ' \n', MISSING);
    expect(text.match(/from '(.*)'/g)).toEqual(["from 'spec-first-server'", `from '${specifier}'`]);
    expect(text).toContain(`\nexport const handlers = {\n${stubs('  ')}\n} satisfies `);
  });

  test('quotes any operationId', () => {
    const id = "it's\na \\ \u{1f600}";
    expect(readHandlers('a.ts', addStubs('src/a.ts', '', [id])).operationIds).toEqual([id]);
  });

  test('rejects a file without an object for all handlers', () => {
    const text = "const a: Pick<Handlers, 'one'> = {};";
    expect(() => addStubs('src/a.ts', text, MISSING)).toThrow(
      'src/a.ts has no object of type Handlers. Add one: export const handlers = {} satisfies Partial<Handlers>;',
    );
  });
});

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

describe('a file with stubs', () => {
  let folder: string;
  beforeAll(() => {
    const after = Object.entries(SHAPES).map(([name, [, text]]) => [`src/${name}.ts`, text]);
    folder = makeProject({ 'openapi.yaml': DOCUMENT, ...Object.fromEntries(after) });
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test('compiles', async () => {
    const types = await generateTypes(await loadDocument(join(folder, 'openapi.yaml')));
    mkdirSync(join(folder, 'generated'));
    writeFileSync(join(folder, 'generated/openapi.ts'), types);
    writeFileSync(join(folder, 'src/new.ts'), addStubs('src/new.ts', '', MISSING));
    expect(compile(folder)).toBe('');
  });
});
