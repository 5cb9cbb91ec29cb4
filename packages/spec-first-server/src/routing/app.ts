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
export async function createApp(options: AppOptions): Promise<Express> {
  const { begin, core, edge, onError } = await createParts(options);
  const { use = [] } = options;
  const app = newExpress(options);
  app.use((request, response, next) => {
    begin(request, response);
    if (use.length > 0) setOwnHeaders(response);
    // The app's host may be a server of its own.
    const fault = faultOf(request);
    next(fault && new HttpError(fault.status, fault.message));
  });
  app.use(...use, (request, response, next) => {
    if (!core(request, response)) next();
  });
  app.use(edge);
  app.use(onError);
  return app;
}

/**
 * What a server listens with. Operations are answered before Express, which costs half of a request's time; with
 * middleware of the project they pass through Express, too.
 *
 * @throws {DocumentError}
 */
export async function createListener(options: AppOptions): Promise<RequestListener> {
  if (options.use !== undefined) return createApp(options);
  const { begin, core, edge } = await createParts(options);
  return (request, response) => {
    begin(request, response);
    if (!core(request, response)) edge(request, response);
  };
}

/**
 * What answers requests, in this order: `begin` starts the trace of a request, which the log has at its end; `core` answers
 * requests for operations, and returns whether it does; `edge` has the routes for operators, and failures.
 */
async function createParts(options: AppOptions) {
  const { docs = true, missing, ready, corsOrigins = [], inDevelopment = false } = options;
  const { document, operations: all, context } = await prepare(options);
  const { log, errorBody } = context;
  const operations = all.filter(({ method, path }) => {
    const name = method.toUpperCase();
    const isRead = http.METHODS.includes(name) && name !== 'CONNECT';
    if (!isRead) log.warn(`${name} ${path} cannot be served: Node reads no requests with the method ${name}`);
    return isRead;
  });
  const { basePaths } = document;
  const route = createRouter(operations, basePaths);
  const cors = corsOrigins.length > 0 ? crossOrigin(corsOrigins, operations) : undefined;
  const tracing = openTelemetry();
  /** Operations are prepared when they are first asked for. */
  const dispatches = new Map<Operation, Dispatch>();

  /** Routes a request to its operation. */
  function core(request: IncomingMessage, response: ServerResponse): boolean {
    const { method = '', url = '', headers } = request;
    if (inDevelopment && !isLocal(headers.host)) {
      return reject(response, new HttpError(421, 'only requests to localhost are answered here'));
    }
    if (cors?.(request, response) === true) return true;
    const mark = url.indexOf('?');
    const path = mark < 0 ? url : url.slice(0, mark);
    const found = route(method, path);
    if (found === undefined) return false;
    if (found instanceof HttpError) return reject(response, found);
    const { operation, basePath } = found;
    tracing?.name(method, basePath + operation.path, operation.id);
    const dispatch = dispatches.get(operation) ?? createDispatch(operation, context);
    dispatches.set(operation, dispatch);
    void dispatch(request, response, path.slice(basePath.length), mark < 0 ? '' : url.slice(mark + 1));
    return true;
  }

  function reject(response: ServerResponse, error: HttpError): true {
    void answerFailure(response, error, errorBody);
    return true;
  }

  const onError: ErrorRequestHandler = (error, _request, response, _next) => answerFailure(response, error, errorBody);
  const page = { basePath: basePaths[0], tryItOut: missing === 'mock' };
  const noSuchPath = new HttpError(404, 'no such path');
  const edge = newExpress(options);
  edge.use((_request, response, next) => {
    setOwnHeaders(response);
    next();
  });
  edge.use(operatorRoutes(ready, [...context.broken.keys()], docs ? { root: document.root, page } : undefined));
  edge.use((_request, _response, next) => next(noSuchPath));
  edge.use(onError);
  const paths = inDevelopment ? 'all' : new Set(OPERATOR_PATHS);
  return { begin: accessLog(log, { ...options, paths, tracing }), core, edge, onError };
}

/** Whether a request names this machine, or an address. Only a name can be made to lead to another host (DNS rebinding). */
function isLocal(host: string | undefined): boolean {
  const name = host?.replace(/:\d*$/, '').replace(/^\[(.*)\]$/, '$1');
  return name === undefined || isIP(name) !== 0 || /^(.+\.)?localhost$/i.test(name);
}

function newExpress({ trustProxy = false }: AppOptions): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('trust proxy', trustProxy);
  return app;
}
