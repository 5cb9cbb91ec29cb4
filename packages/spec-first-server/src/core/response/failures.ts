import {
  type Codecs,
  type DeclaredResponse,
  declaredFor,
  isRange,
  type MediaType,
  type Operation,
  readParameter,
} from 'openapi-document';
import type { HeaderValues } from '../../http/failures.ts';
import type { Answer, Call, CallRecord } from '../call.ts';
import { describePlaces } from '../declared-names.ts';
import type { OperationValidator } from '../validation/validator.ts';
import { Violations } from '../validation/violations.ts';
import { type CheckedReply, createAnswer } from './answer.ts';
import { isHeader } from './headers.ts';
import { type Failure, Forbidden, HttpError, InvalidReply, Unauthorized } from './http-error.ts';
import {
  type ErrorBody,
  makeBody,
  PROBLEM_DETAILS,
  type Problem,
  reasonPhrase,
} from './problem.ts';
import {
  bodyWriter,
  declaredBody,
  declaredHeaders,
  violationOf,
  type WrittenBody,
} from './reply.ts';

/** The parts of a service that its error responses need. */
export interface FailureContext {
  readonly errorBody: ErrorBody;
  /** Codecs of `errorBody`, of problem details, and of the operation are loaded. */
  readonly codecs: Codecs;
  /** The names that the log may contain. */
  readonly names: ReadonlySet<string>;
  /** The operation that the request has reached. Its declared response determines the body. */
  readonly reached?: ReachedOperation;
}

/** The parts of an operation that its error responses need. */
interface ReachedOperation {
  readonly operation: Operation;
  readonly validator: OperationValidator;
  /**
   * For a mock: generates bodies. They are used if neither the body of `errorBody` nor an example
   * of the document matches the declared schema.
   */
  readonly samples?: ((media: MediaType) => Iterable<unknown>) | undefined;
  /** Returns the challenges of a 401 (RFC 9110 §11.6.1); empty if the operation needs none. */
  readonly challenge: (presented: boolean) => string;
}

/**
 * Returns the answer to an error, with the error body of the document. The cause is only in the
 * record, for the log.
 */
export function failureAnswer(
  error: unknown,
  record: CallRecord,
  { method, headers }: Pick<Call, 'method' | 'headers'>,
  context: FailureContext,
): Answer {
  const { failure, reply, violations } = failureReply(failureOf(error), context, {
    requestId: record.id,
    requestHeaders: headers,
    defaults: record.headers,
  });
  record.failure = {
    ...failure,
    reason: [failure.reason ?? failure.message, ...violations].join('; '),
    isUndeclared: violations.length > 0,
    // `failure.errors` is checked first: it is undefined for a revoked Proxy, for which
    // `instanceof` throws.
    places:
      failure.errors !== undefined && error instanceof Violations
        ? describePlaces(error.violations, context.names)
        : undefined,
  };
  return createAnswer(reply, record, method);
}

