import type { ServerResponse } from 'node:http';
import type { HttpError } from './http-error.ts';

/** What is known of a request by the time that its answer is sent, for the log and the metrics. */
export interface Trace {
  readonly id: string;
  readonly started: number;
  operationId: string | undefined;
  subject: string | undefined;
  /** Why a handler answered as it did. */
  reason: string | undefined;
  failure: HttpError | undefined;
}

const traces = new WeakMap<object, Trace>();

/** Sets the trace of a response. */
export const setTrace = (response: ServerResponse, trace: Trace): void => void traces.set(response, trace);

/** The trace of a request's answer. @throws {Error} if `accessLog` has not seen it. */
export function traceOf(response: ServerResponse): Trace {
  const trace = traces.get(response);
  if (trace === undefined) throw new Error('the access log comes first');
  return trace;
}
