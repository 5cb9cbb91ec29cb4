import type { ServerResponse } from 'node:http';
import accepts from 'accepts';
import { type Operation, parameterReader } from 'openapi-document';
import type { AnyRequest, Log, RequestLog } from '../handlers/types.ts';
import { bodyReader } from '../request/body.ts';
import { answerFailure } from '../response/failures.ts';
import { HttpError } from '../response/http-error.ts';
import { checkReply } from '../response/reply.ts';
import { send, traceOf } from '../response/send.ts';
import { apiKeyQueryNames, authentication, credentialsOf } from '../security/schemes.ts';
import { Violations } from '../validation/validator.ts';
import type { AppContext } from './prepare.ts';

/** Takes a request to one operation from its credentials to its answer. */
export type Dispatch = (response: ServerResponse, path: string, query: string) => Promise<void>;

/** Prepares one operation: its validator, and how its credentials, its parameters and its body are read. */
export function createDispatch(operation: Operation, context: AppContext): Dispatch {
  const { document, errorBody, log, stopping } = context;
  const { id } = operation;
  const reason = context.broken.get(id);
  if (reason !== undefined) {
    // Its credentials cannot be checked either.
    const failure = new HttpError(501, `the document has an error at ${id}: it cannot be served`, { reason });
    return (response) => {
      traceOf(response).operationId = id;
      return answerFailure(response, failure, errorBody);
    };
  }
  const handler = context.handlers[id];
  if (handler === undefined) throw new Error(`${id} has no handler`);
  const validator = context.validatorOf(operation);
  const samples = context.samplesFor(operation);
  const authenticate =
    operation.security.length > 0 ? authentication(operation, context.schemes, samples !== undefined) : undefined;
  const readParameters = parameterReader(document.root, operation, apiKeyQueryNames(document.securitySchemes));
  const readBody = bodyReader(operation, context.bodyLimit, validator);

  return async (response, path, query) => {
    const { method = '', headers } = response.req;
    const trace = traceOf(response);
    trace.operationId = id;
    try {
      const caller = await authenticate?.(credentialsOf(method, headers, query));
      trace.subject = caller?.subject;
      const { media, body } = await readBody(response);
      const { values, violations } = readParameters({ path, query, headers });
      if (violations.length > 0) throw new Violations(violations);
      const own = { contentType: media?.type, caller };
      const given = Object.assign(new RequestContext(response, log), validator.request(values, media, body), own);
      const reply = await handler(given);
      trace.reason = reply.reason;
      trace.mocked = reply.mocked;
      const sending = send(response, checkReply(operation, validator, reply), { stopping, request: given });
      if (sending !== undefined) await sending;
    } catch (error) {
      await answerFailure(response, error, errorBody, { operation, validator, samples });
    }
  };
}

/**
 * What a handler is given beside its values. A class with getters: an object that holds a function of its own keeps the
 * whole request alive until the next major garbage collection, since V8 remembers the function in its hidden class.
 */
class RequestContext {
  readonly #response: ServerResponse;
  readonly #appLog: Log;
  #log: RequestLog | undefined;
  #gone: AbortController | undefined;

  constructor(response: ServerResponse, log: Log) {
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
