import { beforeAll, describe, expect, test } from '@jest/globals';
import { createSchemas, type Operation } from 'openapi-document';
import { codecsOf } from 'test-support/codecs';
import { documentOf } from 'test-support/document-of';
import type { AnyReply } from '../../../src/core/handlers/types.ts';
import type { CheckedReply } from '../../../src/core/response/answer.ts';
import { InvalidReply } from '../../../src/core/response/http-error.ts';
import { replyWriter } from '../../../src/core/response/reply.ts';
import {
  createValidators,
  type OperationValidator,
} from '../../../src/core/validation/validator.ts';

async function operationsOf(text: string) {
  const { operations, root } = await documentOf(text);
  const validatorOf = createValidators(createSchemas(root), { codecs: await codecsOf(operations) });
  return Object.fromEntries(
    operations.map((operation) => [operation.id, [operation, validatorOf(operation)] as const]),
  );
}

const DOCUMENT = `openapi: 3.2.0
info: { title: Replies, version: 1.0.0 }
paths:
  /a:
    get:
      operationId: a
      responses:
        '200':
          description: JSON
          content: { application/json: { schema: { type: object, properties: { id: { type: integer } } } } }
        '201':
          description: headers
          headers:
            Location: { required: true, schema: { type: string } }
            X-Count: { schema: { type: integer, maximum: 9 } }
            X-Tags: { schema: { type: array, items: { type: string } } }
            X-At: { schema: { type: string, format: date-time } }
            X-Point: { schema: { type: object, properties: { x: { type: integer } } } }
            X-Data: { content: { application/json: { schema: { type: object } } } }
        '202':
          description: several types
          content:
            application/json: { schema: { type: integer } }
            text/plain: { schema: { type: string, maxLength: 3 } }
            text/html: {}
            application/octet-stream: {}
            image/*: {}
            application/*: { schema: { type: integer } }
        '203': { description: one text, content: { text/csv: { schema: { type: integer } } } }
        '206': { description: items, content: { application/jsonl: { itemSchema: { type: [integer, string] } } } }
        '226': { description: any items, content: { application/jsonl: { itemSchema: {} } } }
        '207': { description: a range, content: { 'image/*': {} } }
        '4XX': { description: failure, content: { application/json: {} } }
  /any: { get: { operationId: any } }
  /default: { get: { operationId: default, responses: { default: { description: any, content: { application/json: {} } } } } }
`;

let operations: Awaited<ReturnType<typeof operationsOf>>;
beforeAll(async () => {
  operations = await operationsOf(DOCUMENT);
});

function operationOf(id: string): readonly [Operation, OperationValidator] {
  const [operation, validator] = operations[id] ?? [];
  if (operation === undefined || validator === undefined) throw new Error(`no operation ${id}`);
  return [operation, validator];
}

const check = (reply: AnyReply, id = 'a'): CheckedReply => replyWriter(...operationOf(id))(reply);

describe('a reply that the document declares', () => {
  test.each([204, 205, 304])('of status %i has no body, even if it is declared', (status) => {
    expect(check({ status }, 'default')).toEqual({ status, headers: undefined });
    expect(() => check({ status, body: 1 }, 'default')).toThrow(
      'the document declares no body, but the reply has one',
    );
  });

  test.each([200, 299, 302, 404, 599])('may have the status %i if none is declared', (status) => {
    expect(check({ status }, 'any')).toEqual({ status, headers: undefined });
    expect(() => check({ status, body: 1 }, 'any')).toThrow(
      'the document declares no body, but the reply has one',
    );
  });

  test('may have any header that can be sent, such as __proto__', () => {
    const headers = JSON.parse('{"__proto__":"a"}');
    expect(Object.entries(check({ status: 200, headers }, 'any').headers ?? {})).toEqual([
      ['__proto__', 'a'],
    ]);
  });

  test('is checked without its schemas if it is a mock that cannot be valid', () => {
    const reply = { status: 200, body: { id: 'x', more: 1 }, unchecked: true as const };
    expect(check(reply).body).toBe('{"id":"x","more":1}');
    expect(check({ status: 201, unchecked: true }).status).toBe(201);
    expect(() => check({ ...reply, status: 203 })).toThrow(InvalidReply);
  });
});

