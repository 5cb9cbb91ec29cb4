import type { Call } from '../core/call.ts';
import { ConfigError } from '../core/security/config-error.ts';
import type { Service } from '../core/service.ts';

/**
 * Combines the services of several documents. A call goes to the document that has its path, or to
 * the first document. If several have the path, the one with the longest base path gets the call.
 *
 * @throws {ConfigError} if the requests of an operation would go to another document.
 */
export function combineServices(first: Service, others: readonly Service[]): Service {
  const services = [first, ...others];
  const lengthOf = ({ document }: Service) => document.basePaths[0].length;
  const inOrder = services.toSorted((a, b) => lengthOf(b) - lengthOf(a));
  const serviceOf = ({ path }: Pick<Call, 'path'>): Service =>
    inOrder.find((service) => service.has(path)) ?? first;
  for (const service of services) checkReachable(service, serviceOf);

  return {
    ...first,
    operations: services.flatMap(({ operations }) => operations),
    broken: services.flatMap(({ broken }) => broken),
    missing: services.flatMap(({ missing }) => missing),
    has: (path) => services.some((service) => service.has(path)),
    find: (target) => serviceOf(target).find(target),
    begin: (call) => serviceOf(call).begin(call),
    handle: (call, record, route) => serviceOf(call).handle(call, record, route),
    fail: (call, record, error) => serviceOf(call).fail(call, record, error),
    end: (call, record, end) => serviceOf(call).end(call, record, end),
  };
}

function checkReachable(service: Service, serviceOf: (call: Pick<Call, 'path'>) => Service): void {
  for (const { basePaths, method, path } of service.operations) {
    for (const basePath of basePaths) {
      if (serviceOf({ path: basePath + path }) === service) continue;
      throw new ConfigError(
        `${method.toUpperCase()} ${basePath}${path} is also a path of another document: ` +
          'give each document a base path of its own in `servers`, such as /v2',
      );
    }
  }
}
