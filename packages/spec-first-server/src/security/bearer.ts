import { Unauthorized } from './errors.ts';

/** Longer tokens are rejected unread: half of what Node accepts as all headers together. */
export const MAX_TOKEN_LENGTH = 8192;

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
