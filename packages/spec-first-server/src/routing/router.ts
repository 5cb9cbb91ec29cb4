import { type Operation, pathTemplate } from 'openapi-document';

/** What a method and a path lead to. */
export type Route =
  | { readonly found: 'operation'; readonly operation: Operation; readonly basePath: string }
  | { readonly found: 'path'; readonly allow: readonly string[] }
  | { readonly found: 'nothing' }
  | { readonly found: 'malformed' };

/** Finds the route of a method and a path. The path is percent-encoded, as the client sent it, without a query. */
export type FindRoute = (method: string, path: string) => Route;

type Segment = ReturnType<typeof pathTemplate>['segments'][number];

/** The routes of a path by method, in upper case. */
type Methods = Map<string, Route>;

/** A place in the tree of segments. A text takes precedence over parameters beside a text, these over a parameter. */
interface Node {
  readonly texts: Map<string, Node>;
  /** Segments with parameters by their shape, those with most text first. */
  parameters: readonly { readonly segment: Segment; readonly shape: string; readonly node: Node }[];
  readonly methods: Methods;
}

const NOTHING: Route = { found: 'nothing' };
const MALFORMED: Route = { found: 'malformed' };
const createNode = (): Node => ({ texts: new Map(), parameters: [], methods: new Map() });

/** Puts the paths of operations into a tree of segments, under each base path; those without parameters also into a map. */
export function createRouter(operations: readonly Operation[], basePaths: readonly string[]): FindRoute {
  const root = createNode();
  const fixed = new Map<string, Methods>();
  const reachable = operations.filter(({ template }) => template.isReachable);
  for (const basePath of basePaths) {
    for (const operation of reachable) {
      const { segments } = pathTemplate(basePath + operation.path);
      const { methods } = segments.reduce(nodeAfter, root);
      if (!/[{%]/.test(basePath + operation.path)) fixed.set(basePath + operation.path, methods);
      const method = operation.method.toUpperCase();
      // Paths that differ in the names of parameters only: the first one is served.
      if (!methods.has(method)) methods.set(method, { found: 'operation', operation, basePath });
    }
  }
  return (method, path) => {
    const exact = fixed.get(path)?.get(method);
    if (exact !== undefined) return exact;
    const segments = segmentsOf(path);
    if (segments === undefined) return MALFORMED;
    const passed: Methods[] = [];
    const route = find(root, segments, 0, method, passed);
    if (route !== undefined || passed.length === 0) return route ?? NOTHING;
    return { found: 'path', allow: [...new Set(passed.flatMap(allowed))] };
  };
}

const allowed = (methods: Methods): string[] => [
  ...methods.keys(),
  ...(methods.has('GET') && !methods.has('HEAD') ? ['HEAD'] : []),
];

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

/** A path's segments, each as it was sent and decoded; `undefined` if one is badly encoded. */
function segmentsOf(path: string): { readonly raw: string; readonly text: string }[] | undefined {
  try {
    return path.split('/').map((raw) => ({ raw, text: raw.includes('%') ? decodeURIComponent(raw) : raw }));
  } catch {
    return undefined;
  }
}

/** The first route of a method. Looks on where a path has other methods, which are added to `passed`. */
function find(
  node: Node,
  segments: readonly { readonly raw: string; readonly text: string }[],
  at: number,
  method: string,
  passed: Methods[],
): Route | undefined {
  const segment = segments[at];
  if (segment === undefined) {
    const route = node.methods.get(method) ?? (method === 'HEAD' ? node.methods.get('GET') : undefined);
    if (route === undefined && node.methods.size > 0) passed.push(node.methods);
    return route;
  }
  const literal = node.texts.get(segment.text);
  const found = literal && find(literal, segments, at + 1, method, passed);
  if (found !== undefined) return found;
  for (const { segment: template, node: next } of node.parameters) {
    if (template.match(segment.raw) === undefined) continue;
    const route = find(next, segments, at + 1, method, passed);
    if (route !== undefined) return route;
  }
  return undefined;
}