test.each([undefined, () => 1, Symbol('a')])('an item %p cannot be sent', (item) => {
  const { items } = check({ status: 226, body: (async function* () {})() });
  expect(() => Object(items).write(item, 3)).toThrow(/^item 3 of the body: must/);
});

describe('a reply that the document does not declare is rejected', () => {
  const STATUS = 'the status must be an integer from 200 to 599';
  const SEVERAL = 'contentType must be one of the declared media types';
  test.each<[title: string, reply: AnyReply, reason: string]>([
    ['a status below 200', { status: 199 }, STATUS],
    ['a status above 599', { status: 600 }, STATUS],
    ['a fraction as its status', { status: 200.5 }, STATUS],
    ['an undeclared status', { status: 500 }, 'the document does not declare this status'],
    ['no body', { status: 200 }, 'a body of application/json is required, but the reply has none'],
    ['a wrong member', { status: 200, body: { id: 'x' } }, '/body/id must be integer'],
    [
      'an undeclared media type',
      { status: 200, contentType: 'text/plain', body: 'a' },
      'the document does not declare text/plain',
    ],
    ['no media type, if there are several', { status: 202, body: 1 }, SEVERAL],
    [
      'a range as its media type',
      { status: 207, body: 'a' },
      'contentType must be a media type in the range image/*',
    ],
    [
      'a media type that is no header',
      { status: 207, contentType: 'image/a\nb', body: 'a' },
      'contentType is not a valid header',
    ],
    [
      'a text that is too long',
      { status: 202, contentType: 'text/plain', body: 'abcd' },
      '/body must NOT have more than 3 characters',
    ],
    [
      'bytes that a schema cannot check',
      { status: 202, contentType: 'text/plain', body: Buffer.from('a') },
      'a body of text/plain must be a string, so that it can be checked against the schema',
    ],
    [
      'an object instead of bytes',
      { status: 202, contentType: 'application/octet-stream', body: {} },
      'a body of application/octet-stream must be a string, a Uint8Array, an ArrayBuffer, a Blob, a Readable or a ReadableStream',
    ],
    [
      'a list instead of an AsyncIterable',
      { status: 206, body: [1] },
      'a body of application/jsonl must be an AsyncIterable of its items',
    ],
    ['no required header', { status: 201 }, '/headers/location is required'],
    [
      'a required header that is null',
      { status: 201, headers: { Location: null } },
      '/headers/location is required',
    ],
    [
      'a text that its charset cannot represent',
      { status: 202, contentType: 'text/plain; charset=ISO-8859-1', body: 'é' },
      'a string is written as UTF-8, not iso-8859-1: use bytes, or charset=utf-8 in contentType',
    ],
    [
      'a text of a charset in which ASCII has other bytes',
      { status: 202, contentType: 'text/plain; charset="utf-16le"', body: 'a' },
      'a string is written as UTF-8, not utf-16le: use bytes, or charset=utf-8 in contentType',
    ],
    [
      'JSON of another charset',
      { status: 404, contentType: 'application/json; charset=latin1', body: 'é' },
      'a string is written as UTF-8, not latin1: use bytes, or charset=utf-8 in contentType',
    ],
    [
      'a wrong header',
      { status: 201, headers: { Location: '/a', 'x-count': 10 } },
      '/headers/x-count must be <= 9',
    ],
    [
      'a line break in a header',
      { status: 201, headers: { Location: '/a\r\nX-Next: b' } },
      'the header Location contains an invalid character',
    ],
    [
      'a line break in one of two cookies',
      { status: 201, headers: { Location: '/a', 'set-cookie': ['a=1', 'b=\n'] } },
      'the header set-cookie contains an invalid character',
    ],
    [
      'a space in the name of a header',
      { status: 201, headers: { Location: '/a', 'X Next': 'b' } },
      'the header X Next contains an invalid character',
    ],
  ])('%s', (_title, reply, reason) => {
    expect(() => check(reply)).toThrow(new InvalidReply(`a answered ${reply.status}: ${reason}`));
  });

  test.each([
    'Connection',
    'content-length',
    'Content-Type',
    'Keep-Alive',
    'Trailer',
    'transfer-encoding',
    'UPGRADE',
  ])('the header %s', (name) => {
    const headers = { [name]: '1' };
    expect(() => check({ status: 200, headers }, 'any')).toThrow(
      `the header ${name} is set by the server only`,
    );
  });

  test.each<[title: string, headers: unknown]>([
    ['Headers', new Headers({ 'X-A': '1' })],
    ['a Map', new Map([['X-A', '1']])],
    ['a list', [['X-A', '1']]],
    ['a string', 'X-A: 1'],
  ])('headers that are %s', (_title, headers) => {
    const reply: AnyReply = Object({ status: 200, headers });
    expect(() => check(reply, 'any')).toThrow(
      new InvalidReply(
        'any answered 200: headers must be an object by name, such as Object.fromEntries(headers)',
      ),
    );
  });

  test.each([{}, null, 5])('the contentType %j', (contentType) => {
    const reply: AnyReply = Object({ status: 202, contentType, body: 1 });
    expect(() => check(reply)).toThrow(
      new InvalidReply('a answered 202: contentType must be a string'),
    );
  });

  test('with the error that the value of a header throws', () => {
    const error = new TypeError('a fault of the handler');
    const value = {
      toString() {
        throw error;
      },
    };
    expect(() => check({ status: 200, headers: { 'X-A': value } }, 'any')).toThrow(error);
  });
});

