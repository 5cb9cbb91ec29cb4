import type { ServerResponse } from 'node:http';
import { declaredFor, type MediaType, type Operation, stringifyJson } from 'openapi-document';
import { http, PROBLEM_DETAILS, type Problem } from '../http-server/index.ts';
import { Violations } from '../validation/checks.ts';
import type { OperationValidator } from '../validation/validator.ts';
import { HttpError, InvalidReply } from './http-error.ts';
import { checkBody, mismatchOf } from './reply.ts';
import { type CheckedReply, send, traceOf } from './send.ts';

/** What the document declares for a failure of an operation. */
export interface DeclaredProblem {
  readonly operationId: string;
  /** The declared media type; `undefined` if the document does not declare this status. */
  readonly mediaType: string | undefined;
  /** The declared Schema Object, perhaps a `$ref`. */
  readonly schema: unknown;
}

/** How a problem becomes the document's error body. */
export interface ErrorBody {
  /** The media type of what `make` returns, where the document does not declare another. */
  readonly mediaType: string;
  /** @param declared what the document declares for it, where the request has reached an operation. */
  readonly make: (problem: Problem, declared?: DeclaredProblem) => unknown;
}

/** An operation, as far as its answers go. */
export interface OperationContext {
  readonly operation: Operation;
  readonly validator: OperationValidator;
  /** Of a mock: makes bodies where the document declares others than `errorBody` makes, and has no example. */
  readonly samples?: Samples | undefined;
}

export type Samples = (media: MediaType) => Iterable<unknown>;

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
  if (response.headersSent) return void response.destroy();
  let reply: CheckedReply;
  try {
    const { mismatch, ...made } = failureReply(failure, errorBody, context, trace.id);
    // The log names what the client does not learn. So does a header, where the body is that of a mock.
    const isUntold = error instanceof Violations && (made.body === undefined || mismatch !== undefined);
    // An unknown name is the client's own, and may be a secret.
    if (isUntold) trace.reason = new Violations(error.violations.filter((each) => !UNKNOWN.test(each.keyword))).message;
    if (mismatch !== undefined) {
      trace.reason = `${trace.reason ?? failure.reason}; errorBody makes another body than the document declares: ${mismatch}`;
    }
    const mocked = isUntold && context?.samples && { 'X-Mock-Reason': failure.message.replace(/[^\x20-\x7e]/g, '?') };
    reply = { ...made, headers: { ...made.headers, ...mocked } };
  } catch (broken) {
    trace.failure = internal(broken);
    reply = failureReply(trace.failure, PROBLEM_DETAILS);
  }
  await send(response, reply);
}

/** Keywords whose violations name what the document does not. */
const UNKNOWN = /^(additional|unevaluated)Properties$/;

/**
 * Any error as the failure that a client is told of, by the properties of http-errors: `status`, `headers`, and a message
 * that is for the client if `expose` is true. Any other error becomes 500, its cause for the log only.
 */
export function failureOf(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  if (error instanceof Violations) {
    const { message, violations: errors } = error;
    return new HttpError(400, message, { reason: 'the request is not as the document declares', errors });
  }
  const { status, expose, headers, message } = Object(error);
  if (!Number.isInteger(status) || status < 400 || status > 599 || status === 500) return internal(error);
  const cause = status < 500 && expose === true ? Object(error).cause : error;
  const words = expose === true ? message : (http.STATUS_CODES[status]?.toLowerCase() ?? 'error');
  return new HttpError(status, words, { headers, cause });
}

const internal = (cause: unknown): HttpError => {
  const undeclared = 'the service made a reply that its contract does not declare';
  return new HttpError(500, cause instanceof InvalidReply ? undeclared : 'internal server error', { cause });
};

/**
 * The reply that tells of a failure. Its body is what `errorBody` makes. Where the document declares another body for
 * the status, it is an example that the document gives, or else there is no body; `mismatch` says why.
 */
function failureReply(
  { status, message, headers, errors }: HttpError,
  errorBody: ErrorBody,
  context?: OperationContext,
  requestId?: string,
): CheckedReply & { readonly mismatch?: string | undefined } {
  const problem = { status, message, errors, requestId };
  const operationId = context?.operation.id;
  const make = (media?: MediaType): unknown =>
    errorBody.make(problem, operationId ? { operationId, mediaType: media?.type, schema: media?.schema } : undefined);
  const declared = context && declaredFor(context.operation, status);
  if (context === undefined || declared === undefined) {
    const body = make();
    return { status, headers, type: errorBody.mediaType, body: typeof body === 'string' ? body : stringifyJson(body) };
  }
  let mismatch: string | undefined;
  for (const [{ type }, body] of candidates(context, declared.media)) {
    try {
      const contentType = type.includes('*') ? errorBody.mediaType : type;
      return { status, headers, ...checkBody(context.validator, declared, { status, contentType, body }), mismatch };
    } catch (error) {
      const what = mismatchOf(error);
      if (what === undefined) throw error;
      mismatch ??= what;
    }
  }
  return { status, headers, type: undefined, body: undefined, mismatch };

  function* candidates({ samples }: OperationContext, all: readonly MediaType[]): Generator<[MediaType, unknown]> {
    for (const media of all) yield [media, make(media)];
    for (const media of all) for (const { value } of media.examples()) yield [media, value];
    for (const media of all) for (const value of samples?.(media) ?? []) yield [media, value];
  }
}
