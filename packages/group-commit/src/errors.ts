/**
 * The database cannot answer now, but may later: locked, disk full, unreachable, too many calls waiting. A call may have
 * been committed all the same. The properties follow http-errors: a server answers 503, and the message is for its log.
 */
export class Unavailable extends Error {
  override readonly name = 'Unavailable';
  readonly status = 503;
  readonly expose = false;
  readonly headers = { 'Retry-After': '1' };
  /** What kind of trouble it is, for logs and metrics: `BUSY`, `TIMEOUT`, an SQLSTATE, a code of SQLite or of the system. */
  readonly code: string;

  constructor(message: string, code: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

/** The database cannot be used, and waiting does not help. The message says what is wrong and what would be right. */
export class Unusable extends Error {
  override readonly name = 'Unusable';
}
