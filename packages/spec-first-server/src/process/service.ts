import cluster from 'node:cluster';
import { access, constants } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { type Document, loadDocument } from 'openapi-document';
import type { Logger } from 'pino';
import type { AnyHandler } from '../handlers/types.ts';
import { rejectionLog } from '../http/access-log.ts';
import { listen } from '../http-server/index.ts';
import { withoutHandler } from '../response/complete-handlers.ts';
import { HttpError } from '../response/http-error.ts';
import { createListener } from '../routing/app.ts';
import type { AppOptions } from '../routing/prepare.ts';
import { type Authenticator, createAuthenticator } from '../security/tokens.ts';
import { type Config, isProduction, rejectAddress, wrongValue } from './configuration.ts';
import { roundTrip } from './messages.ts';
import { describeStart } from './terminal.ts';

/** What answers the operations: opened when the service starts, closed when it stops. */
export interface Backend {
  /** By operationId: the `Handlers` of the generated types. */
  readonly handlers: Readonly<Record<string, AnyHandler>>;
  /** Where it keeps its data, shown at the start: without secrets. */
  readonly location?: string | undefined;
  /** Called for `GET /readyz`. @throws {HttpError} with the reason, if it cannot answer now. */
  ready?(): Promise<void>;
  /** What can be measured now, by name: the metrics `store_NAME`, such as `waiting`. */
  stats?(): Readonly<Record<string, number>>;
  /** Finishes the requests that wait, then closes everything. */
  close?(): Promise<void>;
}

/** What `open` is told of the process. */
export interface OpenContext {
  /** How many processes serve together (`WORKERS`), from 1. */
  readonly workers: number;
  /** To be called with the number of requests that shared a commit (`store_batch_size`), and the seconds that it took. */
  readonly onBatch?: ((requests: number, seconds: number) => void) | undefined;
  /** To be called after each new connection, with the seconds that it took. */
  readonly onConnect?: ((seconds: number) => void) | undefined;
  /** To be called for each request that could not be answered now, with a short name of the reason. */
  readonly onUnavailable?: ((code: string) => void) | undefined;
  /** Logs what the operator should know, though the backend opens. */
  warn(message: string): void;
}

export interface ServiceDefinition extends Pick<AppOptions, 'errorBody' | 'verifiers' | 'use'> {
  readonly open: (context: OpenContext) => Backend | Promise<Backend>;
  /** Whether the document may reference files outside its folder. */
  readonly allowOutside?: boolean | undefined;
}

export type Service = Awaited<ReturnType<typeof startService>>;

/**
 * Opens the backend, makes the app and listens, in this order. A stop closes them in reverse.
 *
 * @throws {Error} whose message tells the operator why it cannot start.
 */
