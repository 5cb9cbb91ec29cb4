import { beforeAll, describe, expect, test } from '@jest/globals';
import { withFiles } from 'test-support/files';
import type { AnyHandler, AnyReply } from '../src/core/handlers/types.ts';
import { createService, HttpError, type Service } from '../src/index.ts';

const DOCUMENT = `openapi: 3.2.0
info: { title: Replies, version: 1.0.0 }
paths:
  /a:
    get:
      operationId: a
      responses:
        '200':
          description: JSON
          content: { application/json: { schema: { type: object, properties: { id: { type: integer }, at: { type: string, format: date-time }, link: { type: string, format: uri } } } } }
        '201':
          description: headers
          headers:
            Location: { required: true, schema: { type: string } }
            X-Count: { schema: { type: integer, maximum: 9 } }
            Vary: { required: true }
            X-Frame-Options: { required: true }
            X-Request-Id: { required: true }
            X-Tags: { schema: { type: [array, string], items: { type: string } } }
        '202':
          description: several types
          content:
            application/json: { schema: { type: integer } }
            text/plain: { schema: { type: string, maxLength: 3 } }
            application/octet-stream: {}
            image/*: {}
        '203': { description: any JSON, content: { application/json: {} } }
        '206': { description: items, headers: { Cache-Control: { required: true } }, content: { application/jsonl: { itemSchema: {} } } }
        '208': { description: a map, content: { application/json: { schema: { additionalProperties: { type: integer } } } } }
        '207': { description: a range, content: { 'image/*': {} } }
        '4XX': { description: failure, content: { application/json: {} } }
  /any: { get: { operationId: any } }
  /none: { get: { operationId: none, responses: { '204': { description: none } } } }
`;

let service: Service;
let next: AnyReply | (() => never) = { status: 200 };
const handler: AnyHandler = () => (typeof next === 'function' ? next() : next);
beforeAll(async () => {
  const options = {
    handlers: { a: handler, any: handler, none: handler },
    headers: () => ({ Vary: 'Origin' }),
  };
  service = await withFiles({ 'openapi.yaml': DOCUMENT }, (folder) =>
    createService(`${folder}/openapi.yaml`, options),
  );
});

/** Returns the answer to a reply, and its headers besides those of all answers. */
async function answerTo(reply: typeof next, { path = '/a', method = 'GET' } = {}) {
  next = reply;
  const call = { method, path, headers: {} };
  const record = service.begin(call);
  const { status, headers, body } = await service.handle(call, record);
  const lines = headers.flatMap((name, at) => (at % 2 === 0 ? `${name}: ${headers[at + 1]}` : []));
  const common = new Set(record.headers.map((name, at) => `${name}: ${record.headers[at + 1]}`));
  const added = lines.filter((line) => !common.has(line));
  return { status, lines, added, body, record };
}

async function* items(...list: unknown[]) {
  yield* list;
}

const at = new Date('2024-02-29T12:00:00Z');
const link = new URL('https://a.example/b');
const JSON_TYPE = 'Content-Type: application/json';

