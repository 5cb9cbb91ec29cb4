import { createReadStream, readFileSync } from 'node:fs';
import { PassThrough, type Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setImmediate as immediate } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { Call } from '../../src/core/call.ts';
import type { AnyHandler, AnyReply, Log } from '../../src/core/handlers/types.ts';
import { planOperation } from '../../src/core/operation.ts';
import { prepare, type ServiceOptions } from '../../src/core/prepare.ts';
import { recorder } from '../../src/core/record.ts';
import { HttpError } from '../../src/core/response/http-error.ts';
import { Resources } from '../../src/http/resources.ts';

const document = {
  openapi: '3.1.0',
  info: { title: 'A', version: '1' },
  paths: {
    '/file': {
      get: {
        operationId: 'download',
        responses: {
          200: { description: 'ok', content: { 'application/octet-stream': {} } },
          204: { description: 'none' },
        },
      },
    },
  },
};

const log: Log = { debug() {}, info() {}, warn() {}, error() {}, child: () => log };
const resources = new Resources();
const { memory } = resources;

/** Calls the operation without an adapter, so a stream is not read. */
async function call(
  download: AnyHandler,
  {
    method = 'GET',
    accept,
    ...options
  }: Partial<ServiceOptions> & { method?: string; accept?: string } = {},
) {
  const { operations, context } = await prepare(document, { handlers: { download }, ...options });
  const [operation] = operations;
  if (operation === undefined) throw new Error('the document has no operation');
  const sent: Call = { method, path: '/file', headers: { accept } };
  const record = recorder(resources)(sent);
  const answered = await planOperation(operation, context)(sent, record);
  return { answered, record, status: answered.status };
}

test.each([
  ['application/json; charset=utf-8', ['application/json'], 'application/json'],
  [
    'application/json;odata=verbose, text/*;q=0.1',
    ['text/plain', 'application/json'],
    'application/json',
  ],
  ['text/html;Q=0.1, text/plain', ['text/html', 'text/plain'], 'text/plain'],
  ['text/html; level="1,2"; q=0.1, text/plain', ['text/html', 'text/plain'], 'text/plain'],
  [
    'text/html; version=2',
    ['text/html; version=1', 'text/html; version=2'],
    'text/html; version=2',
  ],
  ['text/plain', ['application/json'], undefined],
])('the client that accepts %j prefers, of %j, %j', async (accept, types, preferred) => {
  let chosen: string | undefined;
  await call(
    ({ accepts }) => {
      chosen = accepts(...types);
      return { status: 204 };
    },
    { accept },
  );
  expect(chosen).toBe(preferred);
});

afterEach(() => {
  expect(memory.bytesLeft).toBe(64 * 1024 ** 2);
});

test.each([undefined, null])('a handler must not return %j', async (value) => {
  const handler: AnyHandler = async () => JSON.parse('null') ?? value;
  const { status, record } = await call(handler);
  expect(status).toBe(500);
  expect(record.failure?.cause).toMatchObject({
    message: `download responded with ${value}: its handler and the hook "around" must return a reply`,
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
    expect((await call(() => late.promise, options)).status).toBe(429);
    late.reject(new TypeError('late'));
    await immediate();
    const entry = { reason: 'internal server error', err: { type: 'TypeError', message: 'late' } };
    expect(lines).toMatchObject([
      [entry, 'the handler failed after the hook "around" had responded'],
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
    expect((await call(download, { around })).status).toBe(500);
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
    const { status, answered } = await call(download, { method });
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
    expect((await call(download, options)).status).toBe(204);
    expect(file.destroyed).toBe(true);
  });

  test('may send a stream that reads the file', async () => {
    const { file, options, download } = replacing((source) => ({
      status: 200,
      body: source.pipe(new PassThrough()),
    }));
    const { answered } = await call(download, options);
    expect(await text(answered.body as Readable)).toBe(readFileSync(import.meta.filename, 'utf8'));
    expect(file.destroyed).toBe(true);
  });
});
