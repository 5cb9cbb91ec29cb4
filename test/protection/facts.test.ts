import { expect, test } from '@jest/globals';
import { createService, fetchHandler } from 'spec-first-server';
import type { Schema } from './schemas.ts';
import { documentOf, serve } from './serve.ts';

const PRICE = { type: 'number', multipleOf: 0.01, default: 19.99 };
const ANCHOR = { $anchor: 'text', type: 'null' };
const object = (properties: Readonly<Record<string, Schema>>): Schema => ({
  type: 'object',
  properties,
});

type Case = readonly [
  schema: Schema,
  value: unknown,
  request: string | number,
  reply: string | number,
];

const facts: Readonly<Record<string, Case>> = {
  'a reply with a member that only `dependentRequired` names': [
    { ...Object(object({ a: {} })), dependentRequired: { a: ['b'] } },
    { a: 1, b: 2, c: 3 },
    '{"a":1,"b":2,"c":3}',
    '{"a":1,"b":2}',
  ],
  '`$anchor` in an enum': [
    {
      $id: 'https://example.com/schema',
      anyOf: [{ $ref: '#/$defs/enum' }, { $ref: '#text' }],
      $defs: {
        enum: { enum: [ANCHOR] },
        text: { $anchor: 'text', type: 'string' },
        value: { const: ANCHOR },
      },
    },
    'text',
    '"text"',
    '"text"',
  ],
  'a default beyond 2^53 in another part than the type': [
    object({ id: { allOf: [{ type: 'integer' }, { default: 2n ** 53n + 2n }] } }),
    {},
    '{"id":9007199254740994}',
    '{}',
  ],
  'a decimal with bounds beyond 2^53': [
    { type: ['integer', 'number'], maximum: 2n ** 53n + 2n },
    0.5,
    '0.5',
    '0.5',
  ],
  'a default that is a multiple of 0.01': [object({ price: PRICE }), {}, '{"price":19.99}', '{}'],
  'an empty array with `contains` beside `prefixItems`': [
    { type: 'array', prefixItems: [{ type: 'integer' }], contains: { type: 'integer' } },
    [],
    400,
    500,
  ],
  'a reply with `unevaluatedProperties` that refers to `false`': [
    {
      $defs: { none: false },
      properties: { a: {} },
      unevaluatedProperties: { $ref: '#/components/schemas/Root/$defs/none' },
    },
    { a: 1, b: 2 },
    400,
    '{"a":1}',
  ],
};

async function expectAnswers([schema, value, inRequest, inReply]: Case) {
  const send = await serve(documentOf({ Root: schema }));
  const { request, reply } = await send(value);
  const answers = [request.body ?? request.status, reply.body ?? reply.status];
  expect(answers).toEqual([inRequest, inReply]);
}

test.each(Object.entries(facts))('a service serves %s', (_title, row) => expectAnswers(row));

test('`maxLength` of a binary body counts behind a reference', async () => {
  const schema = { $ref: '#/components/schemas/Root' };
  const requestBody = { required: true, content: { 'application/octet-stream': { schema } } };
  const responses = { 204: { description: 'stored' } };
  const request = new Request('http://a/', {
    method: 'POST',
    headers: { 'Content-Type': 'application/octet-stream' },
    body: 'abcd',
  });
  const answer = await mockOf({ post: { operationId: 'store', requestBody, responses } }, request);
  expect(answer.status).toBe(413);
});

/** Answers a request from a path without handlers. */
async function mockOf(path: object, request: Request): Promise<Response> {
  const file = { type: 'string', format: 'binary', maxLength: 3 };
  const document = { ...documentOf({ Root: file }), paths: { '/': path } };
  const options = { handlers: {}, missing: 'mock' } as const;
  return fetchHandler(await createService(document, options))(request);
}
