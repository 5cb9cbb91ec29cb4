import { createReadStream, readFileSync } from 'node:fs';
import { PassThrough, type Readable } from 'node:stream';
import { setImmediate as immediate } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { Resources } from '../../src/core/account.ts';
import type { Call } from '../../src/core/call.ts';
import type { AnyHandler, AnyReply, Log } from '../../src/core/handlers/types.ts';
import { planOperation } from '../../src/core/operation.ts';
import { prepare, type ServiceOptions } from '../../src/core/prepare.ts';
import { recorder } from '../../src/core/record.ts';
import { HttpError } from '../../src/core/response/http-error.ts';

const text = { type: 'string', format: 'slow' };
const note = { type: 'object', required: ['text'], properties: { text } };
const json = { 'application/json': { schema: note } };
const events = { 'application/x-ndjson': { itemSchema: note } };
const live = { 'text/event-stream': { itemSchema: { type: 'object' } } };
const secured = [{ token: [] }, { key: [] }];
const bed = { name: 'bed', in: 'path', required: true, schema: { type: 'integer' } };
const responses = { 200: { description: 'ok', content: json }, 204: { description: 'done' } };
const document = {
  openapi: '3.2.0',
  info: { title: 'A', version: '1' },
  servers: [{ url: '/v1' }],
  paths: {
    '/beds/{bed}': {
      post: {
        operationId: 'add',
        security: secured,
        parameters: [bed, { name: 'q', in: 'query', schema: { type: 'integer', default: 1 } }],
        requestBody: { required: true, content: json },
        responses,
      },
    },
    '/events': {
      get: { operationId: 'watch', responses: { 200: { description: 'ok', content: events } } },
    },
    '/live': {
      get: { operationId: 'follow', responses: { 200: { description: 'ok', content: live } } },
    },
    '/file': {
      get: {
        operationId: 'download',
        responses: {
          200: { description: 'ok', content: { 'application/octet-stream': {} } },
          204: { description: 'none' },
        },
      },
    },
    '/events/sent': {
      post: {
        operationId: 'send',
        requestBody: { content: json },
        responses: { 200: { description: 'ok', content: events } },
      },
    },
    '/broken': {
      get: {
        operationId: 'broken',
        requestBody: { $ref: '#/components/requestBodies/None' },
        security: secured,
        responses,
      },
    },
  },
  components: {
    securitySchemes: {
      token: { type: 'http', scheme: 'bearer' },
      key: { type: 'apiKey', in: 'query', name: 'key' },
    },
  },
};

const reply: AnyHandler = () => ({ status: 204 });

const log: Log = { debug() {}, info() {}, warn() {}, error() {}, child: () => log };

async function operationOf(id: string, handler: AnyHandler, options: Partial<ServiceOptions> = {}) {
  const { broken: _broken, ...handlers } = {
    add: reply,
    watch: reply,
    follow: reply,
    send: reply,
    download: reply,
    [id]: handler,
  };
  const { operations, context } = await prepare(document, {
    handlers,
    accessTokens: ['ann:secret scheme=token', 'ann:secret scheme=key'],
    ...options,
  });
  const operation = operations.find((each) => each.id === id);
  if (operation === undefined) throw new Error(`no operation ${id}`);
  return { operation, context, answer: planOperation(operation, context) };
}

const resources = new Resources();
const { memory } = resources;

const HEADERS = { authorization: 'Bearer secret', 'content-type': 'application/json' };

async function call(
  [id, handler, options]: Parameters<typeof operationOf>,
  parts: Partial<Call> = {},
) {
  const { answer } = await operationOf(id, handler, options);
  const path = id === 'add' ? '/beds/5' : '/events';
  const sent: Call = { method: 'POST', path: `/v1${path}`, headers: HEADERS, ...parts };
  const record = recorder(resources)(sent);
  const answered = await answer(sent, record);
  return { answered, record, status: answered.status };
}

const body = (text: unknown) => Buffer.from(JSON.stringify({ text }));

