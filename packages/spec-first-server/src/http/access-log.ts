import { randomBytes } from 'node:crypto';
import type { RequestHandler, Response } from 'express';
import type { Logger } from 'pino';
import { CutOff, type OnRejected } from '../http-server/index.ts';
import { HttpError } from '../response/http-error.ts';
import { findTrace, setTrace, type Trace, traceOf } from '../response/trace.ts';

/** Where lines are logged. */
export type Log = Pick<Logger, 'info' | 'warn' | 'error'>;

/** Ids from a proxy that can do no harm in a log. */
const SAFE_ID = /^[\w.:-]{1,64}$/;

/** Request ids are this and a number: unique over processes, and cheaper than a UUID for each request. */
const PREFIX = `${randomBytes(15).toString('base64url')}-`;
let requests = 0;

/** What the access log is told of an app. */
export interface AccessLogOptions {
  /** Paths of the app itself. Only these are logged by default: any other path may hold a secret. */
  readonly paths: ReadonlySet<string> | 'all';
  /** Whether `request.ip` knows of proxies. */
  readonly behindProxy: boolean;
  /** Called with each answer and its duration, for metrics. */
  readonly observe?: ((trace: Trace, status: number, seconds: number) => void) | undefined;
}

/**
 * Gives each request an id. Logs the request when its answer is sent or its client is gone,
 * without query, headers and body, which may hold secrets.
 */
export function accessLog(log: Log, { paths, behindProxy, observe }: AccessLogOptions): RequestHandler {
  // One function for all responses, so that a request allocates no closure.
  function logAnswer(this: Response): void {
    const { req: request, statusCode } = this;
    const trace = traceOf(this);
    const { operationId } = trace;
    const { errored } = request.socket;
    const cutOff = errored instanceof CutOff ? new HttpError(errored.status, errored.message) : undefined;
    const failure = cutOff ?? trace.failure;
    const durationMs = Math.round((performance.now() - trace.started) * 1000) / 1000;
    const status = this.headersSent ? statusCode : (cutOff?.status ?? 499);
    observe?.(trace, status, durationMs / 1000);
    const known = operationId === undefined && (status < 400 || paths === 'all' || paths.has(request.path));
    // The log leaves out what is undefined.
    const entry = {
      requestId: trace.id,
      client: trace.client,
      operationId,
      method: request.method,
      path: known ? request.path : undefined,
      status,
      durationMs,
      subject: trace.subject,
      mocked: trace.mocked,
      reason: failure === undefined ? trace.reason : failure.cause === undefined ? failure.reason : undefined,
      err: failure?.cause,
      cutOff: this.writableFinished ? undefined : true,
    };
    if (status >= 500 && failure?.expected !== true && trace.mocked !== true) log.error(entry, 'failed');
    else log.info(entry, 'answered');
  }

  return (request, response, next) => {
    const sent = request.headers['x-request-id'];
    const id = typeof sent === 'string' && SAFE_ID.test(sent) ? sent : PREFIX + (requests++).toString(36);
    setTrace(response, {
      id,
      client: behindProxy ? request.ip : request.socket.remoteAddress,
      started: performance.now(),
      operationId: undefined,
      subject: undefined,
      mocked: undefined,
      reason: undefined,
      failure: undefined,
    });
    response.on('close', logAnswer);
    next();
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
