import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { afterAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { loadDocument, parseJson } from 'openapi-document';
import { clientOf, routesOf } from 'openapi-document/client';
import { eventually } from 'test-support/eventually';
import { codePoint, randomValues } from 'test-support/random-values';
import type { AnyHandler } from '../src/core/handlers/types.ts';
import { createService, nodeListener } from '../src/index.ts';

const file = { type: 'string', format: 'binary' };
const fields = {
  texts: { type: 'array', items: { type: 'string' } },
  numbers: { type: 'array', items: { type: 'integer', format: 'int64' } },
  note: { type: 'string' },
  flag: { type: 'boolean' },
  point: { type: 'object', properties: { x: { type: 'number' }, label: { type: 'string' } } },
};
const event = {
  properties: {
    data: { type: 'string', contentMediaType: 'application/json', contentSchema: {} },
    event: { type: 'string' },
    id: { type: 'string' },
    retry: { type: 'integer' },
  },
};
/** The Media Type Object of each operation. */
const MEDIA = {
  'application/json': {},
  'text/plain': { schema: { type: 'string' } },
  'application/x-www-form-urlencoded': {
    schema: { properties: fields },
    encoding: {
      numbers: { style: 'pipeDelimited', explode: false },
      point: { style: 'deepObject', explode: true },
      texts: { contentType: 'application/json' },
    },
  },
  'multipart/form-data': {
    schema: { properties: { ...fields, files: { type: 'array', items: file } } },
  },
  'application/octet-stream': {},
  'text/event-stream': { itemSchema: event },
  'application/jsonl': { itemSchema: {} },
  'application/json-seq': { itemSchema: {} },
  // Bytes are strings in the schema.
  'multipart/mixed': {
    itemSchema: {
      oneOf: [{ type: 'string' }, { type: 'integer', format: 'int64' }, { type: 'object' }],
    },
  },
};
type Type = keyof typeof MEDIA;
const types = Object.keys(MEDIA) as Type[];

/** Sends the body back. That of a form is sent as JSON, with the bytes of its files. */
const echo: AnyHandler = async ({ body }) => {
  if (body instanceof Readable) return { status: 200, body: Buffer.concat(await body.toArray()) };
  if (typeof body === 'object' && body !== null && Symbol.asyncIterator in body)
    return { status: 200, body: itemsOf(await Array.fromAsync(body as Readable)) };
  return { status: 200, body: await plain(body) };
};

async function* itemsOf(list: readonly unknown[]) {
  yield* list;
}

/** Replaces files by their names, types and bytes. */
async function plain(value: unknown): Promise<unknown> {
  if (Array.isArray(value)) return Promise.all(value.map(plain));
  if (value instanceof File) return [value.name, value.type, [...(await value.bytes())]];
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(async ([name, member]) => [name, await plain(member)]);
  return Object.fromEntries(await Promise.all(members));
}

const isForm = (type: Type) => /form/.test(type);
const paths = Object.fromEntries(
  types.map((type, index) => {
    const content = { [isForm(type) ? 'application/json' : type]: isForm(type) ? {} : MEDIA[type] };
    const operation = {
      operationId: type,
      requestBody: { required: true, content: { [type]: MEDIA[type] } },
      responses: { 200: { description: 'The same body.', content } },
    };
    return [`/${index}`, { post: operation }];
  }),
);
const root = { openapi: '3.2.0', info: { title: 'A', version: '1' }, paths };
const document = await loadDocument(root);
const handlers = Object.fromEntries(types.map((type) => [type, echo]));
const service = await createService(document, { handlers, bodyLimit: 1e6 });
const server = createServer(nodeListener(service)).listen(0, '127.0.0.1');
await once(server, 'listening');
const free = service.resources.memory.bytesLeft;
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await eventually(() => service.resources.memory.bytesLeft === free);
});

/** Cuts bytes into chunks of these sizes, again and again. */
function inChunks(bytes: Uint8Array, sizes: readonly number[]): ReadableStream<Uint8Array> {
  async function* chunks() {
    for (let at = 0, index = 0; at < bytes.length; index += 1) {
      const size = sizes[index % sizes.length] ?? bytes.length;
      yield bytes.subarray(at, at + size);
      at += size;
    }
  }
  return ReadableStream.from(chunks());
}

