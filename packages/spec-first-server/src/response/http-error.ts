import { http } from '../http-server/index.ts';
import type { Violation } from '../validation/checks.ts';

/** What an {@link HttpError} may have. */
export interface HttpErrorOptions {
  readonly headers?: Readonly<Record<string, string | number>>;
  /** For the log only. */
  readonly cause?: unknown;
  /** For the log, where the message quotes what the client sent. By default the message. */
  readonly reason?: string;
  /** The operator wants it, as while the service stops: the log does not call it an error. */
  readonly expected?: boolean;
  /** How the request breaks the document. */
  readonly errors?: readonly Violation[] | undefined;
}

/** An error answered instead of the handler's reply. The message goes to the client, the cause to the log only. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  /** An HTTP status code from 400 to 599 (RFC 9110 §15). */
  readonly status: number;
  readonly headers: Readonly<Record<string, string | number>>;
  /** What the log says instead of the message: nothing that the client sent. */
  readonly reason: string;
  readonly expected: boolean;
  /** How the request breaks the document; the first ones of very many. */
  readonly errors: readonly Violation[] | undefined;

  /** @throws {TypeError} if a header has a character that no header can have. */
  constructor(status: number, message: string, options: HttpErrorOptions = {}) {
    super(message, { cause: options.cause });
    const { headers = {}, reason = message, expected = false } = options;
    for (const [name, value] of Object.entries(headers)) {
      http.validateHeaderName(name);
      http.validateHeaderValue(name, String(value));
    }
    this.status = status;
    this.headers = headers;
    this.reason = reason;
    this.expected = expected;
    // A hostile request can have thousands.
    this.errors = options.errors?.slice(0, 100);
  }

  /** 405 that names the methods of the path (RFC 9110 §15.5.6). */
  static notAllowed(method: string, allow: readonly string[]): HttpError {
    const headers = { Allow: allow.join(', ') };
    return new HttpError(405, `${method} is not a method of this path; allowed: ${headers.Allow}`, { headers });
  }
}

/** A reply that the document does not declare: a bug of the service, named in the log only. */
export class InvalidReply extends Error {
  override readonly name = 'InvalidReply';
}

/** No credential, or one that is not accepted: 401. The message goes to the client and never holds the credential. */
export class Unauthorized extends Error {
  override readonly name = 'Unauthorized';
  /** Whether a credential was presented: only then does the challenge say `invalid_token` (RFC 6750 §3.1). */
  readonly presented: boolean;

  constructor(message: string, presented = true) {
    super(message);
    this.presented = presented;
  }
}

/** A valid token without the scopes that the operation needs: 403, `insufficient_scope` (RFC 6750 §3.1). */
export class Forbidden extends HttpError {
  /** @param scopes all that the operation needs. */
  constructor(scopes: readonly string[]) {
    const needed = scopes.join(' ');
    // A header holds no other characters than those of a URI.
    const scope = encodeURI(needed.toWellFormed());
    const headers = { 'WWW-Authenticate': `Bearer error="insufficient_scope", scope="${scope}"` };
    super(403, `The token lacks a scope: this operation needs ${needed}`, { headers });
  }
}
