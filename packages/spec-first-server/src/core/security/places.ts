import type { IncomingHttpHeaders } from 'node:http';
import { cookiesOf, type Document, type Json } from 'openapi-document';
import { HttpError, Unauthorized } from '../response/http-error.ts';

/** The parts of a request that may contain credentials. */
export interface Credentials {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  /** The first value of each name. */
  readonly query: Readonly<Record<string, string>>;
  readonly cookies: Readonly<Record<string, string>>;
}

/** The parts of a call that may contain credentials. */
export interface CallWithCredentials extends Pick<Credentials, 'method' | 'headers'> {
  /** Percent-encoded. */
  readonly query?: string;
}

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

export const credentialsOf = ({
  method,
  headers,
  query = '',
}: CallWithCredentials): Credentials => ({
  method,
  headers,
  query: query === '' ? {} : Object.fromEntries([...new URLSearchParams(query)].reverse()),
  cookies: headers.cookie === undefined ? {} : firstCookies(headers.cookie),
});

const firstCookies = (header: string): Record<string, string> =>
  Object.fromEntries(Array.from(cookiesOf(header), ([name, [value = '']]) => [name, value]));

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
