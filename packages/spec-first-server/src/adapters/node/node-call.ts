import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import { pipeline } from 'node:stream/promises';
import proxyAddress from 'proxy-addr';
import type { Answer, Bytes, Call, CallRecord } from '../../core/call.ts';
import { closeItems } from '../../core/response/item-body.ts';
import type { Service } from '../../core/service.ts';
import type { RejectableResponse } from '../../http/failures.ts';
import { continueRequest, hasBody, readAll, requestBody } from '../../http/request-body.ts';

/**
 * A request of Node's server. Its body and its signal are created when they are first used, since
 * many requests need neither.
 */
export class NodeCall implements Call {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly headers: IncomingHttpHeaders;
  declare method: string;
  declare path: string;
  declare query: string;
  readonly client: string | undefined;
  readonly record: CallRecord;
  #body: Bytes | AsyncIterable<Bytes> | undefined;
  #signal: AbortSignal | undefined;

  /** Begins the call, and reports its end when its response closes. */
  constructor(
    request: IncomingMessage,
    response: RejectableResponse,
    client: string | undefined,
    service: Pick<Service, 'begin' | 'end'>,
  ) {
    this.request = request;
    this.response = response;
    this.headers = request.headers;
    this.client = client;
    this.readTarget();
    this.record = service.begin(this);
    // `once` would create a wrapper, which costs more than the listener.
    response.on('close', () => {
      const { failure, headersSent, statusCode, writableFinished: isComplete } = response;
      const status = headersSent ? statusCode : (failure?.status ?? 499);
      service.end(this, this.record, { status, isComplete, failure });
    });
  }

  /** Reads the method and the URL. Middleware may change them. */
  readTarget(): void {
    const { url = '', method = '' } = this.request;
    const queryMark = url.indexOf('?');
    this.method = method;
    this.path = queryMark < 0 ? url : url.slice(0, queryMark);
    this.query = queryMark < 0 ? '' : url.slice(queryMark + 1);
  }

  get body(): Bytes | AsyncIterable<Bytes> | undefined {
    const { request, response } = this;
    if (this.#body !== undefined || !hasBody(request)) return this.#body;
    const bytes = request.complete ? readAll(request) : null;
    if (bytes !== null) continueRequest(request, response);
    const { account } = this.record;
    this.#body = bytes ?? requestBody(request, response, () => account.turns.nextRound(account));
    return this.#body;
  }

  get signal(): AbortSignal {
    this.#signal ??= disconnectSignal(this.request, this.response);
    return this.#signal;
  }

  /** Writes an answer, unless a response has already started. */
  write({ status, headers, body }: Answer): Promise<void> | undefined {
    const { response } = this;
    if (response.headersSent) {
      if (isStream(body)) closeItems(body);
      return undefined;
    }
    // One call with a flat list: setHeader for each header would take 4 µs more.
    response.writeHead(status, headers);
    return writeBody(response, body);
  }
}

type Stream = Exclude<Answer['body'], string | Uint8Array | undefined>;

function writeBody(response: ServerResponse, body: Answer['body']): Promise<void> | undefined {
  if (typeof body === 'string') {
    // To write UTF-8, Node allocates three times the length of the text.
    const isAscii = Buffer.byteLength(body) === body.length;
    response.end(body, isAscii ? 'latin1' : 'utf8');
  } else if (isStream(body)) return writeStream(response, body);
  else response.end(body);
  return undefined;
}

const isStream = (body: Answer['body']): body is Stream =>
  typeof body === 'object' && !(body instanceof Uint8Array);

/** Writes a stream as fast as the client reads. Closes the connection if the stream fails. */
async function writeStream(response: ServerResponse, body: Stream): Promise<void> {
  const chunks = body[Symbol.asyncIterator]();
  if (response.destroyed) return closeItems(body, chunks);
  response.once('close', () => {
    if (!response.writableFinished) closeItems(body, chunks);
  });
  // Delayed, so that headers and first chunk share a TCP segment if the chunk is ready.
  const opening = setImmediate(() => response.flushHeaders());
  try {
    await pipeline({ [Symbol.asyncIterator]: () => chunks }, response);
  } catch {
    // The pipeline has destroyed the response.
  } finally {
    clearImmediate(opening);
  }
}

function disconnectSignal({ socket }: IncomingMessage, response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  if (response.writableFinished) return controller.signal;
  const abort = (): void => controller.abort();
  if (socket.readableEnded || socket.destroyed) abort();
  else {
    socket.once('end', abort).once('close', abort);
    response.once('finish', () => socket.off('end', abort).off('close', abort));
  }
  return controller.signal;
}

/**
 * The proxies whose `X-Forwarded-For` is trusted, as in Express: `true` for all, `false` for none,
 * a number of hops, or a list of addresses and subnets.
 */
export type TrustProxy = boolean | number | readonly string[];

export function clientAddress(
  trustProxy: TrustProxy = false,
): (request: IncomingMessage) => string | undefined {
  if (trustProxy === false) return (request) => request.socket.remoteAddress;
  const trusts = trustOf(trustProxy);
  return (request) => validAddress(proxyAddress(request, trusts), request);
}

/**
 * Returns the forwarded address if it is valid, or else the address of the socket. A client may
 * send an `X-Forwarded-For` with any text, and proxies may forward it.
 */
export function validAddress(
  forwarded: string | undefined,
  { socket }: IncomingMessage,
): string | undefined {
  return forwarded !== undefined && isIP(forwarded) !== 0 ? forwarded : socket.remoteAddress;
}

function trustOf(trustProxy: TrustProxy): (address: string, hop: number) => boolean {
  if (typeof trustProxy === 'boolean') return () => trustProxy;
  if (typeof trustProxy === 'number') return (_address, hop) => hop < trustProxy;
  return proxyAddress.compile([...trustProxy]);
}
