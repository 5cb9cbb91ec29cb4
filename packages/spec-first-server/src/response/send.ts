import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { Readable } from 'node:stream';
import helmet from 'helmet';
import type { MediaType } from 'openapi-document';
import { http, waitForTurn } from '../http-server/index.ts';
import type { HttpError } from './http-error.ts';

/** A reply that the document declares, ready to be written. */
export interface CheckedReply {
  readonly status: number;
  /** The media type of the body. */
  readonly type: string | undefined;
  readonly headers: Readonly<Record<string, string | number | readonly string[]>> | undefined;
  readonly body: string | Uint8Array | ItemStream | undefined;
}

/** The items of a reply, each checked when it is written. */
export interface ItemStream extends Omit<ReturnType<MediaType['itemWriter']>, 'contentType'> {
  readonly items: AsyncIterable<unknown>;
  /** Whether they are pieces of one body, which a proxy may gather. */
  readonly areChunks?: true;
}

/** What is known of a request when its answer is sent, for the log and the metrics. */
export interface Trace {
  readonly id: string;
  /** Of the trace that the request is a part of. */
  readonly traceId: string | undefined;
  /** The client's address. */
  readonly client: string | undefined;
  readonly started: number;
  operationId: string | undefined;
  subject: string | undefined;
  /** Whether the answer is a mock. */
  mocked: true | undefined;
  /** Why a handler answered as it did. */
  reason: string | undefined;
  failure: HttpError | undefined;
}

export const TRACE = Symbol('trace');

declare module 'node:http' {
  interface ServerResponse {
    /** Set by the access log. */
    [TRACE]?: Trace;
  }
}

/** The trace of a response. @throws {Error} if the access log has not seen its request. */
export function traceOf({ [TRACE]: trace }: ServerResponse): Trace {
  if (trace === undefined) throw new Error('the access log comes first');
  return trace;
}

/** Helmet's headers for a service of JSON. None asks a browser for HTTPS, which a service over plain HTTP cannot give. */
export const securityHeaders = helmet({
  contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
  strictTransportSecurity: false,
  crossOriginOpenerPolicy: false,
  originAgentCluster: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xPermittedCrossDomainPolicies: false,
  xXssProtection: false,
});

// They are the same for all responses.
const blank = new http.ServerResponse(new http.IncomingMessage(new Socket()));
securityHeaders(blank.req, blank, () => undefined);
const written = blank.getHeaderNames().flatMap((name) => [name, String(blank.getHeader(name))]);

/** Sends a reply. Resolves when it is sent, or the client is gone. */
export function send(response: ServerResponse, reply: CheckedReply, options: Parameters<typeof sendItems>[3] = {}) {
  const { status, type, headers, body } = reply;
  const isHead = response.req.method === 'HEAD';
  if (typeof body === 'object' && !(body instanceof Uint8Array)) {
    const { items, areChunks = false } = body;
    // Caches and proxies pass each item on at once; the second header is nginx's.
    const unbuffered = !areChunks && { 'Cache-Control': 'no-cache', 'X-Accel-Buffering': 'no' };
    const begin = (): void => setHeaders(response, { status, type, headers: { ...unbuffered, ...headers } });
    if (!isHead) return sendItems(response, body, begin, options);
    if (items instanceof Readable) items.destroy();
    begin();
    response.end();
  } else if (headers === undefined && type !== undefined && body !== undefined) {
    // One call with a flat list: setHeader for each header would take 4 µs more.
    const own = ['X-Request-Id', traceOf(response).id, 'Content-Type', type];
    const length = Buffer.byteLength(body);
    // Node takes three times the memory of a text to write it as UTF-8.
    const encoding = length === body.length ? 'latin1' : 'utf8';
    response.writeHead(status, [...written, ...own, 'Content-Length', String(length)]).end(body, encoding);
  } else {
    setHeaders(response, reply);
    // Node drops the body of an answer to HEAD, and its length with it.
    if (isHead && body !== undefined) response.setHeader('Content-Length', Buffer.byteLength(body));
    response.end(body);
  }
  return undefined;
}

/** Sets the headers that each answer has. */
export function setOwnHeaders(response: ServerResponse): void {
  for (let at = 0; at < written.length; at += 2) response.setHeader(written[at] ?? '', written[at + 1] ?? '');
  response.setHeader('X-Request-Id', traceOf(response).id);
}

function setHeaders(response: ServerResponse, { status, type, headers }: Omit<CheckedReply, 'body'>): void {
  setOwnHeaders(response);
  response.statusCode = status;
  for (const name in headers) response.setHeader(name, headers[name] ?? '');
  if (type !== undefined) response.setHeader('Content-Type', type);
}

/** Until the client gets the headers without an item. Milliseconds. */
const OPENING = 500;

/** How much streams send before others get their turn. Bytes. */
const SLICE = 16_384;

/** What all streams have sent since then: those that have items at the same moment run in the same turn. */
let sent = 0;

/**
 * Sends items as they come, not faster than the client reads.
 *
 * @param begin sets the headers. Called when the first item is written, or when it is late.
 * @param stopping aborted when the service stops. Then event streams end: their clients come back, to another process.
 * @param request its signal is aborted when a stop ends the stream.
 * @param silence how long a stream is silent until it gets a comment. Milliseconds.
 * @throws {unknown} what the items fail with. If the first one fails, nothing is sent yet.
 */
export async function sendItems(
  response: ServerResponse,
  { items, write, end, comment }: ItemStream,
  begin: () => void,
  options: { stopping?: AbortSignal | undefined; request?: { abort(): void }; silence?: number },
): Promise<void> {
  const { stopping, request, silence = 15_000 } = options;
  const iterator = items[Symbol.asyncIterator]();
  const over = new AbortController();
  const { signal } = over;
  let timer = setTimeout(() => {
    open();
    response.flushHeaders();
  }, OPENING);

  /** Lets the handler clean up. */
  function finish(): void {
    over.abort();
    // Nobody is left to learn of an error.
    iterator.return?.().then(undefined, () => undefined);
  }
  function endNow(): void {
    if (!response.headersSent) begin();
    response.end(end);
  }
  function stop(): void {
    endNow();
    request?.abort();
    finish();
  }
  function open(): void {
    clearTimeout(timer);
    if (!response.headersSent) begin();
    if (comment !== undefined)
      timer = setInterval(() => response.writableNeedDrain || response.write(comment), silence);
  }
  response.once('close', finish);
  if (comment !== undefined) stopping?.addEventListener('abort', stop);
  try {
    if (comment !== undefined && stopping?.aborted) return stop();
    for (let index = 0; ; index += 1) {
      const { done, value } = await iterator.next();
      if (signal.aborted) return;
      if (done) break;
      const bytes = write(value, index);
      if (index === 0) open();
      else timer.refresh();
      sent += bytes.length;
      if (!response.write(bytes)) await once(response, 'drain', { signal });
      else if (sent < SLICE) continue;
      // Streams whose items are all there would never let go of the event loop.
      await new Promise<void>((takeTurn) => waitForTurn({ takeTurn, goesOn: true }));
      sent = 0;
      if (signal.aborted) return;
    }
    endNow();
  } catch (error) {
    if (signal.aborted) return;
    finish();
    throw error;
  } finally {
    clearTimeout(timer);
    response.off('close', finish);
    stopping?.removeEventListener('abort', stop);
  }
}
