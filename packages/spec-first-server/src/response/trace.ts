import type { ServerResponse } from 'node:http';
import type { HttpError } from './http-error.ts';

/** What is known of a request when its answer is sent, for the log and the metrics. */
export interface Trace {
  readonly id: string;
  /** Of the trace that the request is a part of. */
  readonly traceId: string | undefined;
  /** The client's address. */
  readonly client: string | undefined;
  readonly started: number;
  operationId: string | undefined;
  subject: string | undefined;
  /** Whether the answer is a mock. */
  mocked: true | undefined;
  /** Why a handler answered as it did. */
  reason: string | undefined;
  failure: HttpError | undefined;
}

const TRACE = Symbol('trace');

declare module 'node:http' {
  interface ServerResponse {
    [TRACE]?: Trace;
  }
}

export function setTrace(response: ServerResponse, trace: Trace): void {
  response[TRACE] = trace;
}

export const findTrace = (response: ServerResponse): Trace | undefined => response[TRACE];

/** The trace of a response. @throws {Error} if the access log has not seen its request. */
export function traceOf({ [TRACE]: trace }: ServerResponse): Trace {
  if (trace === undefined) throw new Error('the access log comes first');
  return trace;
}