async function textOf(answered: { readonly body: unknown }): Promise<string> {
  let text = '';
  for await (const chunk of answered.body as AsyncIterable<string>) text += chunk;
  return text;
}

afterEach(() => {
  expect(memory.bytesLeft).toBe(64 * 1024 ** 2);
});

test.each([undefined, null])('a handler must not return %j', async (value) => {
  const handler: AnyHandler = async () => JSON.parse('null') ?? value;
  const { status, record } = await call(['add', handler], { body: body('a') });
  expect(status).toBe(500);
  expect(record.failure?.cause).toMatchObject({
    message: `add answered ${value}: its handler and the hook "around" must return a reply`,
  });
});

/** Resolves when a stream is closed, also after an error. */
const closed = (stream: Readable) => new Promise((resolve) => stream.once('close', resolve));

describe('the process continues', () => {
  // Jest fails a test that leaves an error or a rejection unhandled.

  test('if the handler fails after around has answered, which is logged', async () => {
    const late = Promise.withResolvers<AnyReply>();
    const lines: unknown[] = [];
    const child = () => ({ ...log, warn: (...line: unknown[]) => void lines.push(line) });
    const around: ServiceOptions['around'] = async (_id, _request, next) => {
      void next();
      throw new HttpError(429, 'too many');
    };
    const options = { around, log: { ...log, child } };
    expect((await call(['add', () => late.promise, options], { body: body('a') })).status).toBe(
      429,
    );
    late.reject(new TypeError('late'));
    await immediate();
    const entry = { reason: 'internal server error', err: { type: 'TypeError', message: 'late' } };
    expect(lines).toMatchObject([
      [entry, 'the handler failed after the hook "around" had answered'],
    ]);
  });

  test('if the file of a reply cannot be read while around runs', async () => {
    const around: ServiceOptions['around'] = async (_id, _request, next) => {
      const fileReply = await next();
      await closed(fileReply.body as Readable);
      return fileReply;
    };
    const file = () => createReadStream('/does-not-exist');
    const download: AnyHandler = () => ({ status: 200, body: file() });
    expect((await call(['download', download, { around }], { method: 'GET' })).status).toBe(500);
    await immediate();
  });

  test.each([
    ['HEAD', 'HEAD', {}],
    ['an undeclared status', 'GET', { status: 299 }],
    ['an undeclared media type', 'GET', { contentType: 'text/css' }],
    ['an invalid header', 'GET', { headers: { 'X-A': 'a\nb' } }],
    ['an undeclared body', 'GET', { status: 204 }],
  ])('and answers 500 if a file cannot be read: %s', async (_title, method, parts) => {
    const file = createReadStream('/does-not-exist');
    const whenClosed = closed(file);
    const download: AnyHandler = () => ({ status: 200, body: file, ...parts });
    const { status, answered } = await call(['download', download], { method });
    expect([status, answered.body === undefined]).toEqual([500, method === 'HEAD']);
    await whenClosed;
    await immediate();
  });
});

describe('around', () => {
  const replacing = (replace: (file: Readable) => AnyReply) => {
    const file = createReadStream(import.meta.filename);
    const around: ServiceOptions['around'] = async (_id, _request, next) => {
      await next();
      return replace(file);
    };
    return { file, options: { around }, download: () => ({ status: 200, body: file }) };
  };

  test('closes a file whose reply it replaces', async () => {
    const { file, options, download } = replacing(() => ({ status: 204 }));
    expect((await call(['download', download, options], { method: 'GET' })).status).toBe(204);
    expect(file.destroyed).toBe(true);
  });

  test('may send a stream that reads the file', async () => {
    const { file, options, download } = replacing((source) => ({
      status: 200,
      body: source.pipe(new PassThrough()),
    }));
    const { answered } = await call(['download', download, options], { method: 'GET' });
    expect(await textOf(answered)).toBe(readFileSync(import.meta.filename, 'utf8'));
    expect(file.destroyed).toBe(true);
  });
});
