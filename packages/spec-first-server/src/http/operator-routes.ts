import { Router } from 'express';
import type { Json } from 'openapi-document';
import { openapiPage, type PageOptions } from '../page/page.ts';
import { HttpError } from '../response/http-error.ts';

const HEALTH = ['/healthz', '/readyz'];

/** Where operators find the service, outside the document. */
export const OPERATOR_PATHS = [...HEALTH, '/docs', '/openapi.yaml', '/openapi.json'];

/**
 * The routes for operators: health, readiness, and the document with its page.
 *
 * @param ready resolves if the service can do its work.
 * @param broken the ids of operations that cannot be served.
 * @param served the document and the options of its page, if it is served.
 */
export function operatorRoutes(
  ready: (() => Promise<void>) | undefined,
  broken: readonly string[],
  served: { readonly root: Json; readonly page: PageOptions } | undefined,
): Router {
  const router = Router({ strict: true, caseSensitive: true });
  router.get('/healthz', (_request, response) => void response.json({ status: 'ok' }));
  router.get('/readyz', async (_request, response) => {
    await ready?.();
    response.json({ status: 'ready', ...(broken.length > 0 && { notServed: broken }) });
  });
  if (served !== undefined) {
    router.use(openapiPage(served.root, served.page));
    // Relative, so that it leads to the page behind a proxy under a prefix, too.
    router.get('/', (_request, response) => void response.status(302).location('docs').end());
  }
  router.all(served === undefined ? HEALTH : [...OPERATOR_PATHS, '/'], ({ method }) => {
    throw HttpError.notAllowed(method, ['GET', 'HEAD']);
  });
  return router;
}
