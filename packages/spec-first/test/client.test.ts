import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { loadDocument, type Parameter } from 'openapi-document';
import { clientOf, type Route, routesOf } from 'openapi-document/client';
import { serve, withFiles } from 'test-support/documents';
import { compile, makeProject } from 'test-support/project';
import { generateClient } from '../src/types.ts';

const BODY =
  '{"ids":[1,-9223372036854775808,9007199254740993],"size":1e300,"half":0.5,"text":"12345678901234567890"}';
const READ = {
  ids: [1, -9223372036854775808n, 9007199254740993n],
  size: 1e300,
  half: 0.5,
  text: '12345678901234567890',
};

interface Request {
  readonly method: string | undefined;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

let server: Server;
let last: Request;
const TYPES: Readonly<Record<string, string>> = { '/text': 'text/plain', '/bytes': 'image/png' };
beforeAll(async () => {
  server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request.setEncoding('latin1')) text += chunk;
    last = { method: request.method, url: request.url ?? '', headers: request.headers, text };
    const type = TYPES[request.url ?? ''] ?? 'application/json; charset=utf-8';
    const { 'last-event-id': after } = request.headers;
    if (request.url === '/nothing' || after === '2') response.writeHead(204).end();
    else if (request.url === '/lines') {
      response
        .writeHead(200, { 'Content-Type': 'application/jsonl' })
        .end('{"id":1}\n{"id":9007199254740993}\n');
    } else if (request.url === '/events') {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      // The first connection is lost in the middle of an event.
      if (after === '1') response.end('id: 2\ndata: {"n":2}\n\n');
      else
        response.write('retry: 1\nid: 1\ndata: {"n":1}\n\ndata: {', () => request.socket.destroy());
    } else
      response.writeHead(request.url === '/error' ? 400 : 200, { 'Content-Type': type }).end(BODY);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
});
afterAll(() => {
  server.close();
  server.closeAllConnections();
});

const base = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
type Input = Partial<Record<Parameter['in'], unknown>> & {
  readonly contentType?: string;
  readonly body?: unknown;
};
interface Reply {
  readonly status: number;
  readonly body: unknown;
  readonly response: Response;
}
type AnyClient = Readonly<Record<string, (input?: Input) => Promise<Reply>>>;
/** The types of generated clients are tested with the compiler. */
const clientFor = (routes: Readonly<Record<string, Route>>, headers = {}): AnyClient =>
  clientOf(routes, { baseUrl: `${base()}/`, headers }) as unknown as AnyClient;
const route = (path: string, types: readonly string[] = []): Route => ({
  method: 'POST',
  path,
  parameters: [],
  media: types.map((type) => ({ type, encoding: {} })),
  responses: [],
});

