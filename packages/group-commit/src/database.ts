/** The common members of all open databases. */
export interface Database {
  /** The file, or the hosts and the name of the database. Never contains a password. */
  readonly location: string;
  /** Resolves if a call would succeed now. @throws {Unavailable} within 800 ms. */
  ready(): Promise<void>;
  /**
   * Measurements by name: the number of `waiting` calls; with SQLite, the sizes of the files; with
   * PostgreSQL, the numbers of connections.
   */
  stats(): Readonly<Record<string, number>>;
  /** Closes the database after the waiting calls. Rejects new calls. */
  close(): Promise<void>;
}

/** Limits and callbacks of an open database. An error of a callback is a warning. */
export interface DatabaseOptions {
  /**
   * The maximum number of waiting calls. Further calls are rejected, also if the waiting calls
   * would exceed 16 million characters and bytes. 1,000 by default. With SQLite, each limit applies
   * to writes and to reads separately.
   */
  readonly maxWaiting?: number | undefined;
  /**
   * The time limit of a call in milliseconds. By default 5,000, or with PostgreSQL the sum of
   * `connect_timeout` and `statement_timeout` if that is longer.
   */
  readonly timeout?: number | undefined;
  /**
   * Called after each commit of `write` or `add`, with the number of calls and the seconds that it
   * took.
   */
  readonly onBatch?: ((calls: number, seconds: number) => void) | undefined;
  /** Called with messages for the operator. */
  readonly warn?: ((message: string) => void) | undefined;
  /** Called with the code of each {@link Unavailable} error of a call, except `CLOSED`. */
  readonly onUnavailable?: ((code: string) => void) | undefined;
}

/** Returns a function that calls a callback. Its error is passed to `warn`, and fails no call. */
export const notifier =
  (warn: DatabaseOptions['warn']) =>
  <Values extends readonly unknown[]>(
    callback: ((...values: Values) => void) | undefined,
    ...values: Values
  ): void => {
    if (callback === undefined) return;
    Promise.try(callback, ...values)
      .catch((error) => warn?.(`a callback failed: ${error}`))
      .catch(() => undefined);
  };
