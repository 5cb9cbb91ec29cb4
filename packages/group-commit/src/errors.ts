/**
 * A temporary failure: the database is locked or unreachable, its disk is full, or too many calls
 * are waiting. The call may have been committed. The properties are those of http-errors: a server
 * responds with 503 and logs the message.
 */
export class Unavailable extends Error {
  override readonly name = 'Unavailable';
  readonly status = 503;
  readonly expose = false;
  readonly headers = { 'Retry-After': '1' };
  /**
   * `BUSY`, `CLOSED`, `TIMEOUT`, `FILE_LOST`, `NO_STANDBY`, an SQLSTATE, an error code of SQLite or
   * of the system, or `UNKNOWN`.
   */
  readonly code: string;

  constructor(message: string, code: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

/**
 * A permanent failure. The message contains the reason and, if it is known, the correction. A
 * server that knows errors with a `status`, as of http-errors, logs the message without the stack.
 */
export class Unusable extends Error {
  override readonly name = 'Unusable';
  readonly status = 500;
}

/**
 * A call violates a constraint, such as a unique key, or has a value of the wrong type or size.
 * Other calls are not affected.
 */
export class RowRejected extends Error {
  override readonly name = 'RowRejected';
  /** The SQLSTATE, also with SQLite: 23505 for a unique key, 23503 for a foreign key. */
  readonly code: string;
  /**
   * The name of the constraint. With SQLite, the columns of a key, such as `notes.id`, or
   * `undefined` for a foreign key.
   */
  readonly constraint: string | undefined;

  constructor(message: string, code: string, constraint: string | undefined, cause?: unknown) {
    super(message, { cause });
    this.code = code;
    this.constraint = constraint;
  }
}
