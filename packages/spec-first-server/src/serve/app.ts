import type { RequestListener } from 'node:http';
import { isIP } from 'node:net';
import type { Express, RequestHandler } from 'express';
import { type Document, type DocumentSource, loadDocument } from 'openapi-document';
import { addHeaders, ExpressCall, respond } from '../adapters/express.ts';
import type { TrustProxy } from '../adapters/node/node-call.ts';
import { requestError, requestListener } from '../adapters/node/node-listener.ts';
import type { WhenMissing } from '../core/bind-handlers.ts';
import type { Call, PlainReply } from '../core/call.ts';
import type { ServiceOptions } from '../core/prepare.ts';
import { HttpError } from '../core/response/http-error.ts';
import { createService, type Service } from '../core/service.ts';
import type { HttpFailure } from '../http/failures.ts';
import { Resources } from '../http/resources.ts';
import type { FailureResponse } from '../listener/reject.ts';
import { openapiPage } from '../page/page.ts';
import { createProbes, operatorEndpoints } from './endpoints.ts';
import { openTelemetry } from './tracing.ts';

/** The options of `createApp`. */
export interface AppOptions
  extends Omit<
    ServiceOptions,
    'endpoints' | 'headers' | 'intercept' | 'methods' | 'missing' | 'tracing' | 'trustedOrigins'
  > {
  /** An OpenAPI document: the path of its file, its value, or as loaded. */
  readonly document: DocumentSource;
  /** The treatment of operations without a handler. By default the start fails. */
  readonly missing?: Exclude<WhenMissing, 'next'>;
  /**
   * True in development. Has the effects of the option of `createService`. Also rejects requests
   * whose `Host` is neither localhost nor an IP address: the owner of any other name could make it
   * resolve to this machine (DNS rebinding). By default false.
   */
  readonly inDevelopment?: boolean;
  /**
   * The origins whose pages may send requests, such as `https://app.example`; `*` for all. By
   * default none.
   */
  readonly corsOrigins?: '*' | readonly string[];
  /** The proxies whose `X-Forwarded-For` is trusted. By default none. */
  readonly trustProxy?: TrustProxy;
  /** True if the document and its page are served. By default true. */
  readonly docs?: boolean;
  /** A path before `/healthz`, `/docs` and the like, such as `/ops`. By default none. */
  readonly operatorPrefix?: string;
  /** Called for `GET /readyz`. Rejects if the service is not ready. */
  readonly ready?: () => Promise<void>;
  /** Express middleware and routers that run before the operations. */
  readonly use?: readonly RequestHandler[] | undefined;
}

/** The methods that Node passes to the listener of requests. */
const METHODS = process
  .getBuiltinModule('node:http')
  .METHODS.filter((method) => method !== 'CONNECT');

type ListenerOptions = Pick<AppOptions, 'trustProxy' | 'use'>;

/** The options of one of several documents. */
interface DocumentOptions
  extends Pick<AppOptions, 'around' | 'handlers' | 'log' | 'observe' | 'verifiers'> {
  readonly document: Document;
}

export interface AppService extends Service {
  /** The paths of the pages that are served, such as `/docs`. */
  readonly docsPaths: readonly string[];
}

/**
 * Creates the listener of a service for a server of `listen`. Uses Express only if the project has
 * middleware, since Express would double the time of a request.
 */
export async function createListener(
  service: AppService,
  options: ListenerOptions,
): Promise<RequestListener> {
  return options.use === undefined
    ? requestListener(service, options)
    : createExpressApp(service, options, () => undefined);
}

export async function createApp(options: AppOptions): Promise<Express> {
  // The app may run in a server that does not reject ambiguous requests.
  return createExpressApp(await createAppService(options), options, requestError);
}

async function createExpressApp(
  service: AppService,
  { trustProxy = false, use = [] }: ListenerOptions,
  errorIn: (...parameters: Parameters<typeof requestError>) => HttpError | undefined,
): Promise<Express> {
  // Loaded here, since most services have no middleware.
  const { default: express } = await import('express');
  const router = express.Router();
  for (const middleware of use) router.use(middleware);
  const app = express().disable('x-powered-by').disable('etag').set('trust proxy', trustProxy);

  return app.use((request, response, next) => {
    const error = errorIn(request, response);
    const call = new ExpressCall(request, response, service);
    const { record } = call;
    addHeaders(response, record.headers);
    const end = (failure?: unknown): void => {
      respond(service, call, failure ?? undefined).catch(next);
    };
    const answer = error === undefined ? service.intercept(call, record) : undefined;
    if (answer !== undefined) void call.write(answer);
    else if (error !== undefined) end(error);
    else router(request, response, end);
  });
}

