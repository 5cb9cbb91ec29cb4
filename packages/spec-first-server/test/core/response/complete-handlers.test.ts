import { beforeAll, expect, test } from '@jest/globals';
import { createSchemas, type Document } from 'openapi-document';
import { codecsOf } from 'test-support/codecs';
import { documentOf } from 'test-support/document-of';
import type { AnyHandler } from '../../../src/core/handlers/types.ts';
import {
  completeHandlers,
  unimplemented,
  type WhenMissing,
  withoutHandler,
} from '../../../src/core/response/complete-handlers.ts';
import { PROBLEM_DETAILS } from '../../../src/core/response/problem.ts';
import { createValidators } from '../../../src/core/validation/validator.ts';

const content = '{ application/json: { schema: { type: integer }, example: 7 } }';
const DOCUMENT = `openapi: 3.1.0
info: { title: Books, version: 1.0.0 }
paths:
  /books:
    get: { operationId: listBooks, responses: { '200': { description: books, content: ${content} } } }
    post: { operationId: 'add a book', responses: { '204': { description: added } } }
  /broken: { get: { operationId: broken, responses: { '204': { description: done } } } }
`;

let document: Document;
beforeAll(async () => {
  document = await documentOf(DOCUMENT);
});

const done: AnyHandler = () => ({ status: 204 });

async function complete(handlers: Readonly<Record<string, AnyHandler>>, when: WhenMissing) {
  const operations = document.operations.filter(({ id }) => id !== 'broken');
  const schemas = createSchemas(document.root);
  const codecs = await codecsOf(operations);
  const validatorOf = createValidators(schemas, { codecs });
  const mocking = { schemas, codecs, validatorOf, errorBody: PROBLEM_DETAILS };
  return completeHandlers(document, operations, handlers, when, mocking);
}

test('a handler is missing if it is undefined, unimplemented, or a member of every object', () => {
  const { operations } = document;
  const methods = Object.create({ listBooks: done });
  const members = { 'add a book': unimplemented, broken: undefined };
  const missing = withoutHandler(operations, Object.assign(methods, members));
  expect(missing.map(({ id }) => id)).toEqual(['add a book', 'broken']);
  const handlers = { listBooks: done, 'add a book': done, broken: done };
  expect(withoutHandler(operations, handlers)).toEqual([]);
  const renamed = operations.map((operation) => ({ ...operation, id: 'toString' }));
  expect(withoutHandler(renamed, handlers)).toHaveLength(operations.length);
});

test.each<[when: WhenMissing, isReported: boolean]>([
  ['refuse', true],
  ['501', true],
  ['mock', false],
])('with %s, a handler without an operation is reported: %j', async (when, isReported) => {
  const handlers = { listBooks: done, 'add a book': done, broken: done, removed: done };
  const { findings } = await complete(handlers, when);
  const message = 'the handler removed has no operation: rename or remove it';
  expect(findings).toEqual(isReported ? [{ pointer: '/paths', message }] : []);
});
