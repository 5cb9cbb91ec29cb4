import type { ServerResponse } from 'node:http';

/** Where to listen, and how to answer what is not for the app. */
export interface ListenOptions {
  readonly host: string;
  /** 0 takes any free one. */
  readonly port: number;
  readonly limits?: Partial<Limits>;
  readonly onRejected?: OnRejected;
  /** Called when connections are dropped, since the limit of open files is reached: at most once a second. */
  readonly onDropped?: ((connections: number) => void) | undefined;
  /** By default problem details. */
  readonly errorBody?: ProblemBody | undefined;
  /** Resolves when all connections so far have come, where another process accepts them for this one. */
  readonly allAccepted?: (() => Promise<void>) | undefined;
}

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

/**
 * Called with each request that is rejected before the app gets it.
 *
 * @param client the address of the connection's other end.
 * @param response what the app was about to answer with, if the request had come that far.
 */
export type OnRejected = (why: Problem, client: string | undefined, response?: ServerResponse) => void;

/** Why a request is rejected. */
export interface Problem {
  /** An HTTP status code from 400 to 599. */
  readonly status: number;
  /** What was wrong and what would be right. */
  readonly message: string;
  /** Where a request breaks the document: JSON pointers such as `/body/name`, and keywords of JSON Schema. */
  readonly errors?:
    | readonly { readonly path: string; readonly message: string; readonly keyword: string }[]
    | undefined;
  /** The request's id, as in the log; `undefined` for what never became a request. */
  readonly requestId?: string | undefined;
}

/** How the body of an answer to a rejected request is made. */
export interface ProblemBody {
  /** The media type of what `make` returns. */
  readonly mediaType: string;
  /** Returns a value that is written as JSON. */
  readonly make: (problem: Problem) => unknown;
}

/** Problem details (RFC 9457). */
export const PROBLEM_DETAILS: ProblemBody = {
  mediaType: 'application/problem+json',
  make: ({ status, message }) => ({ status, title: message }),
};

/** The error of a socket that the server closed at a stop, before its request was answered. */
export const CUT_OFF = new Error('the service stopped before the request was answered');
