import type { IncomingHttpHeaders } from 'node:http';
import type { HeaderValues } from '../http/failures.ts';
import type { Account } from './account.ts';
import type { Caller } from './handlers/types.ts';
import type { Failure, HttpError } from './response/http-error.ts';

/** A request without its connection. Adapters create one for each request. */
export interface Call {
  /** In upper case, such as `GET`. */
  readonly method: string;
  /** Percent-encoded, without a query. */
  readonly path: string;
  /** Without the `?`. Empty by default. */
  readonly query?: string;
  /** By name in lower case. */
  readonly headers: IncomingHttpHeaders;
  /**
   * The bytes, if all have arrived, or a stream of them; `undefined` if the request has none.
   * Read once, and only after the credentials are verified.
   */
  readonly body?: Bytes | AsyncIterable<Bytes> | undefined;
  /** The client's address. */
  readonly client?: string | undefined;
  /** Aborted when the client disconnects before the answer is sent. */
  readonly signal?: AbortSignal;
}

export type Bytes = Uint8Array;

/** A response, ready to be written. */
export interface Answer {
  readonly status: number;
  /** Names and values alternate. Mutable, since `writeHead` does not accept a readonly array. */
  readonly headers: string[];
  /** A stream fails if an item is invalid. The adapter then closes the connection. */
  readonly body: string | Bytes | AsyncIterable<string | Bytes> | undefined;
}

/**
 * The facts about one call that the log and the metrics need. `operation.ts` records the course of
 * the operation, `failures.ts` each failure.
 */
export interface CallRecord {
  /** From the header `X-Request-Id`, or a new one. */
  readonly id: string;
  /**
   * Headers of each response to the call, unless it has others of the same names. Names and values
   * alternate.
   */
  readonly headers: string[];
  /** The reply to a call that must reach neither middleware nor an operation. */
  readonly intercepted: PlainReply | HttpError | undefined;
  /** The id of the request's trace. */
  readonly traceId: string | undefined;
  /** The memory and the time that the call spends. */
  readonly account: Account;
  /** The time by `performance.now()`, in milliseconds. */
  readonly started: number;
  /** The time when a streamed answer starts; `undefined` for other answers. */
  streamStarted: number | undefined;
  operationId: string | undefined;
  /** Set if the call is for an endpoint beside the operations. */
  endpoint: Endpoint['kind'] | undefined;
  caller: Caller | undefined;
  /** By security scheme, if the request needs the credentials of several. */
  callers: Readonly<Record<string, Caller>> | undefined;
  /** Set if the answer is a mock. */
  mocked: true | undefined;
  /** The handler's reason for its reply, for the log. */
  reason: string | undefined;
  failure: Failure | undefined;
}

/** A reply that is not checked against the document. */
export interface PlainReply {
  readonly status: number;
  /** The media type of the body. */
  readonly type?: string | undefined;
  readonly headers?: HeaderValues | undefined;
  readonly body?: string | Bytes | undefined;
}

/** A path beside the operations of a document: a health probe, or a page. */
export interface Endpoint {
  /** Probes are logged at level debug. */
  readonly kind: 'probe' | 'page';
  /** Returns the response to GET. Its status is 200 by default. */
  readonly read: (ifNoneMatch?: string) => Promise<Partial<PlainReply>>;
}

/** The outcome of a call, reported by the adapter. */
export interface CallEnd {
  /** The status that was sent; 499 if the client disconnected first. */
  readonly status: number;
  /** True if the whole answer was sent. */
  readonly isComplete: boolean;
  /** Replaces the failure of the record if the server sent another response than the answer. */
  readonly failure?: Failure | undefined;
}
