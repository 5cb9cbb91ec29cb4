import { describeViolations, type Violation } from '../validation/violations.ts';

/**
 * A request that ends without its operation's reply. The message goes to the client; what is for the log alone stands
 * in `cause`.
 */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  /** An HTTP status code from 400 to 599 (RFC 9110 §15). */
  readonly status: number;
  readonly headers: Readonly<Record<string, string | number>>;
  /** What the log says in the place of the message: nothing that the client sent. */
  readonly reason: string;
  /** The operator wants it, as while the service stops: the log does not call it an error. */
  readonly wanted: boolean;

  constructor(status: number, message: string, options: HttpErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.status = status;
    this.headers = options.headers ?? {};
    this.reason = options.reason ?? message;
    this.wanted = options.wanted ?? false;
  }

  /** 400 that names each violation. */
  static violations(violations: readonly Violation[]): HttpError {
    return new HttpError(400, describeViolations(violations), {
      reason: 'the request is not as the document declares',
    });
  }
}

/** What a {@link HttpError} may have. */
export interface HttpErrorOptions {
  readonly headers?: Readonly<Record<string, string | number>>;
  readonly cause?: unknown;
  /** For the log, where the message quotes what the client sent. By default the message. */
  readonly reason?: string;
  readonly wanted?: boolean;
}

/** What the service needs cannot answer now, though it may later. `cause` holds why, for the log only. */
export abstract class Unavailable extends Error {
  /** Whole seconds after which it is worth trying again, at least 1. */
  readonly retryAfter: number;

  constructor(message: string, retryAfter: number, cause?: unknown) {
    super(message, { cause });
    this.retryAfter = retryAfter;
  }
}

/** The reply of an operation is not what the document declares: a bug of the service, told to the log only. */
export class InvalidReply extends Error {
  override readonly name = 'InvalidReply';
}
