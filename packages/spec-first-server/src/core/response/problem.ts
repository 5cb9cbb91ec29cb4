import type { IncomingHttpHeaders } from 'node:http';
import { isPromise } from 'node:util/types';
import { refTo } from 'openapi-document';
import type { Violation } from '../validation/violations.ts';

/** The failure of a request, for the error body. */
export interface Problem {
  /** An HTTP status code from 400 to 599. */
  readonly status: number;
  /** An error message for the client. */
  readonly message: string;
  /** A URI reference that identifies the kind of problem (RFC 9457 §3.1.1). */
  readonly type?: string | undefined;
  /**
   * The violations, with JSON pointers such as `/body/name`, keywords of JSON Schema, and `params`:
   * the values in their messages, such as a limit.
   */
  readonly errors?: readonly Violation[] | undefined;
  /**
   * The id of the request, as in the log; `undefined` for a mocked error, which is made once for
   * all requests.
   */
  readonly requestId?: string | undefined;
  /**
   * The headers of the request, by name in lower case. Empty for bytes that are not a request of
   * HTTP. `undefined` for a mocked error.
   */
  readonly requestHeaders?: IncomingHttpHeaders | undefined;
}

/** The response that the document declares for a failure of an operation. */
export interface DeclaredProblem {
  readonly operationId: string;
  /** The declared media type; `undefined` if the document does not declare this status. */
  readonly mediaType: string | undefined;
  /** The declared Schema Object, perhaps a `$ref`. */
  readonly schema: unknown;
}

/** Converts problems to the document's error body. */
export interface ErrorBody {
  /** The media type of the values of `make`, unless the document declares another one. */
  readonly mediaType: string;
  /**
   * Returns the value of the body. Must be synchronous.
   *
   * @param declared the declared response, if the request has reached an operation.
   */
  readonly make: (problem: Problem, declared?: DeclaredProblem) => unknown;
  /** Returns the headers of an error response, such as those that the document requires. */
  readonly headers?: (problem: Problem) => Readonly<Record<string, string>>;
}

/**
 * Problem details (RFC 9457). The title depends on the status alone; `detail` has the message, and
 * `errors` lists the violations of the document.
 */
export const PROBLEM_DETAILS: ErrorBody = {
  mediaType: 'application/problem+json',
  make: ({ status, message, type, errors }) => ({
    ...(type !== undefined && { type }),
    title: reasonPhrase(status),
    status,
    detail: message,
    ...(errors && {
      errors: errors.map(({ path, message: detail }) => ({ detail, pointer: refTo(path) })),
    }),
  }),
};

/** @throws {TypeError} if `make` returns a promise. */
export function makeBody(
  { make }: ErrorBody,
  problem: Problem,
  declared?: DeclaredProblem,
): unknown {
  const body = make(problem, declared);
  if (!isPromise(body)) return body;
  // Its rejection must not end the process.
  body.catch(() => undefined);
  throw new TypeError('errorBody.make must return the body, not a promise: remove async');
}

export const reasonPhrase = (status: number): string =>
  process.getBuiltinModule('node:http').STATUS_CODES[status] ?? 'Error';
