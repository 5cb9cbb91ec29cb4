import type { ServerResponse } from 'node:http';
import { Violations } from '../validation/violations.ts';
import { type ErrorBody, failureReply, type OperationContext, PROBLEM_DETAILS } from './error-body.ts';
import { HttpError, InvalidReply } from './http-error.ts';
import type { CheckedReply } from './reply.ts';
import { send } from './send.ts';
import { traceOf } from './trace.ts';

// An import of node:http would load a whole HTTP client beside it.
const { STATUS_CODES } = process.getBuiltinModule('node:http');

/**
 * Answers with what an error means to the client, in the document's own form, and leaves its cause to the log. An answer
 * that has begun is aborted: what follows could only be taken for a part of it.
 *
 * @param context the operation, where the request has come that far: its declared failures are what may be answered.
 */
export async function answerFailure(
  response: ServerResponse,
  error: unknown,
  errorBody: ErrorBody,
  context?: OperationContext,
): Promise<void> {
  const trace = traceOf(response);
  const failure = failureOf(error);
  trace.failure = failure;
  if (response.headersSent) {
    response.destroy();
    return;
  }
  let reply: CheckedReply;
  try {
    const { mismatch, ...made } = failureReply(failure, errorBody, context, trace.id);
    reply = made;
    // The log names what the client does not learn.
    const isUntold = error instanceof Violations && (made.body === undefined || mismatch !== undefined);
    if (isUntold) trace.reason = failure.message;
    if (mismatch !== undefined) {
      trace.reason = `${trace.reason ?? failure.reason}; errorBody makes another body than the document declares: ${mismatch}`;
    }
    // So does a header, where the body is that of a mock.
    if (isUntold && context?.samples !== undefined) {
      const printable = failure.message.replace(/[^\x20-\x7e]/g, '?');
      reply = { ...made, headers: { ...made.headers, 'X-Mock-Reason': printable } };
    }
  } catch (broken) {
    trace.failure = internal(broken);
    reply = LAST_RESORT;
  }
  await send(response, reply);
}

/**
 * Any error as the failure that a client is told of, by the properties of http-errors: `status`, `headers`, and a message
 * that is for the client if `expose` is true. Any other error becomes 500, its cause for the log only.
 */
export function failureOf(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  if (error instanceof Violations) return HttpError.violations(error.violations);
  const { status, expose, headers, message } = Object(error);
  if (!Number.isInteger(status) || status < 400 || status > 599 || status === 500) return internal(error);
  const cause = status < 500 && expose === true ? Object(error).cause : error;
  const words = expose === true ? message : (STATUS_CODES[status]?.toLowerCase() ?? 'error');
  return new HttpError(status, words, { headers, cause });
}

const INTERNAL = 'internal server error';

const internal = (cause: unknown): HttpError => {
  const undeclared = 'the service made a reply that its contract does not declare';
  return new HttpError(500, cause instanceof InvalidReply ? undeclared : INTERNAL, { cause });
};

/** For an `errorBody` that throws. */
const LAST_RESORT: CheckedReply = {
  status: 500,
  headers: undefined,
  type: PROBLEM_DETAILS.mediaType,
  body: JSON.stringify(PROBLEM_DETAILS.make({ status: 500, message: INTERNAL })),
};