/**
 * Converts a thrown value to the failure that is sent. An {@link HttpError} has its status and
 * message, and {@link Violations} become 400. Errors of the package http-errors are also supported:
 * `status` and `headers` are sent, and `message` only if `expose` is true. Any other value, and an
 * error of http-errors with the status 500, becomes a 500 with a general message, and is its cause
 * for the log.
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
    return { status: 500, message, cause: error };
  }
  if (error instanceof Violations) {
    const { message, violations: errors } = error;
    const reason = 'the request does not match the document';
    return { status: 400, message, reason, errors };
  }
  const { status, expose, headers, message, type, body, cause } = Object(error);
  if (!Number.isInteger(status) || status < 400 || status > 599) return undefined;
  const copiedHeaders = copyHeaders(headers);
  if (error instanceof HttpError) {
    const { reason, expected, errors } = error;
    return {
      isPresented: !(error instanceof Unauthorized) || error.presented,
      subject: error instanceof Forbidden ? error.subject : undefined,
      status,
      type: typeof type === 'string' ? type : undefined,
      message: shorten(message),
      headers: copiedHeaders,
      reason: shorten(reason),
      expected: expected === true,
      errors: Array.isArray(errors) ? errors : undefined,
      cause,
    };
  }
  if (status === 500) return undefined;
  // The parsers of Express quote the body in their messages.
  const isMalformed = type === 'entity.parse.failed';
  const phrase = isMalformed ? 'the body is malformed' : reasonPhrase(status).toLowerCase();
  const publicMessage = expose === true && !isMalformed ? shorten(message) : phrase;
  const isUnexpected = status >= 500 || expose !== true;
  return {
    status,
    message: publicMessage,
    headers: copiedHeaders,
    reason: body === undefined ? publicMessage : phrase,
    cause: isUnexpected ? error : cause,
  };
}

const internal = (cause: unknown): Failure => ({
  status: 500,
  message: 'internal server error',
  cause,
});

const MAX_MESSAGE = 8192;

function shorten(message: unknown): string {
  if (typeof message !== 'string') throw new TypeError('the message is not a string');
  return message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE)}…` : message;
}

function copyHeaders(headers: unknown): HeaderValues {
  const copy = new Map<string, string | string[]>();
  for (const [name, value] of Object.entries(headers ?? {})) {
    if (value === undefined) continue;
    const text = Array.isArray(value) ? value.map(String) : String(value);
    if (!isHeader(name, text)) throw new TypeError(`the header ${name} cannot be sent`);
    copy.set(name, text);
  }
  return Object.fromEntries(copy);
}

/** Lets later headers override earlier ones. Names are case-insensitive. */
function mergeHeaders(...sources: readonly HeaderValues[]): HeaderValues {
  const headers = sources.flatMap((source) => Object.entries(source));
  const byName = new Map(headers.map((header) => [header[0].toLowerCase(), header]));
  return Object.fromEntries(byName.values());
}

type RequestFacts = Pick<Problem, 'requestId' | 'requestHeaders'> & {
  /** Headers of each response to the request. Names and values alternate. */
  readonly defaults: readonly string[];
};

/** A reply to a failure, and its violations of the document. */
interface FailureReply {
  readonly reply: CheckedReply;
  /**
   * Includes the first violation of the declared response by the body that `errorBody`
   * makes, even if a body of another media type matches and is sent.
   */
  readonly violations: readonly string[];
}

/**
 * Invalid requests have the status 400, or 422 if the document declares 422 and not 400. Their
 * response may then be `4XX` or `default`.
 */
function withDeclaredStatus(failure: Failure, operation?: Operation): Failure {
  if (failure.status !== 400 || operation === undefined) return failure;
  const declares = (status: string) => operation.responses.some(({ key }) => key === status);
  return declares('422') && !declares('400') ? { ...failure, status: 422 } : failure;
}

/**
 * Returns the reply to a failure, also to a request that has reached no operation. If `errorBody`
 * throws, the reply is a 500 with problem details (RFC 9457). The returned failure then has the
 * cause for the log.
 */
function failureReply(
  original: Failure,
  context: FailureContext,
  request: RequestFacts,
): FailureReply & { readonly failure: Failure } {
  const failure = withDeclaredStatus(original, context.reached?.operation);
  try {
    return { failure, ...replyFor(failure, context, request) };
  } catch (cause) {
    const failure = internal(cause);
    const { codecs, names } = context;
    return { failure, ...replyFor(failure, { codecs, names, errorBody: PROBLEM_DETAILS }) };
  }
}

/**
 * Returns a reply with the body that `errorBody` makes. If that does not match the declared
 * response, the body is an example of the document, or a generated value if the operation is
 * mocked, or else problem details (RFC 9457). No body is sent if the response declares none.
 *
 * @throws {unknown} if `errorBody` throws, makes a promise, or makes a header that cannot be sent.
 */
