import { asArray, asObject } from '../source/document.ts';
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

/**
 * The URLs of a server without the scheme and the host: one for each combination of the values of
 * the variables in the path (OpenAPI 3.1 §4.8.6). The value of an undeclared variable is its name.
 */
function urlsOf({ url, variables }: ReturnType<typeof asObject>): string[] {
  let urls = [String(url).replace(/^([^/?#]*:)?\/\/[^/?#]*/, '')];
  for (const name of new Set(pathTemplate(String(urls[0])).names)) {
    const { enum: values, default: defaultValue = name } = asObject(asObject(variables)[name]);
    const texts = asArray(values).length > 0 ? asArray(values) : [defaultValue];
    urls = urls
      .flatMap((text) => texts.map((value) => text.replaceAll(`{${name}}`, String(value))))
      .slice(0, MAX_URLS);
  }
  return urls;
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
