import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { loadDocument } from 'openapi-document';
import { errorsFile } from '../src/error-form.ts';

const folder = mkdtempSync(join(tmpdir(), 'error-form-'));
afterAll(() => rmSync(folder, { recursive: true }));

async function fileFor(paths: object, schemas: object = {}): Promise<string> {
  const file = join(folder, 'openapi.json');
  writeFileSync(file, JSON.stringify({ openapi: '3.1.0', paths, components: { schemas } }));
  return errorsFile(await loadDocument(file));
}

/** The line of `make` for a document whose one error response has this schema. */
async function made(schema: object, schemas: object = {}): Promise<string> {
  const content = { 'application/json': { schema } };
  const responses = { '200': { description: 'Done.' }, default: { description: 'An error.', content } };
  const file = await fileFor({ '/a': { get: { operationId: 'getA', responses } } }, schemas);
  return /^ {2}make: .*$/m.exec(file)?.[0].trim() ?? '';
}

const text = { type: 'string' };
const integer = { type: 'integer' };

test.each<[title: string, schema: object, expected: string]>([
  [
    'maps status and message to the required properties',
    { type: 'object', required: ['error', 'message'], properties: { error: integer, message: text, hint: text } },
    'make: ({ status, message }) => ({ error: status, message }),',
  ],
  [
    'quotes names that are no identifiers, also with line breaks',
    JSON.parse('{ "required": ["a-b", "it\'s\\n"], "properties": { "a-b": {}, "it\'s\\n": {} } }'),
    "make: ({ message }) => ({ 'a-b': message, 'it\\'s\\n': message }),",
  ],
  [
    'fills optional properties when none is required',
    { properties: { documentation_url: text, message: text, status: integer } },
    'make: ({ status, message }) => ({ message, status }),',
  ],
  [
    'writes a code that is text',
    { required: ['code', 'detail'], properties: { code: text, detail: text } },
    'make: ({ status, message }) => ({ code: String(status), detail: message }),',
  ],
  [
    'writes constants, the first value of an enumeration, dates and flags',
    {
      required: ['kind', 'level', 'at', 'success', 'type', 'message'],
      properties: {
        kind: { const: "it's" },
        level: { enum: ['high', 'low'] },
        at: { type: 'string', format: 'date-time' },
        success: { type: 'boolean' },
        type: { type: 'string', format: 'uri' },
        message: text,
      },
    },
    "make: ({ message }) => ({ kind: 'it\\'s', level: 'high', at: new Date().toISOString(), success: false, type: 'about:blank', message }),",
  ],
  [
    'writes objects inside objects, and lists with as many items as they need',
    {
      required: ['error', 'links'],
      properties: {
        error: { $ref: '#/components/schemas/Inner' },
        links: { type: 'array', items: text },
      },
    },
    'make: ({ status, message }) => ({ error: { code: status, errors: [{ message }] }, links: [] }),',
  ],
  [
    'merges allOf and takes the first of several alternatives',
    {
      allOf: [
        { type: 'object', required: ['code'], properties: { code: integer } },
        { oneOf: [{ required: ['reason'], properties: { reason: text } }, { required: ['other'] }] },
      ],
    },
    'make: ({ status, message }) => ({ code: status, reason: message }),',
  ],
  [
    'gives problem details the reason phrase as their title, and the message as their detail',
    { required: ['title', 'status'], properties: { title: text, status: integer, detail: text } },
    "make: ({ status, message }) => ({ title: STATUS_CODES[status] ?? 'Error', status, detail: message }),",
  ],
  ['writes a text', text, 'make: ({ message }) => (message),'],
  [
    'quotes names that are not identifiers',
    { required: ['error-message'], properties: { 'error-message': text } },
    "make: ({ message }) => ({ 'error-message': message }),",
  ],
])('%s', async (_, schema, expected) => {
  const Inner = {
    type: 'object',
    required: ['code', 'errors'],
    properties: {
      code: integer,
      errors: { type: 'array', minItems: 1, items: { required: ['message'], properties: { message: text } } },
    },
  };
  expect(await made(schema, { Inner })).toBe(expected);
});

test('ends where a schema contains itself', async () => {
  const schemas = { Cause: { required: ['cause'], properties: { cause: { $ref: '#/components/schemas/Cause' } } } };
  expect(await made({ $ref: '#/components/schemas/Cause' }, schemas)).toMatch(/^make: \(\) => \(\{ cause: .*\}\),$/);
});

test('makes problem details where the document declares no error body', async () => {
  const file = await fileFor({});
  expect(file).toContain("mediaType: 'application/problem+json'");
  expect(file).toContain('make: ({ status, message }) => ({ status, title: message })');
});
