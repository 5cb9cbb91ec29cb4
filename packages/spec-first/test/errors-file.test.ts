import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { loadDocument } from 'openapi-document';
import { documentWith } from 'test-support/document-of';
import { compile, makeProject } from 'test-support/project';
import { errorsFile } from '../src/errors-file.ts';
import { generateTypes } from '../src/types.ts';

const folder = makeProject({});
afterAll(() => rmSync(folder, { recursive: true }));

const text = { type: 'string' };
const integer = { type: 'integer' };

async function documentOf(
  schema: object | true | undefined,
  schemas: object = {},
  headers: object = {},
  type = 'application/json',
) {
  const file = join(folder, 'openapi.json');
  const content = { [type]: { schema } };
  const failure = { description: 'An error.', headers, ...(schema && { content }) };
  const responses = { 200: { description: 'Done.' }, 404: failure, default: failure };
  const paths = { '/a': { get: { operationId: 'getA', responses } } };
  writeFileSync(file, JSON.stringify({ openapi: '3.1.0', paths, components: { schemas } }));
  return loadDocument(file);
}

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
    'problem details with one type only',
    { properties: { type: { enum: ['about:blank'] }, title: text, status: integer, detail: text } },
    "make: ({ status, message }): Body => ({ title: STATUS_CODES[status] ?? 'Error', status, detail: message, })",
  ],

  [
    'optional members',
    { properties: { documentation_url: text, message: text, code: integer } },
    'make: ({ message, status }): Body => ({ message, code: status, })',
  ],

  [
    'a list of errors',
    object({ errors: { type: 'array', minItems: 1, items: object({ message: text }) } }),
    'make: ({ message }): Body => ({ errors: [ { message, }, ], })',
  ],

  [
    'a code and a text',
    object({ errcode: text, error: text }),
    'make: ({ status, message }): Body => ({ errcode: String(status), error: message, })',
  ],
  [
    'an object in an object',
    object({
      error: object({ status: integer, message: text, details: { type: 'array', items: text } }, [
        'status',
      ]),
    }),
    'make: ({ status, message }): Body => ({ error: { status, message, }, })',
  ],
  [
    'OAuth',
    object({ error: { enum: ['invalid_request'] }, error_description: text, error_uri: text }, [
      'error',
    ]),
    "make: ({ message }): Body => ({ error: 'invalid_request', error_description: message, })",
  ],
  [
    'members that no problem has',
    object({
      message: text,
      at: { type: 'string', format: 'date-time' },
      path: { ...text, example: '/a' },
    }),
    "make: ({ message }): Body => ({ message, at: '2024-01-01T12:00:00Z', path: '/a', })",
  ],

  [
    'any object',
    { type: 'object', additionalProperties: true },
    "make: ({ type = 'about:blank', status, message }): Body => ({ type, title: STATUS_CODES[status] ?? 'Error', status, detail: message, })",
  ],
])('writes a body for %s', async (_, schema, expected) => {
  expect(await makeOf(schema, { Text: text })).toBe(expected);
});

test('lists what the team has to complete: the body, and headers that the server does not set', async () => {
  const headers = {
    'X-Allow': { required: true, schema: text },
    'Allow-Zone': { required: true, schema: text },
    'Retry-After': { required: true, schema: integer },
    Allow: { required: true, schema: text },
    'WWW-Authenticate': { required: true, schema: text },
    'Content-Length': { required: true, schema: integer },
    'Content-Location': { required: true, schema: text },
    'X-Optional': { schema: text },
  };
  expect(
    errorsFile(await documentOf({ enum: ['a'] }, {}, headers)),
  ).toBe(`import { STATUS_CODES } from 'node:http';
import type { ErrorBody } from 'spec-first-server';

// TODO: errors are problem details, since no value was found for the declared body: write the body.
// TODO: replace the placeholders (header x-allow, header allow-zone, header content-location).
/** Problem details (RFC 9457). */
export const errorBody: ErrorBody = {
  mediaType: 'application/problem+json',
  make: ({ type = 'about:blank', status, message }) => ({
    type,
    title: STATUS_CODES[status] ?? 'Error',
    status,
    detail: message,
  }),
  headers: () => ({
    'x-allow': 'text',
    'allow-zone': 'text',
    'content-location': 'text',
  }),
};
`);
});

const complete = object({ code: integer, message: { type: 'string', minLength: 1 } });

const CASES: [title: string, schema: object | undefined, schemas: object][] = [
  ['fits, by reference', { $ref: '#/components/schemas/Failure' }, { Failure: complete }],

  ['lacks a member', object({ id: { type: 'string', pattern: '^x' }, message: text }), {}],

  ['is too long', object({ code: integer, message: { type: 'string', maxLength: 50 } }), {}],
  ['breaks another rule', { ...complete, not: { required: ['code'] } }, {}],

  ['has alternatives of other names', { anyOf: [{ properties: { text } }, {}] }, {}],
  [
    'has constants',
    object({ error: { enum: ['a', 'b'] }, at: object({ id: { const: 7 }, count: integer }) }),
    {},
  ],
  ['cannot be guessed', { enum: ['a', 'b'] }, {}],
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
    lines = compile(folder).split('\n');
  });

  test.each(CASES)('compiles if the schema of the body %s', (title) => {
    const index = CASES.findIndex(([name]) => name === title);
    expect(lines.filter((line) => line.startsWith(`src/case${index}/`))).toEqual([]);
  });
});

const rare = object({ code: integer, message: text });
const usual = object({ message: text });

test.each<[keys: string[], schemas: object[], lines: string]>([
  [['400', '404', 'default'], [rare, usual, usual], 'message,'],
  [['400', '5XX', '404'], [usual, usual, rare], 'message,'],
  [['400', '404'], [rare, usual], 'code: status,message,'],
])('uses the most common body of the responses %j', async (keys, schemas, lines) => {
  const responses = Object.fromEntries(
    schemas.map((schema, index) => [
      keys[index],
      { description: '', content: { 'application/json': { schema } } },
    ]),
  );
  const paths = { '/a': { get: { operationId: 'getA', responses } } };
  const file = errorsFile(await documentWith({ paths }));
  const [, members = ''] = /: Body => \(\{\n([\s\S]*?)\n {2}\}\)/.exec(file) ?? [];
  expect(members.replaceAll(/\s*\n\s*|^\s+/g, '')).toBe(lines);
});
