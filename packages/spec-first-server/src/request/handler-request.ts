import type { ServerResponse } from 'node:http';
import accepts from 'accepts';
import type { AnyRequest, Caller, Log, RequestLog } from '../handlers/types.ts';
import { traceOf } from '../response/trace.ts';
import type { Parameters } from '../validation/validator.ts';

/**
 * What a handler is given. A class with getters: an object that holds a function of its own keeps the whole request alive
 * until the next major garbage collection, since V8 remembers the function in the object's hidden class.
 */
export class HandlerRequest implements AnyRequest {
  readonly path: AnyRequest['path'];
  readonly query: AnyRequest['query'];
  readonly header: AnyRequest['header'];
  readonly cookie: AnyRequest['cookie'];
  readonly body: unknown;
  readonly contentType: string | undefined;
  readonly caller: Caller | undefined;
  readonly #response: ServerResponse;
  readonly #appLog: Log;
  #log: RequestLog | undefined;
  #gone: AbortController | undefined;

  constructor(
    response: ServerResponse,
    log: Log,
    values: Parameters & { readonly body: unknown },
    contentType: string | undefined,
    caller: Caller | undefined,
  ) {
    ({ path: this.path, query: this.query, header: this.header, cookie: this.cookie, body: this.body } = values);
    this.contentType = contentType;
    this.caller = caller;
    this.#response = response;
    this.#appLog = log;
  }

  get headers(): AnyRequest['headers'] {
    return this.#response.req.headers;
  }

  get id(): string {
    return traceOf(this.#response).id;
  }

  get log(): RequestLog {
    const { id: requestId, traceId, operationId } = traceOf(this.#response);
    this.#log ??= this.#appLog.child({ requestId, traceId, operationId });
    return this.#log;
  }

  get accepts(): AnyRequest['accepts'] {
    const { req: request } = this.#response;
    return (...types) => [accepts(request).types(...types)].flat()[0] || undefined;
  }

  get signal(): AbortSignal {
    this.#gone ??= goneController(this.#response);
    return this.#gone.signal;
  }

  /** Aborts the signal, if the handler uses it. */
  abort(): void {
    this.#gone?.abort();
  }
}

/** Aborts when the client closes its side or is gone, unless it is answered by then. */
function goneController(response: ServerResponse): AbortController {
  const { socket } = response.req;
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  if (response.writableFinished) return controller;
  if (socket.readableEnded || socket.destroyed) abort();
  else {
    socket.once('end', abort).once('close', abort);
    response.once('finish', () => socket.off('end', abort).off('close', abort));
  }
  return controller;
}
