import { type Json, objectAt } from '../document/document.ts';
import type { Caller } from '../document/handler-types.ts';
import { type Operation, securitySchemesOf } from '../document/operations.ts';
import { HttpError } from '../response/http-error.ts';
import type { Credentials, CredentialsDenied, VerifyScheme } from '../validation/validator.ts';
import { type Authenticator, bearerToken, Forbidden, KeysUnavailable, TOKEN_REQUIRED, Unauthorized } from './tokens.ts';

/** Proves the credentials of each security scheme of a document, by its name. */
export type Verifiers = Readonly<Record<string, VerifyScheme<Caller>>>;

/** Whether a scheme's credential is a bearer token (OpenAPI 3.1 §4.8.27: `http` bearer, `oauth2`, `openIdConnect`). */
const isBearer = ({ type, scheme }: Json): boolean =>
  type === 'oauth2' || type === 'openIdConnect' || (type === 'http' && String(scheme).toLowerCase() === 'bearer');

/**
 * Verifiers for the schemes that tokens satisfy: bearer tokens of any kind, and API keys, which are tokens in another
 * place. A document with other schemes (`http` basic, `mutualTLS`) needs verifiers of its own.
 */
export function tokenVerifiers(root: Json, authenticator: Authenticator): Verifiers {
  const verifiers: Record<string, VerifyScheme<Caller>> = {};
  for (const [name, scheme] of Object.entries(securitySchemesOf(root))) {
    if (isBearer(scheme)) {
      verifiers[name] = ({ headers }, scopes) => authenticator.verify(bearerToken(one(headers.authorization)), scopes);
    } else if (scheme.type === 'apiKey') {
      verifiers[name] = (credentials, scopes) => {
        const key = apiKey(scheme, credentials);
        if (key === undefined) throw new Unauthorized(`An API key is required, in ${place(scheme)}`, false);
        return authenticator.verify(key, scopes);
      };
    }
  }
  return verifiers;
}

/** The names of the query parameters in which a document's API keys travel. */
export function apiKeyQueryNames(root: Json): Set<string> {
  const schemes = Object.values(securitySchemesOf(root));
  return new Set(schemes.filter((scheme) => scheme.in === 'query').map((scheme) => String(scheme.name)));
}

/**
 * The failure that tells a client why its credentials do not do: what cannot be judged now (503) before what is not
 * allowed (403) before what is not accepted (401, with a challenge for each scheme that would do; RFC 9110 §11.6.1).
 */
export function refusal(root: Json, operation: Operation, { reasons }: CredentialsDenied): HttpError {
  const unavailable = reasons.find((reason) => reason instanceof KeysUnavailable);
  if (unavailable !== undefined) {
    const headers = { 'Retry-After': unavailable.retryAfter };
    return new HttpError(503, unavailable.message, { headers, cause: unavailable });
  }
  const broken = reasons.find((reason) => !(reason instanceof Unauthorized || reason instanceof Forbidden));
  if (broken !== undefined) return new HttpError(500, 'the credentials cannot be checked', { cause: broken });

  const forbidden = reasons.find((reason) => reason instanceof Forbidden);
  if (forbidden !== undefined) {
    const scope = forbidden.scopes.join(' ');
    const headers = { 'WWW-Authenticate': `Bearer error="insufficient_scope", scope="${scope}"` };
    return new HttpError(403, forbidden.message, { headers });
  }
  const refused = reasons.find((reason) => reason instanceof Unauthorized && reason.presented) ?? reasons[0];
  const presented = refused instanceof Unauthorized && refused.presented;
  const names = new Set(operation.security.flatMap((all) => Object.keys(all)));
  const schemes = securitySchemesOf(root);
  const challenges = new Set([...names].map((name) => challenge(objectAt(schemes[name]), presented)));
  return new HttpError(401, refused instanceof Error ? refused.message : missing(operation, schemes), {
    headers: { 'WWW-Authenticate': [...challenges].join(', ') },
  });
}

function challenge(scheme: Json, presented: boolean): string {
  if (isBearer(scheme)) return presented ? 'Bearer error="invalid_token"' : 'Bearer';
  if (scheme.type === 'apiKey') return `ApiKey in="${scheme.in}", name="${scheme.name}"`;
  return String(scheme.scheme ?? scheme.type);
}

function missing(operation: Operation, schemes: Json): string {
  const [first = ''] = Object.keys(operation.security[0] ?? {});
  const scheme = objectAt(schemes[first]);
  return isBearer(scheme) ? TOKEN_REQUIRED : `Credentials are required, in ${place(scheme)}`;
}

const place = ({ in: where, name, type }: Json): string =>
  type === 'apiKey' ? `the ${where === 'query' ? 'query parameter' : where} "${name}"` : 'the header "Authorization"';

const one = (value: string | string[] | undefined): string | undefined => (Array.isArray(value) ? value[0] : value);

function apiKey(scheme: Json, { headers, query, cookies }: Credentials): string | undefined {
  const name = String(scheme.name);
  const value =
    scheme.in === 'header' ? headers[name.toLowerCase()] : scheme.in === 'query' ? query[name] : cookies[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
