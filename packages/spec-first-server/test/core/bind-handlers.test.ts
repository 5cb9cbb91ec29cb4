import { beforeEach, expect, test } from '@jest/globals';
import { createSchemas, type Document } from 'openapi-document';
import { codecsOf } from 'test-support/codecs';
import { documentOf } from 'test-support/document-of';
import { bindHandlers, unimplemented, type WhenMissing } from '../../src/core/bind-handlers.ts';
import type { AnyHandler } from '../../src/core/handlers/types.ts';
import { PROBLEM_DETAILS } from '../../src/core/response/problem.ts';
import { createValidators } from '../../src/core/validation/validator.ts';

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
beforeEach(async () => {
  document = await documentOf(DOCUMENT);
});

const done: AnyHandler = () => ({ status: 204 });

async function bind(handlers: Readonly<Record<string, AnyHandler | undefined>>, when: WhenMissing) {
  const operations = document.operations.filter(({ id }) => id !== 'broken');
  const schemas = createSchemas(document.root);
  const codecs = await codecsOf(operations);
  const validatorOf = createValidators(schemas, { codecs });
  const mocking = { schemas, codecs, validatorOf, errorBody: PROBLEM_DETAILS };
  const broken = new Map([['broken', 'a reason']]);
  return bindHandlers(document, broken, handlers, when, mocking);
}

test('a handler is missing if it is undefined, unimplemented, or a member of every object', async () => {
  const handledIn = async (handlers: Readonly<Record<string, AnyHandler | undefined>>) => {
    const { bindings } = await bind(handlers, '501');
    return [...bindings].flatMap(([id, { isHandled }]) => (isHandled ? id : []));
  };
  const methods = Object.create({ listBooks: done });
  const members = { 'add a book': unimplemented, broken: undefined };
  expect(await handledIn(Object.assign(methods, members))).toEqual(['listBooks']);
  const handlers = { listBooks: done, 'add a book': done, broken: done };
  expect(await handledIn(handlers)).toEqual(Object.keys(handlers));
  document = await documentOf(DOCUMENT.replaceAll('listBooks', 'toString'));
  expect(await handledIn({})).toEqual([]);
});

test.each<[when: WhenMissing, isReported: boolean]>([
  ['refuse', true],
  ['501', true],
  ['mock', false],
])('with %s, a handler without an operation is reported: %j', async (when, isReported) => {
  const handlers = { listBooks: done, 'add a book': done, broken: done, removed: done };
  const { findings } = await bind(handlers, when);
  const message = 'the handler removed has no operation: rename or remove it';
  expect(findings).toEqual(isReported ? [{ pointer: '/paths', message }] : []);
});
