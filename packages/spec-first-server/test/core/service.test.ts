import { describe, expect, test } from '@jest/globals';
import { loadDocument } from 'openapi-document';
import { withFiles } from 'test-support/documents';
import type { Answer, Call } from '../../src/core/call.ts';
import type { AnyAround, AnyHandler, AnyRequest } from '../../src/core/handlers/types.ts';
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
        content: { application/json: { schema: { $ref: '#/components/schemas/Note' } } }
      responses:
        '200': { description: ok, content: { application/json: { schema: { required: [id] } } } }
    get:
      operationId: watchNotes
      responses:
        '200': { description: ok, content: { application/x-ndjson: { itemSchema: {} } } }
  /files:
    post:
      operationId: addFile
      requestBody: { required: true, content: { application/octet-stream: {} } }
      responses: { '204': { description: read } }
components:
  securitySchemes: { token: { type: http, scheme: bearer } }
  schemas:
    Note: { type: object, required: [text], properties: { text: { type: string } } }
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

describe('around', () => {
  const withAround = (around: AnyAround) => create({ around });

  test('gets the operation and the validated request, and can replace the reply', async () => {
    const observed: unknown[] = [];
    const service = await withAround(async (operation, { caller, body }, next) => {
      const reply = await next();
      observed.push([operation, caller?.subject, body, reply.status]);
      return { ...reply, body: { ...Object(reply.body), around: true } };
    });
    const answer = await service.handle(note('a'));
    expect(await textOf(answer)).toBe('{"id":1,"text":"a","around":true}');
    expect(observed).toEqual([['addNote', 'ann', { text: 'a' }, 200]]);
  });

  test('runs before mocks, too', async () => {
    const around: AnyAround = async (_operation, _request, next) => {
      const reply = await next();
      return { ...reply, headers: { ...reply.headers, 'X-Around': 'yes' } };
    };
    const service = await create({ handlers: {}, missing: 'mock', around });
    const answer = await service.handle(note('a'));
    expect(headerOf(answer, 'x-around')).toBe('yes');
    expect(headerOf(answer, 'x-mock')).toBe('true');
  });

  test('adds members to the request of the handler, others at each attempt', async () => {
    const texts: unknown[] = [];
    const service = await create({
      handlers: {
        ...handlers,
        addNote({ body, tx }: AnyRequest & { readonly tx: string }) {
          texts.push([body, tx]);
          return { status: 200, body: { id: 1 } };
        },
      },
      async around(_operation, _request, next) {
        await next({ tx: 'first' });
        return next({ tx: 'second' });
      },
    });
    expect((await service.handle(note('a'))).status).toBe(200);
    expect(texts).toEqual([
      [{ text: 'a' }, 'first'],
      [{ text: 'a' }, 'second'],
    ]);
  });

  test('may replace the log and the signal', async () => {
    const replaced: unknown[] = [];
    const members = { log: { info() {} }, signal: new AbortController().signal };
    const service = await create({
      handlers: {
        ...handlers,
        addNote({ log, signal }) {
          replaced.push(log, signal);
          return { status: 200, body: { id: 1 } };
        },
      },
      around: (_operation, _request, next) => next(members),
    });
    expect((await service.handle(note('a'))).status).toBe(200);
    expect(replaced).toEqual([members.log, members.signal]);
  });

  test('may answer without the handler, with a validated reply or an error', async () => {
    const replying = await withAround(() => ({ status: 200, body: { id: 2 } }));
    expect(await textOf(await replying.handle(note('a')))).toBe('{"id":2}');
    const wrong = await withAround(() => ({ status: 200, body: {} }));
    expect((await wrong.handle(note('a'))).status).toBe(500);
    const limited = await withAround(() => {
      throw new HttpError(429, 'at most one note', { headers: { 'Retry-After': 1 } });
    });
    expect((await limited.handle(note('a'))).status).toBe(429);
  });
});

describe('a service', () => {
  test('answers OPTIONS * with the methods of all operations', async () => {
    const service = await create();
    const answer = await service.handle(call('OPTIONS', '*'));
    expect(answer.status).toBe(204);
    expect(headerOf(answer, 'allow')).toBe('GET, POST, HEAD, OPTIONS');
    expect((await service.handle(call('GET', '*'))).status).toBe(404);
  });
});
