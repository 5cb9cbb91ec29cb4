import { asArray, asObject, type Json } from '../source/document.ts';
import { pathTemplate } from '../source/path-template.ts';

/** The base paths of a document and of an operation that has servers of its own. */
export interface ServerPath {
  readonly document: string;
  readonly operation: string;
}

/** Returns the distinct paths of the URLs of Server Objects (OpenAPI 3.1 §4.8.5). */
export function basePathsOf(servers: unknown): readonly [string, ...string[]] {
  const paths = asArray(servers)
    .flatMap((server) => urlsOf(asObject(server)))
    .map((url) => {
      const path = URL.parse(url, 'http://host/')?.pathname ?? '';
      return path.startsWith('/') ? path.replace(/\/+$/, '') : '';
    });
  const [first = '', ...others] = new Set(paths);
  return [first, ...others];
}

/** The maximum number of URLs of a server. Each base path has routes of its own. */
export const MAX_URLS = 100;

/** Returns true if a server has more URLs than are served. */
export const hasTooManyUrls = (servers: unknown): boolean =>
  asArray(servers)
    .map((server) => [...variablesOf(asObject(server)).values()])
    .some((values) => values.reduce((count, { size }) => count * size, 1) > MAX_URLS);

/**
 * The URLs of a server without the scheme and the host: one for each combination of the values of
 * the variables in the path, that of the defaults first.
 */
function urlsOf(server: Json): string[] {
  let urls = [pathOf(server)];
  for (const [name, values] of variablesOf(server))
    urls = urls
      .flatMap((text) => [...values].map((value) => text.replaceAll(`{${name}}`, value)))
      .slice(0, MAX_URLS);
  return urls;
}

const pathOf = ({ url }: Json): string => String(url).replace(/^([^/?#]*:)?\/\/[^/?#]*/, '');

/**
 * The values of the variables in the path of a server, the default first (OpenAPI 3.1 §4.8.6). The
 * value of an undeclared variable is its name.
 */
function variablesOf(server: Json): Map<string, Set<string>> {
  const entries = pathTemplate(pathOf(server)).names.map((name) => {
    const { enum: values, default: preset } = asObject(asObject(server.variables)[name]);
    const texts = [...(preset === undefined ? [] : [preset]), ...asArray(values)].map(String);
    return [name, new Set(texts.length > 0 ? texts : [name])] as const;
  });
  return new Map(entries);
}

/**
 * Returns the URL that the path of an operation is appended to. The base path of the document at
 * the end of a URL is replaced by that of the operation. A URL with another path, such as that of a
 * mounted service, stays the same.
 */
export function baseUrlFor(baseUrl: string, serverPath: ServerPath | undefined): string {
  if (serverPath === undefined) return baseUrl;
  const bare = baseUrl.replace(/\/$/, '');
  if (!bare.endsWith(serverPath.document)) return baseUrl;
  return bare.slice(0, bare.length - serverPath.document.length) + serverPath.operation;
}
