import type { IncomingHttpHeaders } from 'node:http';
import { cookiesOf, decoded, pairsOf } from 'openapi-document';

/** Where a request's credentials may stand. */
export interface Credentials {
  readonly headers: IncomingHttpHeaders;
  /** The first value of each name. */
  readonly query: Readonly<Record<string, string>>;
  readonly cookies: Readonly<Record<string, string>>;
}

const NOTHING = {};

/** Reads what a request presents. What is badly encoded stays as it was sent: no token has such a character. */
export const credentialsOf = (headers: IncomingHttpHeaders, query: string): Credentials => ({
  headers,
  query:
    query === ''
      ? NOTHING
      : Object.fromEntries([...pairsOf(query)].map(([name, [value = '']]) => [name, decoded(value)])),
  cookies: headers.cookie === undefined ? NOTHING : Object.fromEntries(cookiesOf(headers.cookie)),
});
