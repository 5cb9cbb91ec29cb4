import express, { type ErrorRequestHandler, type Express } from 'express';
import { basePathsOf } from 'openapi-document';
import { accessLog } from '../http/access-log.ts';
import { crossOrigin } from '../http/cors.ts';
import { OPERATOR_PATHS, operatorRoutes } from '../http/operator-routes.ts';
import { answerFailure } from '../response/failures.ts';
import { HttpError } from '../response/http-error.ts';
import { setOwnHeaders } from '../response/own-headers.ts';
import { PROBLEM_DETAILS } from '../response/problem.ts';
import { operationRoutes } from './operation-routes.ts';
import { type AppOptions, SILENT } from './options.ts';
import { prepare } from './prepare.ts';
import { createRouter } from './router.ts';

/** The public `createApp`. @throws {DocumentError} */
export async function createApp(options: AppOptions): Promise<Express> {
  const { log = SILENT, errorBody = PROBLEM_DETAILS, docs = true, missing, ready, observe } = options;
  const { corsOrigins = [], trustProxy = false, logAllPaths = false } = options;
  const paths = logAllPaths ? 'all' : new Set(OPERATOR_PATHS);
  const { document, operations, shared } = await prepare(options);
  const basePaths = basePathsOf(document);
  const route = createRouter(operations, basePaths);
  for (const path of OPERATOR_PATHS) {
    const own = route('GET', path);
    if (own.found === 'operation') log.warn({ operationId: own.operation.id }, `GET ${path} is the document's own`);
  }
  const page = { basePath: basePaths[0] ?? '', tryItOut: missing === 'mock' };
  const served = docs ? { root: document.root, page } : undefined;
  const nowhere = new HttpError(404, 'there is nothing at this path');
  const onError: ErrorRequestHandler = (error, _request, response, _next) => answerFailure(response, error, errorBody);

  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('trust proxy', trustProxy);
  app.use(accessLog(log, { paths, behindProxy: trustProxy !== false, observe }));
  if (corsOrigins.length > 0) app.use(crossOrigin(corsOrigins, operations));
  app.use(operationRoutes(route, shared));
  app.use((_request, response, next) => {
    setOwnHeaders(response);
    next();
  });
  app.use(operatorRoutes(ready, served));
  app.use((_request, response) => answerFailure(response, nowhere, errorBody));
  app.use(onError);
  return app;
}
