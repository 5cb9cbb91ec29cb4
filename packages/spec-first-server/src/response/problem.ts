import type { Problem } from '../http-server/index.ts';

export { PROBLEM_DETAILS, type Problem } from '../http-server/index.ts';

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
