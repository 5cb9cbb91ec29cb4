import { Violations } from '../validation/violations.ts';
import { HttpError, InvalidReply } from './http-error.ts';

/** Any error as the failure that a client is told of. What is not known becomes 500, its cause for the log alone. */
export function failureOf(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  if (error instanceof Violations) return HttpError.violations(error.violations);
  return refusedByExpress(error) ?? internal(error);
}

/** A failure of the service itself: the client learns that it happened, the log why. */
export const internal = (cause: unknown): HttpError =>
  new HttpError(
    500,
    cause instanceof InvalidReply
      ? 'the service made a reply that its contract does not declare'
      : 'the service failed; the fault is not in the request',
    { cause },
  );

/** What Express says of a request for a file, by its status; the rest of what it refuses is a bad request. */
const FILE_FAILURES: Readonly<Record<number, string>> = {
  404: 'there is nothing at this path',
  412: 'the condition of the request does not hold (RFC 9110 §13.1)',
  416: 'the range is not within the file (RFC 9110 §14.1.1)',
};

/** What Express and its parts refuse: errors with a `status` (http-errors). */
function refusedByExpress(error: unknown): HttpError | undefined {
  if (!(error instanceof Error && 'status' in error)) return undefined;
  const { status } = error;
  if (typeof status !== 'number' || status < 400 || status > 499) return undefined;
  const message = FILE_FAILURES[status];
  return message === undefined
    ? new HttpError(400, 'the request cannot be understood')
    : new HttpError(status, message);
}
