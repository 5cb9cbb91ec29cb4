import type { Json } from 'openapi-document';
import { securitySchemesOf } from 'openapi-document';
import type { Caller } from '../handlers/types.ts';
import { HttpError } from '../response/http-error.ts';
import { type Credentials, isForged } from './credentials.ts';
import { Unauthorized } from './errors.ts';
import type { Authenticator } from './tokens.ts';

/**
 * Checks a request's credential of one scheme and says whose it is. Called only if there is one of the scheme's form.
 *
 * @throws {Unauthorized | Forbidden} if it is not accepted.
 */
export type VerifyScheme = (credentials: Credentials, scopes: readonly string[]) => Caller | Promise<Caller>;

/** How credentials are checked, by the names of the document's security schemes. */
export type Verifiers = Readonly<Record<string, VerifyScheme>>;

/** A Security Scheme Object (OpenAPI 3.1 §4.8.27). */
interface SecurityScheme {
  /** Whether its credential is a bearer token, or an API key, which is a token in another place. */
  readonly isToken: boolean;
  readonly inCookie?: boolean;
  /** The credential of a request; `undefined` if there is none of this form. @throws {Unauthorized} if it is malformed. */
  read(credentials: Credentials): string | undefined;
  /** What a client without a credential learns. */
  readonly required: string;
  /** The challenge of a 401 (RFC 9110 §11.6.1). */
  challenge(presented: boolean): string;
}

/** The security schemes of a document by name. */
export const schemesOf = (root: Json): ReadonlyMap<string, SecurityScheme> =>
  new Map(Object.entries(securitySchemesOf(root)).map(([name, scheme]) => [name, schemeOf(scheme)]));

/**
 * Verifiers for the schemes of a document: a project's own ones, or else tokens. Other schemes have none.
 *
 * @param trusted origins whose pages may use cookies.
 */
export const verifiersOf = (
  root: Json,
  authenticator: Authenticator,
  own: Verifiers = {},
  trusted: readonly string[] = [],
): Verifiers =>
  eachScheme(root, trusted, (name, { isToken }) => {
    const verify = own[name];
    if (verify !== undefined) return (_token, ...request) => verify(...request);
    return isToken ? (token, _credentials, scopes) => authenticator.verify(token, scopes) : undefined;
  });

/** Verifiers that accept each credential of the form that its scheme declares, for mocks. */
export const acceptAnything = (root: Json): Verifiers => eachScheme(root, [], () => () => ANYONE);

/** Checks a credential that was read from the request. */
type VerifyToken = (token: string, ...request: Parameters<VerifyScheme>) => ReturnType<VerifyScheme>;

function eachScheme(
  root: Json,
  trusted: readonly string[],
  verifierOf: (name: string, scheme: SecurityScheme) => VerifyToken | undefined,
): Verifiers {
  const verifiers: Record<string, VerifyScheme> = {};
  for (const [name, scheme] of schemesOf(root)) {
    const verify = verifierOf(name, scheme);
    if (verify === undefined) continue;
    verifiers[name] = (credentials, scopes) => {
      const token = scheme.read(credentials);
      if (token === undefined) throw new Unauthorized(scheme.required, false);
      if (scheme.inCookie === true && isForged(credentials, trusted)) throw new HttpError(403, FORGED);
      return verify(token, credentials, scopes);
    };
  }
  return verifiers;
}

/** The names of the query parameters in which a document's API keys travel. */
export function apiKeyQueryNames(root: Json): Set<string> {
  const schemes = Object.values(securitySchemesOf(root));
  return new Set(schemes.filter((scheme) => scheme.in === 'query').map((scheme) => String(scheme.name)));
}

const FORGED = 'a page of another origin cannot use the cookies of this service, unless CORS_ORIGINS lists the origin';

const ANYONE: Caller = Object.freeze({ subject: undefined, scopes: 'all' });

function schemeOf({ type, scheme, in: where, name }: Json): SecurityScheme {
  const http = String(scheme).toLowerCase();
  if (type === 'apiKey') return apiKey(String(where), String(name));
  if (type === 'oauth2' || type === 'openIdConnect' || (type === 'http' && http === 'bearer')) return BEARER;
  // Mutual TLS: where a certificate shows depends on the proxy before the service.
  if (type !== 'http') {
    const required = `Credentials are required: ${type}`;
    return { isToken: false, read: () => '', required, challenge: () => String(type) };
  }
  return {
    isToken: false,
    read: ({ headers: { authorization } }) => (isOfScheme(http, authorization) ? authorization : undefined),
    required: `Credentials are required, in a header "Authorization: ${scheme} …"`,
    challenge: () => (http === 'basic' ? 'Basic realm="api", charset="UTF-8"' : String(scheme)),
  };
}

/** A bearer token (RFC 6750 §2.1), also of OAuth 2 and OpenID Connect. */
const BEARER: SecurityScheme = {
  isToken: true,
  read: ({ headers }) => bearerToken(headers.authorization),
  required: 'A bearer token is required, in a header "Authorization: Bearer <token>"',
  challenge: (presented) => (presented ? 'Bearer error="invalid_token"' : 'Bearer'),
};

const apiKey = (where: string, name: string): SecurityScheme => ({
  isToken: true,
  inCookie: where === 'cookie',
  read({ headers, query, cookies }) {
    const value = where === 'header' ? headers[name.toLowerCase()] : where === 'query' ? query[name] : cookies[name];
    return String(value ?? '') || undefined;
  },
  required: `An API key is required, in the ${where === 'query' ? 'query parameter' : where} "${name}"`,
  // A header holds no other characters than those of a URI.
  challenge: () => `ApiKey in="${where}", name="${encodeURI(name)}"`,
});

/** RFC 6750 §2.1. The alphabets of its parts are disjoint, so a match takes one pass. */
const CREDENTIALS = /^bearer +([\w\-.~+/]+=*)$/i;

/**
 * The token in an Authorization header: the scheme in any case, one or more spaces, a b64token, nothing else (RFC 6750
 * §2.1, RFC 9110 §11.4); `undefined` if the header is missing or of another scheme.
 *
 * @throws {Unauthorized} if the header is malformed.
 */
export function bearerToken(authorization: string | undefined): string | undefined {
  const token = authorization === undefined ? undefined : CREDENTIALS.exec(authorization)?.[1];
  if (token !== undefined || !isOfScheme('bearer', authorization)) return token;
  throw new Unauthorized(
    'The Authorization header is malformed: it must be "Bearer", a space and the token, which is made of letters, digits and -._~+/ with = only at its end',
  );
}

/** Whether an Authorization header names a scheme (RFC 9110 §11.4), given in lower case. */
export function isOfScheme(scheme: string, authorization: string | undefined): boolean {
  const name = /^[\w\-!#$%&'*+.^`|~]+/.exec(authorization ?? '')?.[0];
  return name?.toLowerCase() === scheme;
}
