import type { ErrorBody } from 'spec-first-server';

/** The body of every failure, as the document declares it; the start checks that it is. */
export const errorBody: ErrorBody = {
  mediaType: 'application/json',
  make: ({ status, message }) => ({ error: status, message }),
};
