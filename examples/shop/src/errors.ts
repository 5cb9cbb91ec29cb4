import { STATUS_CODES } from 'node:http';
import { type ErrorBody, HttpError } from 'spec-first-server';

export class Conflict extends HttpError {
  constructor(type: string, message: string) {
    super(409, message, { type: `/problems/${type}` });
  }
}

export const notFound = (what: string): HttpError => new HttpError(404, `there is no such ${what}`);

export const errorBody: ErrorBody = {
  mediaType: 'application/problem+json',
  make: ({ status, type = 'about:blank', message, errors }) => ({
    type,
    title: STATUS_CODES[status] ?? 'Error',
    status,
    detail: message,
    ...(errors && { errors }),
  }),
};
