import { describe, expect, test } from '@jest/globals';
import { loadDocument } from 'openapi-document';
import { withFiles } from 'test-support/documents';
import type { Answer, Call } from '../../src/core/call.ts';
import type { AnyAround, AnyHandler } from '../../src/core/handlers/types.ts';
import { HttpError } from '../../src/core/response/http-error.ts';
import { createService, type Service } from '../../src/core/service.ts';

const DOCUMENT = `openapi: 3.1.0
info: { title: Notes, version: 1.0.0 }
security: [{ token: [] }]
servers: [{ url: /v1 }]
paths:
  /notes:
    post:
      operationId: addNote
      requestBody:
        required: true
        content: { application/json: { schema: { type: object, required: [text], properties: { text: { type: string } } } } }
      responses: { '200': { description: ok, content: { application/json: { schema: { type: object, required: [id] } } } } }
    get:
      operationId: watchNotes
      responses: { '200': { description: ok, content: { application/x-ndjson: { itemSchema: { type: object } } } } }
  /files:
    post:
      operationId: addFile
      requestBody: { required: true, content: { application/octet-stream: {} } }
      responses: { '204': { description: read } }
components: { securitySchemes: { token: { type: http, scheme: bearer } } }
`;

const handlers: Record<string, AnyHandler> = {
  addNote: ({ body }) => ({ status: 200, body: { id: 1, ...Object(body) } }),
  watchNotes: () => ({ status: 200, body: notes() }),
  async addFile({ body }) {
    for await (const _chunk of body as AsyncIterable<unknown>);
    return { status: 204 };
  },
};
async function* notes() {
  yield { id: 1 };
  yield { id: 2 };
}

const create = (options: Partial<Parameters<typeof createService>[1]> = {}): Promise<Service> =>
  withFiles({ 'openapi.yaml': DOCUMENT }, async (folder) =>
    createService(await loadDocument(`${folder}/openapi.yaml`), {
      handlers,
      accessTokens: ['ann:secret'],
      ...options,
    }),
  );

const call = (method: string, path: string, body?: Call['body'], headers = {}): Call => ({
  method,
  path,
  headers: { authorization: 'Bearer secret', 'content-type': 'application/json', ...headers },
  body,
});
const note = (text: unknown, headers = {}) =>
  call('POST', '/v1/notes', Buffer.from(JSON.stringify({ text })), headers);

async function textOf({ body }: Answer): Promise<string> {
  if (typeof body !== 'object' || body instanceof Uint8Array) return String(body ?? '');
  let text = '';
  for await (const chunk of body) text += chunk;
  return text;
}
const headerOf = ({ headers }: Answer, name: string): string | undefined =>
  headers[headers.findIndex((each) => each.toLowerCase() === name) + 1];

