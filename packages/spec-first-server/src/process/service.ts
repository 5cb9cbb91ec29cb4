import cluster from 'node:cluster';
import { access, constants } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Document } from '../document/document.ts';
import { loadDocument } from '../document/load.ts';
import { operationsOf } from '../document/operations.ts';
import { describeFindings } from '../document/positions.ts';
import { basePathsOf } from '../document/servers.ts';
import { refusalLog } from '../http/access-log.ts';
import { LIMITS, listen } from '../http/listen.ts';
import { exampleLine } from '../request/example.ts';
import { HttpError } from '../response/http-error.ts';
import type { ErrorBody } from '../response/problem.ts';
import { createApp } from '../routing/app.ts';
import type { Verifiers } from '../security/schemes.ts';
import { createAuthenticator } from '../security/tokens.ts';
import type { Backend, OpenContext } from './backend.ts';
import { type Config, ConfigError, explainAddress } from './configuration.ts';

/** What the start tells people and logs. */
export interface Started {
  /** Where the document's paths start, without a slash at the end. */
  readonly url: string;
  readonly store: string;
  /** The page, if it is served. */
  readonly docs: string | undefined;
  /** `GET /metrics`, if it is served. */
  readonly metrics: string | undefined;
  /** Method and path of each operation, in the document's order. */
  readonly operations: readonly string[];
  /** Where the document declares operations that have no handler, as `file:line:column operation …`. */
  readonly missing: readonly string[];
  /** A request to try, as {@link exampleLine} makes it. */
  readonly example: string | undefined;
}

/** A project's own parts, its variables read. */
export interface Stub {
  readonly open: (context: OpenContext) => Backend | Promise<Backend>;
  readonly errorBody: ErrorBody | undefined;
  readonly verifiers: Verifiers | undefined;
}

/** A service that runs. */
export interface Service {
  readonly started: Started;
  /** Reads the file of access tokens again, and logs what came of it. */
  reload(): Promise<void>;
  /** Stops being ready, then accepting; finishes what is in flight; closes the store. */
  stop(): Promise<void>;
}

/**
 * Opens the store, makes the app and listens: in this order, and back when it stops.
 *
 * @throws {Error} why it cannot, fit for the operator.
 */
export async function startService(
  config: Config,
  { open: openBackend, errorBody, verifiers }: Stub,
  log: Logger,
): Promise<Service> {
  const closers: (() => Promise<void>)[] = [];
  const close = async () => {
    for (const closer of closers.splice(0).reverse()) await closer();
  };
  try {
    return await open();
  } catch (error) {
    await close();
    throw error;
  }

  async function open(): Promise<Service> {
    const metrics = await openMetrics(config);
    if (metrics !== undefined) closers.push(metrics.close);
    const opening = (async () => openBackend({ workers: config.workers, onBatch: metrics?.onBatch }))();
    const handlers = opening.then((backend) => backend.handlers);
    // The store opens while the document is proved; whether it could is asked after that.
    handlers.catch(() => undefined);
    closers.push(() =>
      opening.then(
        async (backend) => backend.close?.(),
        () => undefined,
      ),
    );
    const [document, authenticator] = await Promise.all([
      readDocument(config.openapiFile),
      createAuthenticator(config.auth, (error) =>
        log.error({ err: error }, 'the keys of signed tokens cannot be fetched'),
      ),
    ]);
    const { jwt } = config.auth;
    if (jwt !== undefined && (jwt.issuer === undefined || jwt.audience === undefined)) {
      log.warn(
        'JWT_ISSUER and JWT_AUDIENCE are not both set: tokens that JWKS_URL signed for others are accepted, too',
      );
    }
    let draining = false;
    const app = await createApp({
      document,
      handlers,
      authenticator,
      log,
      bodyLimit: config.bodyLimit,
      missing: config.missing,
      docs: config.docs,
      observe: metrics?.observe,
      errorBody,
      verifiers,
      async ready() {
        if (draining)
          throw new HttpError(503, 'the service is stopping', { headers: { 'Retry-After': 1 }, wanted: true });
        await (await opening).ready?.();
      },
    });
    const backend = await opening;
    if (backend.waiting !== undefined) metrics?.watch(backend.waiting);
    backend.ready?.()?.catch((error: unknown) => log.warn({ err: error }, 'the store is not ready yet'));
    const refused = refusalLog(log, metrics?.onRefused);
    const { url, stop } = await listen(app, config.host, config.port, LIMITS, refused, errorBody).catch(
      (error: unknown) => {
        throw explainAddress(error, 'PORT');
      },
    );
    closers.push(stop);

    const reachable = reachableFrom(url);
    const [basePath = ''] = basePathsOf(document);
    const operations = operationsOf(document);
    const unimplemented = operations
      .filter(({ id }) => !Object.hasOwn(backend.handlers, id))
      .map(({ id, pointer }) => ({ pointer, message: `operation ${id} has no handler` }));
    return {
      started: {
        url: reachable + basePath,
        store: backend.place ?? '',
        docs: config.docs ? `${reachable}/docs` : undefined,
        metrics: metrics?.url,
        operations: operations.map(({ method, path }) => `${method.toUpperCase()} ${basePath}${path}`),
        missing: unimplemented.length === 0 ? [] : describeFindings(document, unimplemented).split('\n'),
        example: await exampleLine(document, operations, reachable + basePath),
      },
      async reload() {
        try {
          log.info({ accepted: await authenticator.reload() }, 'access tokens read again');
        } catch (error) {
          log.error({ err: error }, 'access tokens stay as they were');
        }
      },
      async stop() {
        draining = true;
        await delay(config.drainSeconds * 1000);
        await close();
      },
    };
  }
}

async function readDocument(file: string): Promise<Document> {
  await access(file, constants.R_OK).catch((cause: NodeJS.ErrnoException) => {
    const right = 'must name an OpenAPI document';
    throw new ConfigError(
      `OPENAPI_FILE is ${JSON.stringify(file)}, which cannot be read (${cause.code}), but ${right}`,
      { cause },
    );
  });
  return loadDocument(file);
}

/** The metrics of this process, and where they are read: by the process that supervises this one, or on a port. */
async function openMetrics({ host, metricsPort }: Config) {
  if (metricsPort === undefined) return undefined;
  const { createMetrics, serveMetrics, shareMetrics } = await import('./metrics.ts');
  const metrics = createMetrics();
  if (cluster.isWorker) {
    shareMetrics(metrics);
    return { ...metrics, url: undefined, close: async () => undefined };
  }
  return { ...metrics, ...(await serveMetrics(host, metricsPort, () => metrics.registry.metrics())) };
}

/** An address that listens everywhere, as one that a client on this machine can use. */
const reachableFrom = (url: string): string => url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