/**
 * Creates the service of a document, with CORS, and with the paths of probes and pages.
 *
 * @param others other documents, which share everything else. Each document then has its page below
 *   its base path.
 * @throws {DocumentError | ConfigError}
 */
export async function createAppService(
  options: AppOptions,
  others: readonly DocumentOptions[] = [],
): Promise<AppService> {
  const { corsOrigins = [], docs = true, inDevelopment = false, missing, ready } = options;
  const { operatorPrefix: prefix = '', resources = new Resources() } = options;
  const cors = corsOrigins.length > 0 ? await import('./cors.ts') : undefined;
  const document = await loadDocument(options.document, { formats: options.formats });
  const documents = [document, ...others.map((other) => other.document)];
  const pages = (docs ? documents : []).map(({ root, basePaths: [basePath] }) => {
    const pagePrefix = others.length > 0 ? basePath + prefix : prefix;
    const page = openapiPage(root, { basePath, prefix: pagePrefix, tryItOut: missing === 'mock' });
    return [pagePrefix, page] as const;
  });
  const probes = createProbes(ready, () => service.broken);
  const endpoints = operatorEndpoints(probes, new Map(pages), prefix);
  const sharedOptions = {
    ...options,
    headers: cors && ((call: Call) => corsHeaders?.(call) ?? {}),
    intercept: inDevelopment || cors ? intercept : undefined,
    methods: METHODS,
    resources,
    tracing: openTelemetry(),
    trustedOrigins: [corsOrigins].flat(),
  };
  function intercept(call: Call): PlainReply | HttpError | undefined {
    const error = inDevelopment ? rejectForeignHost(call) : undefined;
    return error ?? (cors?.isPreflight(call) ? { status: 204 } : undefined);
  }

  const [first, ...rest] = await Promise.all([
    createService(document, { ...sharedOptions, endpoints }),
    ...others.map((other) => createService(other.document, { ...sharedOptions, ...other })),
  ]);
  const service: Service =
    rest.length === 0
      ? first
      : (await import('./combine-services.ts')).combineServices(first, rest);
  const corsHeaders = cors?.crossOrigin(corsOrigins, service.operations);
  const docsPaths = pages.map(([pagePrefix]) => `${pagePrefix}/docs`);
  // A document may have the path `/`: only the redirect to the page is lost, so no warning.
  const shadowed = [...endpoints.keys()].filter((path) => !path.endsWith('/') && service.has(path));
  if (shadowed.length > 0) {
    const message =
      'operations of the document use the paths of probes or pages: set OPERATOR_PREFIX';
    options.log?.warn({ paths: shadowed }, message);
  }
  return { ...service, docsPaths: docsPaths.filter((path) => !service.has(path)) };
}

/** Returns the option `respond` of `listen`. The responses are those of other failures. */
export function failureResponder(service: Service) {
  return (failure: HttpFailure, client: string | undefined): FailureResponse => {
    const call: Call = { method: 'GET', path: '', headers: {}, client };
    const record = service.begin(call);
    const { headers, body } = service.fail(call, record, HttpError.of(failure));
    const text = body instanceof Uint8Array ? body : String(body ?? '');
    return { failure: record.failure ?? failure, headers, body: text };
  };
}

const FOREIGN_HOST = new HttpError(421, 'the Host header must name localhost or an IP address');

/** Names other than localhost could resolve to this machine (DNS rebinding). */
export function rejectForeignHost({ headers: { host } }: Call): HttpError | undefined {
  const name = host?.replace(/:\d*$/, '').replace(/^\[(.*)\]$/, '$1');
  const isLocal = name === undefined || isIP(name) !== 0 || /^(.+\.)?localhost$/i.test(name);
  return isLocal ? undefined : FOREIGN_HOST;
}
