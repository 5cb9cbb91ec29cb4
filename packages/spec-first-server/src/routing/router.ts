import Router from 'find-my-way';
import type { Document } from '../document/document.ts';
import type { Operation } from '../document/operations.ts';
import { pathShape, routerPath } from '../document/path-template.ts';
import { basePathsOf } from '../document/servers.ts';
import { type OperationValidator, type VerifyScheme, validatePath } from '../validation/validator.ts';

/** What a method and a path lead to. */
export type Route =
  | { readonly found: 'operation'; readonly operation: Operation; readonly basePath: string }
  | { readonly found: 'path'; readonly allow: readonly string[] }
  | { readonly found: 'nothing' }
  | { readonly found: 'malformed' };

/** A document made ready to serve: its operations found by a radix tree, its validators made when first asked for. */
export interface Contract<Caller> {
  readonly document: Document;
  readonly operations: readonly Operation[];
  /** Where the document says it is served: the paths of its servers' URLs, without a slash at the end. */
  readonly basePaths: readonly string[];
  /** @param path as the client sent it, percent-encoded, without a query. */
  route(method: string, path: string): Route;
  validator(operation: Operation): Promise<OperationValidator<Caller>>;
}

/** The operations of a path by method, in upper case, and what any other method leads to. */
interface PathRoutes {
  readonly byMethod: ReadonlyMap<string, Route>;
  readonly other: Route;
}

const NOTHING: Route = { found: 'nothing' };
const MALFORMED: Route = { found: 'malformed' };

/** @throws {Error} if two path templates cannot be told apart; the checks of the document say so first. */
export function openContract<Caller>(
  document: Document,
  operations: readonly Operation[],
  verifiers: Readonly<Record<string, VerifyScheme<Caller>>>,
): Contract<Caller> {
  const basePaths = basePathsOf(document);
  const paths = Map.groupBy(operations, ({ path }) => path);
  const validators = new Map<string, Map<Operation, OperationValidator<Caller>>>();
  const router = Router({ caseSensitive: true, maxParamLength: 65_536, onBadUrl: () => undefined });
  const reached = basePaths.flatMap((basePath) => operations.map((operation) => ({ basePath, operation })));
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

  return {
    document,
    operations,
    basePaths,
    route(method, path) {
      if (path.includes('%') && !isEncoded(path)) return MALFORMED;
      const match = router.find('GET', path);
      if (match === null) return NOTHING;
      for (const name in match.params) if (match.params[name] === '') return NOTHING;
      const { byMethod, other } = match.store as PathRoutes;
      return byMethod.get(method) ?? other;
    },
    async validator(operation) {
      let made = validators.get(operation.path);
      if (made === undefined) {
        made = validatePath(document.root, paths.get(operation.path) ?? [], verifiers);
        validators.set(operation.path, made);
      }
      const validator = made.get(operation);
      if (validator === undefined) throw new Error(`${operation.id} has no validator`);
      return validator;
    },
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