export async function startService(config: Config, definition: ServiceDefinition, log: Logger) {
  const { open, allowOutside, ...custom } = definition;
  // Closes what is open if the start fails.
  await using opened = new AsyncDisposableStack();

  // 1. Open the backend while the document is loaded and checked.
  const metrics =
    config.METRICS_PORT === undefined ? undefined : await (await import('./metrics.ts')).openMetrics(config);
  if (metrics?.close !== undefined) opened.defer(metrics.close);
  const opening = (async () =>
    open({ workers: config.WORKERS, warn: (message) => log.warn(message), ...metrics?.store }))();
  const handlers = opening.then((backend) => backend.handlers);
  // Its error is reported after those of the document.
  handlers.catch(() => undefined);
  opened.defer(async () => (await opening.catch(() => undefined))?.close?.());
  const [document, authenticator] = await Promise.all([
    readDocument(config.OPENAPI_FILE, allowOutside),
    openAuthenticator(config, log),
  ]);

  // 2. Make the app.
  let draining = false;
  const stopping = new AbortController();
  const inDevelopment = process.env.NODE_ENV === 'development';
  const app = await createListener({
    ...custom,
    document,
    handlers,
    authenticator,
    log,
    inDevelopment,
    bodyLimit: config.BODY_LIMIT,
    missing: config.MISSING_OPERATIONS,
    // `npm run dev` goes on with the last good version.
    strict: inDevelopment || isProduction(process.env),
    readOnly: config.READ_ONLY,
    discriminator: config.DISCRIMINATOR,
    docs: config.DOCS === 'on',
    corsOrigins: config.CORS_ORIGINS,
    trustProxy: config.TRUST_PROXY,
    observe: metrics?.observe,
    slowMs: config.SLOW_MS || undefined,
    stopping: stopping.signal,
    async ready() {
      if (draining) {
        throw new HttpError(503, 'the service is stopping', { headers: { 'Retry-After': 1 }, expected: true });
      }
      await (await opening).ready?.()?.catch((cause: unknown) => {
        const { status, headers } = Object(cause);
        throw status === 503 ? new HttpError(503, 'the store is not ready', { headers, cause }) : cause;
      });
    },
  });
  const backend = await opening;
  metrics?.watch(() => backend.stats?.() ?? {});
  backend.ready?.()?.catch((error: unknown) => log.warn({ err: error }, 'the store is not ready yet'));

  // 3. Listen.
  const listening = await listen(app, {
    host: config.HOST,
    port: config.PORT,
    onRejected: rejectionLog(log, metrics?.onRejected),
    onDropped: (connections) => log.warn({ connections }, 'connections dropped: the limit of open files is reached'),
    errorBody: custom.errorBody,
    allAccepted: cluster.isWorker ? roundTrip : undefined,
  }).catch(rejectAddress('PORT'));
  let quickly = false;
  opened.defer(() => listening.stop(quickly));

  const missing = withoutHandler(document.operations, backend.handlers).map(({ id }) => id);
  const own = { store: backend.location, metrics: metrics?.url, missing };
  const started = await describeStart(config, document, listening.url, own);
  const running = opened.move();
  return {
    started,
    /** The metrics of this process in Prometheus's format, if they are measured. */
    metrics: metrics?.text,
    /** Reads the file of access tokens again, and logs the outcome. */
    async reload() {
      try {
        log.info({ accepted: await authenticator.reload() }, 'access tokens read again');
      } catch (error) {
        log.error({ err: error }, 'reload failed; keeping the previous tokens');
      }
    },
    /** Stops being ready, then accepting; finishes what is in flight; closes the backend. @param quick see `listen` */
    async stop(quick = false) {
      quickly = quick;
      draining = true;
      listening.drain();
      await delay(config.DRAIN_SECONDS * 1000);
      stopping.abort();
      await running.disposeAsync();
    },
  };
}

async function readDocument(file: string, allowOutside?: boolean): Promise<Document> {
  await access(file, constants.R_OK).catch((cause: NodeJS.ErrnoException) => {
    throw wrongValue('OPENAPI_FILE', file, `an OpenAPI document that can be read (${cause.code})`, cause);
  });
  return loadDocument(file, { allowOutside });
}

async function openAuthenticator(config: Config, log: Logger): Promise<Authenticator> {
  const { ACCESS_TOKENS: accessTokens, ACCESS_TOKENS_FILE: accessTokensFile } = config;
  const { JWKS_URL: jwksUrl, JWT_ISSUER: issuer, JWT_AUDIENCE: audience } = config;
  if (jwksUrl !== undefined && (issuer === undefined || audience === undefined)) {
    log.warn('JWT_ISSUER and JWT_AUDIENCE are not both set: tokens that JWKS_URL signed for others are accepted, too');
  }
  const settings = { accessTokens, accessTokensFile, jwt: jwksUrl && { jwksUrl, issuer, audience } };
  return createAuthenticator(settings, (error) =>
    log.error({ err: error }, 'the keys of signed tokens cannot be fetched'),
  );
}
