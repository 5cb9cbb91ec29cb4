import type { Request, Response } from 'express';
import type { AnyHandler, AnyRequest, Caller } from '../document/handler-types.ts';
import type { Operation } from '../document/operations.ts';
import { bodyReader } from '../request/body.ts';
import { cookiesOf, pairsOf, parameterReader } from '../request/parameters.ts';
import { type Answering, answerFailure } from '../response/failures.ts';
import type { ErrorBody } from '../response/problem.ts';
import { checkReply, send } from '../response/reply.ts';
import { traceOf } from '../response/trace.ts';
import { apiKeyQueryNames, refusal } from '../security/schemes.ts';
import { CredentialsDenied, type Parameters } from '../validation/validator.ts';
import type { Contract } from './router.ts';

/** Takes a request to one operation from its credentials to its answer. */
export type Dispatch = (request: Request, response: Response, path: string, query: string) => Promise<void>;

/** What an operation is answered with. */
export interface DispatchOptions {
  readonly handlers: Readonly<Record<string, AnyHandler>>;
  /** Bytes. */
  readonly bodyLimit: number;
  readonly errorBody: ErrorBody;
}

/** Prepares one operation: its validator, and how its parameters and its body are read. */
export async function dispatcher(
  contract: Contract<Caller>,
  operation: Operation,
  { handlers, bodyLimit, errorBody }: DispatchOptions,
): Promise<Dispatch> {
  const { root } = contract.document;
  const handler = handlers[operation.id];
  if (handler === undefined) throw new Error(`${operation.id} has no handler`);
  const validator = await contract.validator(operation);
  const answering: Answering = { operation, validator };
  const readParameters = parameterReader(root, operation, apiKeyQueryNames(root));
  const readBody = bodyReader(root, operation, bodyLimit);

  return async (request, response, path, query) => {
    const trace = traceOf(response);
    trace.operationId = operation.id;
    try {
      const caller = operation.security.length > 0 ? await authenticate(request, query) : undefined;
      trace.subject = caller?.subject;
      const { media, body } = await readBody(request, response);
      const parameters = readParameters({ path, query, headers: request.headers });
      const checked = await validator.request(parameters, media, body);
      const reply = await handler(
        new CheckedRequest(request, response, checked.parameters, media?.type, checked.body, caller),
      );
      trace.reason = reply.reason;
      await send(response, await checkReply(operation, validator, reply));
    } catch (error) {
      await answerFailure(response, error, errorBody, answering);
    }
  };

  async function authenticate(request: Request, query: string): Promise<Caller | undefined> {
    try {
      const callers = await validator.security({
        headers: request.headers,
        query: query === '' ? NOTHING : firstValues(query),
        cookies: request.headers.cookie === undefined ? NOTHING : Object.fromEntries(cookiesOf(request.headers.cookie)),
      });
      const [first] = callers.values();
      return [...callers.values()].find(({ subject }) => subject !== undefined) ?? first;
    } catch (error) {
      throw error instanceof CredentialsDenied ? refusal(root, operation, error) : error;
    }
  }
}

const NOTHING = {};

/**
 * What a handler is given. A class with getters, since an object that holds a function of its own keeps the whole
 * request alive until the next major garbage collection: V8 remembers the function in the object's hidden class.
 */
class CheckedRequest implements AnyRequest {
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

/** The first value of each name in a query, as API keys travel; what is badly encoded stands as it was sent. */
function firstValues(query: string): Record<string, string> {
  return Object.fromEntries(
    [...pairsOf(query)].map(([name, [value = '']]) => {
      try {
        return [name, decodeURIComponent(value)];
      } catch {
        return [name, value];
      }
    }),
  );
}
