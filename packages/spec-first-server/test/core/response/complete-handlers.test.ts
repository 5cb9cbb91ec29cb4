import { beforeAll, describe, expect, test } from '@jest/globals';
import { createSchemas, type Document } from 'openapi-document';
import { codecsOf } from 'test-support/codecs';
import { documentOf } from 'test-support/document-of';
import type { AnyHandler, AnyRequest } from '../../../src/core/handlers/types.ts';
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
const request: AnyRequest = {
  id: 'r1',
  log: { debug() {}, info() {}, warn() {}, error() {} },
  headers: {},
  caller: undefined,
  callers: undefined,
  accepts: (...types) => types[0],
  signal: new AbortController().signal,
  path: {},
  query: {},
  header: {},
  cookie: {},
  contentType: undefined,
  body: undefined,
};

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

test('missing handlers are reported with the command that adds them', async () => {
  const { findings } = await complete({}, 'refuse');
  expect(findings).toEqual([
    {
      pointer: '/paths/~1books/get',
      message: 'operation listBooks has no handler: run npm run stub -- listBooks',
    },
    {
      pointer: '/paths/~1books/post',
      message: 'operation add a book has no handler: run npm run stub -- "add a book"',
    },
  ]);
  expect((await complete({ listBooks: done, 'add a book': done }, 'refuse')).findings).toEqual([]);
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

describe('an operation without a handler', () => {
  test('answers 501', async () => {
    const { handlers, findings, samplesFor } = await complete({ 'add a book': done }, '501');
    expect(findings).toEqual([]);
    expect(() => handlers.listBooks?.(request)).toThrow(
      expect.objectContaining({ status: 501, message: 'listBooks has no handler yet' }),
    );
    expect(handlers['add a book']?.(request)).toEqual({ status: 204 });
    expect(document.operations.map(samplesFor)).toEqual([undefined, undefined, undefined]);
  });

  test('answers with a mock, whose error bodies can be generated', async () => {
    const { handlers, samplesFor } = await complete({ 'add a book': done }, 'mock');
    expect(await handlers.listBooks?.(request)).toMatchObject({ status: 200, body: 7 });
    expect(handlers['add a book']?.(request)).toEqual({ status: 204 });
    const [list, add] = document.operations;
    const [media] = list?.responses[0]?.media ?? [];
    if (list === undefined || add === undefined || media === undefined) throw new Error('no media');
    expect(Array.from(samplesFor(list)?.(media) ?? [])).toContainEqual(expect.any(Number));
    expect(samplesFor(add)).toBeUndefined();
  });
});