describe('a reply', () => {
  test.each<[title: string, reply: AnyReply, added: string[], body?: unknown]>([
    [
      'text, counted in bytes',
      { status: 202, contentType: 'text/plain', body: 'für' },
      ['Content-Type: text/plain; charset=utf-8', 'Content-Length: 4'],
      'für',
    ],
    [
      'an empty text',
      { status: 202, contentType: 'text/plain', body: '' },
      ['Content-Type: text/plain; charset=utf-8', 'Content-Length: 0'],
      '',
    ],
    [
      'bytes',
      { status: 202, contentType: 'application/octet-stream', body: Buffer.from([0, 1, 2]) },
      ['Content-Type: application/octet-stream', 'Content-Length: 3'],
      Buffer.from([0, 1, 2]),
    ],
    [
      'objects that JSON writes as texts',
      { status: 200, body: { at, link, id: { toJSON: () => 5 } } },
      [JSON_TYPE, 'Content-Length: 69'],
      '{"at":"2024-02-29T12:00:00.000Z","link":"https://a.example/b","id":5}',
    ],
    [
      'outer spaces in declared headers, which are not sent',
      Object({ status: 201, headers: { Location: '/a ', 'X-Tags': [' b', 'c'] } }),
      ['Location: /a', 'X-Tags: b,c', 'Content-Length: 0'],
      undefined,
    ],
    [
      'an ASCII text of another charset',
      { status: 404, contentType: 'application/json; charset=latin1', body: 'e' },
      ['Content-Type: application/json; charset=latin1', 'Content-Length: 3'],
      '"e"',
    ],
  ])('may have %s', async (_title, reply, added, body) => {
    expect(await answerTo(reply)).toMatchObject({ status: reply.status, added, body });
  });

  test.each<[reply: AnyReply, added: string[]]>([
    [{ status: 200 }, ['Content-Length: 0']],
    [{ status: 205 }, ['Content-Length: 0']],
    [{ status: 204 }, []],
    [{ status: 304, headers: { ETag: '"1"', 'x-a': null } }, ['ETag: "1"']],
    [
      { status: 599, headers: JSON.parse('{"__proto__":"a"}') },
      ['__proto__: a', 'Content-Length: 0'],
    ],
    [
      { status: 204, headers: { 'X-Left': 3, 'Set-Cookie': ['a=1', 'b=2'] } },
      ['X-Left: 3', 'Set-Cookie: a=1', 'Set-Cookie: b=2'],
    ],
  ])('without a body adds headers: %j adds %j', async (reply, added) => {
    const answer = await answerTo(reply, { path: '/any' });
    expect(answer).toMatchObject({ status: reply.status, added, body: undefined });
    const { status } = await answerTo({ ...reply, body: 1 }, { path: '/any' });
    expect(status).toBe(500);
  });

  test('replaces headers of all answers, but adds to Vary', async () => {
    const headers = { vary: 'Accept', 'x-frame-options': 'DENY' };
    const { lines } = await answerTo({ status: 204, headers }, { path: '/any' });
    expect(lines.filter((line) => /^(vary|x-frame-options):/i.test(line)).sort()).toEqual([
      'Vary: Origin',
      'vary: Accept',
      'x-frame-options: DENY',
    ]);
  });

  test('to HEAD has the headers of GET, and no body', async () => {
    const get = await answerTo({ status: 200, body: { id: 1 } });
    expect(get.body).toBe('{"id":1}');
    const head = await answerTo({ status: 200, body: { id: 1 } }, { method: 'HEAD' });
    expect(head).toMatchObject({ status: 200, added: get.added, body: undefined });
  });
});

const STATUS = 'the status must be an integer from 200 to 599';
const text = (contentType: string, body: unknown) => ({ status: 202, contentType, body });
const UTF_8 = 'a string is written as UTF-8, not';
const withHeaders = (headers: unknown): AnyReply =>
  Object({ status: 201, headers: { Location: '/a', ...Object(headers) } });
const OBJECT = 'headers must be an object by name, such as Object.fromEntries(headers)';

