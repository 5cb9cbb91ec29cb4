import type { IncomingHttpHeaders } from 'node:http';
import {
  cookiesOf,
  type Document,
  escapePointerToken,
  type Finding,
  isObject,
  type Json,
  type Operation,
} from 'openapi-document';
import type { Caller, Log } from '../handlers/types.ts';
import { Forbidden, HttpError, Unauthorized } from '../response/http-error.ts';
import {
  type Authenticator,
  type AuthSettings,
  createAuthenticator,
  type TokenSchemes,
} from './tokens.ts';

/** The parts of a request that may contain credentials. */
export interface Credentials {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  /** The first value of each name. */
  readonly query: Readonly<Record<string, string>>;
  readonly cookies: Readonly<Record<string, string>>;
}

/** The parts of a call that may contain credentials. */
interface CallWithCredentials extends Pick<Credentials, 'method' | 'headers'> {
  /** Percent-encoded. */
  readonly query?: string;
}

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

/** The place of a credential in a request. */
interface CredentialPlace {
  /** Bearer tokens may be signed, API keys are static. `undefined` for other credentials. */
  readonly token?: 'bearer' | 'apiKey';
  /** True if it is in the Authorization header. */
  readonly usesAuthorization: boolean;
  /** The header of a token up to its value, such as `Authorization: Bearer `. */
  readonly header?: string | undefined;
  /**
   * Returns the credential of a request; `undefined` if it has none of this kind.
   *
   * @throws {Unauthorized} if it is malformed.
   * @throws {HttpError} 400 if there are several.
   */
  readonly read: (call: CallWithCredentials) => string | undefined;
  /** The message for a client without a credential. */
  readonly required: string;
  readonly challenge: (presented: boolean) => string;
}

const ANYONE: Caller = Object.freeze({ subject: undefined, scopes: 'all' });
const CROSS_ORIGIN =
  'cross-origin cookies are rejected; add the origin to CORS_ORIGINS to accept them';

/** Matches `Basic x, Bearer y`. Some proxies join two Authorization headers in this way. */
const SEVERAL_CREDENTIALS = /,\s*[\w-]+ +[^\s=,]/;

