import { randomBytes } from 'node:crypto';
import type { Resources } from '../http/resources.ts';
import { guarded, SILENT } from './access-log.ts';
import { Account } from './account.ts';
import type { Call, CallRecord, PlainReply } from './call.ts';
import type { Log } from './handlers/types.ts';
import { SECURITY_HEADERS } from './response/headers.ts';
import { HttpError } from './response/http-error.ts';

/** Connects requests to a tracer, such as OpenTelemetry. */
export interface Tracing {
  /** Names the span of the current request. */
  name(method: string, route: string, operationId: string): void;
  /** Returns the trace id of the current request. */
  traceId(): string | undefined;
}

/** Matches values of `X-Request-Id` that are safe in a log. */
const SAFE_ID = /^[\w.:-]{1,64}$/;

/** Captures the trace id (https://www.w3.org/TR/trace-context/#traceparent-header). */
const TRACE_PARENT =
  /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})[\da-f]{16}-[\da-f]{2}(?:-|$)/;

export interface RecordOptions {
  readonly tracing?: Tracing | undefined;
  /**
   * Returns headers of all responses to a call, such as those of CORS. By default none. If it
   * throws, the call fails with 500.
   */
  readonly headers?: ((call: Call) => Readonly<Record<string, string>>) | undefined;
  /**
   * Returns the reply to a call that must reach neither middleware nor an operation, such as a
   * preflight of CORS. By default none.
   */
  readonly intercept?: ((call: Call) => PlainReply | HttpError | undefined) | undefined;
}

const securityHeaders = [...SECURITY_HEADERS].flat();

/** Returns a function that starts the records of the calls of one service. */
export function recorder(
  resources: Resources,
  { tracing, headers: headersFor, intercept }: RecordOptions = {},
  log: Log = SILENT,
): (call: Call) => CallRecord {
  const traceIdOf = guarded(log, 'tracing', tracing && (() => tracing.traceId()));
  // Makes ids unique across processes, at a lower cost than a UUID for each request.
  const prefix = `${randomBytes(15).toString('base64url')}-`;
  let calls = 0;

  return (call) => {
    const { client } = call;
    const { 'x-request-id': requestId, traceparent } = call.headers;
    const trace = typeof traceparent === 'string' ? TRACE_PARENT.exec(traceparent) : undefined;
    calls += 1;
    const isSafe = typeof requestId === 'string' && SAFE_ID.test(requestId);
    const id = isSafe ? requestId : prefix + calls.toString(36);
    const headers = [...securityHeaders, 'X-Request-Id', id];
    let intercepted: CallRecord['intercepted'];
    try {
      if (headersFor !== undefined) headers.push(...Object.entries(headersFor(call)).flat());
      intercepted = intercept?.(call);
    } catch (cause) {
      intercepted = new HttpError(500, 'internal server error', { cause });
    }
    return {
      id,
      headers,
      intercepted,
      traceId: traceIdOf?.() ?? trace?.[1],
      account: new Account(resources, client),
      started: performance.now(),
      streamStarted: undefined,
      operationId: undefined,
      endpoint: undefined,
      caller: undefined,
      callers: undefined,
      mocked: undefined,
      reason: undefined,
      failure: undefined,
    };
  };
}
