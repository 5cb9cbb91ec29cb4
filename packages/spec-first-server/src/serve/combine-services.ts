import type { Call } from '../core/call.ts';
import { ConfigError } from '../core/security/config-error.ts';
import type { Service } from '../core/service.ts';

interface Route {
  readonly basePath: string;
  readonly service: Service;
}

const isBelow = (path: string, basePath: string): boolean =>
  path === basePath || path.startsWith(`${basePath}/`);

/**
 * Combines the services of several documents. A call goes to the document with the longest base
 * path that its path is below, or to the first document.
 *
 * @throws {ConfigError} if the requests of an operation would go to another document.
 */
export function combineServices(first: Service, others: readonly Service[]): Service {
  if (others.length === 0) return first;
  const services = [first, ...others];
  const routes = services
    .flatMap((service) => basePathsOf(service).map((basePath) => ({ basePath, service })))
    .toSorted((a, b) => b.basePath.length - a.basePath.length);
  const routeOf = (path: string): Route | undefined =>
    routes.find(({ basePath }) => isBelow(path, basePath));
  const serviceOf = ({ path }: Pick<Call, 'path'>): Service =>
    routeOf(path)?.service ??
    // A base path may be percent-encoded in another way.
    services.find((service) => service.has(path)) ??
    first;
  for (const service of services) checkReachable(service, routeOf);

  return {
    ...first,
    operations: services.flatMap(({ operations }) => operations),
    broken: services.flatMap(({ broken }) => broken),
    missing: services.flatMap(({ missing }) => missing),
    has: (path, isMounted) => serviceOf({ path }).has(path, isMounted),
    find: (call) => serviceOf(call).find(call),
    begin: (call) => serviceOf(call).begin(call),
    handle: (call, record, route) => serviceOf(call).handle(call, record, route),
    reply: (call, record, reply) => serviceOf(call).reply(call, record, reply),
    fail: (call, record, error) => serviceOf(call).fail(call, record, error),
    end: (call, record, end) => serviceOf(call).end(call, record, end),
  };
}

/** Returns the base paths of a document and of its operations, which may have their own. */
const basePathsOf = ({ document, operations }: Service): readonly string[] => [
  ...new Set([...document.basePaths, ...operations.flatMap(({ basePaths }) => basePaths)]),
];

function checkReachable(service: Service, routeOf: (path: string) => Route | undefined): void {
  for (const { basePaths, method, path } of service.operations) {
    for (const basePath of basePaths) {
      const route = routeOf(basePath + path);
      if (route === undefined || route.service === service) continue;
      throw new ConfigError(
        `${method.toUpperCase()} ${basePath}${path} is below the base path ` +
          `${route.basePath || '/'} of another document: give each document a base path of its ` +
          'own in `servers`, such as /v2',
      );
    }
  }
}
