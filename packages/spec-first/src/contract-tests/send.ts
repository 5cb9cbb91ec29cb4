import { once } from 'node:events';
import * as http from 'node:http';
import * as https from 'node:https';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import {
  type Codecs,
  concreteType,
  formField,
  type MediaType,
  type Operation,
} from 'openapi-document';
import { baseUrlFor, encodeBody } from 'openapi-document/client';
import { shellQuoted } from 'spec-first-server/cli';
import type { CheckedOperation, ReceivedResponse } from './check-response.ts';
import type { Secret } from './credentials.ts';
import { fileOf, type RequestValues, writtenParameters } from './parts.ts';

/** The values of a request before serialization, and its deviations from the document. */
export interface RequestDraft {
  readonly values: RequestValues;
  /** Selects one of the declared media types of a file. */
  readonly index?: number;
  /** Replaces the serialized body. */
  readonly rawBody?: string;
  /** Replaces the declared media type. */
  readonly contentType?: string;
  /** Text that is added to the query. */
  readonly undeclaredQuery?: string;
}

export interface SerializedRequest {
  readonly method: string;
  /** The path and the query, relative to the base URL. */
  readonly url: string;
  /** Set if the operation has servers of its own. */
  readonly serverPath?: Operation['serverPath'];
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer | undefined;
}

/** A mock may respond with 5xx, for example if the operation declares no success. */
export const isMock = ({ headers }: ReceivedResponse): boolean => headers['x-mock'] !== undefined;

/** The origin in messages for a service that stops with the tests. */
export const PLACEHOLDER_ORIGIN = 'http://localhost:3000';

/**
 * The number of seconds without data after which a response is given up. Only seconds in which this
 * process runs count, since a busy machine may suspend it together with the service.
 */
const MAX_SILENT_SECONDS = 15;

/** The time to wait for the next chunk of a stream, in milliseconds. */
const PATIENCE = 1_500;

/** The number of chunks after which a stream is cut at its next pause. */
const MAX_CHUNKS = 10;

export type Sender = ReturnType<typeof createSender>;

/**
 * Creates a function that sends requests to a service.
 *
 * @param base the URL before the paths of the document.
 * @param displayedOrigin the origin in messages.
 */
export function createSender(base: string, displayedOrigin = new URL(base).origin) {
  const prefix = new URL(base).pathname.replace(/\/$/, '');
  const root = new URL(base).origin + prefix;
  let agent: http.Agent | undefined;

  return {
    /** The URL before the paths of the document, for messages. */
    base: displayedOrigin + prefix,
    root,

    /**
     * Sends a request, and reads the response. A stream is read until it pauses, or ends.
     *
     * @throws {Error} if there is no response.
     */
    async send(
      { method, url: path, serverPath, headers, body }: SerializedRequest,
      isStream: (status: number, contentType: string) => boolean,
    ): Promise<ReceivedResponse> {
      const url = baseUrlFor(root, serverPath) + path;
      const { request, Agent } = url.startsWith('https:') ? https : http;
      // Node sends no length with a body of DELETE, so the server would not read it.
      const fields = { ...headers, ...(body && { 'Content-Length': String(body.length) }) };
      agent ??= new Agent({ keepAlive: true });
      const controller = new AbortController();
      const { signal } = controller;
      let silentSeconds = 0;
      const timer = setInterval(() => {
        silentSeconds += 1;
        const message = `no data for ${MAX_SILENT_SECONDS} seconds`;
        if (silentSeconds === MAX_SILENT_SECONDS) controller.abort(new Error(message));
      }, 1_000);
      const respond = async (connections: http.Agent | false): Promise<http.IncomingMessage> => {
        const options = { method, headers: fields, agent: connections, signal };
        const outgoing = request(url, options).end(body);
        try {
          const [response]: http.IncomingMessage[] = await once(outgoing, 'response');
          return response as http.IncomingMessage;
        } catch (error) {
          // The service may have closed a connection that was kept.
          const isClosed = outgoing.reusedSocket && Object(error).code === 'ECONNRESET';
          if (isClosed) return respond(false);
          throw error;
        }
      };
      try {
        const response = await respond(agent);
        const { statusCode: status = 0 } = response;
        const entries = Object.entries(response.headers);
        const received = {
          ...{ url, status },
          headers: Object.fromEntries(entries.map(([name, value]) => [name, String(value)])),
        };
        if (!isStream(status, response.headers['content-type'] ?? ''))
          return { ...received, body: await buffer(response), isCut: false };
        return { ...received, ...(await readChunks(response)) };
      } catch (error) {
        throw signal.aborted ? signal.reason : error;
      } finally {
        clearInterval(timer);
      }
    },
  };
}

