import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Document, type Json, type Operation, parameterReader } from 'openapi-document';
import type { AnyHandler, Log } from '../handlers/types.ts';
import { bodyReader } from '../request/body.ts';
import { HandlerRequest } from '../request/handler-request.ts';
import { answerFailure, type ErrorBody, type OperationContext, type Samples } from '../response/failures.ts';
import { HttpError } from '../response/http-error.ts';
import { checkReply } from '../response/reply.ts';
import { send } from '../response/send.ts';
import { traceOf } from '../response/trace.ts';
import { authentication } from '../security/requirements.ts';
import { apiKeyQueryNames, credentialsOf, type Schemes } from '../security/schemes.ts';
import type { OperationValidator } from '../validation/validator.ts';

/** Takes a request to one operation from its credentials to its answer. */
export type Dispatch = (
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  query: string,
) => Promise<void>;

/** What the operations of an app share. */
export interface AppContext {
  readonly root: Json;
  readonly securitySchemes: Document['securitySchemes'];
  readonly handlers: Readonly<Record<string, AnyHandler>>;
  /** What failures of a mocked operation are made of. */
  readonly samplesFor: (operation: Operation) => Samples | undefined;
  readonly schemes: Schemes;
  /** Why operations cannot be served, by their ids. */
  readonly broken: ReadonlyMap<string, string>;
  readonly validatorOf: (operation: Operation) => OperationValidator;
  readonly errorBody: ErrorBody;
  readonly log: Log;
  /** Bytes. */
  readonly bodyLimit: number;
  readonly stopping: AbortSignal | undefined;
}

/** Prepares one operation: its validator, and how its credentials, its parameters and its body are read. */
export function createDispatch(operation: Operation, context: AppContext): Dispatch {
  const { root, errorBody, log, stopping } = context;
  const { id } = operation;
  const reason = context.broken.get(id);
  if (reason !== undefined) {
    // Its credentials cannot be checked either.
    const failure = new HttpError(501, `the document has an error at ${id}: it cannot be served`, { reason });
    return (_request, response) => {
      traceOf(response).operationId = id;
      return answerFailure(response, failure, errorBody);
    };
  }
  const handler = context.handlers[id];
  if (handler === undefined) throw new Error(`${id} has no handler`);
  const validator = context.validatorOf(operation);
  const samples = context.samplesFor(operation);
  const operationContext: OperationContext = { operation, validator, samples };
  const authenticate =
    operation.security.length > 0 ? authentication(operation, context.schemes, samples !== undefined) : undefined;
  const readParameters = parameterReader(root, operation, apiKeyQueryNames(context.securitySchemes));
  const readBody = bodyReader(operation, context.bodyLimit, validator);

  return async (request, response, path, query) => {
    const { headers } = request;
    const trace = traceOf(response);
    trace.operationId = id;
    try {
      const caller = await authenticate?.(credentialsOf(request.method ?? '', headers, query));
      trace.subject = caller?.subject;
      const { media, body } = await readBody(request, response);
      const { values, violations } = readParameters({ path, query, headers });
      if (violations.length > 0) throw HttpError.violations(violations);
      const checked = validator.request(values, media, body);
      const given = new HandlerRequest(response, log, checked, media?.type, caller);
      const reply = await handler(given);
      trace.reason = reply.reason;
      trace.mocked = reply.mocked;
      const sending = send(response, checkReply(operation, validator, reply), { stopping, request: given });
      if (sending !== undefined) await sending;
    } catch (error) {
      await answerFailure(response, error, errorBody, operationContext);
    }
  };
}
