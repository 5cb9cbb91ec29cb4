import type { HeaderValues, HttpFailure } from '../../http/failures.ts';
import type { Violation } from '../validation/violations.ts';
import { isHeader } from './headers.ts';

/** The optional properties of an {@link HttpError}. */
export interface HttpErrorOptions extends Omit<HttpFailure, 'status' | 'message'> {
  /** A URI reference that identifies the kind of problem (RFC 9457 §3.1.1), for the error body. */
  readonly type?: string | undefined;
  /** The violations of the request. */
  readonly errors?: readonly Violation[] | undefined;
}

/** The facts about an error that the answer and the log need. */
export interface Failure extends HttpFailure, HttpErrorOptions {
  /** For a 401: true if a credential was presented. True by default. */
  readonly isPresented?: boolean;
  /** The subject of a rejected caller. */
  readonly subject?: string | undefined;
  /** The places of the violations of the request, for the log. */
  readonly places?: readonly string[] | undefined;
  /** True if the error body or its headers do not match the document. */
  readonly isUndeclared?: boolean;
}

/**
 * An error response sent instead of the handler's reply. The message is sent to the client; the
 * cause is only logged.
 */
export class HttpError extends Error {
  override readonly name: string = 'HttpError';
  /** An HTTP status code from 400 to 599 (RFC 9110 §15). */
  readonly status: number;
  readonly type: string | undefined;
  readonly headers: HeaderValues;
  /** Logged instead of the message. Must not contain data of the client. */
  readonly reason: string;
  readonly expected: boolean;
  /** The first 100 violations of the request. The server itself finds at most 20 in a body. */
  readonly errors: readonly Violation[] | undefined;

  /** @throws {TypeError} if a header contains an invalid character. */
  constructor(status: number, message: string, options: HttpErrorOptions = {}) {
    super(message, { cause: options.cause });
    const { headers = {}, reason = message, expected = false } = options;
    for (const [name, value] of Object.entries(headers)) {
      if (!isHeader(name, value))
        throw new TypeError(`the header ${name} contains an invalid character`);
    }
    this.status = status;
    this.type = options.type;
    this.headers = headers;
    this.reason = reason;
    this.expected = expected;
    // A hostile request can have thousands.
    this.errors = options.errors?.slice(0, 100);
  }

  static of(failure: HttpFailure): HttpError {
    return new HttpError(failure.status, failure.message, failure);
  }

  /** Returns a 405 that names the allowed methods of the path (RFC 9110 §15.5.6). */
  static notAllowed(method: string, allow: readonly string[]): HttpError {
    const headers = { Allow: allow.join(', ') };
    return new HttpError(405, `${method} is not a method of this path; allowed: ${headers.Allow}`, {
      headers,
    });
  }
}

/** A reply that the document does not declare. A bug of the service; only the log has details. */
export class InvalidReply extends Error {
  override readonly name = 'InvalidReply';
  readonly violation: string;

  /** @param context the start of the message, such as `getBook responded with 200: `. */
  constructor(violation: string, context = '') {
    super(context + violation);
    this.violation = violation;
  }
}

/**
 * Rejects a credential: 401. The answer gets the challenges of the operation's security schemes.
 * The message goes to the client and must not contain the credential.
 */
export class Unauthorized extends HttpError {
  override readonly name = 'Unauthorized';
  /**
   * True if a credential was presented. Only then does the challenge contain `invalid_token` (RFC
   * 6750 §3.1).
   */
  readonly presented: boolean;

  constructor(message: string, presented = true) {
    super(401, message);
    this.presented = presented;
  }
}

/**
 * Rejects an authenticated caller that lacks a permission: 403.
 *
 * @example
 * throw new Forbidden('only the owner may cancel an order');
 */
export class Forbidden extends HttpError {
  /** The subject of the rejected caller, for the log only. */
  readonly subject: string | undefined;

  /**
   * @param messageOrScopes a message for the client, or all scopes that the operation needs.
   * @param message for the client, instead of the default message about the scopes.
   * @param subject the subject of the caller, for the log. Needed if the request has no caller yet.
   */
  constructor(messageOrScopes: string | readonly string[], message?: string, subject?: string) {
    if (typeof messageOrScopes === 'string') {
      super(403, messageOrScopes);
      this.subject = subject;
      return;
    }
    // A scope may contain characters that a header must not contain.
    const scope = messageOrScopes.map((name) => encodeURI(name.toWellFormed())).join(' ');
    const headers = { 'WWW-Authenticate': `Bearer error="insufficient_scope", scope="${scope}"` };
    const scopeNames = messageOrScopes.join(' ');
    const defaultMessage = `The token lacks a scope: this operation needs ${scopeNames}`;
    super(403, message ?? defaultMessage, { headers });
    this.subject = subject;
  }
}