describe('a 500 is the answer to a reply with', () => {
  test.each<[title: string, reply: unknown, reason: string]>([
    ['a status below 200', { status: 199 }, STATUS],
    ['a status above 599', { status: 600 }, STATUS],
    ['a fraction as its status', { status: 200.5 }, STATUS],
    ['an undeclared status', { status: 500 }, 'the document does not declare this status'],
    ['no body', { status: 200 }, 'a body of application/json is required, but the reply has none'],
    ['a wrong member', { status: 200, body: { id: 'x' } }, '/body/id must be integer'],
    ['a wrong member of a map', { status: 208, body: { secret: 'x' } }, '/body/* must be integer'],
    ['an invalid date', { status: 200, body: { at: new Date(NaN) } }, '/body/at must'],
    ['a value without JSON', { status: 203, body: () => 1 }, 'a JSON body must not be undefined'],
    [
      'a toJSON without a result',
      { status: 203, body: { toJSON: () => undefined } },
      'a JSON body must not',
    ],
    ['an undeclared media type', text('text/css', 'a'), 'the document does not declare text/css'],
    [
      'no media type, if there are several',
      { status: 202, body: 1 },
      'contentType must be one of the declared media types',
    ],
    [
      'an object as its media type',
      { ...text('', 1), contentType: {} },
      'contentType must be a string',
    ],
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
    ['a long text', text('text/plain', 'abcd'), '/body must NOT have more than 3 characters'],
    [
      'bytes that a schema cannot check',
      text('text/plain', Buffer.from('a')),
      'a body of text/plain must be a string, so that it can be checked against the schema',
    ],
    [
      'an object instead of bytes',
      text('application/octet-stream', {}),
      'a body of application/octet-stream must be a string, a Uint8Array, an ArrayBuffer, a Blob, a Readable or a ReadableStream',
    ],
    [
      'a list instead of items',
      { status: 206, body: [1] },
      'a body of application/jsonl must be an AsyncIterable of its items',
    ],
    ['no required header', { status: 201 }, '/headers/location is required'],
    ['a required header that is null', withHeaders({ Location: null }), '/headers/location is req'],
    ['a wrong header', withHeaders({ 'x-count': 10 }), '/headers/x-count must be <= 9'],
    [
      'a comma in an item',
      withHeaders({ 'X-Tags': ['a', 'b,c'] }),
      'x-tags cannot be sent: an item',
    ],
    ['an undeclared object', withHeaders({ 'X-A': {} }), 'the header X-A must be a string'],
    ['a character of another charset', text('text/plain; charset=ISO-8859-1', 'é'), UTF_8],
    ['a charset with other bytes', text('text/plain; charset="utf-16le"', 'a'), UTF_8],
    ['a line break in a header', withHeaders({ 'X-A': '/a\r\nX: b' }), 'the header X-A contains'],
    [
      'a line break in a cookie',
      withHeaders({ 'set-cookie': ['a=1', '\n'] }),
      'set-cookie contains',
    ],
    ['a character in a header', withHeaders({ 'X-A': 'Ā' }), 'the header X-A contains'],
    ['a space in a name', withHeaders({ 'X A': 'b' }), 'the header X A contains'],
    ['no name of a header', withHeaders({ '': 'b' }), 'the header  contains'],
    ['Trailer', withHeaders({ Trailer: '1' }), 'the header Trailer is set by the server only'],
    ['UPGRADE', withHeaders({ UPGRADE: '1' }), 'the header UPGRADE is set by the server only'],
    ['Headers', { status: 201, headers: new Headers({ Location: '/a' }) }, OBJECT],
    ['a Map of headers', { status: 201, headers: new Map([['Location', '/a']]) }, OBJECT],
    ['a text of headers', { status: 201, headers: 'Location: /a' }, OBJECT],
  ])('%s', async (_title, reply, reason) => {
    const { status, record } = await answerTo(Object(reply));
    expect(status).toBe(500);
    expect(record.failure?.cause).toMatchObject({
      name: 'InvalidReply',
      message: expect.stringContaining(reason),
    });
  });

  test.each([undefined, () => 1, Symbol('a')])('the item %p', async (item) => {
    const { status, record } = await answerTo({ status: 206, body: items(item) });
    expect(status).toBe(500);
    expect(record.failure?.cause).toMatchObject({
      message: expect.stringMatching(/^item 0 of the body: must/),
    });
  });

  test('a header whose value throws', async () => {
    const cause = new TypeError('a fault of the handler');
    const value = {
      toString() {
        throw cause;
      },
    };
    const { status, record } = await answerTo(withHeaders({ 'X-A': value }));
    expect([status, record.failure?.cause]).toEqual([500, cause]);
  });
});

describe('an HttpError', () => {
  const thrown = (make: () => HttpError) => () => {
    throw make();
  };

  test('has its type, and a pointer to each of its first 100 violations', async () => {
    const path = '/body/a~1b/100 %#ä\ud800';
    const errors = Array(101).fill({ path, message: 'must be integer', keyword: 'type' });
    const type = '/problems/too-many';
    const options = { type, errors };
    const error = thrown(() => new HttpError(410, 'too many', options));
    const { body } = await answerTo(error, { path: '/none' });
    const pointer = '#/body/a~1b/100%20%25%23%C3%A4%EF%BF%BD';
    expect(JSON.parse(String(body))).toEqual({
      type,
      title: 'Gone',
      status: 410,
      detail: 'too many',
      errors: Array(100).fill({ detail: 'must be integer', pointer }),
    });
  });

  test('has the title "Error" if its status has no name', async () => {
    const { body } = await answerTo(
      thrown(() => new HttpError(599, 'a')),
      { path: '/none' },
    );
    expect(JSON.parse(String(body))).toEqual({ title: 'Error', status: 599, detail: 'a' });
  });

  test.each<Record<string, string | number>>([{ 'X-Next': 'a\nb' }, { 'X Next': 1 }])(
    'cannot have the headers %j',
    (headers) => {
      expect(() => new HttpError(400, 'a', { headers })).toThrow(
        new TypeError(`the header ${Object.keys(headers)} contains an invalid character`),
      );
    },
  );
});
