import { type Document, type Finding, isObject } from 'openapi-document';
import type { Caller, Log } from '../handlers/types.ts';
import { HttpError, Unauthorized } from '../response/http-error.ts';
import {
  type CallWithCredentials,
  type Credentials,
  credentialPlaceOf,
  credentialsOf,
} from './places.ts';
import {
  type Authenticator,
  type AuthSettings,
  createAuthenticator,
  type TokenSchemes,
} from './tokens.ts';

/**
 * Verifies the credential of one security scheme and returns its caller. Called only if the request
 * has such a credential; for mutual TLS, always.
 *
 * @throws {Unauthorized | Forbidden}
 */
export type VerifyScheme = (
  credentials: Credentials,
  scopes: readonly string[],
) => Caller | Promise<Caller>;

export type Verifiers = Readonly<Record<string, VerifyScheme>>;

const ANYONE: Caller = Object.freeze({ subject: undefined, scopes: 'all' });
const CROSS_ORIGIN =
  'cross-origin cookies are rejected; add the origin to CORS_ORIGINS to accept them';

/**
 * Prepares the security schemes of a document, by name. A verifier of the project replaces the
 * verification of tokens.
 *
 * @param trustedOrigins origins whose pages may use cookies.
 */
export function schemesOf(
  declared: Document['securitySchemes'],
  authenticator: Authenticator,
  verifiers: Verifiers = {},
  trustedOrigins: readonly string[] = [],
): Schemes {
  const schemes = Object.entries(declared).map(([name, source]) => {
    const { token, usesAuthorization, read, required, challenge } = credentialPlaceOf(source);
    // A scheme may have the name of a property of every object, such as `constructor`.
    const verifier = Object.hasOwn(verifiers, name) ? verifiers[name] : undefined;
    const isVerified = token !== undefined || verifier !== undefined;
    /** Mocks accept any credential of a scheme that has neither tokens nor a verifier. */
    const verify = (call: CallWithCredentials, scopes: readonly string[]) => {
      const credential = read(call);
      if (credential === undefined) throw new Unauthorized(required, false);
      if (source.in === 'cookie' && isForged(call, trustedOrigins))
        throw new HttpError(403, CROSS_ORIGIN);
      if (verifier !== undefined) return callerOf(name, verifier(credentialsOf(call), scopes));
      return token ? authenticator.verify(credential, scopes, name) : ANYONE;
    };
    return [name, { isVerified, usesAuthorization, verify, challenge }] as const;
  });
  return new Map(schemes);
}

export function tokenSchemes(
  declared: Document['securitySchemes'],
  verifiers: Verifiers = {},
): TokenSchemes {
  const schemes = Object.entries(declared).flatMap(([name, source]) => {
    const { token } = credentialPlaceOf(source);
    const hasTokens = token !== undefined && !Object.hasOwn(verifiers, name);
    return hasTokens ? [[name, token === 'bearer'] as const] : [];
  });
  return new Map(schemes);
}

interface AuthenticatedDocument {
  readonly document: Document;
  readonly verifiers?: Verifiers | undefined;
}

/**
 * Creates the authenticator of documents. Their security schemes of the same name have the same
 * tokens.
 *
 * @throws {ConfigError} if a setting of tokens is wrong.
 */
export function authenticatorFor(
  documents: readonly AuthenticatedDocument[],
  settings: AuthSettings,
  log: Log,
): Promise<Authenticator> {
  const schemes = documents.flatMap(({ document, verifiers }) => [
    ...tokenSchemes(document.securitySchemes, verifiers),
  ]);
  const scopes = documents.flatMap(({ document }) => scopesOf(document));
  return createAuthenticator(settings, new Map(schemes), log, new Set(scopes));
}

function scopesOf({ operations, securitySchemes }: Document): readonly string[] {
  const needed = operations.flatMap(({ security }) =>
    security.flatMap((requirement) => Object.values(requirement).flat()),
  );
  const declared = Object.values(securitySchemes).flatMap(({ flows }) =>
    Object.values(Object(flows)).flatMap((flow) => Object.keys(Object(Object(flow).scopes))),
  );
  return [...needed, ...declared];
}

/** A security scheme of a document. */
interface Scheme {
  /** True if something verifies its credentials. */
  readonly isVerified: boolean;
  /** True if its credentials are in the Authorization header. */
  readonly usesAuthorization: boolean;
  /** @throws {HttpError} */
  readonly verify: (
    call: CallWithCredentials,
    scopes: readonly string[],
  ) => Caller | Promise<Caller>;
  readonly challenge: (presented: boolean) => string;
}

export type Schemes = ReadonlyMap<string, Scheme>;

/**
 * Returns true if a page of another origin sent the request, with the cookies of the user (CSRF).
 * GET, HEAD and OPTIONS are allowed. Clients other than browsers send neither `Origin` nor
 * `Sec-Fetch-Site`.
 */
function isForged({ method, headers }: CallWithCredentials, trustedOrigins: readonly string[]) {
  const { origin, host, 'sec-fetch-site': site } = headers;
  if (method === 'GET' || method === 'HEAD' || method === 'OPTIONS') return false;
  if (origin !== undefined && trustedOrigins.includes(origin)) return false;
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  return origin !== undefined && URL.parse(origin)?.host !== host;
}

export const unusedVerifiers = (schemes: Schemes, verifiers: Verifiers = {}): Finding[] =>
  Object.keys(verifiers)
    .filter((name) => !schemes.has(name))
    .map((name) => ({
      pointer: '/components/securitySchemes',
      message: `the verifier ${name} has no security scheme: rename or remove it`,
    }));

/** @throws {TypeError} if a verifier returned another value than a caller. */
function callerOf(scheme: string, verified: Caller | Promise<Caller>): Caller | Promise<Caller> {
  if (!isObject(verified)) throw new TypeError(`the verifier ${scheme} returned no caller`);
  if (!('then' in verified)) return verified;
  return Promise.resolve(verified).then((caller) => callerOf(scheme, caller));
}
