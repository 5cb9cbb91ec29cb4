import type { ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { Readable } from 'node:stream';
import helmet from 'helmet';
import { http } from '../http-server/index.ts';
import { type HttpError, InvalidReply } from './http-error.ts';
import type { CheckedReply } from './reply.ts';
import { type StreamOptions, sendItems } from './send-items.ts';

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

/**
 * Helmet's headers for a service of JSON, without those that only concern pages, downloads in old browsers and Flash.
 * Nothing here asks a browser for HTTPS, which a service over plain HTTP cannot give.
 */
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
export function send(
  response: ServerResponse,
  reply: CheckedReply,
  options: StreamOptions = {},
): Promise<void> | undefined {
  const { status, type, headers, body } = reply;
  if (headers === undefined && type !== undefined && (typeof body === 'string' || body instanceof Uint8Array)) {
    // One call with a flat list: setHeader for each header would take 4 µs more.
    const own = ['X-Request-Id', traceOf(response).id, 'Content-Type', type];
    const length = Buffer.byteLength(body);
    // Node takes three times the memory of a text to write it as UTF-8.
    const encoding = length === body.length ? 'latin1' : 'utf8';
    response.writeHead(status, [...written, ...own, 'Content-Length', String(length)]).end(body, encoding);
    return undefined;
  }
  const isHead = response.req.method === 'HEAD';
  if (typeof body === 'object' && !(body instanceof Uint8Array)) {
    const isReadable = body instanceof Readable;
    const stream = isReadable ? { items: body, write: bytesOf, end: '', comment: undefined } : body;
    const begin = (): void =>
      setHeaders(response, { status, type, headers: isReadable ? headers : { ...UNBUFFERED, ...headers } });
    if (!isHead) return sendItems(response, stream, begin, options);
    if (isReadable) body.destroy();
    begin();
    response.end();
    return undefined;
  }
  setHeaders(response, reply);
  // Node drops the body of an answer to HEAD, and its length with it.
  if (isHead && body !== undefined) response.setHeader('Content-Length', Buffer.byteLength(body));
  response.end(body);
  return undefined;
}

function bytesOf(chunk: unknown): string | Uint8Array {
  if (typeof chunk === 'string' || chunk instanceof Uint8Array) return chunk;
  throw new InvalidReply('a stream gives strings and bytes');
}

/** Asks caches and proxies to pass each item on at once; the second header is nginx's. */
const UNBUFFERED = { 'Cache-Control': 'no-cache', 'X-Accel-Buffering': 'no' };

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
