import { randomBytes } from 'node:crypto';
import { Account, type Resources } from './account.ts';
import type { Call, CallRecord } from './call.ts';

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

/**
 * The start of each generated request id. Makes ids unique across processes, at a lower cost than a
 * UUID for each request.
 */
const PREFIX = `${randomBytes(15).toString('base64url')}-`;
let requests = 0;

/** Starts the record of a call. */
export function startRecord(
  { headers, client }: Call,
  resources: Resources,
  tracing: Tracing | undefined,
): CallRecord {
  const { 'x-request-id': requestId, traceparent } = headers;
  return {
    id: typeof requestId === 'string' && SAFE_ID.test(requestId) ? requestId : nextId(),
    traceId: tracing?.traceId() ?? TRACE_PARENT.exec(String(traceparent))?.[1],
    client,
    account: new Account(resources, client),
    started: performance.now(),
    streamStarted: undefined,
    operationId: undefined,
    caller: undefined,
    mocked: undefined,
    reason: undefined,
    failure: undefined,
    violations: undefined,
    isUndeclaredError: undefined,
  };
}

function nextId(): string {
  requests += 1;
  return PREFIX + requests.toString(36);
}
