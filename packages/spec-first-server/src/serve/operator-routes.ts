import type { Answer, Call, CallRecord } from '../core/call.ts';
import { failureOf } from '../core/response/failures.ts';
import { HttpError } from '../core/response/http-error.ts';
import type { Service } from '../core/service.ts';
import type { ReadResource, Resource } from '../page/page.ts';

export const PROBE_PATHS = ['/healthz', '/readyz'];

export const PAGE_PATHS = ['/docs', '/openapi.yaml', '/openapi.json'];

/**
 * Creates the routes for operators: health, readiness, and each document with its page. If a
 * document has the same path, its operation is served instead, and `shadowed` contains the path,
 * except `/`.
 *
 * @param pages the pages, by the path before `/docs`.
 * @param prefix the path before `/healthz`.
 */
export function operatorRoutes(
  service: Service,
  ready: (() => Promise<void>) | undefined,
  pages: ReadonlyMap<string, ReadonlyMap<string, ReadResource>>,
  prefix: string,
) {
  const routes = new Map<string, ReadResource>();
  for (const [path, read] of probes(ready, service.broken)) routes.set(prefix + path, read);
  for (const [pagePrefix, page] of pages) {
    for (const [path, read] of page) routes.set(pagePrefix + path, read);
    // Relative, so that it works behind a proxy that adds a prefix.
    routes.set(`${pagePrefix}/`, async () => ({ status: 302, headers: { Location: 'docs' } }));
  }
  const shadowed = [...routes.keys()].filter((path) => service.has(path));
  for (const path of shadowed) routes.delete(path);

  return {
    // A document may have the path `/`: only the redirect to the page is lost, so no warning.
    shadowed: shadowed.filter((path) => !pages.has(path.slice(0, -1))),
    docsPaths: Array.from(pages.keys(), (path) => `${path}/docs`).filter((path) =>
      routes.has(path),
    ),
    handleOperatorCall: resourceHandler(service, routes),
  };
}

/** The returned function returns `undefined` if the path of the call is not one of the routes. */
export function resourceHandler(service: Service, routes: ReadonlyMap<string, ReadResource>) {
  return (call: Call, record: CallRecord): Promise<Answer> | undefined => {
    const read = routes.get(call.path);
    return read && handleRoute(call, record, read);
  };

  async function handleRoute(call: Call, record: CallRecord, read: ReadResource) {
    try {
      if (call.method !== 'GET' && call.method !== 'HEAD') {
        throw HttpError.notAllowed(call.method, ['GET', 'HEAD']);
      }
      const resource = await read(call.headers['if-none-match']);
      return service.reply(call, record, { status: 200, ...resource });
    } catch (error) {
      return service.fail(call, record, error);
    }
  }
}

export const probes = (ready?: () => Promise<void>, broken: readonly string[] = []) =>
  new Map<string, ReadResource>([
    ['/healthz', async () => json({ status: 'ok' })],
    [
      '/readyz',
      async () => {
        await ready?.().catch(throwNotReady);
        return json({ status: 'ready', ...(broken.length > 0 && { notServed: broken }) });
      },
    ],
  ]);

/** Probes expect a 503. Only the message of an HttpError is for clients. */
function throwNotReady(cause: unknown): never {
  const { expected, headers } = failureOf(cause);
  const message = cause instanceof HttpError ? cause.message : 'the service is not ready';
  throw new HttpError(503, message, { cause, expected, headers });
}

const json = (value: object): Resource => ({
  type: 'application/json; charset=utf-8',
  body: JSON.stringify(value),
});
