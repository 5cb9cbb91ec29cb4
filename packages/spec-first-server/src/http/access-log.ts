import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import proxyAddress from 'proxy-addr';
import type { Log } from '../handlers/types.ts';
import { CUT_OFF, type OnRejected } from '../http-server/index.ts';
import { HttpError } from '../response/http-error.ts';
import { TRACE, traceOf } from '../response/send.ts';

/** Ids from a proxy that can do no harm in a log. */
const SAFE_ID = /^[\w.:-]{1,64}$/;

/** The trace that a client has begun (https://www.w3.org/TR/trace-context/#traceparent-header). */
const TRACE_PARENT = /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})[\da-f]{16}-[\da-f]{2}(?:-|$)/;

const require = createRequire(import.meta.url);

/** Request ids are this and a number: unique over processes, and cheaper than a UUID for each request. */
const PREFIX = `${randomBytes(15).toString('base64url')}-`;
let requests = 0;

/** What the access log is told of an app. */
export interface AccessLogOptions {
  /** Paths of the app itself. Only these are logged by default: any other path may hold a secret. */
  readonly paths: ReadonlySet<string> | 'all';
  /** Express's `trust proxy`, which proxies tell a client's address: all, so many hops, or those of these addresses. */
  readonly trustProxy?: boolean | number | readonly string[];
  readonly tracing?: ReturnType<typeof openTelemetry>;
  /** Is told of each answer, for metrics: an operationId, or `(probe)`, `(page)` or `(unknown)` for other paths. */
  readonly observe?: ((operation: string, status: number, seconds: number) => void) | undefined;
  /** Milliseconds after which an answer is logged as slow; never by default. */
  readonly slowMs?: number | undefined;
}

/**
 * Gives each request an id. Logs the request when its answer is sent or its client is gone,
 * without query, headers and body, which may hold secrets.
 */
export function accessLog(
  log: Log,
  { paths, trustProxy = false, tracing, observe, slowMs = Infinity }: AccessLogOptions,
) {
  const trust = trustOf(trustProxy);
  /** What answers 503 now: since when, and how often. Only the first answer and the end are logged as such. */
  const outages = new Map<string, { readonly since: number; failed: number }>();

  // One function for all responses, so that a request allocates no closure.
  function logAnswer(this: ServerResponse): void {
    const { req: request, statusCode } = this;
    const trace = traceOf(this);
    const { operationId } = trace;
    const isStopped = request.socket.errored === CUT_OFF;
    const failure = isStopped ? new HttpError(503, CUT_OFF.message) : trace.failure;
    const durationMs = Math.round((performance.now() - trace.started) * 1000) / 1000;
    const status = this.headersSent ? statusCode : isStopped ? 503 : 499;
    const path = operationId === undefined ? request.url?.replace(/\?.*/s, '') : undefined;
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
    const outage = outages.get(what);
    if (isFault && status === 503) {
      outages.set(what, { since: outage?.since ?? performance.now(), failed: (outage?.failed ?? 0) + 1 });
    } else if (!isFault && outage !== undefined) {
      outages.delete(what);
      const seconds = Math.round((performance.now() - outage.since) / 1000);
      log.warn({ operationId: what, failed: outage.failed, seconds }, 'available again');
    }
    if (isFault && status === 503 && outage !== undefined) log.info({ ...entry, err: undefined }, 'answered');
    else if (isFault) log.error(entry, 'failed');
    else if (durationMs > slowMs) log.warn(entry, 'slow');
    else if (isProbe) log.debug(entry, 'answered');
    else log.info(entry, 'answered');
  }

  return (request: IncomingMessage, response: ServerResponse): void => {
    if (TRACE in response) return;
    const { 'x-request-id': sent, traceparent } = request.headers;
    const id = typeof sent === 'string' && SAFE_ID.test(sent) ? sent : PREFIX + (requests++).toString(36);
    response[TRACE] = {
      id,
      traceId: tracing?.traceId() ?? TRACE_PARENT.exec(String(traceparent))?.[1],
      client: trust === undefined ? request.socket.remoteAddress : proxyAddress(request, trust),
      started: performance.now(),
      operationId: undefined,
      subject: undefined,
      mocked: undefined,
      reason: undefined,
      failure: undefined,
    };
    response.on('close', logAnswer);
  };
}

function trustOf(
  trusted: boolean | number | readonly string[],
): ((address: string, hop: number) => boolean) | undefined {
  if (typeof trusted === 'boolean') return trusted ? () => true : undefined;
  return typeof trusted === 'number' ? (_address, hop) => hop < trusted : proxyAddress.compile([...trusted]);
}

/**
 * Logs each request that is rejected before the app gets it, with the reason and the client's address: all else may hold
 * secrets. Where the access log has the request, the reason goes there.
 *
 * @param count called with the status of each answer that the access log does not see, for metrics.
 */
export function rejectionLog(log: Log, count: (status: number) => void = () => {}): OnRejected {
  return ({ status, message }, client, response) => {
    const trace = response?.[TRACE];
    if (trace !== undefined) {
      trace.failure = new HttpError(status, message);
      return;
    }
    count(status);
    log.info({ client, status, reason: message }, 'rejected');
  };
}

/** OpenTelemetry's interface, if the process has loaded it: who does not trace does not wait for it at the start. */
export function openTelemetry() {
  if (!Object.keys(require.cache).some((file) => /@opentelemetry[\\/]api[\\/]/.test(file))) return undefined;
  const { trace }: typeof import('@opentelemetry/api') = require('@opentelemetry/api');
  return {
    /** Names the span of the request that runs. */
    name(method: string, route: string, operationId: string): void {
      const attributes = { 'http.route': route, 'openapi.operation_id': operationId };
      trace.getActiveSpan()?.setAttributes(attributes).updateName(`${method} ${route}`);
    },
    /** The trace of the request that runs. */
    traceId: () => trace.getActiveSpan()?.spanContext().traceId,
  };
}
