import { matchSegment, type Operation, type PathSegment, pathTemplate } from 'openapi-document';
import { HttpError } from './response/http-error.ts';

/** The operation of a call. */
export interface Route {
  readonly operation: Operation;
  readonly basePath: string;
}

/** The paths are as the client sent them, percent-encoded and without a query. */
export interface Router {
  /**
   * Returns the route of a method and a path, or an error if the path is malformed or unknown, or
   * the method is not allowed.
   */
  find(method: string, path: string): Route | HttpError;
  /** Returns true if the path has operations. */
  has(path: string): boolean;
}

/**
 * A node in the tree of segments. The precedence of segments: text, then text with parameters, then
 * a single parameter.
 */
interface Node {
  /** A path of the document, or the start of one. */
  readonly path: string;
  readonly texts: Map<string, Node>;
  /** Segments with parameters, those with most text first. Each shape occurs once. */
  readonly parameters: {
    readonly segment: PathSegment;
    readonly shape: string;
    readonly node: Node;
  }[];
  /** By method, in upper case. */
  readonly routes: Map<string, Route>;
}

const createNode = (path: string): Node => ({
  path,
  texts: new Map(),
  parameters: [],
  routes: new Map(),
});

/** The results of a search besides its route. */
interface Search {
  /** The methods of all matching paths. */
  readonly allowed: Set<string>;
  /** The longest start of a path of the document that matches. */
  longest: string;
}

/**
 * Creates a tree of segments from the paths of operations, below each base path. Paths without
 * parameters are also in a map.
 *
 * @param mountPath replaces the base paths of all operations.
 */
export function createRouter(operations: readonly Operation[], mountPath?: string): Router {
  const root = createNode('');
  const fixedPaths = new Map<string, Node['routes']>();
  const reachable = operations.filter(({ template }) => template.isReachable);
  for (const operation of reachable) {
    const basePaths = mountPath === undefined ? operation.basePaths : [mountPath];
    for (const basePath of basePaths) {
      const path = basePath + operation.path;
      const texts = path.split('/');
      const { routes } = pathTemplate(path).segments.reduce(
        (node, segment, index) => nodeAfter(node, segment, texts.slice(0, index + 1).join('/')),
        root,
      );
      const method = operation.method.toUpperCase();
      // If paths differ only in the names of their parameters, the first one is served.
      if (!routes.has(method)) routes.set(method, { operation, basePath });
      if (!/[{%]/.test(path)) fixedPaths.set(path, routes);
    }
  }
  const basePaths = new Set(
    mountPath === undefined ? reachable.flatMap((each) => each.basePaths) : [],
  );

  /** @throws {URIError} if the path is not percent-encoded UTF-8. */
  function search(method: string, path: string): Search & { readonly route: Route | undefined } {
    const segments = path.split('/');
    const result: Search = { allowed: new Set(), longest: '' };
    const route = routeBelow(root, segments, segments.map(decodeURIComponent), method, result);
    return { ...result, route };
  }

  function has(path: string): boolean {
    if (fixedPaths.has(path)) return true;
    try {
      return search('', path).allowed.size > 0;
    } catch {
      return false;
    }
  }

  function find(method: string, path: string): Route | HttpError {
    const fixedRoute = fixedPaths.get(path)?.get(method);
    if (fixedRoute !== undefined) return fixedRoute;
    let result: ReturnType<typeof search>;
    try {
      result = search(method, path);
    } catch {
      return new HttpError(400, 'the path must be percent-encoded UTF-8 (RFC 3986 §2.1)');
    }
    const { route, allowed, longest } = result;
    if (route !== undefined) return route;
    if (allowed.size > 0) return HttpError.notAllowed(method, [...allowed]);
    const omitted = [...basePaths].find((each) => has(each + path));
    const advice = omitted === undefined ? '' : `: the base path ${omitted} is missing`;
    const reason = `no such path; the longest declared prefix is ${longest || '/'}`;
    return new HttpError(404, `no such path${advice}`, { reason });
  }

  return { find, has };
}

/** @param path the path up to the segment. */
function nodeAfter(node: Node, segment: PathSegment, path: string): Node {
  const { texts } = segment;
  const [text = ''] = texts;
  const isText = texts.length === 1;
  const shape = JSON.stringify(texts);
  const existing = isText
    ? node.texts.get(text)
    : node.parameters.find((other) => other.shape === shape)?.node;
  if (existing !== undefined) return existing;
  const added = createNode(path);
  if (isText) {
    node.texts.set(text, added);
  } else {
    node.parameters.push({ segment, shape, node: added });
    node.parameters.sort((a, b) => textLength(b) - textLength(a));
  }
  return added;
}

const textLength = ({ segment }: { readonly segment: PathSegment }): number =>
  segment.texts.join('').length;

/**
 * Returns the first route of a method. If a matching path has only other methods, adds these to
 * `search` and tries the next path.
 */
function routeBelow(
  node: Node,
  segments: readonly string[],
  decodedSegments: readonly string[],
  method: string,
  search: Search,
  index = 0,
): Route | undefined {
  const { routes, path } = node;
  if (path.length > search.longest.length) search.longest = path;
  const segment = segments[index];
  if (segment === undefined) {
    for (const other of routes.keys()) search.allowed.add(other);
    if (routes.has('GET')) search.allowed.add('HEAD');
    return routes.get(method) ?? (method === 'HEAD' ? routes.get('GET') : undefined);
  }
  const literal = node.texts.get(decodedSegments[index] ?? '');
  const matching = node.parameters.filter((parameter) => matchSegment(parameter.segment, segment));
  for (const next of [literal, ...matching.map((parameter) => parameter.node)]) {
    const route = next && routeBelow(next, segments, decodedSegments, method, search, index + 1);
    if (route !== undefined) return route;
  }
  return undefined;
}