/** Sends a body with the client, in odd chunks in both directions. */
async function sent(type: Type, body: unknown, sizes: readonly number[]): Promise<unknown> {
  const chunked: typeof fetch = async (url, init) => {
    const bytes = await new Response(init?.body ?? null).bytes();
    const response = await fetch(url, { ...init, body: inChunks(bytes, sizes) });
    const { status, headers } = response;
    return new Response(inChunks(await response.bytes(), sizes), { status, headers });
  };
  const { port } = server.address() as AddressInfo;
  const options = { baseUrl: `http://127.0.0.1:${port}`, fetch: chunked };
  const client = clientOf<Record<Type, AnyOperation>>(routesOf<Type>(document.operations), options);
  const reply = await client[type]({ body });
  if (reply.status !== 200) throw new Error(`${reply.status} ${JSON.stringify(reply.body)}`);
  return reply.body;
}

interface AnyOperation {
  readonly requestBody: { readonly content: { readonly 'application/json': unknown } };
  readonly responses: {
    readonly 200: { readonly content: { readonly 'application/json': unknown } };
    readonly default: { readonly content: { readonly 'application/json': unknown } };
  };
}

const nasty = fc.oneof(
  fc.constantFrom(
    '',
    '\r\n',
    '\n--',
    '\r',
    '--',
    '"',
    '&=+%',
    '%25',
    '\0',
    'ä😀',
    'null',
    '1',
    ' ',
  ),
  fc.string({ unit: codePoint }),
);
const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((value) => {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
});
const json = fc.oneof(fc.json().map(parseJson), int64, nasty);
const few = <T>(item: fc.Arbitrary<T>) => fc.array(item, { maxLength: 2 });
const bytes = fc.uint8Array({ maxLength: 300 });
const form = fc.record(
  {
    texts: few(nasty),
    numbers: few(int64),
    note: nasty,
    flag: fc.boolean(),
    point: fc.record({ x: fc.integer(), label: nasty }),
  },
  { requiredKeys: [] },
);
const name = nasty.map((value) => `a${value.replace(/[\r\n"/\\]/g, '')}`);
const upload = fc
  .tuple(bytes, name, fc.constantFrom('image/png', 'text/plain'))
  .map(([content, filename, type]) => new File([Uint8Array.from(content)], filename, { type }));
const line = nasty.map((value) => value.replace(/[\r\n\0]/g, '_'));
const VALUES: Readonly<Record<Type, fc.Arbitrary<unknown>>> = {
  'application/json': json,
  // Decoders drop U+FEFF at the start of a response.
  'text/plain': nasty.map((value) => value.replace(/^\uFEFF/, '')),
  'application/x-www-form-urlencoded': form,
  'multipart/form-data': fc
    .tuple(form, few(upload))
    .map(([values, files]) => ({ ...values, files })),
  'application/octet-stream': bytes,
  'text/event-stream': few(
    fc.record(
      { data: json, event: line.map((value) => `e${value}`), id: line, retry: fc.nat() },
      { requiredKeys: ['data'] },
    ),
  ),
  'application/jsonl': few(json),
  'application/json-seq': few(json),
  'multipart/mixed': few(fc.oneof(nasty, bytes, int64, fc.record({ a: json }))),
};

/** Some fields without values are not sent. */
const withoutEmpty = (value: object) =>
  Object.fromEntries(
    Object.entries(value).filter(([, field]) => !Array.isArray(field) || field.length > 0),
  );

const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 4 });

test.each(types)('any body of %s arrives as the same value, in both directions', async (type) => {
  const hasItems = 'itemSchema' in MEDIA[type];
  await fc.assert(
    fc.asyncProperty(VALUES[type], sizes, async (value, chunkSizes) => {
      const items = hasItems ? itemsOf(value as unknown[]) : value;
      const received = await sent(type, items, chunkSizes);
      if (hasItems) {
        const list = await Array.fromAsync(received as AsyncIterable<unknown>);
        expect(await plain(list.map(bytesOf))).toEqual((value as unknown[]).map(bytesOf));
      } else if (received instanceof ReadableStream)
        expect(await new Response(received).bytes()).toEqual(value);
      else if (isForm(type))
        expect(withoutEmpty(Object(received))).toEqual(withoutEmpty(Object(await plain(value))));
      else expect(received).toEqual(value);
    }),
    randomValues(25),
  );
});

const bytesOf = (value: unknown) => (value instanceof Uint8Array ? [...value] : value);
