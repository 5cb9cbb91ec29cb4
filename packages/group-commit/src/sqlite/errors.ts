/** The database cannot answer now, but may later: locked, disk full, thread ended, too many calls waiting. */
export class DatabaseUnavailable extends Error {
  override readonly name = 'DatabaseUnavailable';
  /** Whole seconds to wait before the next attempt. */
  readonly retryAfter = 1;
}

/** The database cannot be opened, and waiting does not help. The message says what is wrong and what would be right. */
export class DatabaseUnusable extends Error {
  override readonly name = 'DatabaseUnusable';
}
