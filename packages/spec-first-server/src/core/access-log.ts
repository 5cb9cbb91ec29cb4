import { isPromise } from 'node:util/types';
import type { Call, CallEnd, CallRecord } from './call.ts';
import { describeError } from './describe-error.ts';
import type { Log, RequestLog } from './handlers/types.ts';

export interface AccessLogOptions {
  /**
   * True to log the paths of all requests without an operation. By default, such a path is logged
   * only if it is that of an endpoint, or if the request succeeds and its method is not OPTIONS.
   */
  readonly inDevelopment?: boolean;
  /**
   * Called for each answer, for metrics. `operation` is an operationId, or `(probe)`, `(page)` or
   * `(unknown)` for other paths. `seconds` is the time until the end of the answer, or until the
   * start of a stream.
   */
  readonly observe?: ((operation: string, status: number, seconds: number) => void) | undefined;
  /**
   * Milliseconds after which an answer is logged as slow. Of a stream, only the time until its
   * start counts. By default no answer is slow.
   */
  readonly slowMs?: number | undefined;
}

/**
 * Returns the function that logs a call when its answer is sent or its client has disconnected. It
 * does not log the query, headers or body, since they may contain secrets.
 */
export function accessLog(
  log: Log,
  { inDevelopment = false, observe, slowMs = Infinity }: AccessLogOptions,
) {
  const tryObserve = guarded(log, 'observe', observe);
  /**
   * Ongoing outages, by operation or path of a probe. Only the first 503 of an outage is logged as
   * an error.
   */
  const outages = new Map<string, { readonly since: number; failed: number }>();

  return (call: Call, record: CallRecord, end: CallEnd): void => {
    const { status, isComplete, failure: endFailure } = end;
    const { operationId, endpoint, caller, callers, mocked } = record;
    const failure = endFailure ?? record.failure;
    const hasReason =
      failure !== undefined && (failure.cause === undefined || failure.isUndeclared);
    const now = performance.now();
    const durationMs = rounded(now - record.started);
    // The duration of a stream depends on its items and its client.
    const { streamStarted } = record;
    const serverMs =
      streamStarted === undefined ? durationMs : rounded(streamStarted - record.started);
    const path = operationId === undefined ? call.path : undefined;
    const isListed = inDevelopment || endpoint !== undefined;
    const isFound = status < 400;
    // A preflight of any path succeeds, so its path may contain a secret, too.
    const isLogged = isListed || (isFound && call.method !== 'OPTIONS');
    const isProbe = endpoint === 'probe';
    const outageKey = isProbe ? path : operationId;
    const name = operationId ?? `(${endpoint ?? (isFound ? 'page' : 'unknown')})`;
    tryObserve?.(name, status, serverMs / 1000);
    // The logger omits undefined properties.
    const entry = {
      requestId: record.id,
      traceId: record.traceId,
      client: call.client,
      operationId,
      method: call.method,
      path: isLogged ? path : undefined,
      status,
      durationMs,
      subject: caller === undefined ? failure?.subject : caller.subject,
      subjects: callers && subjectsOf(callers),
      mocked,
      reason: hasReason ? (failure.reason ?? failure.message) : record.reason,
      violations: failure?.places,
      err: failure?.cause,
      cutOff: isComplete ? undefined : true,
    };

    // A stream may fail after its status was sent.
    const hasFailed = status >= 500 || (failure !== undefined && failure.status >= 500);
    const isError = hasFailed && failure?.expected !== true && mocked !== true;
    const isUnavailable = isError && status === 503;
    const outage = outageKey === undefined ? undefined : outages.get(outageKey);
    const isRepeated = isUnavailable && outage !== undefined;
    if (outageKey !== undefined && isUnavailable) {
      const { since = performance.now(), failed = 0 } = outage ?? {};
      outages.set(outageKey, { since, failed: failed + 1 });
    } else if (outageKey !== undefined && outage !== undefined && status < 400) {
      outages.delete(outageKey);
      const seconds = Math.round((performance.now() - outage.since) / 1000);
      log.warn({ operationId: outageKey, failed: outage.failed, seconds }, 'available again');
    }

    if (isRepeated) writeLine(log, 'info', { ...entry, err: undefined }, 'responded');
    else if (isError) writeLine(log, 'error', entry, 'failed');
    else if (failure?.isUndeclared) writeLine(log, 'warn', entry, 'responded');
    else if (serverMs > slowMs) writeLine(log, 'warn', entry, 'slow');
    else if (isProbe) writeLine(log, 'debug', entry, 'responded');
    else writeLine(log, 'info', entry, 'responded');
  };
}

const rounded = (milliseconds: number): number => Math.round(milliseconds * 1000) / 1000;

const subjectsOf = (callers: NonNullable<CallRecord['callers']>) =>
  Object.fromEntries(Object.entries(callers).map(([scheme, { subject }]) => [scheme, subject]));

export const SILENT: Log = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => SILENT,
};

/** Writes a line. The logger may throw while it reads the properties of a thrown value. */
function writeLine(
  log: Log,
  level: keyof RequestLog,
  entry: { readonly err: unknown },
  message: string,
): void {
  try {
    log[level](entry, message);
  } catch {
    log[level]({ ...entry, err: describeError(entry.err) }, message);
  }
}

/**
 * Returns a hook that only observes calls, so that its errors are logged and do not fail the call.
 *
 * @param name the name of the hook, for the log.
 */
export function guarded<Values extends readonly unknown[], Result>(
  log: Log,
  name: string,
  hook: ((...values: Values) => Result) | undefined,
): ((...values: Values) => Result | undefined) | undefined {
  const report = (err: unknown) => writeLine(log, 'error', { err }, `the hook "${name}" failed`);
  return (
    hook &&
    ((...values) => {
      try {
        const result = hook(...values);
        if (isPromise(result)) result.catch(report);
        return result;
      } catch (error) {
        report(error);
        return undefined;
      }
    })
  );
}