function replyFor(
  { status, message, type, headers: errorHeaders = {}, errors, isPresented = true }: Failure,
  { errorBody, codecs, names, reached }: FailureContext,
  { defaults, ...facts }: RequestFacts = { defaults: [] },
): FailureReply {
  const problem = { status, message, type, errors, ...facts };
  // A 401 must have a challenge (RFC 9110 §15.5.2), if the operation has a scheme.
  const challenge = status === 401 && reached?.challenge(isPresented);
  const headers = mergeHeaders(
    copyHeaders(errorBody.headers?.(problem)),
    challenge ? { 'WWW-Authenticate': challenge } : {},
    errorHeaders,
  );
  const declared = reached && declaredFor(reached.operation, status);
  const violations: string[] = [];
  let written: WrittenBody | undefined;
  for (const write of candidates()) {
    const result = writtenOrViolation(write, names);
    if (typeof result !== 'string') {
      written = result;
      break;
    }
    if (violations.length === 0)
      violations.push(`the body of errorBody does not match the document: ${result}`);
  }
  written ??= writeUndeclared(PROBLEM_DETAILS.mediaType, PROBLEM_DETAILS.make(problem));
  const headerViolation =
    declared && headerViolationOf(reached.validator, declared, headers, defaults);
  if (headerViolation !== undefined)
    violations.push(`the headers of the error do not match the document: ${headerViolation}`);
  return { reply: { status, headers, ...written }, violations };

  /** Yields functions that write a body, in the order of preference. */
  function* candidates(): Generator<() => WrittenBody> {
    if (reached === undefined || declared === undefined) {
      const body = make();
      yield () => writeUndeclared(errorBody.mediaType, body);
      return;
    }
    const { validator, samples } = reached;
    const { media: mediaTypes } = declared;
    const writer = (media: MediaType, body: unknown) => () => {
      const contentType = isRange(media.type) ? errorBody.mediaType : media.type;
      return declaredBody(validator, declared, contentType)(body);
    };
    if (mediaTypes.length === 0) yield () => ({});
    for (const media of mediaTypes) yield writer(media, make(media));
    for (const media of mediaTypes)
      for (const { value } of media.examples) yield writer(media, value);
    for (const media of mediaTypes)
      for (const value of samples?.(media) ?? []) yield writer(media, value);
  }

  function make(media?: MediaType): unknown {
    const response = { mediaType: media?.type, schema: media?.schema };
    return makeBody(
      errorBody,
      problem,
      reached && { operationId: reached.operation.id, ...response },
    );
  }

  function writeUndeclared(mediaType: string, body: unknown): WrittenBody {
    return bodyWriter(codecs, { type: mediaType }, mediaType)(body);
  }
}

/** Returns the violation of the document if the body does not match it. */
function writtenOrViolation(
  write: () => WrittenBody,
  names: ReadonlySet<string>,
): WrittenBody | string {
  try {
    const written = write();
    // An error is not a stream, even if `errorBody` makes one.
    return written.items === undefined ? written : 'must be a value';
  } catch (error) {
    // `errorBody` may use names that the client chose.
    const violation =
      error instanceof Violations
        ? describePlaces(error.violations, names).join('; ')
        : violationOf(error);
    if (violation === undefined) throw error;
    return violation;
  }
}

function headerViolationOf(
  validator: OperationValidator,
  declared: DeclaredResponse,
  headers: HeaderValues,
  defaults: readonly string[],
): string | undefined {
  if (declared.headers.length === 0) return undefined;
  const texts = new Map(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]),
  );
  try {
    const values = declared.headers.flatMap((header) => {
      const text = texts.get(header.name);
      return text === undefined ? [] : [[header.name, readParameter(header, text)]];
    });
    declaredHeaders(validator, declared, Object.fromEntries(values), defaults);
    return undefined;
  } catch (error) {
    // `read` throws for a text that it cannot parse.
    return error instanceof Error ? error.message : String(error);
  }
}
