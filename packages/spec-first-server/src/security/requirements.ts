import { escapePointerToken, type Finding, type Operation } from 'openapi-document';
import type { Caller } from '../handlers/types.ts';
import { Forbidden, HttpError, Unauthorized } from '../response/http-error.ts';
import type { Credentials, Schemes } from './schemes.ts';

/** Resolves to the caller; `undefined` for an anonymous one. Rejects if the credentials are not accepted. */
export type Authenticate = (credentials: Credentials) => Promise<Caller | undefined>;

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
 * credentials are all accepted decides. Where they are optional, a request is anonymous only if it presents none.
 */
export function authentication(operation: Operation, schemes: Schemes, isMock: boolean): Authenticate {
  const alternatives = operation.security
    .map((all) => Object.entries(all).map(([name, scopes]) => ({ verify: verifierOf(name), scopes })))
    .filter((all) => all.length > 0);
  const optional = alternatives.length < operation.security.length;

  return async (credentials) => {
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
      return callers.length === 1 ? callers[0] : (callers.find(({ subject }) => subject !== undefined) ?? callers[0]);
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
