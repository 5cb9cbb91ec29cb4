import { access, constants } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { isatty } from 'node:tty';
import { type Document, loadDocument } from 'openapi-document';
import type { Logger } from 'pino';
import type { AnyHandler } from '../core/handlers/types.ts';
import { HttpError } from '../core/response/http-error.ts';
import { authenticatorFor, tokenSchemes } from '../core/security/schemes.ts';
import { randomToken } from '../core/security/tokens.ts';
import type { Listening } from '../listener/listen.ts';
import type { AppOptions } from './app.ts';
import {
  type Config,
  ConfigError,
  hasCredentials,
  isDevelopment,
  isProduction,
  rejectAddress,
} from './configuration.ts';
import { createProbes } from './endpoints.ts';
import { describeStart } from './terminal.ts';

/**
 * The parts of a service that may depend on a database: the option `open` of `serve`, or the result
 * of this function.
 */
export interface Backend extends Pick<AppOptions, 'around' | 'use' | 'verifiers'> {
  /** The handlers by operationId, as in the generated type `Handlers`. */
  readonly handlers: Readonly<Record<string, AnyHandler>>;
  /** The location of the data, such as a file or a URL without secrets. Shown at the start. */
  readonly location?: string | undefined;
  /**
   * Called for `GET /readyz`.
   *
   * @throws {Error} with the reason, if the backend cannot be used now: the response is a 503. The
   *   `headers` of an HttpError, or of another error with a `status` other than 500, are sent.
   */
  ready?(): Promise<void>;
  /** Current values by name, such as `waiting`: the metrics `store_NAME`. */
  stats?(): Readonly<Record<string, number>>;
  /** Finishes pending calls, then closes the connections. */
  close?(): Promise<void>;
}

/** The result of `open` if a process serves several documents. */
export interface DocumentsBackend extends Omit<Backend, keyof DocumentParts> {
  /** The handlers of each document, by its name in the option `documents` of `serve`. */
  readonly documents: Readonly<Record<string, DocumentParts>>;
}

/** The handlers of one document, with its hook and its verifiers. */
export type DocumentParts = Pick<Backend, 'around' | 'handlers' | 'verifiers'>;

/** The second argument of `open`. */
export interface OpenContext {
  /**
   * Call it after each commit, with the number of requests in the commit (`store_batch_size`), and
   * the seconds that the commit took. `undefined` without metrics, like the next two functions.
   */
  readonly onBatch?: ((requests: number, seconds: number) => void) | undefined;
  /** Call it after each new connection to the database, with the seconds that it took. */
  readonly onConnect?: ((seconds: number) => void) | undefined;
  /** Call it for each request that gets 503, with a short name of the reason. */
  readonly onUnavailable?: ((code: string) => void) | undefined;
  /** Logs a warning. */
  warn(message: string): void;
}

export type AnyBackend = Backend | DocumentsBackend;

export interface ServiceDefinition extends Pick<AppOptions, 'codecs' | 'errorBody' | 'formats'> {
  readonly open: AnyBackend | ((context: OpenContext) => AnyBackend | Promise<AnyBackend>);
  /**
   * The paths of several documents, each with a name for the log and the metrics, such as `v1`.
   * Each document needs a base path of its own in its `servers`. By default, the document in
   * OPENAPI_FILE is served.
   */
  readonly documents?: Readonly<Record<string, string>> | undefined;
  /** True if the document may reference files outside its folder. */
  readonly allowOutside?: boolean | undefined;
}

export type RunningService = Awaited<ReturnType<typeof startService>>;

/**
 * Opens the backend, creates the app and listens, in this order. A stop closes them in reverse
 * order.
 *
 * @param lostLines returns the number of lines of the log that were dropped.
 */
