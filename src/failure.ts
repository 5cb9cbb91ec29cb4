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

  constructor(
    status: number,
    message: string,
    options: { headers?: Readonly<Record<string, string | number>>; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.status = status;
    this.headers = options.headers ?? {};
  }

  /** 400 that names each violation. */
  static violations(violations: readonly Violation[]): Failure {
    return new Failure(400, describeViolations(violations));
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
