import Router from 'find-my-way';
import type { Operation } from 'openapi-document';
import { isReachable, pathShape, routerPath } from 'openapi-document';

/** What a method and a path lead to. */
export type Route =
  | { readonly found: 'operation'; readonly operation: Operation; readonly basePath: string }
  | { readonly found: 'path'; readonly allow: readonly string[] }
  | { readonly found: 'nothing' }
  | { readonly found: 'malformed' };

/** Finds the route of a method and a path. The path is percent-encoded, as the client sent it, without a query. */
export type FindRoute = (method: string, path: string) => Route;

/** The operations of a path by method, in upper case, and what any other method leads to. */
interface PathRoutes {
  readonly byMethod: ReadonlyMap<string, Route>;
  readonly other: Route;
}

const NOTHING: Route = { found: 'nothing' };
const MALFORMED: Route = { found: 'malformed' };

/** Puts the paths of operations into a radix tree, under each base path. */
export function createRouter(operations: readonly Operation[], basePaths: readonly string[]): FindRoute {
  const router = Router({ caseSensitive: true, maxParamLength: 65_536, onBadUrl: () => undefined });
  const reachable = operations.filter(({ path }) => isReachable(path));
  const reached = basePaths.flatMap((basePath) => reachable.map((operation) => ({ basePath, operation })));
  const sameShape = Map.groupBy(reached, ({ basePath, operation }) => pathShape(basePath + operation.path));
  for (const [shape, group] of sameShape) {
    const byMethod = new Map<string, Route>(
      group.map(({ basePath, operation }) => [
        operation.method.toUpperCase(),
        { found: 'operation', operation, basePath },
      ]),
    );
    const get = byMethod.get('GET');
    if (get !== undefined && !byMethod.has('HEAD')) byMethod.set('HEAD', get);
    const routes: PathRoutes = { byMethod, other: { found: 'path', allow: [...byMethod.keys()] } };
    router.on('GET', routerPath(shape), () => undefined, routes);
  }
  return (method, path) => {
    if (path.includes('%') && !isEncoded(path)) return MALFORMED;
    const match = router.find('GET', path);
    if (match === null) return NOTHING;
    for (const name in match.params) if (match.params[name] === '') return NOTHING;
    const { byMethod, other } = match.store as PathRoutes;
    return byMethod.get(method) ?? other;
  };
}

function isEncoded(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}
