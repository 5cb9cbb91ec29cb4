import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import express, { type ErrorRequestHandler, type Express } from 'express';
import type { Operation } from 'openapi-document';
import { accessLog, openTelemetry } from '../http/access-log.ts';
import { crossOrigin } from '../http/cors.ts';
import { OPERATOR_PATHS, operatorRoutes } from '../http/operator-routes.ts';
import { faultOf, http } from '../http-server/index.ts';
import { answerFailure } from '../response/failures.ts';
import { HttpError } from '../response/http-error.ts';
import { setOwnHeaders } from '../response/send.ts';
import { createDispatch, type Dispatch } from './dispatch.ts';
import { type AppOptions, prepare } from './prepare.ts';
import { createRouter } from './router.ts';

/** The public `createApp`. @throws {DocumentError} */
export const createApp = async (options: AppOptions): Promise<Express> => (await createParts(options, true)).app;

/**
 * What a server listens with. Operations are answered before Express, which costs half of a request's time; with
 * middleware of the project they pass through Express, too.
 *
 * @throws {DocumentError}
 */
export const createListener = async (options: AppOptions): Promise<RequestListener> =>
  options.use === undefined ? (await createParts(options, false)).answer : createApp(options);

/**
 * What answers requests: `answer` those for operations, and the Express app all others: the routes for operators, and
 * failures.
 *
 * @param isEmbedded whether requests come to the Express app first.
 */
async function createParts(options: AppOptions, isEmbedded: boolean) {
  const {
    docs = true,
    missing,
    ready,
    corsOrigins = [],
    inDevelopment = false,
    trustProxy = false,
    use = [],
  } = options;
  const { operations: all, context } = await prepare(options);
  const { document, log, errorBody } = context;
  const operations = all.filter(({ method, path }) => {
    const name = method.toUpperCase();
    const isRead = http.METHODS.includes(name) && name !== 'CONNECT';
    if (!isRead) log.warn(`${name} ${path} cannot be served: Node reads no requests with the method ${name}`);
    return isRead;
  });
  const { root, basePaths } = document;
  const route = createRouter(operations, basePaths);
  const cors = corsOrigins.length > 0 ? crossOrigin(corsOrigins, operations) : undefined;
  const tracing = openTelemetry();
  const begin = accessLog(log, { ...options, paths: inDevelopment ? 'all' : new Set(OPERATOR_PATHS), tracing });
  /** Operations are prepared when they are first asked for. */
  const dispatches = new Map<Operation, Dispatch>();

  /** Routes a request to its operation. @param next called if there is none */
  function answer(
    request: IncomingMessage,
    response: ServerResponse,
    next: () => unknown = () => app(request, response),
  ): unknown {
    begin(request, response);
    const { method = '', url = '', headers } = request;
    if (inDevelopment && !isLocal(headers.host)) {
      const failure = new HttpError(421, 'only requests to localhost are answered here');
      return answerFailure(response, failure, errorBody);
    }
    if (cors?.(request, response) === true) return undefined;
    const mark = url.indexOf('?');
    const path = mark < 0 ? url : url.slice(0, mark);
    const found = route(method, path);
    if (found === undefined) return next();
    if (found instanceof HttpError) return answerFailure(response, found, errorBody);
    const { operation, basePath } = found;
    tracing?.name(method, basePath + operation.path, operation.id);
    const dispatch = dispatches.get(operation) ?? createDispatch(operation, context);
    dispatches.set(operation, dispatch);
    return dispatch(response, path.slice(basePath.length), mark < 0 ? '' : url.slice(mark + 1));
  }

  const app = express().disable('x-powered-by').disable('etag').set('trust proxy', trustProxy);
  app.use((request, response, next) => {
    begin(request, response);
    setOwnHeaders(response);
    // The app's host may be a server of its own.
    const fault = faultOf(request);
    next(fault && new HttpError(fault.status, fault.message));
  });
  if (isEmbedded) app.use(...use, answer);
  const page = { basePath: basePaths[0], tryItOut: missing === 'mock' };
  app.use(operatorRoutes(ready, [...context.broken.keys()], docs ? { root, page } : undefined));
  const noSuchPath = new HttpError(404, 'no such path');
  const onError: ErrorRequestHandler = (error, _request, response, _next) => answerFailure(response, error, errorBody);
  app.use(() => {
    throw noSuchPath;
  }, onError);
  return { answer, app };
}

/** Whether a request names this machine, or an address. Only a name can be made to lead to another host (DNS rebinding). */
function isLocal(host: string | undefined): boolean {
  const name = host?.replace(/:\d*$/, '').replace(/^\[(.*)\]$/, '$1');
  return name === undefined || isIP(name) !== 0 || /^(.+\.)?localhost$/i.test(name);
}
