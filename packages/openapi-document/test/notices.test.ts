import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { checkDocument, loadDocument } from 'openapi-document';
import { withFiles } from 'test-support/files';

const operation = (members: string) =>
  `paths: { /a: { get: { operationId: a, ${members}, responses: { '200': { description: it } } } } }\n`;

const INFO = 'info: { title: A, version: 1.0.0 }\n';
const parameter = (members: string) =>
  `${INFO}${operation(`parameters: [{ name: q, in: query, ${members} }]`)}`;

test.each<[string, string, string]>([
  ['an info without a version', `info: { title: A }\n${operation('summary: A')}`, 'version'],
  [
    'flags inside a group',
    parameter("schema: { pattern: '(\\.(?i)(png|pdf))$' }"),
    'it is read as /(\\.(png|pdf))$/iu',
  ],
  ['flags after ^', parameter('schema: { pattern: "^(?i)a$" }'), 'it is read as /^a$/iu'],
  [
    'examples that are an array',
    parameter('schema: {}, examples: [1, 2]'),
    'must be object, but examples is [1,2]',
  ],
  [
    'an example that is a string',
    parameter('schema: {}, examples: { a: text }'),
    'must be object, but a is "text"',
  ],
  [
    'an example with two values',
    parameter('schema: {}, examples: { a: { value: 1, externalValue: b } }'),
    'must not have value and externalValue together',
  ],
  ['tags that are not strings', `${INFO}${operation('tags: [{ name: a }]')}`, 'must be string'],
])('an operation is served despite %s', async (_title, text, notice) => {
  await withFiles({ 'openapi.yaml': `openapi: 3.1.0\n${text}` }, async (folder) => {
    const document = await loadDocument(join(folder, 'openapi.yaml'));
    const { problems, broken, notices } = checkDocument(document);
    expect([problems, broken.size]).toEqual([[], 0]);
    expect(document.describe(notices)).toContain(notice);
  });
});
