/** What a client may take, in milliseconds and bytes. The README names them. */
export const LIMITS = {
  /** Until the header section is there, counted from the start of the connection or of the request. */
  headersTimeout: 10_000,
  /** Until the whole request is there. */
  requestTimeout: 30_000,
  /** Between two requests of a connection. */
  keepAliveTimeout: 65_000,
  /** Without a byte either way, also while an answer is not read. */
  idleTimeout: 60_000,
  /** Until a connection that was given up is closed, so that the client can read why. */
  lingerTimeout: 2_000,
  /** Without a new connection, before a stop closes the port. */
  quietTimeout: 50,
  /** How long a stop waits for requests on connections that have none, before it closes the port. */
  idleStopTimeout: 1_000,
  /** From then on, until a stop aborts what is still in flight. */
  stopTimeout: 10_000,
  maxHeaderSize: 16_384,
};

export type Limits = typeof LIMITS;
