import type { IncomingHttpHeaders } from 'node:http';
import {
  cookiesOf,
  type Document,
  escapePointerToken,
  type Finding,
  type Json,
  type Operation,
} from 'openapi-document';
import type { Caller } from '../handlers/types.ts';
import { Forbidden, HttpError, Unauthorized } from '../response/http-error.ts';
import type { Authenticator } from './tokens.ts';

export interface Credentials {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  /** The first value of each name. */
  readonly query: Readonly<Record<string, string>>;
  readonly cookies: Readonly<Record<string, string>>;
}

/** Says whose a request's credential of one scheme is. Called only if there is one. @throws {Unauthorized | Forbidden} */
export type VerifyScheme = (credentials: Credentials, scopes: readonly string[]) => Caller | Promise<Caller>;

export type Verifiers = Readonly<Record<string, VerifyScheme>>;

/** The form of a scheme's credentials. */
interface Form {
  /** Whether a credential is a bearer token, or an API key, which is a token in another place. */
  readonly isToken?: boolean;
  /** The credential of a request; `undefined` if there is none of this form. @throws {Unauthorized} if it is malformed. */
  readonly read: (credentials: Credentials) => string | undefined;
  /** What a client without a credential learns. */
  readonly required: string;
  readonly challenge: (presented: boolean) => string;
}

const ANYONE: Caller = Object.freeze({ subject: undefined, scopes: 'all' });
const FORGED = 'a page of another origin cannot use the cookies of this service, unless CORS_ORIGINS lists the origin';

/** Reads what a request presents. No token has a character that is badly encoded. */
export const credentialsOf = (method: string, headers: IncomingHttpHeaders, query: string): Credentials => ({
  method,
  headers,
  query: query === '' ? {} : Object.fromEntries([...new URLSearchParams(query)].reverse()),
  cookies: Object.fromEntries(Array.from(cookiesOf(headers.cookie), ([name, [value = '']]) => [name, value])),
});

/**
 * The security schemes of a document by name. A project's own verifier comes before the one of tokens.
 *
 * @param trusted origins whose pages may use cookies.
 */
export function schemesOf(
  declared: Document['securitySchemes'],
  authenticator: Authenticator,
  own: Verifiers = {},
  trusted: readonly string[] = [],
) {
  const schemes = Object.entries(declared).map(([name, source]) => {
    const { isToken = false, read, required, challenge } = formOf(source);
    const verifyOwn = own[name];
    const isVerified = isToken || verifyOwn !== undefined;
    /** For mocks, each credential of the declared form is accepted if nothing verifies it. */
    const verify: VerifyScheme = (credentials, scopes) => {
      const token = read(credentials);
      if (token === undefined) throw new Unauthorized(required, false);
      if (source.in === 'cookie' && isForged(credentials, trusted)) throw new HttpError(403, FORGED);
      if (verifyOwn !== undefined) return verifyOwn(credentials, scopes);
      return isToken ? authenticator.verify(token, scopes) : ANYONE;
    };
    return [name, { isVerified, verify, challenge }] as const;
  });
  return new Map(schemes);
}

export type Schemes = ReturnType<typeof schemesOf>;

/** Whether a page of another origin wants a change, with the cookies that a browser adds. Other clients send no such header. */
function isForged({ method, headers }: Credentials, trusted: readonly string[]): boolean {
  const { origin, host, 'sec-fetch-site': site } = headers;
  if (method === 'GET' || method === 'HEAD' || method === 'OPTIONS') return false;
  if (origin !== undefined && trusted.includes(origin)) return false;
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  return origin !== undefined && URL.parse(origin)?.host !== host;
}

/** The names of the query parameters in which a document's API keys travel. */
export const apiKeyQueryNames = (declared: Document['securitySchemes']) =>
  new Set(Object.values(declared).flatMap((scheme) => (scheme.in === 'query' ? String(scheme.name) : [])));

function formOf({ type, scheme, in: location, name }: Json): Form {
  const http = String(scheme).toLowerCase();
  if (type === 'apiKey') return apiKey(String(location), String(name));
  if (type === 'oauth2' || type === 'openIdConnect' || (type === 'http' && http === 'bearer')) return BEARER;
  // Mutual TLS: where a certificate shows depends on the proxy before the service.
  if (type !== 'http') {
    return { read: () => '', required: `Credentials are required: ${type}`, challenge: () => String(type) };
  }
  return {
    read: ({ headers: { authorization } }) => (isOfScheme(http, authorization) ? authorization : undefined),
    required: `Credentials are required, in a header "Authorization: ${scheme} …"`,
    challenge: () => (http === 'basic' ? 'Basic realm="api", charset="UTF-8"' : String(scheme)),
  };
}

