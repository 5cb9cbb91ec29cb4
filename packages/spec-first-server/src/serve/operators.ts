import { requestListener } from '../adapters/node/node-listener.ts';
import type { Endpoint } from '../core/call.ts';
import type { ServiceOptions } from '../core/prepare.ts';
import { createService } from '../core/service.ts';
import { listen } from '../listener/listen.ts';
import { failureResponder, rejectForeignHost } from './app.ts';
import { type Config, isDevelopment, rejectAddress } from './configuration.ts';

const NO_OPERATIONS = {
  openapi: '3.1.0',
  info: { title: 'Metrics and probes', version: '1.0.0' },
  paths: {},
};

/**
 * Serves metrics and probes on a separate address. Their requests are neither logged nor counted.
 * With `node:cluster`, each worker needs a separate port: requests to a shared one would reach a
 * random worker.
 */
export async function serveOperators(
  { HOST, METRICS_HOST, METRICS_PORT: port = 0 }: Config,
  probes: ReadonlyMap<string, Endpoint>,
  readMetrics: Endpoint['read'],
  options: Pick<ServiceOptions, 'codecs' | 'errorBody' | 'resources'>,
) {
  const service = await createService(NO_OPERATIONS, {
    ...options,
    handlers: {},
    endpoints: new Map(probes).set('/metrics', { kind: 'probe', read: readMetrics }),
    // Without CORS: pages of other origins cannot read metrics.
    intercept: isDevelopment(process.env) ? rejectForeignHost : undefined,
  });
  const hostVariable = METRICS_HOST === undefined ? 'HOST' : 'METRICS_HOST';
  const { resources } = service;
  const host = METRICS_HOST ?? HOST;
  const respond = failureResponder(service);
  return listen(requestListener(service, {}), {
    host,
    port,
    exclusive: true,
    resources,
    respond,
  }).catch(rejectAddress('METRICS_PORT', hostVariable));
}
