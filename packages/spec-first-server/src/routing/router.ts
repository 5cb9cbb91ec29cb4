import { type Operation, pathTemplate } from 'openapi-document';
import { HttpError } from '../response/http-error.ts';

/** An operation, and the base path before its own path. */
export interface Route {
  readonly operation: Operation;
  readonly basePath: string;
}

/**
 * Finds the route of a method and a path; `undefined` if nothing is at the path, an error if the method is not allowed or
 * the path is malformed. The path is percent-encoded, as the client sent it, without a query.
 */
export type FindRoute = (method: string, path: string) => Route | HttpError | undefined;

type Segment = Operation['template']['segments'][number];

/** A place in the tree of segments. A text takes precedence over parameters beside a text, these over a parameter. */
interface Node {
  readonly texts: Map<string, Node>;
  /** Segments with parameters by their shape, those with most text first. */
  parameters: readonly { readonly segment: Segment; readonly shape: string; readonly node: Node }[];
  /** By method, in upper case. */
  readonly routes: Map<string, Route>;
}

const createNode = (): Node => ({ texts: new Map(), parameters: [], routes: new Map() });

/** Puts the paths of operations into a tree of segments, under each base path; those without parameters also into a map. */
export function createRouter(operations: readonly Operation[], basePaths: readonly string[]): FindRoute {
  const root = createNode();
  const fixed = new Map<string, Node['routes']>();
  const reachable = operations.filter(({ template }) => template.isReachable);
  for (const basePath of basePaths) {
    for (const operation of reachable) {
      const path = basePath + operation.path;
      const { routes } = pathTemplate(path).segments.reduce(nodeAfter, root);
      const method = operation.method.toUpperCase();
      // Paths that differ in the names of parameters only: the first one is served.
      if (!routes.has(method)) routes.set(method, { operation, basePath });
      if (!/[{%]/.test(path)) fixed.set(path, routes);
    }
  }
  return (method, path) => {
    const exact = fixed.get(path)?.get(method);
    if (exact !== undefined) return exact;
    try {
      const raw = path.split('/');
      const texts = raw.map((segment) => (segment.includes('%') ? decodeURIComponent(segment) : segment));
      const allowed = new Set<string>();
      const route = find(root, raw, texts, method, allowed);
      return route ?? (allowed.size > 0 ? HttpError.notAllowed(method, [...allowed]) : undefined);
    } catch {
      return new HttpError(400, 'the path is not percent-encoded (RFC 3986 §2.1)');
    }
  };
}

function nodeAfter(node: Node, segment: Segment): Node {
  const { texts } = segment;
  const [text = ''] = texts;
  const shape = JSON.stringify(texts);
  const known =
    texts.length === 1 ? node.texts.get(text) : node.parameters.find((other) => other.shape === shape)?.node;
  if (known !== undefined) return known;
  const added = createNode();
  if (texts.length === 1) node.texts.set(text, added);
  else node.parameters = [...node.parameters, { segment, shape, node: added }].sort((a, b) => textIn(b) - textIn(a));
  return added;
}

const textIn = ({ segment }: { readonly segment: Segment }): number => segment.texts.join('').length;

/** The first route of a method. Looks on where a path has other methods only, which are added to `allowed`. */
function find(
  node: Node,
  raw: readonly string[],
  texts: readonly string[],
  method: string,
  allowed: Set<string>,
  at = 0,
): Route | undefined {
  const { routes } = node;
  const segment = raw[at];
  if (segment === undefined) {
    for (const other of routes.keys()) allowed.add(other);
    if (routes.has('GET')) allowed.add('HEAD');
    return routes.get(method) ?? (method === 'HEAD' ? routes.get('GET') : undefined);
  }
  const literal = node.texts.get(texts[at] ?? '');
  const found = literal && find(literal, raw, texts, method, allowed, at + 1);
  if (found !== undefined) return found;
  for (const { segment: template, node: next } of node.parameters) {
    const route = template.match(segment) && find(next, raw, texts, method, allowed, at + 1);
    if (route !== undefined) return route;
  }
  return undefined;
}
