import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Bytes, Call, CallRecord } from '../../core/call.ts';
import type { Service } from '../../core/service.ts';
import { joinPieces } from '../../http/join-pieces.ts';
import { continueRequest, hasBody, readAll, requestBody } from '../../http/request-body.ts';

/**
 * A request of Node's server. Its body and its signal are created when they are first used, since
 * many requests need neither.
 */
export class NodeCall implements Call {
  readonly request: IncomingMessage;
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly response: ServerResponse;
  readonly path: string;
  readonly query: string;
  readonly client: string | undefined;
  readonly record: CallRecord;
  #body: Bytes | AsyncIterable<Bytes> | undefined;
  #signal: AbortSignal | undefined;

  /** Begins the call. */
  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    client: string | undefined,
    service: Pick<Service, 'begin'>,
    headers = request.headers,
  ) {
    const { url = '', method = '' } = request;
    const queryMark = url.indexOf('?');
    this.request = request;
    this.method = method;
    this.headers = headers;
    this.response = response;
    this.path = queryMark < 0 ? url : url.slice(0, queryMark);
    this.query = queryMark < 0 ? '' : url.slice(queryMark + 1);
    this.client = client;
    this.record = service.begin(this);
    joinPieces(request);
  }

  get body(): Bytes | AsyncIterable<Bytes> | undefined {
    const { request, response } = this;
    if (this.#body !== undefined || !hasBody(request)) return this.#body;
    const bytes = request.complete ? readAll(request) : null;
    if (bytes !== null) continueRequest(request, response);
    this.#body = bytes ?? requestBody(request, response, () => this.record.account.nextRound());
    return this.#body;
  }

  get signal(): AbortSignal {
    this.#signal ??= disconnectSignal(this.request, this.response);
    return this.#signal;
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
