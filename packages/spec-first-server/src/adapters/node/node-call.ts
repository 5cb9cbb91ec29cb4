import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Bytes, Call, CallRecord } from '../../core/call.ts';
import type { Service } from '../../core/service.ts';
import type { RejectableResponse } from '../../http/failures.ts';
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

  /**
   * Begins the call, and reports its end when its response closes.
   *
   * @param record by default a new one. The record of a call that has already begun.
   */
  constructor(
    request: IncomingMessage,
    response: RejectableResponse,
    client: string | undefined,
    service: Pick<Service, 'begin' | 'end'>,
    record?: CallRecord,
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
    this.record = record ?? service.begin(this);
    // `once` would create a wrapper, which costs more than the listener.
    if (record !== undefined) return;
    response.on('close', () => {
      const { failure, headersSent, statusCode, writableFinished: isComplete } = response;
      const status = headersSent ? statusCode : (failure?.status ?? 499);
      const reason = failure?.message ?? '';
      const forLog = failure && { headers: {}, reason, expected: false, ...failure };
      service.end(this, this.record, { status, isComplete, failure: forLog });
    });
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
