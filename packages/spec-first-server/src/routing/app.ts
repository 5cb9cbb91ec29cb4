import express, { type ErrorRequestHandler, type Express, type RequestHandler, type Response, Router } from 'express';
import type { Logger } from 'pino';
import { checkDocument } from '../document/check.ts';
import { checkVerifiers } from '../document/check-security.ts';
import { type Document, DocumentError, type Finding } from '../document/document.ts';
import type { AnyHandler } from '../document/handler-types.ts';
import { operationsOf } from '../document/operations.ts';
import { describeFindings } from '../document/positions.ts';
import { accessLog } from '../http/access-log.ts';
import { docs } from '../http/docs.ts';
import { SECURITY_HEADERS } from '../http/security-headers.ts';
import { proveErrorBody } from '../response/check-error-body.ts';
import { completeHandlers, type WhenMissing } from '../response/complete-handlers.ts';
import { answerFailure } from '../response/failures.ts';
import { HttpError } from '../response/http-error.ts';
import { type ErrorBody, PROBLEM_DETAILS } from '../response/problem.ts';
import { checkReply } from '../response/reply.ts';
import type { Trace } from '../response/trace.ts';
import { tokenVerifiers, type Verifiers } from '../security/schemes.ts';
import type { Authenticator } from '../security/tokens.ts';
import { type Dispatch, dispatcher } from './dispatch.ts';
import { openContract } from './router.ts';

/** Everything that a service is made of. */
export interface AppOptions {
  readonly document: Document;
  /**
   * By operationId. `Handlers` proves at compile time that each operation has one. May still be on their way: the
   * document is proved meanwhile.
   */
  readonly handlers: Readonly<Record<string, AnyHandler>> | Promise<Readonly<Record<string, AnyHandler>>>;
  readonly authenticator: Authenticator;
  readonly log: Logger;
  /** The most bytes of a body, after decompression. */
  readonly bodyLimit: number;
  /** How operations without a handler are answered. */
  readonly missing?: WhenMissing;
  /** Verifiers for security schemes that tokens do not satisfy, by the scheme's name. */
  readonly verifiers?: Verifiers;
  /** By default problem details (RFC 9457). */
  readonly errorBody?: ErrorBody;
  /** Whether the document and its page are served. */
  readonly docs?: boolean;
  /** Resolves if the service can do its work, for `GET /readyz`. */
  readonly ready?: () => Promise<void>;
  readonly observe?: (trace: Trace, status: number, seconds: number) => void;
}

/**
 * Makes the service that a document declares. Opens no port.
 *
 * @throws {DocumentError} if the document cannot be served as it is meant, or not with these handlers.
 */
export async function createApp(options: AppOptions): Promise<Express> {
  const { document, log, authenticator, bodyLimit, missing = 'refuse' } = options;
  const { errorBody = PROBLEM_DETAILS } = options;

  // 1. The document, the handlers and the error body are proved to fit, before anything is served.
  const operations = operationsOf(document);
  const verifiers = { ...tokenVerifiers(document.root, authenticator), ...options.verifiers };
  const { problems, notices } = checkDocument(document, operations);
  const { handlers, findings } = await completeHandlers(
    document,
    operations,
    await options.handlers,
    missing,
    async (operation, reply) => checkReply(operation, await contract.validator(operation), reply),
  );
  const given = await options.handlers;
  const verified = missing === 'mock' ? operations.filter(({ id }) => Object.hasOwn(given, id)) : operations;
  const unverified = checkVerifiers(document.root, verified, new Set(Object.keys(verifiers)));
  refuse(document, [...problems, ...unverified, ...findings]);
  const contract = openContract(document, operations, verifiers);
  refuse(document, await proveErrorBody(contract, errorBody));
  if (notices.length > 0) {
    log.warn({ places: describeFindings(document, notices).split('\n') }, 'not all of the document is enforced');
  }
  for (const path of OPERATOR_PATHS) {
    const route = contract.route('GET', path);
    if (route.found === 'operation') log.warn({ operationId: route.operation.id }, `GET ${path} is the document's own`);
  }

  // 2. Each request: log, headers, operation; then what operators ask for; then what is not there.
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.use(accessLog(log, new Set(OPERATOR_PATHS), options.observe));
  app.use(SECURITY_HEADERS);
  app.use(operationRoutes());
  app.use(operatorRoutes());
  app.use((_request, response) => fail(response, new HttpError(404, 'there is nothing at this path')));
  app.use(((error, _request, response, _next) => fail(response, error)) as ErrorRequestHandler);
  return app;

  function operationRoutes(): RequestHandler {
    const dispatches = new Map<string, Dispatch | Promise<Dispatch>>();
    return async (request, response, next) => {
      const [path, query] = targetOf(request.url);
      const route = contract.route(request.method, path);
      if (route.found === 'operation') {
        const { operation, basePath } = route;
        let dispatch = dispatches.get(operation.id);
        if (dispatch === undefined) {
          dispatch = dispatcher(contract, operation, { handlers, bodyLimit, errorBody });
          dispatches.set(operation.id, dispatch);
          dispatches.set(operation.id, await dispatch);
        }
        return (await dispatch)(request, response, path.slice(basePath.length), query);
      }
      if (route.found === 'malformed')
        return fail(response, new HttpError(400, 'the path is not percent-encoded (RFC 3986 §2.1)'));
      if (route.found === 'path') return fail(response, notAllowed(request.method, route.allow));
      return next();
    };
  }

  function operatorRoutes(): Router {
    const router = Router({ strict: true, caseSensitive: true });
    router.get('/healthz', (_request, response) => void response.json({ status: 'ok' }));
    router.get('/readyz', async (_request, response) => {
      await options.ready?.();
      response.json({ status: 'ready' });
    });
    if (options.docs !== false) router.use(docs(document.root, contract.basePaths[0] ?? ''));
    const paths = options.docs === false ? ['/healthz', '/readyz'] : OPERATOR_PATHS;
    router.all(paths, (request, response) => fail(response, notAllowed(request.method, ['GET', 'HEAD'])));
    return router;
  }

  function fail(response: Response, error: unknown): Promise<void> {
    return answerFailure(response, error, errorBody);
  }
}

/** @throws {DocumentError} if there is anything to refuse. */
function refuse(document: Document, findings: readonly Finding[]): void {
  if (findings.length > 0) throw new DocumentError(describeFindings(document, findings));
}

const OPERATOR_PATHS = ['/healthz', '/readyz', '/docs', '/openapi.yaml', '/openapi.json'];

const notAllowed = (method: string, allow: readonly string[]): HttpError =>
  new HttpError(405, `${method} is not a method of this path: ${allow.join(', ')}`, {
    headers: { Allow: allow.join(', ') },
  });

/** The path and the query of a request target, also in absolute form (RFC 9112 §3.2.2), as they were sent. */
function targetOf(url: string): [path: string, query: string] {
  const start = url.startsWith('/') ? 0 : (/^https?:\/\/[^/?#]*/i.exec(url)?.[0].length ?? 0);
  const end = url.indexOf('#', start) < 0 ? url.length : url.indexOf('#', start);
  const mark = url.indexOf('?', start);
  if (mark < 0 || mark > end) return [url.slice(start, end) || '/', ''];
  return [url.slice(start, mark) || '/', url.slice(mark + 1, end)];
}
