import { randomUUID } from 'node:crypto';
import type { RequestHandler } from 'express';
import type { Logger } from 'pino';
import { HttpError } from '../response/http-error.ts';
import { setTrace, type Trace, traceOf } from '../response/trace.ts';
import type { Refused } from './listen.ts';

/** Where lines are logged. */
export type Log = Pick<Logger, 'info' | 'warn' | 'error'>;

/** An id that a proxy made is kept if it can do no harm in a log. */
const SANE_ID = /^[\w.:-]{1,64}$/;

/**
 * Gives each request an id, answered as `X-Request-Id`, and logs the request once its answer is sent or its client is
 * gone: neither query nor headers nor body, which may hold secrets.
 *
 * @param paths those that lead somewhere without an operation, and so are no client's secret.
 * @param observe told the same, with the duration in seconds, for metrics.
 */
export function accessLog(
  log: Log,
  paths: ReadonlySet<string>,
  observe: (trace: Trace, status: number, seconds: number) => void = () => {},
): RequestHandler {
  return (request, response, next) => {
    const sent = request.headers['x-request-id'];
    const id = typeof sent === 'string' && SANE_ID.test(sent) ? sent : randomUUID();
    const trace: Trace = {
      id,
      started: performance.now(),
      operationId: undefined,
      subject: undefined,
      reason: undefined,
      failure: undefined,
    };
    setTrace(response, trace);
    response.setHeader('X-Request-Id', id);
    response.once('close', () => {
      const { operationId, subject, started } = trace;
      const { errored } = request.socket;
      const cutOff = errored instanceof HttpError ? errored : undefined;
      const failure = cutOff ?? trace.failure;
      const reason = failure === undefined ? trace.reason : failure.reason;
      const durationMs = Math.round((performance.now() - started) * 1000) / 1000;
      const status = response.headersSent ? response.statusCode : (cutOff?.status ?? 499);
      observe(trace, status, durationMs / 1000);
      const entry = {
        requestId: id,
        operationId,
        method: request.method,
        // A path that leads nowhere may be anything, a token too.
        ...(operationId === undefined && (status < 400 || paths.has(request.path)) && { path: request.path }),
        status,
        durationMs,
        ...(subject !== undefined && { subject }),
        ...(failure?.cause === undefined ? reason !== undefined && { reason } : { err: failure.cause }),
        ...(!response.writableFinished && { cutOff: true }),
      };
      if (status >= 500 && failure?.wanted !== true) log.error(entry, 'failed');
      else log.info(entry, 'answered');
    });
    next();
  };
}

/**
 * Logs what the server refuses past the app, with the reason alone: all else may hold secrets. A request that the app has
 * seen is in the access log anyway, and gets its reason there.
 *
 * @param count told the status of each answer that the access log does not see, for metrics.
 */
export function refusalLog(log: Logger, count: (status: number) => void = () => {}): Refused {
  return ({ status, message }, response) => {
    if (response !== undefined) {
      traceOf(response).failure = new HttpError(status, message);
      return;
    }
    count(status);
    log.info({ status, reason: message }, 'refused');
  };
}