describe('a client', () => {
  test('loads only modules that run in a browser', () => {
    const seen = new Set<string>();
    const follow = (file: string): void => {
      if (seen.has(file)) return;
      seen.add(file);
      const text = readFileSync(file, 'utf8');
      expect(text).not.toMatch(/\bBuffer\b/);
      for (const [, specifier = ''] of text.matchAll(
        /^(?:import|export) (?!type )[^;]*? from '(.*)';/gm,
      )) {
        expect(`${file}: ${specifier}`).toMatch(/: \.\.?\//);
        follow(join(dirname(file), specifier));
      }
    };
    follow(fileURLToPath(import.meta.resolve('openapi-document/client')));
    expect(seen.size).toBeGreaterThan(5);
  });

  test('sends a body in the media type that the document declares, with exact integers', async () => {
    const client = clientFor({ patch: route('/echo', ['application/merge-patch+json']) });
    const { body } =
      (await client.patch?.({ body: { id: 9007199254740993n, name: 'Fern' } })) ?? {};
    expect(last.headers['content-type']).toBe('application/merge-patch+json');
    expect(last.text).toBe('{"id":9007199254740993,"name":"Fern"}');
    expect(body).toEqual(READ);
  });

  test('sends forms with files, and streams of bytes', async () => {
    const types = [
      'application/x-www-form-urlencoded',
      'multipart/form-data',
      'application/octet-stream',
    ];
    const client = clientFor({ send: route('/echo', types) });
    await client.send?.({ body: { id: 9007199254740993n, name: 'a b', tags: ['x', 'y'] } });
    expect(last.text).toBe('id=9007199254740993&name=a%20b&tags=x&tags=y');
    await client.send?.({
      contentType: 'multipart/form-data',
      body: { name: 'Fern', leaf: new File(['green'], 'leaf.txt') },
    });
    expect(last.headers['content-type']).toMatch(/^multipart\/form-data; boundary=/);
    expect(last.text).toMatch(/name="name"\r\n\r\nFern\r\n[\s\S]*filename="leaf\.txt"[\s\S]*green/);
    await client.send?.({
      contentType: 'application/octet-stream',
      body: new Blob(['bytes']).stream(),
    });
    expect(last).toMatchObject({
      text: 'bytes',
      headers: { 'content-type': 'application/octet-stream' },
    });
  });

  test('reads text, streams, empty replies and errors, each with its response', async () => {
    const client = clientFor({
      text: route('/text'),
      bytes: route('/bytes'),
      nothing: route('/nothing'),
      error: route('/error'),
    });
    const { body: text, response } = (await client.text?.()) ?? {};
    expect([text, response?.url]).toEqual([BODY, `${base()}/text`]);
    const { body: bytes } = (await client.bytes?.()) ?? {};
    expect(await new Response(bytes as ReadableStream).text()).toBe(BODY);
    expect(await client.nothing?.()).toMatchObject({ status: 204, body: undefined });
    expect(await client.error?.()).toMatchObject({
      status: 400,
      contentType: 'application/json',
      body: READ,
    });
  });

  test('writes a querystring parameter, and does not encode allowed characters', async () => {
    const text = { in: 'query', style: 'form', explode: true, json: false } as const;
    const client = clientFor({
      find: {
        ...route('/find'),
        parameters: [
          {
            ...text,
            name: 'q',
            style: 'querystring',
            media: { type: 'application/x-www-form-urlencoded' },
          },
        ],
      },
      open: { ...route('/open'), parameters: [{ ...text, name: 'path', allowReserved: true }] },
    });
    await client.find?.({ query: { q: { name: 'a b', tags: [1, 2] } } });
    expect(last.url).toBe('/find?name=a%20b&tags=1&tags=2');
    await client.open?.({ query: { path: '/a/b' } });
    expect(last.url).toBe('/open?path=/a/b');
  });

  test('reads the items of a stream, and resumes after the last event', async () => {
    const lines = {
      ...route('/lines'),
      responses: [{ key: '200', media: [{ type: 'application/jsonl', items: { data: 'text' } }] }],
    } as const;
    const events = {
      ...{ ...route('/events'), method: 'GET' },
      responses: [{ key: '200', media: [{ type: 'text/event-stream', items: { data: 'json' } }] }],
    } as const;
    const client = clientFor({ lines, events });
    const read = async (call: Promise<Reply> | undefined) => {
      const { body } = Object(await call);
      return Array.fromAsync(body);
    };
    expect(await read(client.lines?.())).toEqual([{ id: 1 }, { id: 9007199254740993n }]);
    expect(await read(client.events?.())).toEqual([
      { id: '1', retry: 1, data: { n: 1 } },
      { id: '2', data: { n: 2 } },
    ]);
  });

  test('fails when the connection of a stream is lost, if reconnect is off', async () => {
    const events = {
      ...{ ...route('/events'), method: 'GET' },
      responses: [{ key: '200', media: [{ type: 'text/event-stream', items: { data: 'json' } }] }],
    } as const;
    const client = clientOf({ events }, { baseUrl: base(), reconnect: false });
    const { body } = Object(await Object(client).events());
    await expect(Array.fromAsync(body)).rejects.toThrow();
  });

  test.each<[method: string, path: string, retries: number, seen: number, outcome: string]>([
    ['GET', '/busy', 0, 1, '503'],
    ['GET', '/busy', 2, 3, '200'],
    ['PUT', '/lost', 2, 3, '200'],
    ['POST', '/busy', 2, 1, '503'],
    ['GET', '/lost', 1, 2, 'fetch failed'],
  ])('%s %s with %i retries is sent %i times', async (method, path, retries, seen, outcome) => {
    let requests = 0;
    const flaky = createServer((request, response) => {
      requests += 1;
      if (requests > 2) response.end();
      else if (request.url === '/lost') request.socket.destroy();
      else response.writeHead(503, { 'Retry-After': '0' }).end();
    });
    await new Promise<void>((listening) => flaky.listen(0, '127.0.0.1', listening));
    const baseUrl = `http://127.0.0.1:${(flaky.address() as AddressInfo).port}`;
    const client = clientOf({ call: { ...route(path), method } }, { baseUrl, retries });
    const call: Promise<Reply> = Object(client).call();
    const result = await call.then(
      ({ status }) => String(status),
      ({ message }) => message,
    );
    flaky.close();
    expect([requests, result]).toEqual([seen, outcome]);
  });

  test('fails after its timeout', async () => {
    const silent = createServer(() => undefined);
    await new Promise<void>((listening) => silent.listen(0, '127.0.0.1', listening));
    const baseUrl = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const client = clientOf({ call: { ...route('/'), method: 'GET' } }, { baseUrl, retries: 5 });
    const call: Promise<Reply> = Object(client).call({}, { timeout: 50 });
    await expect(call).rejects.toThrow('the call took longer than 50 ms');
    silent.close();
    silent.closeAllConnections();
  });

  test.each(['application/x-www-form-urlencoded', 'multipart/form-data'])(
    'sends a form in %s that the server reads as the same values',
    async (type) => {
      const properties = {
        plain: '{ type: object, properties: { x: { type: integer } } }',
        deep: '{ type: object, properties: { a: { type: object, properties: { b: { type: integer } } } } }',
        joined: '{ type: array, items: { type: string } }',
        list: '{ type: array, items: { type: object, properties: { n: { type: integer } } } }',
        json: '{ type: array, items: { type: integer } }',
        text: '{ type: string }',
      };
      const schema = `{ type: object, required: [plain, deep, joined, list, json, text], properties: { ${Object.entries(properties).map((pair) => pair.join(': '))} } }`;
      const encoding =
        '{ deep: { style: deepObject, explode: true }, joined: { style: form, explode: false }, json: { contentType: application/json } }';
      const text = `openapi: 3.1.0\ninfo: { title: A, version: '1' }\npaths:\n  /a:\n    post:\n      operationId: a\n      requestBody: { required: true, content: { ${type}: { schema: ${schema}, encoding: ${encoding} } } }\n      responses: { '200': { description: it, content: { application/json: {} } } }\n`;
      const body = {
        plain: { x: 1 },
        deep: { a: { b: 2 } },
        joined: ['a b', 'c'],
        list: [{ n: 1 }, { n: 2 }],
        json: [1, 2],
        text: 'a&b=c',
      };
      await withFiles({ 'openapi.yaml': text }, async (folder) => {
        const { app, document } = await serve(join(folder, 'openapi.yaml'), {
          a: ({ body: read }) => ({ status: 200, body: read }),
        });
        const listener = app.listen(0, '127.0.0.1');
        await once(listener, 'listening');
        const baseUrl = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
        const client = clientOf(routesOf(document.operations), { baseUrl });
        const { status, body: read } = await Object(client).a({ body });
        listener.close();
        expect([status, read]).toEqual([200, body]);
      });
    },
  );

  test('sends the headers of its options, and rejects a path parameter that changes the path', async () => {
    const named: Route = {
      ...route('/rooms/{id}'),
      parameters: [{ in: 'path', name: 'id', style: 'simple', explode: false, json: false }],
    };
    const client = clientFor({ get: named }, { Authorization: 'Bearer token' });
    await client.get?.({ path: { id: 'a' } });
    expect(last).toMatchObject({ url: '/rooms/a', headers: { authorization: 'Bearer token' } });
    await expect(client.get?.({ path: { id: '..' } })).rejects.toThrow(
      'the path parameter id cannot be ".."',
    );
  });
});

/** The compiler must report a mistake after each `@ts-expect-error`. */
const USES = `
import { createClient } from './client.ts';

const client = createClient({ baseUrl: 'http://localhost' });
const reply = await client.patchRoom({ path: { id: 3n }, query: { tags: ['a'] }, body: { name: 'x' } });
if (reply.status === 200) reply.body.id satisfies number | bigint;
else if (reply.status === 404) reply.body.title satisfies string | undefined;
else if (reply.status === 503) reply.body satisfies undefined;
// @ts-expect-error a property of replies only
await client.patchRoom({ path: { id: 3n }, body: { id: 3, name: 'x' } });
// @ts-expect-error a parameter that is not declared
await client.patchRoom({ path: { id: 3n }, query: { other: 1 }, body: { name: 'x' } });
// @ts-expect-error a media type that is not declared
await client.patchRoom({ path: { id: 3n }, contentType: 'application/json', body: { name: 'x' } });
// @ts-expect-error a required parameter is missing
await client.patchRoom({ body: { name: 'x' } });
// @ts-expect-error a required input
await client.patchRoom();
await client.listRooms();
`;

const ROOMS = `
openapi: 3.1.0
info: { title: Rooms, version: '1' }
paths:
  /rooms:
    get: { operationId: listRooms, responses: { '204': { description: None. } } }
  /rooms/{id}:
    patch:
      operationId: patchRoom
      parameters:
        - { name: id, in: path, required: true, schema: { type: integer, format: int64 } }
        - { name: tags, in: query, explode: false, schema: { type: array, items: { type: string } } }
      requestBody:
        required: true
        content: { application/merge-patch+json: { schema: { $ref: '#/components/schemas/Room' } } }
      responses:
        '200': { description: Done., content: { application/json: { schema: { $ref: '#/components/schemas/Room' } } } }
        4XX:
          description: Wrong.
          content:
            application/problem+json: { schema: { type: object, properties: { title: { type: string } } } }
        default: { description: Failed. }
components:
  schemas:
    Reply: { type: string }
    Room:
      type: object
      required: [id, name]
      properties: { id: { type: integer, format: int64, readOnly: true }, name: { type: string } }
`;

test('the file of a client compiles, with the types of the document', async () => {
  const folder = makeProject({ 'openapi.yaml': ROOMS, 'src/use.ts': USES });
  try {
    writeFileSync(
      join(folder, 'src/client.ts'),
      await generateClient(await loadDocument(join(folder, 'openapi.yaml'))),
    );
    expect(compile(folder)).toBe('');
  } finally {
    rmSync(folder, { recursive: true });
  }
});