export async function startService(
  config: Config,
  definition: ServiceDefinition,
  log: Logger,
  lostLines = () => 0,
) {
  const { open } = definition;
  const inDevelopment = isDevelopment(process.env);
  const stopping = new AbortController();
  let draining = false;
  // If the start fails, closes everything that was opened.
  await using opened = new AsyncDisposableStack();

  async function ready(): Promise<void> {
    if (draining) {
      const headers = { 'Retry-After': 1 };
      throw new HttpError(503, 'the service is stopping', { headers, expected: true });
    }
    await backend.ready?.();
  }

  // The document is read while the backend opens.
  const metrics = await createMetrics(config, lostLines);
  const context: OpenContext = { warn: (message) => log.warn(message), ...metrics?.store };
  const opening = typeof open === 'function' ? Promise.try(open, context) : Promise.resolve(open);
  // The error is handled at `await opening`. An error of the document takes precedence.
  const closable = opening.catch(() => undefined);
  opened.defer(async () => (await closable)?.close?.());
  const documents = await readDocuments(config, definition);
  // Loaded here, while the backend opens.
  const { createAppService, createListener, failureResponder } = await import('./app.ts');
  const { listen } = await import('../listener/listen.ts');
  const backend = await opening;
  const parts = partsOf(documents, backend, log, metrics);
  const [first, ...others] = parts;
  const { token, ...options } = await appOptions(config, parts, log);
  const service = await createAppService(
    {
      ...options,
      ...first,
      errorBody: definition.errorBody,
      formats: definition.formats,
      codecs: definition.codecs,
      inDevelopment,
      missing: config.MISSING_OPERATIONS,
      strict: isProduction(process.env),
      stopping: stopping.signal,
      ready,
    },
    others,
  );
  if (backend.stats !== undefined) metrics?.watch(() => backend.stats?.() ?? {});
  ready().catch((error: unknown) => log.warn({ err: error }, 'the store is not ready'));

  const { resources } = service;
  let operators: Listening | undefined;
  if (metrics !== undefined) {
    const { serveOperators } = await import('./operators.ts');
    const probes = createProbes(ready, () => service.broken);
    const options = { ...definition, resources };
    operators = await serveOperators(config, probes, metrics.read, options);
    const { server } = operators;
    opened.use(server);
    opened.defer(() => server.closeAllConnections());
  }
  const app = await createListener(service, {
    use: backend.use,
    trustProxy: config.TRUST_PROXY,
  });
  const listening = await listen(app, {
    host: config.HOST,
    port: config.PORT,
    respond: failureResponder(service),
    // Other parts of the request may contain secrets.
    onRejected({ status, message, reason = message, cause }, client) {
      metrics?.onRejected(status);
      log[cause === undefined ? 'info' : 'error'](
        { client, status, reason, err: cause },
        'rejected',
      );
    },
    resources,
    // In development, another process already accepts new connections.
    limits: inDevelopment ? { idleStopTimeout: 0, quietTimeout: 0 } : {},
  }).catch(rejectAddress('PORT', 'HOST'));
  opened.defer(() => listening.stop());

  const metricsUrl = operators && `${operators.url}/metrics`;
  const started = await describeStart(
    [first.document, ...others.map(({ document }) => document)],
    listening.url,
    service.docsPaths,
    { store: backend.location, metrics: metricsUrl, missing: service.missing },
  );
  const running = opened.move();
  return {
    started,
    token,
    async reload() {
      if (config.ACCESS_TOKENS_FILE === undefined) {
        log.warn('SIGHUP changes no token: ACCESS_TOKENS_FILE is not set');
        return;
      }
      try {
        log.info({ accepted: await options.authenticator.reload() }, 'access tokens read again');
      } catch (error) {
        log.error({ err: error }, 'reload failed; keeping the previous tokens');
      }
    },
    /**
     * Reports for `DRAIN_SECONDS` that the service is not ready. Then stops accepting, finishes the
     * requests in flight, and closes the backend.
     */
    async stop() {
      draining = true;
      listening.drain();
      await delay(config.DRAIN_SECONDS * 1000);
      stopping.abort();
      await running.disposeAsync();
    },
  };
}

/**
 * Checks the configuration, the document, and a backend that no function opens, like a start.
 * Does not open a backend or a port. If a function opens the backend, assumes that it returns a
 * handler for each operation, and verifiers only for credentials that are not tokens.
 *
 * @throws {Error} if the configuration, the document or the backend has an error, or an operation
 *   could not be served.
 */
export async function checkService(
  config: Config,
  { allowOutside, open, ...definition }: ServiceDefinition,
  log: Logger,
): Promise<void> {
  const documents = await readDocuments(config, { ...definition, allowOutside });
  const isOpened = typeof open === 'function';
  const noHandlers = Array.from(documents.keys(), (name) => [name, { handlers: {} }]);
  const backend = isOpened ? { documents: Object.fromEntries(noHandlers) } : open;
  const parts = partsOf(documents, backend, log);
  const [first, ...others] = parts;
  const options = await appOptions(config, parts, log);
  const { createAppService } = await import('./app.ts');
  await createAppService(
    {
      ...definition,
      ...options,
      ...first,
      // Mocks need neither handlers nor verifiers.
      missing: isOpened ? 'mock' : config.MISSING_OPERATIONS,
      strict: true,
    },
    others,
  );
}

const deprecatedIn = ({ operations }: Document): ReadonlySet<string> =>
  new Set(operations.filter(({ source }) => source.deprecated === true).map(({ id }) => id));

async function createMetrics({ METRICS_PORT: port }: Config, lostLines: () => number) {
  if (port === undefined) return undefined;
  const metrics = await import('./metrics.ts');
  return metrics.createMetrics(lostLines);
}

