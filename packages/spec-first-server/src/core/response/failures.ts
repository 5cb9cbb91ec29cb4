import { declaredFor, type MediaType, type Operation, stringifyJson } from 'openapi-document';
import type { Answer, CallRecord } from '../call.ts';
import type { OperationValidator } from '../validation/validator.ts';
import { isUndeclared, Violations } from '../validation/violations.ts';
import { type CheckedReply, createAnswer } from './answer.ts';
import { isHeader } from './headers.ts';
import { type Failure, HttpError, InvalidReply, Unauthorized } from './http-error.ts';
import { type ErrorBody, PROBLEM_DETAILS, reasonPhrase } from './problem.ts';
import { checkBody, mismatchOf } from './reply.ts';

/** The parts of an operation that its error responses need. */
export interface OperationContext {
  readonly operation: Operation;
  readonly validator: OperationValidator;
  /**
   * For a mock: generates bodies if those of `errorBody` do not match the declared schema, and the
   * document has no example.
   */
  readonly samples?: Samples | undefined;
  /** Returns the challenges of a 401 (RFC 9110 §11.6.1); empty if the operation needs none. */
  readonly challenge: (presented: boolean) => string;
}

type Samples = (media: MediaType) => Iterable<unknown>;

/**
 * Returns the answer to an error, with the error body of the document. The cause is only in the
 * record, for the log.
 *
 * @param context the operation, if the request has reached one. The body matches its declared
 *   response.
 */
export function failureAnswer(
  error: unknown,
  record: CallRecord,
  method: string,
  errorBody: ErrorBody,
  context?: OperationContext,
): Answer {
  const failure = failureOf(error);
  record.failure = failure;
  try {
    const reply = failureReply(failure, errorBody, context, record.id);
    const { mismatch } = reply;
    // Violations that the body does not contain are logged, but not the names of unknown members:
    // the client chose these, and they may be secrets.
    if (error instanceof Violations && (reply.body === undefined || mismatch !== undefined)) {
      const violations = error.violations.filter((each) => !isUndeclared(each));
      record.reason = new Violations(violations).message;
    }
    if (mismatch !== undefined) {
      const difference = `the body of errorBody does not match the document: ${mismatch}`;
      record.reason = `${record.reason ?? failure.reason}; ${difference}`;
    }
    return createAnswer(reply, record, method);
  } catch (cause) {
    record.failure = internal(cause);
    return createAnswer(failureReply(record.failure, PROBLEM_DETAILS), record, method);
  }
}

/**
 * Converts a thrown value to the failure that is sent. Reads the properties of http-errors:
 * `status`, `headers`, and `message`, which is sent only if `expose` is true. Any other value
 * becomes 500, with the value as the cause for the log.
 *
 * Never throws, although handlers may throw values whose properties cannot be read.
 */
export function failureOf(error: unknown): Failure {
  try {
    return readFailure(error) ?? internal(error);
  } catch {
    return internal(error);
  }
}

/**
 * Copies a failure, so that each property is read once. Returns `undefined` if the value has no
 * error status that may be sent.
 *
 * @throws {unknown} if a getter or a proxy throws.
 */
function readFailure(error: unknown): Failure | undefined {
  if (error instanceof InvalidReply) {
    const message = 'the service made a reply that the document does not declare';
    return { ...INTERNAL, message, reason: message, cause: error };
  }
  if (error instanceof Violations) {
    const { message, violations: errors } = error;
    const reason = 'the request does not match the document';
    return { status: 400, message, headers: {}, reason, expected: false, errors };
  }
  const { status, expose, headers, message, body, cause } = Object(error);
  if (!Number.isInteger(status) || status < 400 || status > 599) return undefined;
  const written = copyHeaders(headers);
  if (error instanceof HttpError) {
    const { type, reason, expected, errors } = error;
    return {
      isPresented: !(error instanceof Unauthorized) || error.presented,
      status,
      type: typeof type === 'string' ? type : undefined,
      message: shorten(message),
      headers: written,
      reason: shorten(reason),
      expected: expected === true,
      errors: Array.isArray(errors) ? errors : undefined,
      cause,
    };
  }
  if (status === 500) return undefined;
  const phrase = reasonPhrase(status).toLowerCase();
  const publicMessage = expose === true ? shorten(message) : phrase;
  const isFault = status >= 500 || expose !== true;
  return {
    ...INTERNAL,
    status,
    message: publicMessage,
    headers: written,
    // The errors of body-parser have the body, and quote it in their messages.
    reason: body === undefined ? publicMessage : phrase,
    cause: isFault ? error : cause,
  };
}

