import type { IncomingHttpHeaders } from 'node:http';
import { cookiesOf } from 'openapi-document';

/** Where a request's credentials may stand. */
export interface Credentials {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  /** The first value of each name. */
  readonly query: Readonly<Record<string, string>>;
  readonly cookies: Readonly<Record<string, string>>;
}

const NOTHING = {};

/** Reads what a request presents. No token has a character that is badly encoded. */
export const credentialsOf = (method: string, headers: IncomingHttpHeaders, query: string): Credentials => ({
  method,
  headers,
  query: query === '' ? NOTHING : Object.fromEntries([...new URLSearchParams(query)].reverse()),
  cookies:
    headers.cookie === undefined
      ? NOTHING
      : Object.fromEntries([...cookiesOf(headers.cookie)].map(([name, [value = '']]) => [name, value])),
});

/**
 * Whether a page of another origin sends a request that may change something. A browser adds cookies to it by itself, so
 * they do not show who wants the request. What is no browser sends neither header.
 *
 * @param trusted origins whose pages may.
 */
export function isForged({ method, headers }: Credentials, trusted: readonly string[]): boolean {
  const { origin, host, 'sec-fetch-site': site } = headers;
  if (method === 'GET' || method === 'HEAD' || method === 'OPTIONS') return false;
  if (origin !== undefined && trusted.includes(origin)) return false;
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  return origin !== undefined && URL.parse(origin)?.host !== host;
}