/** Returns a function that checks a JSON body of a schema, and returns the body that is sent. */
async function bodiesOf(schema: string): Promise<(value: unknown) => unknown> {
  const { get } = await operationsOf(`openapi: 3.1.0
info: { title: A, version: 1.0.0 }
paths:
  /a:
    get:
      operationId: get
      responses: { '200': { description: it, content: { application/json: { schema: ${schema} } } } }
`);
  if (get === undefined) throw new Error('the document has no operation');
  return (body) => JSON.parse(String(replyWriter(...get)({ status: 200, body }).body));
}

const PLANT = 'type: object, required: [id], properties: { id: { type: integer } }';

describe('a reply with values that have another form in JSON', () => {
  const TIMES =
    '{ type: object, properties: { at: { type: string, format: date-time }, day: { type: string, format: date }, link: { type: string, format: uri }, money: { type: integer } } }';

  test('is validated and written in that form', async () => {
    const reply = await bodiesOf(TIMES);
    const at = new Date('2024-02-29T12:00:00Z');
    const link = new URL('https://example.com/a');
    expect(reply({ at, day: at, link, money: { toJSON: () => 5 } })).toEqual({
      at: '2024-02-29T12:00:00.000Z',
      day: '2024-02-29',
      link: 'https://example.com/a',
      money: 5,
    });
  });

  test.each<[title: string, schema: string, value: unknown]>([
    ['a symbol', '{ type: object, required: [a] }', { a: Symbol('a') }],
    ['a function', '{ type: object, required: [a], properties: { a: {} } }', { a: () => 1 }],
    ['bytes without a declared member', `{ ${PLANT} }`, Buffer.from('a')],
    ['a function as the body', '{}', () => 1],
    ['a symbol as the body', '{}', Symbol('a')],
    ['an object whose toJSON returns undefined', '{}', { toJSON: () => undefined }],
  ])('is rejected if JSON does not write it: %s', async (_title, schema, value) => {
    const reply = await bodiesOf(schema);
    expect(() => reply(value)).toThrow(InvalidReply);
  });

  test('is rejected if that form does not match the schema', async () => {
    const reply = await bodiesOf(TIMES);
    expect(() => reply({ at: new Date(Number.NaN) })).toThrow(InvalidReply);
    expect(() => reply({ money: { toJSON: () => 'five' } })).toThrow(InvalidReply);
  });

  test('matches the alternative of that form', async () => {
    const reply = await bodiesOf(
      '{ anyOf: [{ type: object, required: [at], properties: { at: { type: string, format: date-time } } }, { type: object, properties: { b: {} } }] }',
    );
    const answer = reply({ at: new Date(0), c: undefined, d: 1 });
    expect(answer).toEqual({ at: '1970-01-01T00:00:00.000Z' });
  });
});
