/** One thing that is wrong with a request or a reply: where, as a JSON pointer from its top, and what. */
export interface Violation {
  readonly path: string;
  readonly message: string;
}

/**
 * A request that ends without its operation's reply. The message goes to the client; what is for the log alone stands
 * in `cause`.
 */
export class Failure extends Error {
  override readonly name = 'Failure';
  /** An HTTP status code from 400 to 599 (RFC 9110 §15). */
  readonly status: number;
  readonly headers: Readonly<Record<string, string | number>>;
  /** What the log says in the place of the message: nothing that the client sent. */
  readonly reason: string;
  /** The operator wants it, as while the service stops: the log does not call it an error. */
  readonly wanted: boolean;

  constructor(status: number, message: string, options: FailureOptions = {}) {
    super(message, { cause: options.cause });
    this.status = status;
    this.headers = options.headers ?? {};
    this.reason = options.reason ?? message;
    this.wanted = options.wanted ?? false;
  }

  /** 400 that names each violation. */
  static violations(violations: readonly Violation[]): Failure {
    return new Failure(400, describeViolations(violations), { reason: 'the request is not as the document declares' });
  }
}

/** What a {@link Failure} may have. */
export interface FailureOptions {
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
export class BrokenReply extends Error {
  override readonly name = 'BrokenReply';
}

const MOST = 20;

/** Violations as one line for people. A hostile body may break the contract in thousands of places: the first ones do. */
export function describeViolations(violations: readonly Violation[]): string {
  const lines = [...new Set(violations.map(({ path, message }) => `${path} ${message}`.trim()))];
  const more = lines.length > MOST ? [`and ${lines.length - MOST} more`] : [];
  return [...lines.slice(0, MOST), ...more].join('; ');
}