describe('handle', () => {
  test('answers a call without a socket', async () => {
    const service = await create();
    const answer = await service.handle(note('a'));
    expect(answer).toMatchObject({ status: 200, body: '{"id":1,"text":"a"}' });
    expect(headerOf(answer, 'content-length')).toBe('19');
    expect(headerOf(answer, 'x-content-type-options')).toBe('nosniff');
  });

  test('answers a body that arrives in pieces', async () => {
    async function* pieces() {
      for (const piece of ['{"te', 'xt":', '"a"}']) yield Buffer.from(piece);
    }
    const service = await create();
    expect(await service.handle(call('POST', '/v1/notes', pieces()))).toMatchObject({
      status: 200,
    });
  });

  test('answers a stream', async () => {
    const service = await create();
    expect(await textOf(await service.handle(call('GET', '/v1/notes')))).toBe(
      '{"id":1}\n{"id":2}\n',
    );
  });

  test.each([
    ['no such path', call('GET', '/notes'), 404],
    ['another method', call('PUT', '/v1/notes'), 405],
    ['a path that is not percent-encoded', call('GET', '/v1/%zz'), 400],
    ['no credentials', note('a', { authorization: undefined }), 401],
    ['a body that breaks the document', note(1), 400],
    ['another media type', note('a', { 'content-type': 'text/plain' }), 415],
    ['a body that is too large', note('a'.repeat(200_000)), 413],
    ['no body', call('POST', '/v1/notes'), 400],
  ])('answers %s with its failure', async (_what, failing, status) => {
    const service = await create();
    const answer = await service.handle(failing);
    expect(answer.status).toBe(status);
    expect(headerOf(answer, 'content-type')).toBe('application/problem+json');
  });

  test('does not read the body of a call without credentials', async () => {
    const service = await create();
    let isRead = false;
    const unread = {
      ...note('a', { authorization: undefined }),
      get body() {
        isRead = true;
        return undefined;
      },
    };
    expect((await service.handle(unread)).status).toBe(401);
    expect(isRead).toBe(false);
  });

  test('never rejects, whatever a handler or a body throws', async () => {
    const addNote = () => {
      throw new Error('secret');
    };
    const service = await create({ handlers: { ...handlers, addNote } });
    const answer = await service.handle(note('a'));
    expect([answer.status, await textOf(answer)]).toEqual([
      500,
      expect.not.stringContaining('secret'),
    ]);
    async function* broken() {
      yield Buffer.from('a');
      throw new Error('the connection broke');
    }
    const type = { 'content-type': 'application/octet-stream' };
    const cut = await service.handle(call('POST', '/v1/files', broken(), type));
    expect(cut.status).toBe(400);
  });

  test('survives items and bodies that fail when they are closed', async () => {
    const failing = {
      [Symbol.asyncIterator]: () => ({
        next: async () => ({ done: false, value: { id: 1 } }),
        return() {
          throw new Error('cannot be closed');
        },
      }),
    };
    const watchNotes = () => ({ status: 200, body: failing });
    const addFile = () => ({ status: 204 });
    const service = await create({ handlers: { ...handlers, watchNotes, addFile } });
    const { body } = await service.handle(call('GET', '/v1/notes'));
    const chunks = Object(body)[Symbol.asyncIterator]();
    expect(await chunks.next()).toEqual({ done: false, value: '{"id":1}\n' });
    expect(await chunks.return()).toEqual({ done: true, value: undefined });
    const type = { 'content-type': 'application/octet-stream' };
    expect((await service.handle(call('POST', '/v1/files', Object(failing), type))).status).toBe(
      204,
    );
  });

  test('answers a media type that cannot be sent with a failure', async () => {
    const watchNotes = () => ({
      status: 200,
      contentType: 'application/x-ndjson; a=\nb',
      body: notes(),
    });
    const service = await create({ handlers: { ...handlers, watchNotes } });
    expect((await service.handle(call('GET', '/v1/notes'))).status).toBe(500);
  });

  test('fills in the record of the call', async () => {
    const service = await create();
    const failing = note('a', { 'x-request-id': 'an-id' });
    await service.handle(failing);
    expect(failing.record).toMatchObject({
      id: 'an-id',
      operationId: 'addNote',
      caller: { subject: 'ann' },
      failure: undefined,
    });
  });

  test('replaces the base path of the document where the service is mounted', async () => {
    const service = await create();
    const mounted = { ...note('a'), path: '/notes', isMounted: true };
    expect((await service.handle(mounted)).status).toBe(200);
    expect([service.has('/notes', true), service.has('/v1/notes', true)]).toEqual([true, false]);
    expect([service.has('/notes'), service.has('/v1/notes')]).toEqual([false, true]);
  });
});

describe('around', () => {
  const withAround = (around: AnyAround) => create({ around });

  test('gets the operation and the validated request of its caller, and wraps the reply', async () => {
    const seen: unknown[] = [];
    const service = await withAround(async (operation, { caller, body }, next) => {
      const reply = await next();
      seen.push([operation, caller?.subject, body, reply.status]);
      return { ...reply, body: { ...Object(reply.body), around: true } };
    });
    const answer = await service.handle(note('a'));
    expect(await textOf(answer)).toBe('{"id":1,"text":"a","around":true}');
    expect(seen).toEqual([['addNote', 'ann', { text: 'a' }, 200]]);
  });

  test('does not run for a call that is not valid', async () => {
    let calls = 0;
    const service = await withAround((_operation, _request, next) => {
      calls += 1;
      return next();
    });
    await service.handle(note(1));
    await service.handle(note('a', { authorization: undefined }));
    expect(calls).toBe(0);
  });

  test('may answer by itself, with a reply that is checked, or with a failure', async () => {
    const replying = await withAround(() => ({ status: 200, body: { id: 2 } }));
    expect(await textOf(await replying.handle(note('a')))).toBe('{"id":2}');
    const wrong = await withAround(() => ({ status: 200, body: {} }));
    expect((await wrong.handle(note('a'))).status).toBe(500);
    const limited = await withAround(() => {
      throw new HttpError(429, 'at most one note', { headers: { 'Retry-After': 1 } });
    });
    expect((await limited.handle(note('a'))).status).toBe(429);
  });

  test('sees the error of a handler', async () => {
    const errors: unknown[] = [];
    const addNote = () => {
      throw new HttpError(409, 'there is such a note');
    };
    const service = await create({
      handlers: { ...handlers, addNote },
      async around(_operation, _request, next) {
        try {
          return await next();
        } catch (error) {
          errors.push(error);
          throw error;
        }
      },
    });
    expect((await service.handle(note('a'))).status).toBe(409);
    expect(errors).toHaveLength(1);
  });
});
