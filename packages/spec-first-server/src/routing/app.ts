import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import express, { type ErrorRequestHandler, type Express } from 'express';
import { basePathsOf } from 'openapi-document';
import { accessLog } from '../http/access-log.ts';
import { crossOrigin } from '../http/cors.ts';
import { isLocal } from '../http/local-hosts.ts';
import { OPERATOR_PATHS, operatorRoutes } from '../http/operator-routes.ts';
import { openTelemetry } from '../http/tracing.ts';
import { PROBLEM_DETAILS } from '../response/error-body.ts';
import { answerFailure } from '../response/failures.ts';
import { HttpError } from '../response/http-error.ts';
import { setOwnHeaders } from '../response/send.ts';
import { type Core, createCore } from './core.ts';
import { type AppOptions, SILENT } from './options.ts';
import { prepare } from './prepare.ts';
import { createRouter } from './router.ts';

// An import of node:http would load a whole HTTP client beside it.
const { METHODS } = process.getBuiltinModule('node:http');

/** What answers requests, in this order. */
interface Parts {
  /** Begins the trace of a request, which the log has at its end. */
  readonly begin: (request: IncomingMessage, response: ServerResponse) => void;
  readonly core: Core;
  /** The routes for operators, and failures: what the core does not take. */
  readonly edge: Express;
  readonly onError: ErrorRequestHandler;
}

/** The public `createApp`. @throws {DocumentError} */
export async function createApp(options: AppOptions): Promise<Express> {
  const { begin, core, edge, onError } = await createParts(options);
  const { use = [] } = options;
  const app = newExpress(options);
  app.use((request, response, next) => {
    begin(request, response);
    if (use.length > 0) setOwnHeaders(response);
    next();
  });
  app.use(...use, (request, response, next) => {
    core(request, response).then((isTaken) => isTaken || next(), next);
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
  return async (request, response) => {
    begin(request, response);
    if (!(await core(request, response))) edge(request, response);
  };
}

async function createParts(options: AppOptions): Promise<Parts> {
  const { log = SILENT, errorBody = PROBLEM_DETAILS, docs = true, missing, ready, observe, slowMs } = options;
  const { corsOrigins = [], trustProxy = false, logAllPaths = false, onlyLocal = false } = options;
  const { document, operations: all, context } = await prepare(options);
  const operations = all.filter(({ method, path }) => {
    const name = method.toUpperCase();
    const isRead = METHODS.includes(name) && name !== 'CONNECT';
    if (!isRead) log.warn(`${name} ${path} cannot be served: Node reads no requests with the method ${name}`);
    return isRead;
  });
  const basePaths = basePathsOf(document);
  const route = createRouter(operations, basePaths);
  for (const path of OPERATOR_PATHS) {
    const own = route('GET', path);
    if (own.found === 'operation') log.warn({ operationId: own.operation.id }, `GET ${path} is the document's own`);
  }
  const cors = corsOrigins.length > 0 ? crossOrigin(corsOrigins, operations) : undefined;
  const tracing = openTelemetry();
  const page = { basePath: basePaths[0] ?? '', tryItOut: missing === 'mock' };
  const noSuchPath = new HttpError(404, 'no such path');
  const onError: ErrorRequestHandler = (error, _request, response, _next) => answerFailure(response, error, errorBody);
  const edge = newExpress(options);
  edge.use((_request, response, next) => {
    setOwnHeaders(response);
    next();
  });
  edge.use(operatorRoutes(ready, [...context.broken.keys()], docs ? { root: document.root, page } : undefined));
  edge.use((_request, response) => answerFailure(response, noSuchPath, errorBody));
  edge.use(onError);
  const core = createCore(route, context, { cors, tracing });
  const guarded: Core = async (request, response) => {
    if (isLocal(request)) return core(request, response);
    await answerFailure(response, new HttpError(421, 'only requests to localhost are answered here'), errorBody);
    return true;
  };
  return {
    begin: accessLog(log, {
      paths: logAllPaths ? 'all' : new Set(OPERATOR_PATHS),
      trustProxy,
      tracing,
      observe,
      slowMs,
    }),
    core: onlyLocal ? guarded : core,
    edge,
    onError,
  };
}

function newExpress({ trustProxy = false }: AppOptions): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('trust proxy', trustProxy);
  return app;
}
