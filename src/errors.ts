import type { ErrorBody } from 'spec-first-server';

/** The body of error responses, as declared in the document. */
export const errorBody: ErrorBody = {
  mediaType: 'application/json',
  make: ({ status, message }) => ({ error: status, message }),
};
