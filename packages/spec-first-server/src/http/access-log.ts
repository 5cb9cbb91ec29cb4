import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Log } from '../handlers/types.ts';
import { CutOff, type OnRejected } from '../http-server/index.ts';
import { HttpError } from '../response/http-error.ts';
import { findTrace, setTrace, traceOf } from '../response/trace.ts';
import { clientAddress, type TrustProxy } from './client-address.ts';
import { targetOf } from './target.ts';
import { receivedTraceId, type Tracing } from './tracing.ts';

/** Ids from a proxy that can do no harm in a log. */
const SAFE_ID = /^[\w.:-]{1,64}$/;

/** Request ids are this and a number: unique over processes, and cheaper than a UUID for each request. */
const PREFIX = `${randomBytes(15).toString('base64url')}-`;
let requests = 0;

/**
 * Is told of each answer. The operation is an operationId; `(probe)`, `(page)` or `(unknown)` for other paths.
 */
export type Observe = (operation: string, status: number, seconds: number) => void;

/** What the access log is told of an app. */
export interface AccessLogOptions {
  /** Paths of the app itself. Only these are logged by default: any other path may hold a secret. */
  readonly paths: ReadonlySet<string> | 'all';
  readonly trustProxy: TrustProxy;
  readonly tracing?: Tracing | undefined;
  /** Called with each answer and its duration, for metrics. */
  readonly observe?: Observe | undefined;
  /** Milliseconds after which an answer is logged as slow; never by default. */
  readonly slowMs?: number | undefined;
}

/**
 * Gives each request an id. Logs the request when its answer is sent or its client is gone,
 * without query, headers and body, which may hold secrets.
 */
export function accessLog(log: Log, { paths, trustProxy, tracing, observe, slowMs = Infinity }: AccessLogOptions) {
  const addressOf = clientAddress(trustProxy);
  const outages = createOutages(log);

  // One function for all responses, so that a request allocates no closure.
  function logAnswer(this: ServerResponse): void {
    const { req: request, statusCode } = this;
    const trace = traceOf(this);
    const { operationId } = trace;
    const { errored } = request.socket;
    const cutOff = errored instanceof CutOff ? new HttpError(errored.status, errored.message) : undefined;
    const failure = cutOff ?? trace.failure;
    const durationMs = Math.round((performance.now() - trace.started) * 1000) / 1000;
    const status = this.headersSent ? statusCode : (cutOff?.status ?? 499);
    const path = operationId === undefined ? targetOf(request.url)[0] : undefined;
    const isKnown = path !== undefined && (status < 400 || paths === 'all' || paths.has(path));
    const isProbe = path === '/healthz' || path === '/readyz';
    const what = operationId ?? (isProbe ? '(probe)' : isKnown ? '(page)' : '(unknown)');
    observe?.(what, status, durationMs / 1000);
    // The log leaves out what is undefined.
    const entry = {
      requestId: trace.id,
      traceId: trace.traceId,
      client: trace.client,
      operationId,
      method: request.method,
      path: isKnown ? path : undefined,
      status,
      durationMs,
      subject: trace.subject,
      mocked: trace.mocked,
      reason: trace.reason ?? (failure?.cause === undefined ? failure?.reason : undefined),
      err: failure?.cause,
      cutOff: this.writableFinished ? undefined : true,
    };
    const isFault = status >= 500 && failure?.expected !== true && trace.mocked !== true;
    if (outages.counts(what, isFault ? status : 0)) log.info({ ...entry, err: undefined }, 'answered');
    else if (isFault) log.error(entry, 'failed');
    else if (durationMs > slowMs) log.warn(entry, 'slow');
    else if (isProbe) log.debug(entry, 'answered');
    else log.info(entry, 'answered');
  }

  return (request: IncomingMessage, response: ServerResponse): void => {
    const { 'x-request-id': sent, traceparent } = request.headers;
    const id = typeof sent === 'string' && SAFE_ID.test(sent) ? sent : PREFIX + (requests++).toString(36);
    setTrace(response, {
      id,
      traceId: tracing?.traceId() ?? (traceparent === undefined ? undefined : receivedTraceId(traceparent)),
      client: addressOf(request),
      started: performance.now(),
      operationId: undefined,
      subject: undefined,
      mocked: undefined,
      reason: undefined,
      failure: undefined,
    });
    response.on('close', logAnswer);
  };
}

/** Counts the answers 503 of an outage. Only the first one and the end of the outage are logged as such. */
function createOutages(log: Log) {
  const outages = new Map<string, { readonly since: number; failed: number }>();
  return {
    /** Counts an answer. @returns whether it is a further one of an outage. @param fault its status, 0 if it is no fault */
    counts(what: string, fault: number): boolean {
      const outage = outages.get(what);
      if (fault === 503) {
        if (outage === undefined) outages.set(what, { since: performance.now(), failed: 1 });
        else outage.failed += 1;
        return outage !== undefined;
      }
      if (fault === 0 && outage !== undefined) {
        outages.delete(what);
        const seconds = Math.round((performance.now() - outage.since) / 1000);
        log.warn({ operationId: what, failed: outage.failed, seconds }, 'available again');
      }
      return false;
    },
  };
}

/**
 * Logs each request that is rejected before the app gets it, with the reason and the client's address: all else may hold secrets. Where the
 * access log has the request, the reason goes there.
 *
 * @param count called with the status of each answer that the access log does not see, for metrics.
 */
export function rejectionLog(log: Log, count: (status: number) => void = () => {}): OnRejected {
  return ({ status, message }, client, response) => {
    const trace = response && findTrace(response);
    if (trace !== undefined) {
      trace.failure = new HttpError(status, message);
      return;
    }
    count(status);
    log.info({ client, status, reason: message }, 'rejected');
  };
}
