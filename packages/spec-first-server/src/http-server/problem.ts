/** Why a request is rejected. */
export interface Problem {
  /** An HTTP status code from 400 to 599. */
  readonly status: number;
  /** What was wrong and what would be right. */
  readonly message: string;
  /** Where a request breaks the document: JSON pointers such as `/body/name`, and keywords of JSON Schema. */
  readonly errors?:
    | readonly { readonly path: string; readonly message: string; readonly keyword: string }[]
    | undefined;
  /** The request's id, as in the log; `undefined` for what never became a request. */
  readonly requestId?: string | undefined;
}

/** How the body of an answer to a rejected request is made. */
export interface ProblemBody {
  /** The media type of what `make` returns. */
  readonly mediaType: string;
  /** Returns a value that is written as JSON. */
  readonly make: (problem: Problem) => unknown;
}

/** Problem details (RFC 9457). */
export const PROBLEM_DETAILS: ProblemBody = {
  mediaType: 'application/problem+json',
  make: ({ status, message }) => ({ status, title: message }),
};

/** The error of a socket that the server closed at a stop, before its request was answered. */
export const CUT_OFF = new Error('the service stopped before the request was answered');