const INTERNAL: Failure = {
  status: 500,
  message: 'internal server error',
  headers: {},
  reason: 'internal server error',
  expected: false,
};

const internal = (cause: unknown): Failure => ({ ...INTERNAL, cause });

/** The number of characters after which messages are cut. */
const MAX_MESSAGE = 8192;

/** @throws {TypeError} if the message is not a string. */
function shorten(message: unknown): string {
  if (typeof message !== 'string') throw new TypeError('the message is not a string');
  return message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE)}…` : message;
}

/** @throws {TypeError} if a header cannot be sent. */
function copyHeaders(headers: unknown): Record<string, string> {
  const copy: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers ?? {})) {
    if (value === undefined) continue;
    copy[name] = String(value);
    if (!isHeader(name, copy[name])) throw new TypeError(`the header ${name} cannot be sent`);
  }
  return copy;
}

/** Merges headers by name in any case: later ones override earlier ones. @throws {TypeError} */
function mergeHeaders(...sources: readonly unknown[]): Record<string, string> {
  const headers = sources.flatMap((source) => Object.entries(copyHeaders(source)));
  const byName = new Map(headers.map((header) => [header[0].toLowerCase(), header]));
  return Object.fromEntries(byName.values());
}

/**
 * Returns the reply to a failure, with the body that `errorBody` makes. If that does not match the
 * declared response, the body is an example of the document, or else problem details (RFC 9457),
 * and `mismatch` contains the reason.
 */
function failureReply(
  { status, message, type, headers: thrown, errors, isPresented = true }: Failure,
  errorBody: ErrorBody,
  context?: OperationContext,
  requestId?: string,
): CheckedReply & { readonly mismatch?: string | undefined } {
  const problem = { status, message, type, errors, requestId };
  // A 401 must have a challenge (RFC 9110 §15.5.2), if the operation has a scheme.
  const challenge = status === 401 && context?.challenge(isPresented);
  const headers = mergeHeaders(
    errorBody.headers?.(problem),
    challenge ? { 'WWW-Authenticate': challenge } : undefined,
    thrown,
  );
  const operationId = context?.operation.id;
  const make = (media?: MediaType): unknown =>
    errorBody.make(
      problem,
      operationId ? { operationId, mediaType: media?.type, schema: media?.schema } : undefined,
    );
  const declared = context && declaredFor(context.operation, status);
  if (context === undefined || declared === undefined) {
    const body = make();
    return {
      status,
      headers,
      type: errorBody.mediaType,
      body: typeof body === 'string' ? body : stringifyJson(body),
    };
  }
  let mismatch: string | undefined;
  for (const [{ type }, body] of candidates(context, declared.media)) {
    try {
      const contentType = type.includes('*') ? errorBody.mediaType : type;
      return {
        status,
        headers,
        ...checkBody(context.validator, declared, { status, contentType, body }),
        mismatch,
      };
    } catch (error) {
      const difference = mismatchOf(error);
      if (difference === undefined) throw error;
      mismatch ??= difference;
    }
  }
  if (mismatch === undefined) return { status, headers };
  const { mediaType, make: describeProblem } = PROBLEM_DETAILS;
  const body = stringifyJson(describeProblem(problem));
  return { status, headers, type: mediaType, body, mismatch };

  function* candidates(
    { samples }: OperationContext,
    mediaTypes: readonly MediaType[],
  ): Generator<[MediaType, unknown]> {
    for (const media of mediaTypes) yield [media, make(media)];
    for (const media of mediaTypes) {
      for (const { value } of media.examples()) yield [media, value];
    }
    for (const media of mediaTypes) {
      for (const value of samples?.(media) ?? []) yield [media, value];
    }
  }
}
