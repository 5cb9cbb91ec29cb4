import type { Request, Response } from 'express';
import type { AnyRequest, Caller } from '../handlers/types.ts';
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
  readonly contentType: string | undefined;
  readonly body: unknown;
  readonly caller: Caller | undefined;
  readonly headers: AnyRequest['headers'];
  readonly #request: Request;
  readonly #response: Response;
  #gone: AbortController | undefined;

  constructor(
    request: Request,
    response: Response,
    { path, query, header, cookie }: Parameters,
    contentType: string | undefined,
    body: unknown,
    caller: Caller | undefined,
  ) {
    this.path = path;
    this.query = query;
    this.header = header;
    this.cookie = cookie;
    this.contentType = contentType;
    this.body = body;
    this.caller = caller;
    this.headers = request.headers;
    this.#request = request;
    this.#response = response;
  }

  get accepts(): AnyRequest['accepts'] {
    const request = this.#request;
    return (...types) => request.accepts(...types) || undefined;
  }

  get signal(): AbortSignal {
    this.#gone ??= goneController(this.#request, this.#response);
    return this.#gone.signal;
  }
}

/** Aborts when the client closes its side or is cut off, unless it is answered by then. */
function goneController({ socket }: Request, response: Response): AbortController {
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
