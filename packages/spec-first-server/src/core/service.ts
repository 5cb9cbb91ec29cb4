import type { Codecs, Document, DocumentSource, Operation } from 'openapi-document';
import { accessLog } from './access-log.ts';
import { Resources } from './account.ts';
import type { Answer, Call, CallEnd, CallRecord } from './call.ts';
import { planOperation } from './operation.ts';
import { prepare, type ServiceOptions } from './prepare.ts';
import { recorder } from './record.ts';
import { type CheckedReply, createAnswer } from './response/answer.ts';
import { failureAnswer } from './response/failures.ts';
import { HttpError } from './response/http-error.ts';
import { createRouter, type FindRoute, type Route } from './router.ts';

/** A service without a socket: adapters connect it to a server. */
export interface Service {
  readonly document: Document;
  /** The codecs of its bodies. */
  readonly codecs: Codecs;
  /** The ids of operations that cannot be enforced and answer 501. */
  readonly broken: readonly string[];
  /** The ids of operations without a handler. */
  readonly missing: readonly string[];
  /** The operations whose methods the server can read. Includes the broken ones. */
  readonly operations: readonly Operation[];
  /** The memory and the CPU time that its calls share, also with the server that serves them. */
  readonly resources: Resources;
  /** Aborted when the service stops. */
  readonly stopping: AbortSignal | undefined;
  /** Returns true if the document has a path. See {@link Call} for `isMounted`. */
  has(path: string, isMounted?: boolean): boolean;
  /**
   * Returns the route of a call, or the error of one that has none; `undefined` if the next handler
   * of an Express app must answer it.
   */
  find(call: Pick<Call, 'method' | 'path' | 'isMounted'>): Route | HttpError | undefined;
  /** Begins the record of a call. The adapter that creates the call begins it, once. */
  begin(call: Call): CallRecord;
  /**
   * Answers a call. Never rejects: errors become answers with the document's error body.
   *
   * @param record by default a new one, for a call that is not logged.
   * @param route the result of `find`, if the adapter has asked for it.
   */
  handle(call: Call, record?: CallRecord, route?: Route | HttpError): Promise<Answer>;
  /** Returns the answer to a call that is not for an operation, such as a health probe. */
  reply(call: Call, record: CallRecord, reply: CheckedReply): Answer;
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
  const { tracing, resources = new Resources() } = options;
  const begin = recorder(resources, options);
  const plans = new Map(operations.map((each) => [each, planOperation(each, context)]));
  const findBelowServers = createRouter(operations);
  let findMounted: FindRoute | undefined;
  const methods = operations.map(({ method }) => method.toUpperCase());
  /** The answer to `OPTIONS *`, with the methods of the server (RFC 9110 §9.3.7). */
  const serverOptions: CheckedReply = {
    status: 204,
    headers: { Allow: [...new Set([...methods, 'GET', 'HEAD', 'OPTIONS'])].join(', ') },
  };
  function findRoute(method: string, path: string, isMounted = false): Route | HttpError {
    if (!isMounted) return findBelowServers(method, path);
    findMounted ??= createRouter(operations, '');
    return findMounted(method, path);
  }

  function fail(call: Call, record: CallRecord, error: unknown): Answer {
    return failureAnswer(error, record, call, failures);
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
    fail,
    reply: ({ method }, record, reply) => createAnswer(reply, record, method),
    end: accessLog(log, options),

    has(path, isMounted) {
      const route = findRoute('GET', path, isMounted);
      return !(route instanceof HttpError) || route.status === 405;
    },

    find({ method, path, isMounted }) {
      const route = findRoute(method, path, isMounted);
      // Another handler of the app may answer another method of the path if it answers operations.
      if (route instanceof HttpError)
        return options.missing !== 'next' && route.status === 405 ? route : undefined;
      return bindings.get(route.operation.id)?.isPassed ? undefined : route;
    },

    // Not async, to avoid the cost of another promise.
    handle(call, record = begin(call), route = findRoute(call.method, call.path, call.isMounted)) {
      const { method, path } = call;
      if (method === 'OPTIONS' && path === '*')
        return Promise.resolve(createAnswer(serverOptions, record, method));
      if (record.failure !== undefined) return Promise.resolve(fail(call, record, record.failure));
      if (route instanceof HttpError) return Promise.resolve(fail(call, record, route));
      const { operation, basePath } = route;
      tracing?.name(method, basePath + operation.path, operation.id);
      const answer = plans.get(operation);
      if (answer === undefined) throw new Error(`${operation.id} has no plan`);
      return answer(call, record);
    },
  };
}
