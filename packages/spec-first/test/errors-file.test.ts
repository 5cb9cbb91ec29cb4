import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { loadDocument } from 'openapi-document';
import { makeProject } from 'test-support/project';
import { errorsFile } from '../src/errors-file.ts';
import { generateTypes } from '../src/types.ts';

const folder = makeProject({});
afterAll(() => rmSync(folder, { recursive: true }));

const text = { type: 'string' };
const integer = { type: 'integer' };

/** Loads a document whose error responses have this schema. */
async function documentOf(schema: object | undefined, schemas: object = {}, headers: object = {}) {
  const file = join(folder, 'openapi.json');
  const content = { 'application/json': { schema } };
  const failure = { description: 'An error.', headers, ...(schema && { content }) };
  const responses = { 200: { description: 'Done.' }, 404: failure, default: failure };
  const paths = { '/a': { get: { operationId: 'getA', responses } } };
  writeFileSync(file, JSON.stringify({ openapi: '3.1.0', paths, components: { schemas } }));
  return loadDocument(file);
}

/** Returns the function of the file that makes a body. */
async function makeOf(schema: object, schemas: object = {}): Promise<string> {
  const file = errorsFile(await documentOf(schema, schemas));
  const [make = ''] = /^ {2}make: [\s\S]*?(?=,\n\};)/m.exec(file) ?? [];
  return make.trim().replaceAll(/\s+/g, ' ');
}

const object = (properties: object, required = Object.keys(properties)) => ({
  type: 'object',
  required,
  properties,
});

test.each<[title: string, schema: object, expected: string]>([
  [
    'a status and a message',
    object({ error: integer, message: text, hint: text }, ['error', 'message']),
    'make: ({ status, message }): Body => ({ error: status, message, })',
  ],
  [
    'a member named status and a message',
    object({ status: integer, message: text }),
    'make: ({ status, message }): Body => ({ status, message, })',
  ],
  [
    'optional members',
    { properties: { documentation_url: text, message: text, code: integer } },
    'make: ({ status, message }): Body => ({ code: status, message, })',
  ],
  [
    'a message, by allOf',
    { allOf: [object({ message: { $ref: '#/components/schemas/Text' } })] },
    'make: ({ message }): Body => ({ message, })',
  ],
  [
    'a list of errors',
    object({ errors: { type: 'array', items: object({ message: text }) } }),
    'make: ({ message }): Body => ({ errors: [{ message }], })',
  ],
  [
    'problem details without a type',
    object({ title: text, status: integer, detail: text }),
    "make: ({ status, message }): Body => ({ title: STATUS_CODES[status] ?? 'Error', status, detail: message, })",
  ],
  [
    'problem details without a detail',
    { ...object({ title: text, status: integer }), unevaluatedProperties: false },
    'make: ({ status, message }): Body => ({ title: message, status, })',
  ],
  [
    'any object',
    { type: 'object', additionalProperties: true },
    "make: ({ status, message }): Body => ({ type: 'about:blank', title: STATUS_CODES[status] ?? 'Error', status, detail: message, })",
  ],
])('writes a body for %s', async (_, schema, expected) => {
  expect(await makeOf(schema, { Text: text })).toBe(expected);
});

test('names the headers that failures require and that the server does not set', async () => {
  const headers = {
    'X-Region': { required: true, schema: text },
    'Retry-After': { required: true, schema: integer },
    'X-Optional': { schema: text },
  };
  const file = errorsFile(await documentOf(object({ message: text }), {}, headers));
  expect(file).toContain('// TODO: write the header x-region as the document declares');
  expect(file).toContain('const todo: never');
});

test('makes problem details where the document declares no error body', async () => {
  const file = errorsFile(await documentOf(undefined));
  expect(file).toContain("mediaType: 'application/problem+json'");
  expect(file).toContain('detail: message,');
});

const complete = object({ code: integer, message: { type: 'string', minLength: 1 } });

const NOT_WRITTEN =
  /^src\/case\d+\/src\/errors\.ts\(\d+,\d+\): error TS2322: Type '"The errors are not written yet"'/m;

const CASES: [
  title: string,
  schema: object | undefined,
  schemas: object,
  error: RegExp | undefined,
][] = [
  [
    'fits, by reference',
    { $ref: '#/components/schemas/Failure' },
    { Failure: complete },
    undefined,
  ],
  ['fits, in its place', complete, {}, undefined],
  ['is problem details', undefined, {}, undefined],
  ['is any object', { type: 'object' }, {}, undefined],
  [
    'lacks a member',
    object({ id: { type: 'string', pattern: '^x' }, message: text }),
    {},
    NOT_WRITTEN,
  ],
  [
    'is too short',
    object({ code: integer, message: { type: 'string', minLength: 9 } }),
    {},
    NOT_WRITTEN,
  ],
  [
    'is too long',
    object({ code: integer, message: { type: 'string', maxLength: 50 } }),
    {},
    NOT_WRITTEN,
  ],
  ['breaks another rule', { ...complete, not: { required: ['code'] } }, {}, NOT_WRITTEN],
  ['cannot be guessed', { enum: ['a', 'b'] }, {}, NOT_WRITTEN],
];

describe('src/errors.ts', () => {
  let lines: string[] = [];

  beforeAll(async () => {
    for (const [index, [, schema, schemas]] of CASES.entries()) {
      const document = await documentOf(schema, schemas);
      const top = join(folder, `src/case${index}`);
      for (const name of ['src', 'generated']) mkdirSync(join(top, name), { recursive: true });
      writeFileSync(join(top, 'generated/openapi.ts'), await generateTypes(document));
      writeFileSync(join(top, 'src/errors.ts'), errorsFile(document));
    }
    const tsc = [resolve('node_modules/typescript/bin/tsc'), '--pretty', 'false'];
    const { stdout } = spawnSync(process.execPath, tsc, { cwd: folder, encoding: 'utf8' });
    lines = stdout.split('\n');
  });

  test.each(CASES)('compiles only if its body fits: %s', (title, _schema, _schemas, error) => {
    const index = CASES.findIndex(([name]) => name === title);
    const errors = lines.filter((line) => line.startsWith(`src/case${index}/`)).join('\n');
    expect(errors).toEqual(error === undefined ? '' : expect.stringMatching(error));
  });
});

test('the body is the one that most error responses have', async () => {
  const content = (schema: object) => ({ 'application/json': { schema } });
  const [rare, usual] = [object({ code: integer, message: text }), object({ message: text })];
  for (const schemas of [
    [rare, usual, usual],
    [usual, usual, rare],
  ]) {
    const responses = Object.fromEntries(
      schemas.map((schema, index) => [400 + index, { description: '', content: content(schema) }]),
    );
    const file = join(folder, 'openapi.json');
    const paths = { '/a': { get: { operationId: 'getA', responses } } };
    writeFileSync(file, JSON.stringify({ openapi: '3.1.0', paths }));
    expect(errorsFile(await loadDocument(file))).toContain('make: ({ message }): Body => ({\n');
  }
});
