import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { loadDocument } from 'openapi-document';
import ts from 'typescript';
import { generateTypes } from '../src/types.ts';

const project = fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, '');
const folder = mkdtempSync(join(tmpdir(), 'mistakes-'));
afterAll(() => rmSync(folder, { recursive: true }));

const DOCUMENT = `openapi: 3.1.0
info: { title: Garden, version: 1.0.0 }
paths:
  /plants:
    post:
      operationId: createPlant
      requestBody:
        required: true
        content: { application/json: { schema: { $ref: '#/components/schemas/Plant' } } }
      responses:
        '200': { description: Kept., content: { application/json: { schema: { $ref: '#/components/schemas/Plant' } } } }
        default: { description: An error., content: { application/json: { schema: { $ref: '#/components/schemas/Error' } } } }
    get:
      operationId: listPlants
      responses:
        '200': { description: All., content: { application/json: { schema: { type: array, items: { $ref: '#/components/schemas/Plant' } } } } }
components:
  schemas:
    Plant: { type: object, required: [name], properties: { name: { type: string }, tag: { type: string } } }
    Error: { type: object, required: [error, message], properties: { error: { type: integer }, message: { type: string } } }
`;

/** A handlers file. Line 4 is the object of handlers, line 6 is the reply of `createPlant`. */
const RIGHT = `import type { Handlers, ReplyTo, RequestTo } from './types.ts';

/** The handlers. */
export const handlers: Handlers = {
  async createPlant({ body: { name, tag } }: RequestTo<'createPlant'>): Promise<ReplyTo<'createPlant'>> {
    return { status: 200, body: { name, tag } };
  },
  async listPlants(): Promise<ReplyTo<'listPlants'>> {
    return { status: 200, body: [] };
  },
};
`;

/** Every way to give handlers to the server that the compiler must accept. */
const USES = `import type { AnyHandler, Backend } from 'spec-first-server';
import type { Handlers } from '../types.ts';

declare const all: Handlers;
declare const some: Partial<Handlers>;
declare const one: Pick<Handlers, 'createPlant'>;

export const handlers: Readonly<Record<string, AnyHandler>> = all;
export const backends: readonly Backend[] = [{ handlers: all }, { handlers: some }, { handlers: one }, { handlers: {} }];
`;

/** Each mistake: the text that is replaced, the line of the message, and its first words. */
const MISTAKES: readonly (readonly [name: string, from: string, to: string, line: number, message: string])[] = [
  [
    'a wrong status',
    'status: 200, body: { name',
    'status: 201, body: { name',
    6,
    "Type '201' is not assignable to type '200 | ",
  ],
  [
    'a wrong body member',
    '{ name, tag } };',
    '{ name: name.length, tag } };',
    6,
    "Type 'number' is not assignable to type 'string'.",
  ],
  [
    'a superfluous body member',
    '{ name, tag } };',
    '{ name, nme: name, tag } };',
    6,
    "Object literal may only specify known properties, and 'nme' does not exist in type",
  ],
  [
    'a missing operation',
    /async listPlants[^}]*}[^}]*},/.exec(RIGHT)?.[0] ?? '',
    '',
    4,
    "Property 'listPlants' is missing in type ",
  ],
  [
    'a misspelt operation',
    'async createPlant(',
    'async createPlnt(',
    5,
    "Object literal may only specify known properties, but 'createPlnt' does not exist in type 'Handlers'. " +
      "Did you mean to write 'createPlant'?",
  ],
];

/** The messages of the compiler by file, as `line message`. */
const messages = new Map<string, string[]>();

beforeAll(async () => {
  symlinkSync(join(project, 'node_modules'), join(folder, 'node_modules'));
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  write('package.json', '{ "type": "module" }');
  write('openapi.yaml', DOCUMENT);
  write('types.ts', await generateTypes(await loadDocument(join(folder, 'openapi.yaml'))));
  const sources = {
    right: RIGHT,
    ...Object.fromEntries(MISTAKES.map(([name, from, to]) => [name, RIGHT.replace(from, to)])),
  };
  mkdirSync(join(folder, 'other'));
  write('other/uses.ts', USES);
  for (const [name, text] of Object.entries(sources)) write(`${name}.ts`, text);
  const files = [...Object.keys(sources), 'other/uses'].map((name) => join(folder, `${name}.ts`));
  const { options } = ts.convertCompilerOptionsFromJson(
    ts.readConfigFile(join(project, 'tsconfig.json'), ts.sys.readFile).config.compilerOptions,
    project,
  );
  const program = ts.createProgram(files, { ...options, typeRoots: [join(project, 'node_modules/@types')] });
  for (const { file, start = 0, messageText } of ts.getPreEmitDiagnostics(program)) {
    const name = basename(file?.fileName ?? '', '.ts');
    const line = (file?.getLineAndCharacterOfPosition(start).line ?? -1) + 1;
    const text = ts.flattenDiagnosticMessageText(messageText, '\n');
    messages.set(name, [...(messages.get(name) ?? []), `${line} ${text}`]);
  }
});

describe('the compiler', () => {
  test('accepts handlers that fit, and any part of them while operations are mocked', () => {
    expect({ right: messages.get('right'), uses: messages.get('uses') }).toEqual({});
  });

  test.each(MISTAKES)('names %s once, at its line, in its first message', (name, _from, _to, line, message) => {
    const found = messages.get(name) ?? [];
    expect(found).toHaveLength(1);
    expect(found[0]?.startsWith(`${line} ${message}`) ? '' : found[0]).toBe('');
  });
});
