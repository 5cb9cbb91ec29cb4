import { expect, test } from '@jest/globals';
import { routesOf } from '../../src/client/routes.ts';
import { documentOf } from '../support/operations.ts';

const responses = { 204: { description: 'Done.' } };

test('each operation has a route, even if no request can reach it', async () => {
  const { operations } = await documentOf({
    '/a': { get: { operationId: 'a', responses } },
    '/a?b=c': { get: { operationId: 'unreachable', responses } },
  });
  expect(routesOf(operations)).toEqual({
    a: { method: 'GET', path: '/a', parameters: [], media: [], responses: [] },
    unreachable: { method: 'GET', path: '/a?b=c', parameters: [], media: [], responses: [] },
  });
});

test('a route has the parts that a client needs to send a request and to read the response', async () => {
  const multipart = { schema: {}, encoding: { tags: { explode: false } } };
  const event = { properties: { data: { contentMediaType: 'application/json' } } };
  const { operations } = await documentOf({
    '/things/{id}': {
      post: {
        operationId: 'change',
        parameters: [
          { name: 'id', in: 'path', required: true, schema: {} },
          { name: 'q', in: 'query', allowReserved: true, schema: {}, required: true },
          { name: 'd', in: 'query', schema: { default: 1 } },
          { name: 'n', in: 'query', schema: { default: null } },
          { name: 'f', in: 'query', content: { 'application/json': {} } },
        ],
        requestBody: {
          content: { 'multipart/form-data': multipart, 'application/json': {} },
        },
        responses: {
          200: { description: '', content: { 'text/event-stream': { itemSchema: event } } },
          206: {
            description: '',
            content: { 'application/jsonl': { itemSchema: {} }, 'application/json': {} },
          },
        },
      },
    },
  });
  const form = { style: 'form', explode: true, json: false, allowReserved: false };
  expect(routesOf(operations)).toEqual({
    change: {
      method: 'POST',
      path: '/things/{id}',
      parameters: [
        { ...form, in: 'path', name: 'id', style: 'simple', explode: false },
        { ...form, in: 'query', name: 'q', allowReserved: true, mustBeSent: true },
        { ...form, in: 'query', name: 'd', mustBeSent: true },
        { ...form, in: 'query', name: 'n' },
        {
          ...form,
          in: 'query',
          name: 'f',
          json: true,
          media: { type: 'application/json', encoding: {} },
        },
      ],
      media: [
        { type: 'multipart/form-data', encoding: { tags: { explode: false } } },
        { type: 'application/json' },
      ],
      responses: [
        { key: '200', media: [{ type: 'text/event-stream', items: { data: 'json' } }] },
        {
          key: '206',
          media: [
            { type: 'application/jsonl', items: { data: 'text' } },
            { type: 'application/json' },
          ],
        },
      ],
      int64: true,
    },
  });
});

test('a route tells whether responses may have integers of 64 bits', async () => {
  const schemas: readonly (readonly [schema: unknown, int64: true | undefined])[] = [
    [{ type: 'integer' }, undefined],
    [{ type: ['number', 'null'], minimum: 0 }, undefined],
    [{ type: 'array', items: { type: 'integer', format: 'int64' } }, true],
    [{ type: 'object', properties: { a: { anyOf: [{ maximum: 2n ** 62n }] } } }, true],
    [{ type: 'integer', format: 'int64', minimum: 0, maximum: 9 }, undefined],
    [{ type: 'object', properties: { a: { type: 'string' }, b: { type: 'null' } } }, undefined],
    [{ type: 'object' }, true],
    [{ type: 'object', additionalProperties: true }, true],
    [{}, true],
  ];
  const paths = schemas.map(([schema], index) => {
    const content = { 'application/json': { schema } };
    return [`/${index}`, { get: { responses: { 200: { description: '', content } } } }];
  });
  const { operations } = await documentOf(Object.fromEntries(paths));
  const routes = Object.values(routesOf(operations));
  expect(routes.map(({ int64 }) => int64)).toEqual(schemas.map(([, int64]) => int64));
});

test('a route has the path of servers of its own', async () => {
  const { operations } = await documentOf({
    '/a': { get: { operationId: 'a', responses, servers: [{ url: 'https://x.test/up' }] } },
    '/b': { get: { operationId: 'b', responses, servers: [{ url: 'https://x.test/' }] } },
  });
  const { a, b } = routesOf(operations);
  expect([a?.serverPath, b?.serverPath]).toEqual([{ document: '', operation: '/up' }, undefined]);
});
