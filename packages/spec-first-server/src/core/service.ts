import type { Codecs, Document, DocumentSource, Operation } from 'openapi-document';
import { Resources } from '../http/resources.ts';
import { accessLog, guarded } from './access-log.ts';
import type { Answer, Call, CallEnd, CallRecord, PlainReply } from './call.ts';
import { planOperation } from './operation.ts';
import { prepare, type ServiceOptions } from './prepare.ts';
import { recorder } from './record.ts';
import { createAnswer } from './response/answer.ts';
import { failureAnswer } from './response/failures.ts';
import { HttpError } from './response/http-error.ts';
import { createRouter, type Route, type Router } from './router.ts';

/** The parts of a call that select its operation. */
interface Target extends Pick<Call, 'method' | 'path'> {
  /**
   * True if the path is relative to a mount path, which replaces the base path of the document's
   * `servers`.
   */
  readonly isMounted?: boolean;
}

/** A service without a socket: adapters connect it to a server. */
export interface Service {
  readonly document: Document;
  /** The codecs of its bodies. */
  readonly codecs: Codecs;
  /** The ids of operations that cannot be served. They respond with 501. */
  readonly broken: readonly string[];
  /** The ids of operations without a handler. */
  readonly missing: readonly string[];
  /** The operations whose methods the server can read. Includes the broken ones. */
  readonly operations: readonly Operation[];
  /** The memory and the CPU time that its calls share, also with the server that serves them. */
  readonly resources: Resources;
  /** Aborted when the service stops. */
  readonly stopping: AbortSignal | undefined;
  /** Returns true if the document has a path. */
  has(path: string): boolean;
  /**
   * Returns the route of a call; an error if the document has the path, but not the method; and
   * `undefined` if the document does not have the path, or if the next handler of an Express app
   * must get the call.
   */
  find(target: Target): Route | HttpError | undefined;
  /** Begins the record of a call. The adapter that creates the call begins it, once. */
  begin(call: Call): CallRecord;
  /**
   * Returns the answer to a call that must reach neither middleware nor an operation; `undefined`
   * for other calls. Only for adapters with middleware, since `handle` includes it.
   */
  intercept(call: Call, record: CallRecord): Answer | undefined;
  /**
   * Returns the answer to a call. Never rejects: errors become answers with the error body of the
   * document.
   *
   * @param record by default a new one, for a call that is not logged.
   * @param route the result of `find`. By default that of a call that is not mounted.
   */
  handle(call: Call, record?: CallRecord, route?: Route | HttpError): Promise<Answer>;
  /** Returns the answer to an error of a call that is not for an operation. */
  fail(call: Call, record: CallRecord, error: unknown): Answer;
  /** Logs a call. Adapters call it once, when the answer is sent or the client has disconnected. */
  end(call: Call, record: CallRecord, end: CallEnd): void;
}

/**
 * Creates the service of a document.
 *
 * @example
 * const service = await createService('openapi.yaml', { handlers });
 * createServer(nodeListener(service)).listen(3000);
 *
 * @throws {DocumentError} if the document cannot be served, or does not fit the handlers.
 * @throws {ConfigError} if an access token or another setting of credentials is wrong.
 */
export async function createService(
  source: DocumentSource,
  options: ServiceOptions,
): Promise<Service> {
  const { operations, context } = await prepare(source, options);
  const { bindings, document, failures, log } = context;
  const { tracing, endpoints, resources = new Resources() } = options;
  const nameSpan = guarded(log, 'tracing', tracing?.name.bind(tracing));
  const begin = recorder(resources, options, log);
  const plans = new Map(operations.map((each) => [each, planOperation(each, context)]));
  const router = createRouter(operations);
  let mountedRouter: Router | undefined;
  const methods = operations.map(({ method }) => method.toUpperCase());
  /** The answer to `OPTIONS *`, with the methods of the server (RFC 9110 §9.3.7). */
  const serverOptions: PlainReply = {
    status: 204,
    headers: { Allow: [...new Set([...methods, 'GET', 'HEAD', 'OPTIONS'])].join(', ') },
  };
  function mounted(): Router {
    mountedRouter ??= createRouter(operations, '');
    return mountedRouter;
  }

  function fail(call: Call, record: CallRecord, error: unknown): Answer {
    return failureAnswer(error, record, call, failures);
  }

  function intercept(call: Call, record: CallRecord): Answer | undefined {
    const { intercepted } = record;
    if (intercepted === undefined) return undefined;
    if (intercepted instanceof HttpError) return fail(call, record, intercepted);
    return createAnswer(intercepted, record, call.method);
  }

  /** Returns the answer to a call that has no operation. */
  async function handleOther(call: Call, record: CallRecord, error: HttpError): Promise<Answer> {
    const { method, path, headers } = call;
    const endpoint = error.status === 404 ? endpoints?.get(path) : undefined;
    record.endpoint = endpoint?.kind;
    try {
      if (method === 'OPTIONS' && path === '*') return createAnswer(serverOptions, record, method);
      if (endpoint === undefined) throw error;
      if (method !== 'GET' && method !== 'HEAD')
        throw HttpError.notAllowed(method, ['GET', 'HEAD']);
      const reply = await endpoint.read(headers['if-none-match']);
      return createAnswer({ status: 200, ...reply }, record, method);
    } catch (failure) {
      return fail(call, record, failure);
    }
  }

  return {
    document,
    codecs: failures.codecs,
    operations,
    resources,
    stopping: options.stopping,
    broken: context.broken,
    missing: document.operations.flatMap(({ id }) => (bindings.get(id)?.isHandled ? [] : id)),
    begin,
    intercept,
    fail,
    end: accessLog(log, options),
    has: router.has,

    find({ method, path, isMounted }) {
      const route = (isMounted ? mounted() : router).find(method, path);
      // The next handler may be for another method of the path.
      if (route instanceof HttpError)
        return options.missing !== 'next' && route.status === 405 ? route : undefined;
      return bindings.get(route.operation.id)?.isPassed ? undefined : route;
    },

    // Not async, to avoid the cost of another promise.
    handle(call, record = begin(call), route = router.find(call.method, call.path)) {
      const intercepted = record.intercepted && intercept(call, record);
      if (intercepted !== undefined) return Promise.resolve(intercepted);
      if (route instanceof HttpError) return handleOther(call, record, route);
      const { operation, basePath } = route;
      nameSpan?.(call.method, basePath + operation.path, operation.id);
      const plan = plans.get(operation);
      if (plan === undefined) throw new Error(`${operation.id} has no plan`);
      return plan(call, record);
    },
  };
}
