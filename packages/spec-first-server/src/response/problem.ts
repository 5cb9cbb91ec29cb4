/** What clients learn of a failure. */
export interface Problem {
  /** An HTTP status code from 400 to 599: the one that says most precisely what failed. */
  readonly status: number;
  /** What was wrong and what would be right. */
  readonly message: string;
}

/** How a problem becomes the document's error body. */
export interface ErrorBody {
  /** The media type of what `make` returns, where the document does not declare another. */
  readonly mediaType: string;
  readonly make: (problem: Problem) => unknown;
}

/** Problem details (RFC 9457), for documents whose error body is not said otherwise. */
export const PROBLEM_DETAILS: ErrorBody = {
  mediaType: 'application/problem+json',
  make: ({ status, message }) => ({ status, title: message }),
};