async function readChunks(response: http.IncomingMessage) {
  const chunks: Uint8Array[] = [];
  const iterator = response[Symbol.asyncIterator]();
  let isCut = false;
  for (;;) {
    const patience = chunks.length < MAX_CHUNKS ? PATIENCE : 0;
    const next = await Promise.race([iterator.next(), pause(patience)]);
    isCut = next === undefined;
    if (isCut) response.destroy();
    if (next?.value === undefined) return { body: Buffer.concat(chunks), isCut };
    chunks.push(next.value);
  }
}

/** Data may have arrived while this process was suspended, so it is read before the pause ends. */
const pause = (milliseconds: number): Promise<undefined> =>
  new Promise((resolve) => {
    setTimeout(() => setTimeout(() => setImmediate(resolve, undefined), 10), milliseconds).unref();
  });

/** Serves an app on a free local port. Resolves to the origin. Does not keep the process alive. */
export async function listen(app: http.RequestListener): Promise<string> {
  // A test may pause for longer than a connection is kept by default.
  const server = http.createServer({ keepAliveTimeout: 0 }, app).listen(0, '127.0.0.1').unref();
  // `unref` of the server does not apply to its connections.
  server.on('connection', (socket) => socket.unref());
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Serializes a request and its credentials. */
export async function writeRequest(
  { operation, codecs }: Pick<CheckedOperation, 'operation' | 'codecs'>,
  draft: RequestDraft,
  secrets: readonly Secret[],
): Promise<SerializedRequest> {
  const { values, undeclaredQuery } = draft;
  const { url, headers } = writtenParameters(operation, values);
  const secretsIn = (place: Secret['in']) => secrets.filter((secret) => secret.in === place);
  const query = secretsIn('query').map(
    ({ name, value }) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`,
  );
  const addedQuery = [undeclaredQuery ?? [], query].flat().join('&');
  const cookies = secretsIn('cookie').map(({ name, value }) => `${name}=${value}`);
  const { media } = values;
  const body =
    media && values.body !== undefined
      ? await encodedBody(codecs, media, values.body, draft)
      : undefined;
  return {
    method: operation.method.toUpperCase(),
    serverPath: operation.serverPath,
    url: addedQuery === '' ? url : `${url}${url.includes('?') ? '&' : '?'}${addedQuery}`,
    headers: {
      ...headers,
      ...Object.fromEntries(secretsIn('header').map(({ name, value }) => [name, value])),
      ...(cookies.length > 0 && { Cookie: [headers.Cookie ?? [], cookies].flat().join('; ') }),
      ...(body && { 'Content-Type': draft.contentType ?? body.contentType }),
    },
    body: body?.bytes,
  };
}

async function encodedBody(
  codecs: Codecs,
  media: MediaType,
  value: unknown,
  { rawBody, index = 0 }: RequestDraft,
) {
  const type = concreteType(media.type);
  const { unit } = codecs.factsOf(media);
  const form = unit === 'parts' ? formWithFiles(media, value, index) : value;
  const writable = unit === 'items' ? one(value) : form;
  const { contentType, body } = await encodeBody(codecs, { ...media, type }, writable);
  const bytes = await new Response(rawBody ?? body).arrayBuffer();
  return { contentType, bytes: Buffer.from(bytes) };
}

async function* one(item: unknown): AsyncGenerator<unknown> {
  yield item;
}

function formWithFiles(media: MediaType, form: unknown, index: number): object {
  const fields = Object.entries(Object(form)).map(([name, value]) => {
    const field = formField(media, name);
    if (field.kind().isText) return [name, value];
    const types = field.types();
    const type = concreteType(types[index % types.length] ?? '*/*');
    const files = [value].flat().map((item) => fileOf(item, type));
    return [name, Array.isArray(value) ? files : files[0]];
  });
  return Object.fromEntries(fields);
}

/** Returns a request as a curl command for a POSIX shell. */
export function curlLine(base: string, request: SerializedRequest): string {
  const { method, url, serverPath, headers, body } = request;
  const words = [
    'curl',
    '-i',
    // With `-X HEAD`, curl waits for a body.
    ...({ GET: [], HEAD: ['-I'] }[method] ?? ['-X', method]),
    shellQuoted(baseUrlFor(base, serverPath) + url),
  ];
  for (const [name, value] of Object.entries(headers))
    words.push('-H', shellQuoted(`${name}: ${value}`));
  // `--data-binary` would read a file for a body that begins with `@`.
  if (body !== undefined) words.push('--data-raw', shellQuoted(body.toString()));
  return words.join(' ');
}