/** Returns the documents by name. The one in OPENAPI_FILE has the name `''`. */
async function readDocuments(
  config: Config,
  { documents, ...options }: Pick<ServiceDefinition, 'allowOutside' | 'documents' | 'formats'>,
): Promise<ReadonlyMap<string, Document>> {
  const files = documents ?? { '': config.OPENAPI_FILE };
  const entries = Object.entries(files).map(async ([name, file]) => {
    await access(file, constants.R_OK).catch((cause: NodeJS.ErrnoException) => {
      const option = documents === undefined ? 'OPENAPI_FILE' : `documents: ${name}`;
      const requirement = `a readable OpenAPI document (${cause.code})`;
      throw new ConfigError(`${option} must be ${requirement}, got ${JSON.stringify(file)}`, {
        cause,
      });
    });
    return [name, await loadDocument(file, options)] as const;
  });
  return new Map(await Promise.all(entries));
}

/**
 * Returns the parts of each document. The log and the metrics have the names of the documents.
 *
 * @throws {ConfigError} if `open` returns parts of other documents than those of `serve`.
 */
function partsOf(
  documents: ReadonlyMap<string, Document>,
  backend: AnyBackend,
  log: Logger,
  metrics?: Awaited<ReturnType<typeof createMetrics>>,
) {
  const parts: Readonly<Record<string, DocumentParts>> =
    'documents' in backend ? backend.documents : { '': backend };
  const [first, ...others] = Array.from(documents, ([name, document]) => {
    const { [name]: part } = parts;
    if (part === undefined) throw wrongNames(documents, parts);
    const labels = name === '' ? {} : { document: name };
    return {
      document,
      handlers: part.handlers,
      around: part.around,
      verifiers: part.verifiers,
      log: name === '' ? log : log.child(labels),
      observe: metrics?.observer(deprecatedIn(document), labels),
    };
  });
  if (first === undefined || Object.keys(parts).length > documents.size)
    throw wrongNames(documents, parts);
  return [first, ...others] as const;
}

function wrongNames(documents: ReadonlyMap<string, Document>, parts: object): ConfigError {
  const list = (names: Iterable<string>) => [...names].filter(Boolean).join(', ') || 'none';
  return new ConfigError(
    '`documents` of serve and `documents` of the result of open must have the same names, ' +
      `got ${list(documents.keys())} and ${list(Object.keys(parts))}`,
  );
}

/**
 * Returns the options of the app that follow from the configuration and the document, and the token
 * that was generated, if any.
 *
 * @throws {ConfigError} if the credentials are wrong or missing.
 */
async function appOptions(config: Config, parts: ReturnType<typeof partsOf>, log: Logger) {
  const { JWKS_URL: jwksUrl, JWT_ISSUER: issuer, JWT_AUDIENCE: audience } = config;
  if (jwksUrl !== undefined && (issuer === undefined || audience === undefined)) {
    log.warn(
      'JWT_ISSUER and JWT_AUDIENCE must both be set, ' +
        'or tokens that were issued for other services are accepted',
    );
  }
  const token = hasCredentials(config) ? undefined : generateToken(config, parts, log);
  const settings = {
    accessTokens: config.ACCESS_TOKENS,
    accessTokensFile: config.ACCESS_TOKENS_FILE,
    jwt: jwksUrl && { jwksUrl, issuer, audience },
    developmentToken: token ?? config.DEVELOPMENT_TOKEN,
  };
  const authenticator = await authenticatorFor(parts, settings, log);
  return {
    token,
    authenticator,
    bodyLimit: config.BODY_LIMIT,
    docs: config.DOCS === 'on',
    operatorPrefix: config.OPERATOR_PREFIX,
    corsOrigins: config.CORS_ORIGINS,
    slowMs: config.SLOW_MS || undefined,
  };
}

/**
 * Returns an access token, or `undefined` if no document takes tokens.
 *
 * @throws {ConfigError} in production, and if the start would not show the token.
 */
function generateToken(
  { LOG_LEVEL }: Config,
  parts: ReturnType<typeof partsOf>,
  log: Logger,
): string | undefined {
  const takesTokens = parts.some(
    ({ document, verifiers }) => tokenSchemes(document.securitySchemes, verifiers).size > 0,
  );
  if (!takesTokens) return undefined;
  if (isProduction(process.env)) {
    throw new ConfigError(
      'ACCESS_TOKENS, ACCESS_TOKENS_FILE or JWKS_URL must be set with NODE_ENV=production',
    );
  }
  if (isatty(1) || log.isLevelEnabled('info')) return randomToken();
  const reason = 'the generated token would not be logged';
  throw new ConfigError(`ACCESS_TOKENS must be set with LOG_LEVEL=${LOG_LEVEL}: ${reason}`);
}