/** @throws {HttpError} 400 for several credentials, since a proxy may have checked another one. */
function checkAuthorization(authorization: string): void {
  if (SEVERAL_CREDENTIALS.test(authorization.replace(/"[^"]*"/g, '""')))
    throw new HttpError(400, 'the header authorization must have one credential');
}

const credentialsOf = ({ method, headers, query = '' }: CallWithCredentials): Credentials => ({
  method,
  headers,
  query: query === '' ? {} : Object.fromEntries([...new URLSearchParams(query)].reverse()),
  cookies: headers.cookie === undefined ? {} : firstCookies(headers.cookie),
});

const firstCookies = (header: string): Record<string, string> =>
  Object.fromEntries(Array.from(cookiesOf(header), ([name, [value = '']]) => [name, value]));

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

export const apiKeyQueryNames = (declared: Document['securitySchemes']) =>
  new Set(
    Object.values(declared).flatMap((scheme) => (scheme.in === 'query' ? String(scheme.name) : [])),
  );

export function credentialPlaceOf({ type, scheme, in: location, name }: Json): CredentialPlace {
  const http = String(scheme).toLowerCase();
  if (type === 'apiKey') return apiKey(String(location), String(name));
  if (type === 'oauth2' || type === 'openIdConnect' || (type === 'http' && http === 'bearer'))
    return BEARER;
  // Mutual TLS: the header of the certificate depends on the proxy, so only a verifier can read it.
  if (type !== 'http') {
    return {
      usesAuthorization: false,
      read: () => '',
      required: `Credentials are required: ${type}`,
      challenge: () => String(type),
    };
  }
  return {
    usesAuthorization: true,
    read: ({ headers: { authorization } }) =>
      isOfScheme(http, authorization) ? authorization : undefined,
    required: `Credentials are required, in a header "Authorization: ${scheme} …"`,
    challenge: () => (http === 'basic' ? 'Basic realm="api", charset="UTF-8"' : String(scheme)),
  };
}

const BEARER: CredentialPlace = {
  token: 'bearer',
  usesAuthorization: true,
  header: 'Authorization: Bearer ',
  read: bearerToken,
  required: 'A bearer token is required, in a header "Authorization: Bearer <token>"',
  challenge: (presented) => (presented ? 'Bearer error="invalid_token"' : 'Bearer'),
};

function apiKey(location: string, name: string): CredentialPlace {
  const place = `${location === 'query' ? 'query parameter' : location} "${name}"`;
  return {
    token: 'apiKey',
    usesAuthorization: false,
    header: location === 'header' ? `${name}: ` : undefined,
    read({ headers, query }) {
      const [value, ...others] = valuesIn(headers, query);
      if (others.length > 0) throw new HttpError(400, `the API key in the ${place} must come once`);
      return value || undefined;
    },
    required: `An API key is required, in the ${place}`,
    // The name may contain characters that a header must not contain.
    challenge: () => `ApiKey in="${location}", name="${encodeURI(name)}"`,
  };

  function valuesIn(headers: IncomingHttpHeaders, query?: string): readonly (string | undefined)[] {
    if (location === 'query') return new URLSearchParams(query).getAll(name);
    if (location === 'cookie') return cookiesOf(headers.cookie).get(name) ?? [];
    const key = name.toLowerCase();
    // Other properties are inherited, such as `constructor`.
    return Object.hasOwn(headers, key) ? [headers[key]?.toString()] : [];
  }
}

/** A bearer token (RFC 6750 §2.1). Its parts share no characters, so a match takes linear time. */
const BEARER_CREDENTIALS = /^bearer +([\w\-.~+/]+=*)$/i;

/**
 * Returns `undefined` if the Authorization header is missing or names another scheme.
 *
 * @throws {Unauthorized} if the token is malformed.
 */
export function bearerToken({
  headers: { authorization },
}: Pick<Credentials, 'headers'>): string | undefined {
  const token =
    authorization === undefined ? undefined : BEARER_CREDENTIALS.exec(authorization)?.[1];
  if (token !== undefined || !isOfScheme('bearer', authorization)) return token;
  const form =
    'it must be "Bearer", a space and the token, which is made of letters, digits and -._~+/';
  throw new Unauthorized(`The Authorization header is malformed: ${form} with = only at its end`);
}

/**
 * Returns true if an Authorization header names a scheme (RFC 9110 §11.4).
 *
 * @param scheme in lower case.
 */
const isOfScheme = (scheme: string, authorization = ''): boolean =>
  /^[\w\-!#$%&'*+.^`|~]+/.exec(authorization)?.[0].toLowerCase() === scheme;

const schemesIn = (operations: readonly Operation[]) =>
  new Set(operations.flatMap(({ security }) => security.flatMap(Object.keys)));

export const unverifiedSchemes = (operations: readonly Operation[], schemes: Schemes): Finding[] =>
  [...schemesIn(operations)]
    .filter((name) => schemes.get(name)?.isVerified === false)
    .map((name) => ({
      pointer: `/components/securitySchemes/${escapePointerToken(name)}`,
      message:
        'nothing verifies credentials of this scheme: ' +
        `add verifiers: { ${JSON.stringify(name)}: … } to the options or to the result of open`,
    }));

export const unusedVerifiers = (schemes: Schemes, verifiers: Verifiers = {}): Finding[] =>
  Object.keys(verifiers)
    .filter((name) => !schemes.has(name))
    .map((name) => ({
      pointer: '/components/securitySchemes',
      message: `the verifier ${name} has no security scheme: rename or remove it`,
    }));

export function challengesOf(operation: Operation, schemes: Schemes) {
  const names = [...schemesIn([operation])];
  return (presented: boolean): string =>
    [...new Set(names.map((name) => schemes.get(name)?.challenge(presented)))].join(', ');
}

/** The callers of a request. */
export interface Authenticated {
  /** The first caller with a subject, or else the first one. */
  readonly caller: Caller;
  /** By security scheme, if the alternative requires several. */
  readonly callers: Readonly<Record<string, Caller>> | undefined;
}

/**
 * Prepares the check of an operation's security requirements (OpenAPI 3.1 §4.8.30): the callers are
 * those of the first alternative whose credentials are all accepted; `undefined` if credentials are
 * optional and the request has none. If a scheme of the operation uses
 * the Authorization header, this header is a credential even if it names another scheme.
 */
export function authentication(operation: Operation, schemes: Schemes, isMock: boolean) {
  const alternatives = operation.security
    .map((requirement) =>
      Object.entries(requirement).map(([name, scopes]) => ({
        name,
        verify: verifierOf(name),
        scopes,
      })),
    )
    .filter((checks) => checks.length > 0);
  const isOptional = alternatives.length < operation.security.length;
  const usesAuthorization = [...schemesIn([operation])].some(
    (name) => schemes.get(name)?.usesAuthorization,
  );

  const [[only, ...others] = [], ...alternative] = alternatives;
  const isOnly = !isOptional && others.length === 0 && alternative.length === 0;

  /** Returns a promise only if a verifier does, or if there are several. */
  return (
    call: CallWithCredentials,
  ): Authenticated | undefined | Promise<Authenticated | undefined> => {
    if (operation.security.length === 0) return undefined;
    const { authorization } = call.headers;
    if (authorization?.includes(',')) checkAuthorization(authorization);
    if (only === undefined || !isOnly) return authenticate(call);
    const verified = only.verify(call, only.scopes);
    return 'then' in verified
      ? verified.then((caller) => ({ caller, callers: undefined }))
      : { caller: verified, callers: undefined };
  };

  async function authenticate(call: CallWithCredentials): Promise<Authenticated | undefined> {
    const { authorization } = call.headers;
    let isPresented = usesAuthorization && Boolean(authorization);
    const failures: unknown[][] = [];
    for (const checks of alternatives) {
      const callers: [scheme: string, caller: Caller][] = [];
      const errors: unknown[] = [];
      for (const { name, verify, scopes } of checks) {
        try {
          callers.push([name, await verify(call, scopes)]);
          isPresented = true;
        } catch (error) {
          errors.push(error);
        }
      }
      const [first] = callers;
      if (errors.length === 0 && first !== undefined) {
        const [, caller] = callers.find(([, { subject }]) => subject !== undefined) ?? first;
        return { caller, callers: callers.length > 1 ? Object.fromEntries(callers) : undefined };
      }
      failures.push(errors);
    }
    if (isOptional && !isPresented && failures.flat().every(isAbsence)) return undefined;
    throw mostImportant(failures);
  }

  function verifierOf(name: string) {
    const scheme = schemes.get(name);
    if (scheme === undefined || !(isMock || scheme.isVerified))
      throw new Error(`nothing verifies ${name}`);
    return scheme.verify;
  }
}

/** @throws {TypeError} if a verifier returned another value than a caller. */
function callerOf(scheme: string, verified: Caller | Promise<Caller>): Caller | Promise<Caller> {
  if (!isObject(verified)) throw new TypeError(`the verifier ${scheme} returned no caller`);
  if (!('then' in verified)) return verified;
  return Promise.resolve(verified).then((caller) => callerOf(scheme, caller));
}

const isAbsence = (error: unknown): error is Unauthorized =>
  error instanceof Unauthorized && !error.presented;

/**
 * Returns the most important error. An error of another kind, such as a check that failed to run
 * (503, 500) or a repeated API key (400), has priority over Forbidden. Forbidden has priority over
 * a rejected credential (401). If all credentials are missing, the error names those of each
 * alternative.
 *
 * @param failures the errors of each alternative.
 */
function mostImportant(failures: readonly (readonly unknown[])[]): unknown {
  const errors = failures.flat();
  const absences = failures.map((alternative) =>
    alternative
      .filter(isAbsence)
      .map(({ message }) => message)
      .join('. '),
  );
  return (
    errors.find((error) => !(error instanceof Unauthorized || error instanceof Forbidden)) ??
    errors.find((error) => error instanceof Forbidden) ??
    errors.find((error) => !isAbsence(error)) ??
    new Unauthorized([...new Set(absences)].join('. Or: '), false)
  );
}