const BEARER: Form = {
  isToken: true,
  read: bearerToken,
  required: 'A bearer token is required, in a header "Authorization: Bearer <token>"',
  challenge: (presented) => (presented ? 'Bearer error="invalid_token"' : 'Bearer'),
};

const apiKey = (location: string, name: string): Form => ({
  isToken: true,
  read({ headers, query, cookies }) {
    const values = location === 'query' ? query : location === 'cookie' ? cookies : headers;
    return String(values[location === 'header' ? name.toLowerCase() : name] ?? '') || undefined;
  },
  required: `An API key is required, in the ${location === 'query' ? 'query parameter' : location} "${name}"`,
  // A header holds no other characters than those of a URI.
  challenge: () => `ApiKey in="${location}", name="${encodeURI(name)}"`,
});

/** RFC 6750 §2.1. The alphabets of its parts are disjoint, so a match takes one pass. */
const CREDENTIALS = /^bearer +([\w\-.~+/]+=*)$/i;

/** The token in an Authorization header, if it is of this scheme (RFC 9110 §11.4). @throws {Unauthorized} if it is malformed. */
export function bearerToken({ headers: { authorization } }: Pick<Credentials, 'headers'>): string | undefined {
  const token = authorization === undefined ? undefined : CREDENTIALS.exec(authorization)?.[1];
  if (token !== undefined || !isOfScheme('bearer', authorization)) return token;
  const form = 'it must be "Bearer", a space and the token, which is made of letters, digits and -._~+/';
  throw new Unauthorized(`The Authorization header is malformed: ${form} with = only at its end`);
}

/** Whether an Authorization header names a scheme (RFC 9110 §11.4), given in lower case. */
const isOfScheme = (scheme: string, authorization = ''): boolean =>
  /^[\w\-!#$%&'*+.^`|~]+/.exec(authorization)?.[0].toLowerCase() === scheme;

const schemesIn = (operations: readonly Operation[]) =>
  new Set(operations.flatMap(({ security }) => security.flatMap(Object.keys)));

export const unverified = (operations: readonly Operation[], schemes: Schemes): Finding[] =>
  [...schemesIn(operations)]
    .filter((name) => schemes.get(name)?.isVerified === false)
    .map((name) => ({
      pointer: `/components/securitySchemes/${escapePointerToken(name)}`,
      message: `nothing verifies credentials of this scheme: pass verifiers: { ${JSON.stringify(name)}: … } to serve`,
    }));

/**
 * Prepares the check of an operation's security requirements (OpenAPI 3.1 §4.8.30): the first alternative whose
 * credentials are all accepted decides. Where they are optional, a request without any is that of `undefined`.
 */
export function authentication(operation: Operation, schemes: Schemes, isMock: boolean) {
  const alternatives = operation.security
    .map((all) => Object.entries(all).map(([name, scopes]) => ({ verify: verifierOf(name), scopes })))
    .filter((all) => all.length > 0);
  const optional = alternatives.length < operation.security.length;

  return async (credentials: Credentials): Promise<Caller | undefined> => {
    const reasons: unknown[] = [];
    for (const all of alternatives) {
      const callers: Caller[] = [];
      for (const { verify, scopes } of all) {
        try {
          callers.push(await verify(credentials, scopes));
        } catch (reason) {
          reasons.push(reason);
        }
      }
      if (callers.length < all.length) continue;
      return callers.find(({ subject }) => subject !== undefined) ?? callers[0];
    }
    if (optional && reasons.every((reason) => reason instanceof Unauthorized && !reason.presented)) return undefined;
    throw denial(reasons);
  };

  function verifierOf(name: string) {
    const scheme = schemes.get(name);
    if (scheme === undefined || !(isMock || scheme.isVerified)) throw new Error(`nothing verifies ${name}`);
    return scheme.verify;
  }

  /** What cannot be checked (503, 500) comes before what is not allowed (403) and what is not accepted (401). */
  function denial(reasons: readonly unknown[]): unknown {
    const unchecked = reasons.find((reason) => !(reason instanceof Unauthorized || reason instanceof Forbidden));
    const forbidden = reasons.find((reason) => reason instanceof Forbidden);
    const unauthorized = reasons.filter((reason) => reason instanceof Unauthorized);
    const presented = unauthorized.find((reason) => reason.presented);
    // A challenge for each scheme that is accepted (RFC 9110 §11.6.1).
    const names = [...schemesIn([operation])];
    const challenges = new Set(names.map((name) => schemes.get(name)?.challenge(presented !== undefined)));
    const headers = { 'WWW-Authenticate': [...challenges].join(', ') };
    return unchecked ?? forbidden ?? new HttpError(401, (presented ?? unauthorized[0])?.message ?? '', { headers });
  }
}
